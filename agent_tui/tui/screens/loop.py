"""The loop inspector: a timeline of steps, live and afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agent_tui.core.steps import Step
from agent_tui.tui.figures import clip
from agent_tui.tui.loop_rows import step_rows
from agent_tui.tui.paint import painted_lines
from agent_tui.tui.screens.page import Page

LOOK_SECONDS = 0.25
MOST_SHOWN = 500
"""Older steps are left out."""
HINTS = (
    "↑↓ step · enter details · r the exact request · y copy it · b hold the next call · esc close",
    "enter details · r request · y copy · b hold next · esc close",
    "enter · r · y · b · esc",
)


class LoopScreen(Page[None]):
    """Shows the steps; `act(verb, step)` does what a key asks for: details, request, copy, hold."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f2", "close", "Close"),
        Binding("r", "act('request')", "Request"),
        Binding("y", "act('copy')", "Copy"),
        Binding("b", "act('hold')", "Hold"),
        Binding("j", "move(1)", "Down"),
        Binding("k", "move(-1)", "Up"),
        # Textual's own page keys fail while a line is drawn anew.
        Binding("pageup", "move(-5)", "Page up", priority=True),
        Binding("pagedown", "move(5)", "Page down", priority=True),
    ]

    def __init__(
        self,
        steps: Callable[[], Sequence[Step]],
        now: Callable[[], float],
        act: Callable[[str, Step | None], None],
        news: Callable[[], str],
    ) -> None:
        """`news()` is what the title says beside the number of steps."""
        super().__init__()
        self._steps = steps
        self._now = now
        self._act = act
        self._news = news
        self._shown: list[Step] = []
        self._marked = -1
        """The place of the step that bears the mark."""

    def compose(self) -> ComposeResult:
        """Title, steps, what the keys do."""
        yield Static(id="loop-title")
        yield OptionList(compact=True, id="loop-steps")
        yield Static(id="loop-hint")

    def on_mount(self) -> None:
        """The newest step is highlighted, and stays so while it is the newest."""
        self.query_one(OptionList).focus()
        self.set_interval(LOOK_SECONDS, self._look)
        self._look()

    def on_resize(self) -> None:
        """The lines around are cut to the new width."""
        self._say()

    def on_screen_resume(self) -> None:
        """A page on top was closed."""
        self._look()

    def _look(self) -> None:
        """Take over new steps, and what has changed in the last ones known."""
        if not self.is_current:
            return
        options = self.query_one(OptionList)
        steps = self._steps()[-MOST_SHOWN:]
        if not self._shown or steps[:1] != self._shown[:1]:
            self._fill(options, steps)
        else:
            self._follow(options, steps)
        self._say()

    def _fill(self, options: OptionList, steps: Sequence[Step]) -> None:
        self._shown = [*steps]
        options.clear_options()
        self._marked = len(steps) - 1
        options.add_options([Option(self._drawn(place)) for place in range(len(steps))])
        options.highlighted = self._marked if steps else None

    def _follow(self, options: OptionList, steps: Sequence[Step]) -> None:
        known = len(self._shown)
        was_last = options.highlighted == known - 1
        options.replace_option_prompt_at_index(known - 1, self._drawn(known - 1))
        for place, step in enumerate(steps[known:], start=known):
            self._shown.append(step)
            options.add_option(Option(self._drawn(place)))
        if was_last and len(steps) > known:
            options.highlighted = len(steps) - 1

    def _drawn(self, place: int) -> Content:
        mark = "▸" if place == self._marked else " "
        first, *others = step_rows(self._shown[place], self._now())
        return painted_lines([[(f"{mark} ", ""), *first], *([("  ", ""), *row] for row in others)])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The highlighted step is told by more than its colour."""
        before, self._marked = self._marked, event.option_index
        for place in {before, self._marked}:
            if 0 <= place < len(self._shown):
                event.option_list.replace_option_prompt_at_index(place, self._drawn(place))

    def _say(self) -> None:
        width = max(8, self.app.size.width - 2)
        number = len(self._steps())
        steps = "no steps yet" if not number else f"{number:,} step{'s' * (number > 1)}"
        title = f"Loop · {steps}" + (f" · {news}" if (news := self._news()) else "")
        self.query_one("#loop-title", Static).update(Content(clip(title, width)))
        hint = next((hint for hint in HINTS if len(hint) <= width), HINTS[-1])
        self.query_one("#loop-hint", Static).update(Content(clip(hint, width)))

    @property
    def step(self) -> Step | None:
        """The step that is highlighted."""
        place = self.query_one(OptionList).highlighted
        return self._shown[place] if place is not None and place < len(self._shown) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        event.stop()
        self._act("details", self.step)

    def action_act(self, verb: str) -> None:
        """A key that does something with the step."""
        self._act(verb, self.step)
        self._say()

    def action_move(self, rows: int) -> None:
        """Another step."""
        options = self.query_one(OptionList)
        if self._shown:
            at = options.highlighted or 0
            options.highlighted = max(0, min(len(self._shown) - 1, at + rows))

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
