"""The commands that go back and go another way: rewind, tree, fork."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentError
from agent_tui.core.figures import clock, plural
from agent_tui.core.ids import now_ms
from agent_tui.core.text import one_line

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.screens.points import PickedPoint, PointRow

_RUNNING = "A turn is running: esc stops it first."
_MARKS = {"user": "❯ ", "answer": "  ", "summary": "≡ ", "other": "· "}
_ONLY, _WITH_FILES, _LOOK = "the conversation only", "the conversation and the files", "show"


class BranchVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def rewind(self, argument: str) -> str | None:
        """Go back to before one of the person's messages, or take that back."""
        if (reason := self._obstacle()) is not None:
            return reason
        branches = self._app.session.branches
        if argument == "redo":
            if not branches.can_redo:
                return "Nothing to take back: you did not go back, or something was said since."
            self._app.start(self._redo())
            return None
        if argument:
            return "/rewind takes `redo`, or nothing."
        points = branches.prompts()
        if not points:
            return "Nothing was said yet."
        self._show("Go back to before", [_row(point) for point in points], 0)
        return None

    def tree(self, _: str) -> str | None:
        """Look at all branches, and go to any place."""
        if (reason := self._obstacle()) is not None:
            return reason
        rows = [_row(point) for point in self._app.session.branches.points()]
        if not rows:
            return "Nothing was said yet."
        last = max((place for place, row in enumerate(rows) if row.is_here), default=0)
        self._show("Go to", rows, last)
        return None

    def fork(self, _: str) -> str | None:
        """Go on with a copy of this session."""
        return self._obstacle() or self._fork(None)

    def _obstacle(self) -> str | None:
        if self._app.is_busy:
            return _RUNNING
        if self._app.catalogue is None:
            return "This chat was opened by a program of its own; it only goes forward."
        return None

    def _show(self, title: str, rows: Sequence[PointRow], start: int) -> None:
        from agent_tui.tui.screens.points import PointScreen

        self._app.push_screen(PointScreen(title, rows, start), self._picked)

    def _picked(self, picked: PickedPoint | None) -> None:
        if picked is None:
            return
        if picked.act == "fork":
            if (reason := self._fork(picked.id)) is not None:
                self._app.flash(reason, "warning")
            return
        if picked.act == "summary":
            self._app.start(self._summarise(picked.id))
        else:
            self._app.start(self._ask_about_files(picked.id))

    async def _summarise(self, entry_id: str) -> None:
        """Going there leaves messages behind: have them summarised first, or stay."""
        session = self._app.session
        left = session.branches.left(entry_id)
        summary = None
        if left:
            try:
                summary = await session.summarise_branch(left)
            except AgentError as error:
                self._app.flash(error.message, "warning")
            if summary is None:
                return
        await self._ask_about_files(entry_id, summary)

    def _fork(self, entry_id: str | None) -> str | None:
        try:
            path = self._app.session.branches.fork(entry_id)
        except AgentError as error:
            return error.message
        self._app.leaving.for_another(path.stem, "A copy. The session that it comes from is kept.")
        return None

    # -- files -------------------------------------------------------------------------------

    async def _ask_about_files(self, entry_id: str, summary: str | None = None) -> None:
        """Going there leaves messages behind after which the agent changed files: what of them?"""
        session = self._app.session
        since = session.branches.first_left(entry_id)
        changes = []
        if since is not None:
            found = await asyncio.to_thread(session.checkpoints.changed_since, since)
            changes = [change for change in found if change.kind != "same"]
        if not changes or since is None:
            self._go(entry_id, "", summary)
            return
        self._choose(entry_id, since, changes, summary)

    def _choose(
        self, entry_id: str, since: str, changes: Sequence[Any], summary: str | None
    ) -> None:
        from agent_tui.tui.screens.choice import Choice, ChoiceScreen

        names = ", ".join(change.path.name for change in changes[:3])
        more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
        choices = [
            Choice(_ONLY, "files stay as they are"),
            Choice(_WITH_FILES, f"{names}{more}"),
            Choice(_LOOK, "what would become of the files"),
        ]
        title = f"The agent changed {plural(len(changes), 'file')} since then. Go back with:"

        def chosen(value: str | None) -> None:
            if value == _LOOK:
                self._look(changes, lambda: self._choose(entry_id, since, changes, summary))
            elif value == _WITH_FILES:
                self._app.start(self._go_with_files(entry_id, since, summary))
            elif value == _ONLY:
                self._go(entry_id, "", summary)

        self._app.push_screen(ChoiceScreen(title, choices), chosen)

    def _look(self, changes: Sequence[Any], back: Callable[[], None]) -> None:
        from agent_tui.tui.screens.output import OutputScreen

        parts = []
        for change in changes:
            foreign = " (changed by somebody else: left alone)" if change.is_foreign else ""
            problem = f" (left alone: {change.problem})" if change.problem else ""
            parts.append(f"{change.path}{foreign}{problem}\n{change.undo}")
        self._app.push_screen(
            OutputScreen("What going back would do", "\n\n".join(parts)), lambda _: back()
        )

    async def _go_with_files(self, entry_id: str, since: str, summary: str | None) -> None:
        session = self._app.session
        report = await asyncio.to_thread(session.checkpoints.restore, since)
        self._go(entry_id, _told(report), summary, report)

    def _go(self, entry_id: str, about_files: str, summary: str | None, report: Any = None) -> None:
        app = self._app
        try:
            text = app.session.branches.rewind(entry_id, report, summary)
        except AgentError as error:
            app.flash(error.message, "warning")
            return
        if text:
            app.prompt.stash()
            app.prompt.set_text(text)
        told = f"You went back. {about_files}/rewind redo takes that back."
        app.leaving.for_another(app.session.id, told)

    async def _redo(self) -> None:
        app = self._app
        report = app.session.branches.restored
        told = ""
        if report is not None:
            told = _told(await asyncio.to_thread(app.session.checkpoints.redo, report))
        app.session.branches.redo()
        app.leaving.for_another(app.session.id, f"You are where you were before. {told}".strip())


def _told(report: Any) -> str:
    """What was put back, and what was not."""
    told = f"{plural(len(report.restored), 'file')} put back. " if report.restored else ""
    return told + "".join(f"Left alone: {path} ({why}). " for path, why in report.skipped)


def _row(point: Any) -> PointRow:
    from agent_tui.tui.screens.points import PointRow

    ago = f"{clock(max(0, now_ms() - point.timestamp) / 1000)} ago"
    text = one_line(point.text, 120) or "(nothing)"
    return PointRow(point.entry_id, _MARKS[point.kind], text, ago, point.depth, point.is_on_the_way)
