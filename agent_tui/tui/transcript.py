"""The transcript: one widget that draws a list of blocks, and only what is in view.

Blocks out of view are an estimated height. The view follows the end while it is at the end; else it
stays where it is, whatever arrives.

Painting takes two short cuts past Textual, which together halve the cost of a frame: rows are given
to the compositor as the same `Strip` objects again and again, so that its caches work, and growing
does not lay the screen out anew (the size of the content concerns nobody but the scrollbar).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.core.text import printable
from agent_tui.tui.block import Block
from agent_tui.tui.canvas import Canvas, Run
from agent_tui.tui.finding import Hit, Words
from agent_tui.tui.layout import Layout, Place
from agent_tui.tui.links import safe_address
from agent_tui.tui.looks import look_of
from agent_tui.tui.marks import Marks, with_margin
from agent_tui.tui.restyle import with_offsets
from agent_tui.tui.selecting import CopyOnRelease, selected_text, with_selection

_NARROW = 24
"""Cells below which there is no margin."""
_MARGIN = " "
_LOOKS = 5
"""How often the view is moved until a row that was gone to is really in it."""
_THUMB_STEPS = 8
"""The scrollbar is drawn in eighths of a row; less than that does not show."""


class Transcript(CopyOnRelease, ScrollView, can_focus=False):
    """A virtual list of blocks."""

    DEFAULT_CSS: ClassVar[str] = """
    Transcript {
        height: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $foreground 50%;
    }
    """

    following: reactive[bool] = reactive(True, repaint=False)
    """The view is at the end and stays there."""
    unseen: reactive[bool] = reactive(False, repaint=False)
    """Something has arrived below a view that does not follow."""

    class Changed(Message):
        """`following`, `unseen` or the cursor has changed."""

    class LinkOpened(Message):
        """A link was clicked: `address` is http(s), or the `file:` of a file below `folder`."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def __init__(
        self, *blocks: Block, motion: bool = True, wraps: bool = True, **widget: Any
    ) -> None:
        """`motion` False: nothing moves by itself. `wraps` False: see `Canvas.wraps`."""
        super().__init__(**widget)
        self.folder: Path | None = None
        """Links to files are opened below this folder only; None: not at all."""
        self.wraps = wraps
        self._motion = motion
        self._layout = Layout()
        self._layout.insert(0, blocks)
        self._look: Hashable = None
        self._cursor: Block | None = None
        self._marks = Marks(self._layout)
        self._shown: dict[int, Strip] = {}
        """What each row of the view was asked to show last. Not what `render_lines` gave: Textual
        also renders rows that lie between those it paints."""
        self._arranged_height = 0
        self._thumb: tuple[int, int] = (0, 0)

    # -- blocks ------------------------------------------------------------------------------

    @property
    def blocks(self) -> Sequence[Block]:
        """Top to bottom."""
        return self._layout.blocks

    def append(self, *blocks: Block) -> None:
        """Add blocks at the end."""
        self._layout.insert(len(self._layout), blocks)
        self._arrange(self._anchor(), has_grown=True)

    def add(self, *blocks: Block) -> None:
        """Add blocks at the end, to be drawn with the next `changed_all`: the pacer's way."""
        self._layout.insert(len(self._layout), blocks)

    def insert(self, blocks: Iterable[Block], *, before: Block) -> None:
        """Add blocks above another one; what is in view stays where it is."""
        index = self._layout.index_of(before)
        if index is not None:
            anchor = self._anchor()
            self._layout.insert(index, list(blocks))
            self._arrange(anchor, has_grown=True)

    def changed(self, block: Block) -> None:
        """Draw a block again; costs what has changed of it."""
        self.changed_all((block,))

    def changed_all(self, blocks: Sequence[Block]) -> None:
        """Draw several blocks again, in one go."""
        if not self.is_attached:  # the screen is gone, a timer is late
            return
        anchor = self._anchor()
        for block in blocks:
            index = self._layout.index_of(block)
            if index is not None:
                self._layout.update(index)
                self._marks.changed(block)
        self._arrange(anchor, has_grown=self._layout.height > self._arranged_height)

    def discard(self, block: Block) -> None:
        """Take a block out."""
        index = self._layout.index_of(block)
        if index is None:
            return
        if block is self._cursor:
            self.end_cursor()
        anchor = self._anchor()
        self._layout.remove(index)
        self._arrange(anchor)

    def clear(self) -> None:
        """Take all blocks out."""
        self.end_cursor()
        self._layout.clear()
        self.following = True
        self._arrange()

    # -- expanding, cursor, following --------------------------------------------------------

    def toggle(self, block: Block) -> None:
        """Expand or collapse a block; its first row stays where it is."""
        if block.is_expandable:
            self._change(block, block.toggle)

    def toggle_raw(self, block: Block) -> None:
        """Show a block as it was written, or as it is meant; its first row stays where it is."""
        if block.has_markup:
            self._change(block, lambda: block.show_raw(not block.is_raw))

    def _change(self, block: Block, act: Callable[[], None]) -> None:
        index = self._layout.index_of(block)
        if index is None:
            return
        above = self._layout.top_of(index) - self.scroll_offset.y
        act()
        self._layout.update(index)
        self._marks.locate()
        if not self.following or above < 0:
            self._place(max(0, self._layout.top_of(index) - max(0, above)))
        self._arrange()

    def toggle_all(self) -> None:
        """Expand all that can be expanded, or collapse all if any is expanded."""
        anchor = self._anchor()
        able = [block for block in self.blocks if block.is_expandable]
        expand = not any(block.expanded for block in able)
        for block in able:
            if block.expanded != expand:
                block.toggle()
                index = self._layout.index_of(block)
                assert index is not None, "able is a part of our blocks"
                self._layout.update(index)
        self._arrange(anchor)

    @property
    def cursor(self) -> Block | None:
        """The block under the block cursor (F6), None when the mode is off."""
        return self._cursor

    def move_cursor(self, step: int) -> Block | None:
        """Put the block cursor `step` blocks further (the last one, if it was off)."""
        count = len(self._layout)
        if not count:
            return None
        index = None if self._cursor is None else self._layout.index_of(self._cursor)
        here = count if index is None else index
        index = count - 1 if index is None else max(0, min(count - 1, index + step))
        direction = 1 if index > here else -1
        while 0 <= index < count and not self._layout.height_of(index):
            index += direction  # a panel that another one stands for
        if not 0 <= index < count:
            return self._cursor
        self._cursor = self._layout.block_at(index)
        self._bring_into_view(index)
        self.post_message(self.Changed())
        return self._cursor

    def end_cursor(self) -> None:
        """Leave the block cursor mode."""
        if self._cursor is not None:
            self._cursor = None
            self._repaint()
            self.post_message(self.Changed())

    # -- what was searched for ---------------------------------------------------------------

    def find(self, words: Words | None) -> None:
        """Show these words in reverse video wherever they are; None ends that."""
        self._marks.find(words)
        self._repaint()

    def show_hit(self, hit: Hit, places: int) -> bool:
        """Put the block cursor and the view on one of the `places` in the source of a block.

        Opens a block that hides it. False if it cannot be seen in the transcript even so.
        """
        index = self._layout.index_of(hit.block)
        if index is None:
            return False
        row = self._marks.aim(hit, places)
        if row is None and hit.block.is_expandable and not hit.block.expanded:
            hit.block.toggle()
            self._layout.update(index)
            row = self._marks.aim(hit, places)
        self._cursor = hit.block
        if row is None:
            self._bring_into_view(index)
        else:
            self._bring_hit_into_view(index, row)
        self.post_message(self.Changed())
        return row is not None

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self._arrange()

    def watch_following(self, following: bool) -> None:
        """Nothing is unseen at the end."""
        if following:
            self.unseen = False
        self.post_message(self.Changed())

    def watch_unseen(self) -> None:
        """Somebody shows that there is more below."""
        self.post_message(self.Changed())

    # -- where things are --------------------------------------------------------------------

    @property
    def _view(self) -> Size:
        return self.scrollable_content_region.size or self.size

    def on_resize(self) -> None:
        """Another size: everything is wrapped anew, and what was on top stays on top."""
        canvas = self._layout.canvas
        if self._view.width < 1:
            return
        if canvas is None or canvas.width != self._view.width:
            self._draw_anew()
        else:
            self._arrange(self._anchor())

    def notify_style_update(self) -> None:
        """Another theme; other reasons, such as the focus, change nothing here."""
        super().notify_style_update()
        if self._layout.canvas is not None and look_of(self).key != self._look:
            self._draw_anew()

    def _draw_anew(self) -> None:
        spot = None if self.following else self._layout.spot_at(self.scroll_offset.y)
        width = self._view.width
        look = look_of(self)
        self._look = look.key
        margin = (Run(_MARGIN),) if width >= _NARROW else ()
        canvas = Canvas(width, look.base, look.style, self._motion, self.wraps, margin, len(margin))
        self._layout.reset(canvas)
        self._marks.locate()
        self._arrange(None if spot is None else self._layout.place_of_spot(spot))

    def _anchor(self) -> Place | None:
        """What is at the top of a view that does not follow."""
        return None if self.following else self._layout.place_of(self.scroll_offset.y)

    def _arrange(self, anchor: Place | None = None, *, has_grown: bool = False) -> None:
        """Make what is in view exact and put the view where it belongs: the end, or `anchor`."""
        layout = self._layout
        if layout.canvas is None:
            return
        rows = self._view.height
        if self.following:
            layout.settle_end(rows)
            self._place(layout.height - rows)
        else:
            top = None if anchor is None else layout.row_of(anchor)
            top = self.scroll_offset.y if top is None else top
            layout.settle_from(top, rows)
            self._place(top)
            if has_grown:
                self.unseen = True
        self._arranged_height = layout.height
        self._repaint()

    @property
    def first_in_view(self) -> Block | None:
        """The first block that begins in the view or below it; None if none does."""
        place = self._layout.place_of(self.scroll_offset.y)
        if place is None or place.offset <= 0:
            return None if place is None else place.block
        index = self._layout.index_of(place.block)
        below = 0 if index is None else index + 1
        return self._layout.block_at(below) if below < len(self._layout) else None

    def _place(self, top: int) -> None:
        """Set the size of the content and the first row in view, without a layout of the screen."""
        height, rows = self._layout.height, self._view.height
        top = max(0, min(top, height - rows))
        self.set_reactive(Widget.virtual_size, Size(self._view.width, height))
        self.set_reactive(Widget.scroll_target_y, float(top))
        self.set_reactive(Widget.scroll_y, float(top))
        self._move_thumb(top, height, rows)

    def _move_thumb(self, top: int, height: int, rows: int) -> None:
        steps = _THUMB_STEPS * rows
        thumb = (steps * top // max(1, height), steps * rows // max(1, height))
        if thumb != self._thumb:
            self._thumb = thumb
            bar = self.vertical_scrollbar
            bar.window_virtual_size, bar.window_size, bar.position = height, rows, top

    def _bring_into_view(self, index: int) -> None:
        top, height = self._layout.top_of(index), self._layout.height_of(index)
        first, rows = self.scroll_offset.y, self._view.height
        if top < first or height >= rows:
            first = top
        elif top + height > first + rows:
            first = top + height - rows
        self._look_from(first)

    def _bring_hit_into_view(self, index: int, row: int | None) -> None:
        """A third of the view stays above what was gone to, unless it is in view already."""
        rows = self._view.height
        for _ in range(_LOOKS):
            # What is drawn on the way may be higher or lower than it was guessed to be.
            first = self.scroll_offset.y
            top = self._layout.top_of(index) + (row or 0)
            is_in_view = first <= top < first + rows
            self._look_from(first if is_in_view else max(0, top - rows // 3))
            if is_in_view:
                break
            row = self._marks.locate()

    def _look_from(self, first: int) -> None:
        self.following = first >= self._layout.height - self._view.height
        self._place(first)
        self._arrange()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The person scrolled: follow the end from now on, or stay."""
        if self._layout.canvas is None:
            return
        top = round(new_value)
        # What was added and is not arranged yet cannot have been scrolled past.
        known = min(self._layout.height, self._arranged_height)
        at_end = top >= known - self._view.height
        if at_end or new_value < old_value:
            self.following = at_end
        self._arrange(self._layout.place_of(top))

    # -- painting ----------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of the view, in the colours that the terminal can show."""
        filters = self.get_line_filters()
        background = self.background_colors[1]
        strips: list[Strip] = []
        for strip in self._rows(crop.line_range):
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One row of the view; each character knows its place, for selecting with the mouse."""
        (strip,) = self._rows(range(y, y + 1))
        return with_offsets(strip, 0, y + self.scroll_offset.y)

    def _repaint(self) -> None:
        """Paint the rows of the view that look different from what they showed last."""
        view = range(self.size.height)
        rows = dict(zip(view, self._rows(view), strict=True))
        changed = [y for y, strip in rows.items() if strip != self._shown.get(y)]
        self._shown = rows
        if len(changed) * 2 > len(view):
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _rows(self, view: Iterable[int]) -> Iterator[Strip]:
        """What some rows of the view show."""
        top = self.scroll_offset.y
        canvas = self._layout.canvas
        selection = self.text_selection
        blank = Strip.blank(self._view.width, self.rich_style)
        for y in view:
            _, lines, within = self._layout.piece_at(top + y)
            if canvas is None or within >= len(lines):
                yield blank
                continue
            line = lines[within]
            strip = line.strip
            if self._marks.words is not None:
                strip = self._marks.on(strip, lines, within)
            if selection is not None and (span := selection.get_span(top + y)) is not None:
                colour = self.screen.get_component_rich_style("screen--selection").bgcolor
                strip = with_selection(line, span, colour)
            if self._cursor is not None and (mark := self._marks.at(top + y, self._cursor)):
                strip = with_margin(strip, canvas, mark)
            yield strip

    # -- mouse -------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text behind the selected rows: unwrapped, without bullets and bars."""
        return selected_text(self._layout, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint what is selected."""
        self._repaint()

    def action_toggle_block(self, block_id: str) -> None:
        """The head of a block was clicked."""
        block = self._layout.find(block_id)
        if block is not None:
            self.toggle(block)

    def action_open_link(self, address: str) -> None:
        """A link in a message was clicked."""
        safe = safe_address(address, self.folder)
        if safe is not None:
            self.post_message(self.LinkOpened(safe))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show where a link leads before it is clicked."""
        address = event.style.meta.get("address")
        self.tooltip = Content(printable(address)) if isinstance(address, str) else None
