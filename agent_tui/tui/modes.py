"""Modes that borrow the keyboard for a moment: the pending strip, the block cursor, Ctrl+X.

The composer keeps the focus throughout. A key that the mode does not know ends it and goes where it
would have gone without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent_tui.tui.blocks import ToolBlock
from agent_tui.tui.pending import PendingList, text_of_item
from agent_tui.tui.strip import ItemEditor

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

Mode = Literal["none", "strip", "blocks", "chord"]

CHORD_SECONDS = 1.0


class Modes:
    """Which mode is on, and what its keys do."""

    def __init__(self, app: ChatApp, pending: PendingList) -> None:
        self._app = app
        self.pending = pending
        self.mode: Mode = "none"
        self._edit_began_at_step: int | None = None
        self._chord_began = 0.0

    @property
    def held_at_step(self) -> int | None:
        """The step at which the editing of an item began."""
        return self._edit_began_at_step

    # -- entering and leaving ----------------------------------------------------------------

    def select(self, step: int) -> bool:
        """Begin or move the selection in the strip; False if nothing is pending."""
        if not self.pending.select(step):
            return False
        self._switch("strip")
        return True

    def enter_blocks(self, step: int = -1) -> bool:
        """Begin or move the block cursor; False if there is no block."""
        if self._app.transcript.move_cursor(step) is None:
            return False
        self._switch("blocks")
        return True

    def begin_find(self) -> None:
        """Lend the keyboard to a search; the cursor comes with what is found."""
        self._switch("blocks")

    def paste(self, text: str) -> bool:
        """Put a text where keys go that are typed; False if that is the composer."""
        used = self.mode == "blocks" and self._app.verbs.finding.paste(text)
        if not used:
            self.leave()
        self._app.redraw()
        return used

    def begin_chord(self) -> None:
        """Ctrl+X: the next key completes it."""
        self._chord_began = self._app.now()
        self._switch("chord")
        self._app.set_timer(CHORD_SECONDS, self._end_chord)

    def leave(self) -> None:
        """No mode; an item that is being edited keeps its editor."""
        self._switch("none")

    def _end_chord(self) -> None:
        if self.mode == "chord" and self._app.now() - self._chord_began >= CHORD_SECONDS * 0.9:
            self.leave()

    def _switch(self, mode: Mode) -> None:
        if self.mode == "blocks" and mode != "blocks":
            self._app.transcript.end_cursor()
            self._app.verbs.finding.end()
        if mode != "strip":
            self.pending.selected = None
        self.mode = mode
        self._app.redraw()

    # -- keys --------------------------------------------------------------------------------

    def key(self, key: str, character: str | None = None) -> bool:
        """Use a key; False if it is not this mode's: the mode is over then.

        `character` is what the key types, None for nothing.
        """
        if self.mode == "none":
            return False
        if self.mode == "blocks" and self._app.verbs.finding.key(key, character):
            self._app.redraw()
            return True
        if key == "escape":
            self.leave()
            return True
        if key == "question_mark" and self.mode != "chord":
            self._app.run_verb("help")
            return True
        keys = {"strip": self._strip_key, "blocks": self._block_key, "chord": self._chord_key}
        used = keys[self.mode](key)
        if not used:
            self.leave()
        self._app.redraw()
        return used

    def _chord_key(self, key: str) -> bool:
        if key != "s":
            return False
        self.leave()
        if self._app.session.is_running:
            self._app.session.stop_after_step()
        else:
            self._app.flash("Nothing is running.")
        return True

    def _strip_key(self, key: str) -> bool:
        pending, on_hold = self.pending, self._app.is_on_hold
        match key:
            case "alt+up" | "alt+down":
                pending.select(-1 if key == "alt+up" else 1)
            case "alt+shift+up" | "alt+shift+down":
                pending.move(-1 if key == "alt+shift+up" else 1)
            case "d":
                pending.delete()
            case "s":
                self._switch_lane()
            case "ctrl+z":
                if not pending.undo():
                    self._app.flash("Nothing to undo.")
            case "e" if on_hold:
                self.all_into_draft()
            case "e":
                self._edit()
            case "x" if on_hold:
                pending.take_all()
            case "ctrl+s":
                self._send_now()
            case _:
                return False
        if not pending.items and not pending.can_undo:
            self.leave()
        return True

    def _switch_lane(self) -> None:
        item = self.pending.current()
        if item is not None and self._app.delivery.is_command(item):
            self._app.flash("A command runs between turns: it stays where it is.")
        else:
            self.pending.switch_lane()

    def _send_now(self) -> None:
        item = self.pending.current()
        self.leave()
        if item is not None:
            self._app.delivery.send_item(item)

    def all_into_draft(self) -> None:
        """Take everything that is pending into the composer, before the present draft."""
        texts = [text_of_item(item) for item in self.pending.items]
        self.pending.take_all()
        self.pending.forget_undo()
        self.leave()
        if texts:
            self._app.prompt.put_back("\n\n".join(texts))

    def _edit(self) -> None:
        if (item := self.pending.begin_edit()) is not None:
            self._edit_began_at_step = self._app.presenter.moment.step
            self._switch("none")
            self._app.strip.open_editor(text_of_item(item))

    def end_edit(self, event: ItemEditor.Done) -> None:
        """Store the edited item, or leave it as it was; text without a home becomes the draft."""
        self._app.strip.close_editor()
        self._edit_began_at_step = None
        if not self.pending.end_edit(event.text) and event.text:
            self._app.prompt.put_back(event.text)
        self._app.prompt.focus()
        self._app.delivery.arrange(None)
        self._app.delivery.settled()
        self._app.redraw()

    def _block_key(self, key: str) -> bool:
        transcript = self._app.transcript
        block = transcript.cursor
        match key:
            case "f6" | "ctrl+up":
                transcript.move_cursor(-1)
            case "ctrl+down":
                transcript.move_cursor(1)
            case "space" if block is not None:
                transcript.toggle(block)
            case "y" if block is not None:
                self._app.verbs.copy_text(block.source())
            case "enter" if block is not None:
                self._app.verbs.on_blocks.view(block)
            case "r" if block is not None and block.can_retry:
                self.leave()
                self._app.run_verb("retry")
            case "m" if block is not None and block.can_retry:
                self.leave()
                self._app.run_verb("model")
            case "r" if block is not None:
                self._app.verbs.on_blocks.toggle_raw(block)
            case "p" if block is not None:
                self._app.verbs.on_context.pin_block(block)
            case "k" if isinstance(block, ToolBlock):
                self._app.verbs.kill_tool(block)
            case "b" if isinstance(block, ToolBlock):
                self._app.verbs.on_jobs.detach(block)
            case "o" if isinstance(block, ToolBlock):
                self._app.verbs.on_blocks.open_file(block)
            case _:
                return False
        return True
