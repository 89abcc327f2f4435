"""What the chat's own keys do. Bindings name a press; the app looks it up here.

The keys of the composer are the composer's; a mode that borrows the keyboard sees keys first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.binding import Binding

from agent_tui.config.keys import ACTIONS
from agent_tui.tui.approval import ON_APPROVAL
from agent_tui.tui.budget import ON_BUDGET
from agent_tui.tui.held import ON_HELD
from agent_tui.tui.selecting import Copied

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

Verdict = Literal["once", "always", "decline"]

ANYWHERE = {"interrupt"}
"""Presses that also work while another screen is on top."""
ON_CARD = ON_APPROVAL | ON_BUDGET | ON_HELD
"""Presses that mean something only while a question is open."""

TOO_EARLY = "The question has only just appeared: read it, then answer."


def bindings() -> list[Binding]:
    """One binding a press, by its usual keys: others were turned into those before."""
    presses = {name: action for name, action in ACTIONS.items() if action.place == "press"}
    return [
        Binding(",".join(action.keys), f"press('{name}')", name.replace("_", " "), priority=True)
        for name, action in presses.items()
    ]


class Presses:
    """One method a press."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    # -- stopping ----------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Ctrl+C."""
        app = self._app
        selected = self._selected_text()
        if len(app.screen_stack) > 1 and not app.is_busy:
            if selected:
                app.screen.post_message(Copied(selected))
            else:
                app.pop_screen()
            return
        if not selected and app.verbs.on_shell.stop() and not app.is_busy:
            return
        act = app.stop_keys.ctrl_c(
            running=app.is_busy, has_selection=bool(selected), has_draft=not app.prompt.is_blank
        )
        match act:
            case "abort":
                app.stop_turn()
            case "kill":
                app.presenter.course.is_killing = True
                app.session.abort("killed by the user")
            case "copy":
                app.verbs.copy_text(selected)
            case "stash":
                app.prompt.stash()
            case "arm_quit":
                app.flash("ctrl+c again quits", "warning")
            case "quit":
                app.leave()
            case _:
                app.flash("Stopped. The program stays: ctrl+d leaves.", "quiet")

    def escape(self) -> None:
        """Esc closes what is open, else it stops the turn."""
        app = self._app
        app.chrome.end_flash()
        if app.prompt.close_popup():
            return
        if app.verbs.on_shell.stop() and not app.is_busy:
            return
        act = app.stop_keys.escape(running=app.is_busy)
        if act == "abort":
            app.stop_turn()
        elif act == "rewind":
            app.run_verb("rewind")
        elif not app.is_busy:
            app.screen.clear_selection()

    def chord(self) -> None:
        """Ctrl+X cuts what is selected, else begins a chord."""
        if self._app.prompt.selected_text:
            self._app.prompt.action_cut()
        else:
            self._app.modes.begin_chord()

    # -- moving ------------------------------------------------------------------------------

    def pending_up(self) -> None:
        """The pending message above, else an older sent one."""
        if not self._app.modes.select(-1):
            self._app.prompt.action_older()

    def pending_down(self) -> None:
        """The pending message below, else a newer sent one."""
        if not self._app.modes.select(1):
            self._app.prompt.action_newer()

    def blocks_up(self) -> None:
        """The block above."""
        self._app.modes.enter_blocks(-1)

    def blocks_down(self) -> None:
        """The block below."""
        self._app.modes.enter_blocks(1)

    def page_up(self) -> None:
        """A page of the transcript back."""
        self._app.transcript.scroll_page_up(animate=False)

    def page_down(self) -> None:
        """A page of the transcript on."""
        self._app.transcript.scroll_page_down(animate=False)

    # -- questions ---------------------------------------------------------------------------

    def once(self) -> None:
        """Allow this call."""
        self._answer("once")

    def always(self) -> None:
        """Allow this call and its like."""
        self._answer("always")

    def decline(self) -> None:
        """Decline this call."""
        self._answer("decline")

    def comment(self) -> None:
        """Decline with a comment: what stands in the composer becomes the comment.

        Of a call that is held, edit the arguments.
        """
        if self._app.verbs.on_breaks.held is not None:
            self._app.verbs.on_breaks.edit_arguments()
        elif self._app.guard.may_answer(self._app.session.approvals.pending[0].id):
            self._app.prompt.set_text(f"/no {self._app.prompt.expanded_text}")
            self._app.flash("Say why, then enter: it goes to the model.")
        else:
            self._app.flash(TOO_EARLY, "warning")

    def card_up(self) -> None:
        """Scroll the card."""
        self._app.card.scroll_body(-5)

    def card_down(self) -> None:
        """Scroll the card."""
        self._app.card.scroll_body(5)

    def _answer(self, verdict: Verdict) -> None:
        """By key, and therefore not at once: the key may have been meant for something else."""
        app = self._app
        held = app.verbs.on_breaks.held
        if app.guard.may_answer(held.id if held else app.session.approvals.pending[0].id):
            app.run_verb({"once": "yes", "always": "always", "decline": "no"}[verdict])
        else:
            app.flash(TOO_EARLY, "warning")

    def extend(self) -> None:
        """Allow more of the budget that is used up."""
        self._answer_budget("extend")

    def finish(self) -> None:
        """One last answer, without tools."""
        self._answer_budget("finish")

    def halt(self) -> None:
        """No further model call in this turn."""
        self._answer_budget("stop")

    def step(self) -> None:
        """Go on, and hold before the next model call."""
        held = self._app.verbs.on_breaks.held
        if held is not None and self._app.guard.may_answer(held.id):
            self._app.run_verb("step")
        else:
            self._app.flash(TOO_EARLY, "warning")

    def _answer_budget(self, verb: str) -> None:
        """By key, and therefore not at once either."""
        asked = self._app.verbs.on_breaks.held or self._app.session.budgets.pending
        if asked is None:
            return
        if self._app.guard.may_answer(asked.id):
            self._app.run_verb(verb)
        else:
            self._app.flash(TOO_EARLY, "warning")

    # -- verbs by key ------------------------------------------------------------------------

    def expand(self) -> None:
        """Expand or collapse all panels."""
        self._app.run_verb("expand")

    def help(self) -> None:
        """Keys and commands."""
        self._app.run_verb("help")

    def loop(self) -> None:
        """The steps of the loop."""
        self._app.run_verb("loop")

    def why(self) -> None:
        """What is waited for."""
        self._app.run_verb("why")

    def thinking(self) -> None:
        """Show or hide thinking."""
        self._app.run_verb("thinking")

    def mode(self) -> None:
        """The next approval mode."""
        self._app.run_verb("mode")

    def model(self) -> None:
        """Pick a model."""
        self._app.run_verb("model")

    def palette(self) -> None:
        """The command palette."""
        from textual.command import CommandPalette

        from agent_tui.tui.screens.palette import Palette

        if not any(isinstance(s, CommandPalette) for s in self._app.screen_stack):
            self._app.push_screen(Palette(id="--command-palette"))

    def _selected_text(self) -> str:
        """What is selected, in the composer first, then on the screen."""
        app = self._app
        written = app.prompt.selected_text if len(app.screen_stack) == 1 else ""
        return written or app.screen.get_selected_text() or ""
