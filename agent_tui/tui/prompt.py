"""The composer: a multi-line editor that gives its text away only when a person says so.

It knows no session and no engine. What is sent leaves as a message, and in the same instant the
text is gone from the editor, so that it is never in two places.

Every key is acted on in the composer's own queue, in the order of typing; Textual's bindings would
run in the app's, and a fast Enter would overtake the letters before it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from textual import events, work
from textual.actions import SkipAction
from textual.message import Message
from textual.widgets import TextArea

from agent_tui.tui.complete import Completion
from agent_tui.tui.drafts import Draft, Search, Walk
from agent_tui.tui.editor import EditorError, edit
from agent_tui.tui.history import History
from agent_tui.tui.keys import COMPOSER_KEYS
from agent_tui.tui.paste import clean
from agent_tui.tui.text_editor import TextEditor, typed
from agent_tui.tui.vim import Vim

Lane = Literal["enter", "follow_up", "now"]
"""Which key sent the text: Enter, Alt+Enter or Tab, Ctrl+S or Ctrl+Enter."""

Completions = Callable[[str, int], Awaitable[Sequence[Completion]]]
"""The whole text and the cursor's offset in it → what could stand there, best first."""

_FILE_WORD = re.compile(r'(?:^|\s)@(?:"[^"]*|\S*)\Z')


class Prompt(TextEditor):
    """The composer. It posts the messages below; the app sets `turn_running` and `completions`."""

    DEFAULT_CSS = """
    Prompt { min-height: 1; max-height: 33.4vh; scrollbar-size-vertical: 1; }
    """

    @dataclass
    class Submitted(Message):
        """A person sent something. The editor is empty already; `put_back` undoes that.

        `text` is complete (pastes expanded). Enter on an empty editor sends "" in the lane "enter";
        the other lanes never send "".
        """

        prompt: Prompt
        text: str
        lane: Lane

    @dataclass
    class QuitRequested(Message):
        """Ctrl+D on the empty editor."""

        prompt: Prompt

    @dataclass
    class VimChanged(Message):
        """A key in NORMAL: the mode, or what of a command is typed, may be another."""

        prompt: Prompt

    @dataclass
    class PasteRequested(Message):
        """The key for it, with nothing copied here: the desktop may have a picture."""

        prompt: Prompt

    @dataclass
    class HelpRequested(Message):
        """`?` on the empty editor."""

        prompt: Prompt

    @dataclass
    class StashChanged(Message):
        """A draft was put on or taken from the stash; `count` is how many lie there now."""

        prompt: Prompt
        count: int

    @dataclass
    class MenuChanged(Message):
        """The completion menu opened, moved or closed (`items` empty); `index` -1 chooses none."""

        prompt: Prompt
        items: Sequence[Completion]
        index: int

    @dataclass
    class SearchChanged(Message):
        """The history search began, changed or ended (`query` None); `found` tells of a hit."""

        prompt: Prompt
        query: str | None
        found: bool

    @dataclass
    class Notice(Message):
        """One sentence for the person, such as why the external editor could not be started."""

        prompt: Prompt
        text: str

    turn_running: bool = False
    """Set by the app. While true Ctrl+S sends in the lane "now", else it stashes or unstashes."""

    vim: Vim | None = None
    """Vim's keys, if they are wanted."""

    completions: Completions | None = None
    """What fills the menu; asked beside the key path, after `/` at the start or `@` at a word."""

    def __init__(
        self, *, history: History | None = None, id: str | None = None, placeholder: str = ""
    ) -> None:
        self._menu: Sequence[Completion] = ()
        self._menu_index = -1
        self._menu_place = (-1, -1)
        self._menu_closed_at = -1
        super().__init__(id=id, placeholder=placeholder)
        self.recall = history if history is not None else History()
        """The sent messages of this project."""
        self._walk: Walk | None = None
        self._search: Search | None = None
        self._stash: list[Draft] = []
        self._last_sent: tuple[str, Draft] | None = None

    @property
    def is_blank(self) -> bool:
        """True when there is nothing but white space."""
        return not self.text.strip()

    @property
    def menu_open(self) -> bool:
        """True while the completion menu is shown: Esc closes it, Enter and Tab take its entry."""
        return bool(self._menu)

    @property
    def searching(self) -> bool:
        """True during a history search: Esc ends it and brings the draft back."""
        return self._search is not None

    @property
    def stashed(self) -> Sequence[str]:
        """The complete texts on the stash, newest last."""
        return [draft.expanded for draft in self._stash]

    def set_text(self, text: str) -> None:
        """Replace everything by `text`, cleaned, the cursor at its end; undo forgets."""
        if self._search is not None:
            self._accept_hit(self._search)
        self._set_menu(())
        self.show(Draft.of(clean(text)))

    def put_back(self, text: str) -> None:
        """Put a sent text in front of what has been typed since, as if it had not been sent."""
        newer = self.expanded_text
        sent, draft = self._last_sent or ("", None)
        if draft is not None and sent == text and not newer:
            self.show(draft)
        else:
            self.set_text(f"{text}\n{newer}" if newer else text)

    def clear_text(self) -> None:
        """Empty the editor; undo forgets. A draft left behind in the history comes back."""
        if self._search is not None:
            self._accept_hit(self._search)
        self._set_menu(())
        waiting = self._walk.draft if self._walk is not None else None
        self._walk = None
        self.show(waiting or Draft())

    def stash_all(self, texts: Iterable[str]) -> None:
        """Put texts of an earlier time on the stash, the newest last."""
        self._stash += map(Draft.of, texts)
        self.post_message(self.StashChanged(self, len(self._stash)))

    def stash(self) -> bool:
        """Move the draft to the stash; false when there is none."""
        if self.is_blank:
            return False
        self._stash.append(self.draft)
        self.clear_text()
        self.post_message(self.StashChanged(self, len(self._stash)))
        return True

    def unstash(self) -> bool:
        """Bring the newest stashed draft back before the present text; false when there is none."""
        if not self._stash:
            return False
        draft = self._stash.pop()
        if self.is_blank:
            self.show(draft)
        else:
            self.set_text(f"{draft.expanded}\n{self.expanded_text}")
        self.post_message(self.StashChanged(self, len(self._stash)))
        return True

    def close_popup(self) -> bool:
        """Close the menu or end the search (what Esc does first); false when nothing was open."""
        if self._search is not None:
            self._end_search(self._search.draft)
            return True
        if self._menu:
            self._menu_closed_at = self._menu[0].start
            self._set_menu(())
            return True
        return self.vim is not None and self.vim.leave_insert()

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """Act on a key at once; what is not for the composer goes on to the app."""
        event.prevent_default()
        if (self._search is not None and self._search_key(self._search, event)) or (
            self.vim is not None and self._vim_key(self.vim, event)
        ):
            event.stop()
        elif (action := COMPOSER_KEYS.get(event.key)) is not None:
            if await self.app.run_action(action, self):
                event.stop()
        elif (character := typed(event)) is not None:
            event.stop()
            if character == "?" and not self.text:
                self.post_message(self.HelpRequested(self))
            else:
                self.type(character)

    def _vim_key(self, vim: Vim, event: events.Key) -> bool:
        effect = vim.press(event.key, typed(event), self.text, self.cursor_offset)
        if effect is None:
            return False
        if effect.is_edit:
            places = self.location_of(effect.start), self.location_of(effect.end)
            self.replace(effect.text, *places, maintain_selection_offset=False)
        if effect.cursor is not None:
            self.move_cursor(self.location_of(effect.cursor))
        if effect.action:
            getattr(self, f"action_{effect.action}")()
        self.post_message(self.VimChanged(self))
        return True

    def action_enter(self) -> None:
        """Take the chosen entry of the menu, or begin a line after a backslash, or send."""
        row, column = self.cursor_location
        before = self.document[row][:column]
        chosen = self._chosen
        if chosen is not None and not self._is_typed_out(chosen):
            self._take(chosen)
            if chosen.sends:
                self._send("enter")
        elif (len(before) - len(before.rstrip("\\"))) % 2:
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
        else:
            self._send("enter")

    def action_follow_up(self) -> None:
        """Send after the running turn."""
        self._send("follow_up")

    def action_tab(self) -> None:
        """Take the chosen entry of the menu, or send after the running turn."""
        if self._menu:
            self._take(self._chosen or self._menu[0])
        else:
            self._send("follow_up")

    def action_now(self) -> None:
        """Send before all else while a turn runs; otherwise move the draft to the stash or back."""
        if self.turn_running:
            if self.is_blank:
                raise SkipAction
            self._send("now")
        elif not (self.stash() or self.unstash()):
            raise SkipAction

    def action_newline(self) -> None:
        """Begin a new line."""
        self.type("\n")

    def action_paste(self) -> None:
        """Insert what was copied in this program; else the app may know of a picture."""
        if self.app.clipboard:
            super().action_paste()
        else:
            self.post_message(self.PasteRequested(self))

    def action_delete_or_quit(self) -> None:
        """Delete to the right; on the empty editor ask to quit."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.QuitRequested(self))

    def action_close_popup(self) -> None:
        """Close what is open; with nothing open the key is the app's."""
        if not self.close_popup():
            raise SkipAction

    def action_edit_externally(self) -> None:
        """Edit the draft in `$VISUAL` or `$EDITOR`; returns at once, the text is set at its end."""
        self.run_worker(self._edit_externally(), group="editor", exclusive=True)

    async def _edit_externally(self) -> None:
        before = self.expanded_text
        try:
            text = await edit(self.app, before, os.environ)
        except EditorError as error:
            self.post_message(self.Notice(self, str(error)))
            return
        if text != before:
            self.set_text(text)

    def _send(self, lane: Lane) -> None:
        text, draft = self.expanded_text, self.draft
        if not text.strip():
            if lane == "enter":
                self.post_message(self.Submitted(self, "", lane))
            return
        self.recall.add(text)
        self._last_sent = (text, draft)
        self.clear_text()
        if self.vim is not None:
            self.vim.begin()
        self.post_message(self.Submitted(self, text, lane))

    # History

    def action_cursor_up(self, select: bool = False) -> None:
        """One line up; from the first one to the previous sent message."""
        if self._menu:
            self._choose(-1)
        elif not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_older()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """One line down; from the last one to the next sent message."""
        if self._menu:
            self._choose(1)
        elif not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_newer()
        else:
            super().action_cursor_down(select)

    def action_older(self) -> None:
        """The previous sent message; the draft is kept."""
        if self._walk is None:
            self._walk = Walk(self.recall.entries)
        if (draft := self._walk.move(-1, self.draft)) is not None:
            self.show(draft)
            self.move_cursor((0, len(self.document[0])))

    def action_newer(self) -> None:
        """The next sent message, and after the newest the draft."""
        if self._walk is not None and (draft := self._walk.move(1, self.draft)) is not None:
            self.show(draft)
            if self._walk.draft is not None:
                self.move_cursor(self.document.end)

    def action_search(self) -> None:
        """Begin to search the sent messages; what is typed next is what is looked for."""
        self._set_menu(())
        self._search = Search(self.draft)
        self.post_message(self.SearchChanged(self, "", found=False))

    def _search_key(self, search: Search, event: events.Key) -> bool:
        """What a key does during a search; false when it ends the search and acts as usual."""
        if event.key in ("escape", "ctrl+c", "ctrl+g"):
            self._end_search(search.draft)
            return True
        if event.key in ("enter", "tab"):
            self._accept_hit(search)
            return True
        if event.key in ("ctrl+r", "up"):
            search.move(1) if search.query else self._search_for(search, "")
        elif event.key in ("ctrl+s", "down"):
            search.move(-1)
        elif event.key in ("backspace", "ctrl+h"):
            self._search_for(search, search.query[:-1])
        elif (character := typed(event)) is not None:
            self._search_for(search, search.query + character)
        else:
            self._accept_hit(search)
            return False
        self._show_hit(search)
        return True

    def _search_for(self, search: Search, query: str) -> None:
        search.narrow(query, self.recall.search(query))

    def _show_hit(self, search: Search) -> None:
        hit = search.hit
        self.show(search.draft if hit is None else Draft.of(hit))
        self.post_message(self.SearchChanged(self, search.query, found=hit is not None))

    def _accept_hit(self, search: Search) -> None:
        """Go on editing the hit; the draft lies below it in the history."""
        if (hit := search.hit) is None:
            self._end_search(search.draft)
            return
        self._end_search(Draft.of(hit))
        self._walk = Walk(self.recall.entries)
        self._walk.jump(hit, search.draft)

    def _end_search(self, draft: Draft) -> None:
        self._search = None
        self.show(draft)
        self.post_message(self.SearchChanged(self, None, found=False))

    # The menu

    @property
    def _chosen(self) -> Completion | None:
        # Keys that arrive in one burst come before the menu has followed the text.
        if self._menu_place != (len(self.text), self.cursor_offset):
            return None
        return self._menu[self._menu_index] if 0 <= self._menu_index < len(self._menu) else None

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Ask what could be completed, if the word at the cursor is of that kind."""
        self.call_after_refresh(self.scroll_cursor_visible)  # the editor may have grown since
        typed_text = self.text[: self.cursor_offset]
        is_command = typed_text.startswith("/") and "\n" not in typed_text
        last_line = typed_text.rpartition("\n")[2]
        if self.completions is None or self._search is not None:
            return
        if is_command or _FILE_WORD.search(last_line):
            self._ask(self.completions, self.text, self.cursor_offset)
        else:
            self._menu_closed_at = -1
            self._set_menu(())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Close the menu when the cursor leaves the place for which it was filled."""
        if self._menu and self._menu_place != (len(self.text), self.cursor_offset):
            self._set_menu(())

    @work(group="completions", exclusive=True, exit_on_error=False)
    async def _ask(self, completions: Completions, text: str, cursor: int) -> None:
        # The hook is foreign code; without an answer there is no menu.
        try:
            items = await completions(text, cursor)
        except Exception:
            items = ()
        if (self.text, self.cursor_offset) != (text, cursor):
            return
        self._menu_place = (len(text), cursor)
        is_closed = bool(items) and items[0].start == self._menu_closed_at
        self._set_menu(() if is_closed else items)

    def _set_menu(self, items: Sequence[Completion]) -> None:
        """Show `items`; the first is chosen once something of it has been typed."""
        if not items and not self._menu:
            return
        self._menu = items
        self._menu_index = 0 if items and items[0].end > items[0].start else -1
        self.post_message(self.MenuChanged(self, items, self._menu_index))

    def _choose(self, step: int) -> None:
        self._menu_index = (max(self._menu_index, -1 if step > 0 else 0) + step) % len(self._menu)
        self.post_message(self.MenuChanged(self, self._menu, self._menu_index))

    def _is_typed_out(self, item: Completion) -> bool:
        return self.text[item.start : item.end] == item.insert.strip()

    def _take(self, item: Completion) -> None:
        """Put `item` in the place of what was typed of it."""
        self._set_menu(())
        start, end = (self._location_of(offset) for offset in (item.start, item.end))
        self.replace(item.insert, start, end, maintain_selection_offset=False)

    def _location_of(self, offset: int) -> tuple[int, int]:
        above = self.text[:offset]
        return above.count("\n"), offset - (above.rfind("\n") + 1)
