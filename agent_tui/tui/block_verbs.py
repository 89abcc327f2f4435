"""What can be done with a block: look at all of it, open its file, see what files became."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent_tui.tui.ansi import plain_line
from agent_tui.tui.blocks import Block, ToolBlock
from agent_tui.tui.editor import EditorError, open_in_editor

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.texts import LongText


class FileChange(Protocol):
    """What became of one file."""

    @property
    def path(self) -> Path:
        """Which one."""

    @property
    def kind(self) -> str:
        """`created`, `changed`, `deleted`, `same`."""

    @property
    def diff(self) -> str:
        """From then to now."""

    @property
    def added(self) -> int:
        """Lines."""

    @property
    def removed(self) -> int:
        """Lines."""

    @property
    def is_foreign(self) -> bool:
        """Somebody else changed it after the agent."""

    @property
    def problem(self) -> str | None:
        """Why nothing more is known."""


class BlockVerbs:
    """Verbs about panels and files."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def view(self, block: Block) -> None:
        """Show all of a block on a screen of its own, long output from its file."""
        from agent_tui.tui.screens.output import OutputScreen
        from agent_tui.tui.texts import LiveText

        text: LongText
        words = self._app.verbs.finding.words
        if isinstance(block, ToolBlock):
            text, follows = self._text_of_call(block), block.status in ("pending", "running")
            path = self._output_of(block) or self._file_about(block)
        else:
            text, follows, path = LiveText(block.source, at_words=True), block.is_growing, None
        is_prose = not (isinstance(block, ToolBlock) or block.has_markup)
        wraps = self._app.transcript.wraps or is_prose
        screen = OutputScreen(
            block.title, text, path=path, follows=follows, words=words, wraps=wraps
        )
        self._app.push_screen(screen)

    def _text_of_call(self, block: ToolBlock) -> LongText:
        from agent_tui.tui.texts import DiffText, FileText, LiveText, PlainText

        if block.diff:
            return DiffText([("", block.diff)])
        if block.is_running:
            return LiveText(lambda: block.output, lambda: self._app.presenter.file_of(block))
        if block.status == "pending":
            return LiveText(lambda: block.written)
        if block.members:
            return PlainText(block.source())
        path = self._output_of(block)
        return PlainText(block.output) if path is None else FileText(path)

    def _output_of(self, block: Block) -> Path | None:
        """The file with all output, if there is one still."""
        name = self._app.presenter.file_of(block)
        path = Path(name) if name is not None else None
        return path if path is not None and path.is_file() else None

    def _file_about(self, block: ToolBlock) -> Path | None:
        """The file that a call reads or changes."""
        if not block.path:
            return None
        path = self._app.session.cwd / Path(block.path).expanduser()
        return path if path.is_file() else None

    def toggle_raw(self, block: Block) -> None:
        """Show a block as it was written, or as it is meant."""
        if block.has_markup:
            self._app.transcript.toggle_raw(block)
        else:
            self._app.flash("It is shown as it was written.", "quiet")

    def raw(self, _: str) -> str | None:
        """Show all messages as they were written, those to come too, or as they are meant."""
        presenter, transcript = self._app.presenter, self._app.transcript
        presenter.shows_raw = not presenter.shows_raw
        blocks = [block for block in transcript.blocks if block.has_markup]
        for block in blocks:
            block.show_raw(presenter.shows_raw)
        transcript.changed_all(blocks)
        how = "as they were written" if presenter.shows_raw else "rendered"
        self._app.flash(f"Messages are shown {how}.")
        return None

    def open_file(self, block: ToolBlock) -> None:
        """Open the file that a panel is about in the person's editor."""
        path = self._file_about(block) or self._output_of(block)
        if path is None:
            self._app.flash("There is no file behind this panel.", "quiet")
        else:
            self.edit_file(path)

    def edit_file(self, path: Path) -> None:
        """Open a file in the person's editor."""
        self._app.start(self._open(path))

    async def _open(self, path: Path) -> None:
        try:
            await open_in_editor(self._app, path, os.environ)
        except EditorError as error:
            self._app.flash(str(error), "warning")

    def diff(self, argument: str) -> str | None:
        """What the agent changed since the turn began, or in the session."""
        if argument not in ("", "turn", "session"):
            return "/diff takes `session`, or nothing for this turn."
        since = self._app.presenter.turn_message_id
        if argument != "session" and since is None:
            return "No turn has begun yet; /diff session shows what was changed before."
        self._app.start(self._show_diff(None if argument == "session" else since))
        return None

    async def _show_diff(self, since: str | None) -> None:
        from agent_tui.tui.screens.output import OutputScreen
        from agent_tui.tui.texts import DiffText

        checkpoints = self._app.session.checkpoints
        changes = await asyncio.to_thread(checkpoints.changed_since, since)
        changes = [change for change in changes if change.kind != "same"]
        when = "in this session" if since is None else "in this turn"
        if not changes:
            hint = "" if since is None else "; /diff session shows all of them"
            self._app.flash(f"edit and write have changed no file {when}{hint}.")
            return
        files = diff_sections(changes, self._app.session.cwd)
        self._app.push_screen(OutputScreen(f"Changed {when}", DiffText(files)))


def diff_sections(changes: Sequence[FileChange], cwd: Path) -> list[tuple[str, str]]:
    """A title and a diff for each file."""
    sections: list[tuple[str, str]] = []
    for change in changes:
        root = cwd.resolve()
        is_inside = change.path.is_relative_to(root)
        name = str(change.path.relative_to(root) if is_inside else change.path)
        facts = [f"{change.kind} {name}"]
        if change.problem is not None:
            facts.append(change.problem)
        elif change.diff:
            facts.append(f"+{change.added} −{change.removed}")
        if change.is_foreign:
            facts.append("somebody else changed it too")
        sections.append((plain_line(" · ".join(facts)), change.diff))
    return sections
