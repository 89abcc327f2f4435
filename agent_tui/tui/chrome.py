"""The lines around the transcript: header, strip, card, hints, status. Drawn when they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from textual.widgets import Static

from agent_tui.core.text import one_line
from agent_tui.tui import hints
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.pending import delivery_sentences
from agent_tui.tui.room import Room, Wishes, room_for
from agent_tui.tui.status import Span, cut, status_lines
from agent_tui.tui.strip import StripView
from agent_tui.tui.terminal import State as WindowState

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

FLASH_SECONDS = 6.0
FLASH_ROWS = 3


@dataclass(frozen=True, slots=True)
class _Flash:
    text: str | Callable[[], str]
    role: str
    until: float


class Chrome:
    """Draws everything that is not the transcript and not the composer."""

    def __init__(self, app: ChatApp, cwd: Path, home: Path | None) -> None:
        self.search: str | None = None
        """What is typed into the history search, None when there is none."""
        self.stashed = 0
        self._app = app
        self._folder = hints.short_folder(cwd, home)
        self._branch = hints.git_branch(cwd)
        self._flash: _Flash | None = None
        self._drawn: dict[str, list[list[Span]]] = {}
        self.header = Static(id="header")
        self.hint = Static(id="hint")
        self.status = Static(id="status")

    def flash(self, text: str | Callable[[], str], role: str = "activity") -> None:
        """Say something in the hint line for some seconds; a function says it anew each time."""
        self._flash = _Flash(text, role, self._app.now() + FLASH_SECONDS)
        self._app.set_timer(FLASH_SECONDS + 0.05, self._app.redraw)

    def end_flash(self) -> None:
        """The person has read it, or does something else."""
        self._flash = None

    def draw(self) -> None:
        """Bring every line up to date."""
        app, width = self._app, self._app.size.width
        self._put("hint", self.hint, self._hint_rows(width))
        if not app.is_ready:
            return
        self._put("header", self.header, [hints.header_line(self._heading(), width)])
        status = app.presenter.status
        if app.session.stop_requested and not status.notice:
            status.notice = "stopping after this step"
        self._put("status", self.status, list(status_lines(status, width)))
        asked, budget = app.session.approvals.pending, app.session.budgets.pending
        held = app.verbs.on_breaks.held
        room = self._share_out(is_asked=bool(held or asked or budget))
        self._draw_strip(width, room.strip)
        first = asked[0] if asked else None
        app.card.show(first, len(asked), room.card, budget=budget, held=held)
        shown = app.card.asked_id
        if shown is not None and not app.guard.has_seen(shown) and len(app.screen_stack) == 1:
            app.call_after_refresh(app.guard.shown, shown)

    def _share_out(self, *, is_asked: bool) -> Room:
        """Give every part its rows; on a small screen some of them go."""
        app = self._app
        room = room_for(
            Wishes(
                app.size.height,
                draft=app.prompt.wrapped_document.height,
                hint=len(self.rows("hint")),
                menu=app.menu.wanted_rows,
                has_pending=bool(app.modes.pending.items),
                is_asked=is_asked,
            )
        )
        chat = app.screen_stack[0]
        chat.set_class(room.is_short, "-short")
        chat.set_class(room.is_tiny, "-tiny")
        chat.set_class(room.is_minute, "-minute")
        app.menu.rows = room.menu
        return room

    def window_title(self) -> tuple[str, WindowState]:
        """What the window's title says, and the state it carries."""
        app = self._app
        if not app.is_ready:
            return self._folder, "idle"
        name = one_line(app.presenter.title, 40) or self._folder
        if app.presenter.questions:
            return name, "needs you"
        if app.presenter.status.state != "idle":
            return name, "working"
        return name, "failed" if app.presenter.course.has_failed else "idle"

    def resized(self) -> None:
        """Everything is drawn anew."""
        self._drawn.clear()
        self.draw()

    def _put(self, name: str, widget: Static, rows: list[list[Span]]) -> None:
        if self._drawn.get(name) != rows:
            before = self._drawn.get(name)
            self._drawn[name] = rows
            same_height = before is not None and len(before) == len(rows)
            widget.update(painted_lines(rows), layout=not same_height)

    def rows(self, name: str) -> list[list[Span]]:
        """What is drawn as `header`, `hint` or `status`."""
        return self._drawn.get(name, [])

    def _heading(self) -> hints.Heading:
        state = self._app.session.agent.state
        servers = self._app.session.servers
        return hints.Heading(
            title=one_line(self._app.presenter.title, 60) or "agent-tui",
            folder=self._folder,
            branch=self._branch,
            model=state.model.label,
            thinking=state.thinking_level,
            mode=self._app.session.approvals.mode,
            unsaved=self._app.session.unsaved is not None,
            is_shut_in=self._app.settings is not None and self._app.settings.sandbox,
            holds=bool(self._app.session.breakpoints.words),
            jobs=len(jobs.running) if (jobs := self._app.session.jobs) is not None else 0,
            servers="" if servers is None else servers.mark,
            has_broken_server=servers is not None and servers.has_broken,
        )

    def _draw_strip(self, width: int, rows: int) -> None:
        app = self._app
        items = app.modes.pending.items
        agent = app.session.agent
        editing = app.modes.pending.editing
        sentences = delivery_sentences(
            items,
            app.presenter.moment,
            steering_mode=agent.steering_mode,
            follow_up_mode=agent.follow_up_mode,
            editing=editing,
            held_at_step=app.modes.held_at_step,
            commands=[item.id for item in items if app.delivery.is_command(item)],
        )
        app.strip.show(
            StripView(
                items,
                sentences,
                app.modes.pending.selected,
                editing,
                app.is_on_hold,
                width,
                rows,
                self._app.keymap,
            )
        )

    def _situation(self) -> hints.Situation:
        app = self._app
        has_draft = not app.prompt.is_blank
        if not app.is_ready:
            return hints.Situation(has_draft=has_draft)
        cursor = app.transcript.cursor
        return hints.Situation(
            running=app.is_busy,
            stopping=app.presenter.course.is_stopping,
            has_draft=has_draft,
            pending=len(app.modes.pending.items),
            can_continue=app.presenter.course.can_continue,
            stashed=self.stashed > 0,
            unseen=app.transcript.unseen,
            shell=hints.mark_of(app.prompt.text),
            runs_command=app.verbs.on_shell.is_running,
            vim=app.prompt.vim.words if app.prompt.vim is not None else "",
            found=app.verbs.finding.sentence,
            on_failure=cursor is not None and cursor.can_retry,
            place=self._place(),
        )

    def _place(self) -> hints.Place:
        if self._app.is_replay and self._app.modes.mode == "none":
            return "replay"
        if self._app.strip.editor is not None:
            return "editor"
        match self._app.modes.mode:
            case "strip":
                return "strip_on_hold" if self._app.is_on_hold else "strip"
            case "blocks":
                return "cursor"
            case "chord":
                return "chord"
            case "none":
                if not self._app.is_ready:
                    return "composer"
                if self._app.verbs.on_breaks.held is not None:
                    return "held"
                return "card" if self._app.session.approvals.pending else "composer"

    def keys_now(self) -> list[str]:
        """Every hint that is true now, whether or not there is room for it in the line."""
        return hints.all_hints(self._situation(), self._app.keymap)

    def _hint_rows(self, width: int) -> list[list[Span]]:
        flash = self._flash
        if flash is not None and self._app.now() < flash.until:
            said = flash.text if isinstance(flash.text, str) else flash.text()
            lines = chop_cells(one_line(said, 400), max(1, width - 2))[:FLASH_ROWS]
            return [[(line, flash.role)] for line in lines]
        label, typed = "history: ", self.search
        if self._app.is_ready and (line := self._app.verbs.finding.line) is not None:
            label, typed = "find: ", line
        if typed is not None:
            return [cut([(label, "quiet"), (typed + "▏", "")], width - 2)]
        return [hints.hint_line(self._situation(), width, self._app.keymap)]
