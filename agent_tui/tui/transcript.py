"""The transcript: one widget that draws a list of blocks, and only what is in view.

Blocks out of view are an estimated height. The view follows the end while it is at the end; else it
stays where it is, whatever arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agent_tui.tui.block import Block
from agent_tui.tui.canvas import Canvas, Line
from agent_tui.tui.layout import Layout
from agent_tui.tui.looks import look_of
from agent_tui.tui.wrap import width_of

_MARGIN = 1
"""Cells left of the text, where the block cursor is drawn."""
_NARROW = 24
"""Cells below which there is no margin."""
_CURSOR = "▌"


class Transcript(ScrollView, can_focus=False):
    """A virtual list of blocks."""

    ALLOW_SELECT = True

    following: reactive[bool] = reactive(True, repaint=False)
    """The view is at the end and stays there."""
    unseen: reactive[bool] = reactive(False, repaint=False)
    """Something has arrived below a view that does not follow."""

    class Changed(Message):
        """`following`, `unseen` or the cursor has changed."""

    class Copied(Message):
        """The person selected text with the mouse and let go; `text` is what was selected."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class LinkOpened(Message):
        """A link was clicked that is safe to open: http(s), or a file below the folder."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    def __init__(self, *blocks: Block, motion: bool = True, **widget: Any) -> None:
        """`motion` False: nothing moves by itself."""
        super().__init__(**widget)
        self._motion = motion
        self._rows = Layout()
        self._cursor: Block | None = None
        self._is_pinning = False
        self._pressed_at: tuple[int, int] | None = None
        self._rows.insert(0, blocks)

    # -- blocks ------------------------------------------------------------------------------

    @property
    def blocks(self) -> Sequence[Block]:
        """Top to bottom."""
        return self._rows.blocks

    def append(self, *blocks: Block) -> None:
        """Add blocks at the end."""
        self._rows.insert(len(self._rows), blocks)
        self._arrange(grown=True)

    def insert(self, blocks: Iterable[Block], *, before: Block) -> None:
        """Add blocks above another one; what is in view stays where it is."""
        index = self._rows.index_of(before)
        if index is not None:
            with_view = self._view_anchor()
            self._rows.insert(index, list(blocks))
            self._arrange(grown=True, anchor=with_view)

    def changed(self, block: Block) -> None:
        """Draw a block again; costs what has changed of it."""
        self.changed_all((block,))

    def changed_all(self, blocks: Sequence[Block]) -> None:
        """Draw several blocks again, in one go."""
        anchor = self._view_anchor()
        grown = False
        for block in blocks:
            index = self._rows.index_of(block)
            if index is not None:
                grown |= self._rows.update(index)
        if grown:
            self._arrange(grown=True, anchor=anchor)

    def discard(self, block: Block) -> None:
        """Take a block out."""
        index = self._rows.index_of(block)
        if index is None:
            return
        if block is self._cursor:
            self.end_cursor()
        anchor = self._view_anchor()
        self._rows.remove(index)
        self._arrange(anchor=anchor)

    def clear(self) -> None:
        """Take all blocks out."""
        self.end_cursor()
        self._rows.clear()
        self.following = True
        self._arrange()

    # -- expanding, cursor, following --------------------------------------------------------

    def toggle(self, block: Block) -> None:
        """Expand or collapse a block; the view stays at the block."""
        index = self._rows.index_of(block)
        if index is None or not block.is_expandable:
            return
        was_at = self._rows.top_of(index) - self.scroll_offset.y
        block.toggle()
        self._rows.update(index)
        if self.following:
            self._arrange()
        else:
            self._scroll_to_row(max(0, self._rows.top_of(index) - max(0, was_at)))
            self._arrange()

    def toggle_all(self) -> None:
        """Expand all that can be expanded, or collapse all if any is expanded."""
        anchor = self._view_anchor()
        able = [block for block in self.blocks if block.is_expandable]
        expand = not any(block.expanded for block in able)
        for index, block in enumerate(self.blocks):
            if block.is_expandable and block.expanded != expand:
                block.toggle()
                self._rows.update(index)
        self._arrange(anchor=anchor)

    @property
    def cursor(self) -> Block | None:
        """The block under the block cursor (F6), None when the mode is off."""
        return self._cursor

    def move_cursor(self, step: int) -> Block | None:
        """Put the block cursor `step` blocks further (the last one, if it was off)."""
        count = len(self._rows)
        if not count:
            return None
        index = None if self._cursor is None else self._rows.index_of(self._cursor)
        index = count - 1 if index is None else max(0, min(count - 1, index + step))
        self._cursor = self._rows.block_at(index)
        self._show_block(index)
        self.refresh()
        self.post_message(self.Changed())
        return self._cursor

    def end_cursor(self) -> None:
        """Leave the block cursor mode."""
        if self._cursor is not None:
            self._cursor = None
            self.refresh()
            self.post_message(self.Changed())

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

    # -- geometry ----------------------------------------------------------------------------

    @property
    def _view_rows(self) -> int:
        return self.scrollable_content_region.height or self.size.height

    def _view_width(self) -> int:
        return self.scrollable_content_region.width or self.size.width

    def on_resize(self) -> None:
        """Another width: everything is wrapped anew, and what was on top stays on top."""
        width = self._view_width()
        if width < 1:
            return
        canvas = self._rows.canvas
        margin = _MARGIN if width >= _NARROW else 0
        if canvas is None or canvas.width != max(1, width - 2 * margin):
            self._redraw_all(max(1, width - 2 * margin))
        else:
            self._arrange()

    def notify_style_update(self) -> None:
        """Another theme."""
        super().notify_style_update()
        if self._rows.canvas is not None:
            self._redraw_all(self._rows.canvas.width)

    def _redraw_all(self, width: int) -> None:
        place = None if self.following else self._rows.place_of(self.scroll_offset.y)
        base, style = look_of(self)
        self._rows.reset(Canvas(width, base, style, self._motion))
        if place is not None:
            self._scroll_to_row(self._rows.top_of(place.block))
        self._arrange()

    def _view_anchor(self) -> tuple[Block, int] | None:
        """The block at the top of a view that does not follow, and how far into it the view is."""
        if self.following:
            return None
        place = self._rows.place_of(self.scroll_offset.y)
        if place is None:
            return None
        block = self._rows.block_at(place.block)
        return block, self.scroll_offset.y - self._rows.top_of(place.block)

    def _arrange(self, *, grown: bool = False, anchor: tuple[Block, int] | None = None) -> None:
        """Make what is in view exact, and put the view where it belongs."""
        layout = self._rows
        if layout.canvas is None:
            return
        rows = self._view_rows
        if self.following:
            layout.settle_end(rows)
            self._set_height(layout.height)
            self._scroll_to_row(max(0, layout.height - rows))
        else:
            top = self.scroll_offset.y
            if anchor is not None and (index := layout.index_of(anchor[0])) is not None:
                top = layout.top_of(index) + anchor[1]
            self._scroll_to_row(top)
            layout.settle_from(top, rows)
            self._set_height(layout.height)
            if grown:
                self.unseen = True
        self.refresh()

    def _set_height(self, height: int) -> None:
        size = Size(self._view_width(), height)
        if size == self.virtual_size:
            return
        if self.show_vertical_scrollbar and height > self._view_rows:
            # Assigning would lay the whole screen out again for a thumb that gets shorter.
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = height
        else:
            self.virtual_size = size

    def _scroll_to_row(self, row: int) -> None:
        self._is_pinning = True
        self.scroll_y = self.scroll_target_y = float(row)
        self._is_pinning = False
        self.vertical_scrollbar.position = row

    def _show_block(self, index: int) -> None:
        top, height = self._rows.top_of(index), self._rows.height_of(index)
        first, rows = self.scroll_offset.y, self._view_rows
        if top < first or height >= rows:
            target = top
        elif top + height > first + rows:
            target = top + height - rows
        else:
            return
        self.following = target >= self._rows.height - rows
        self._scroll_to_row(target)
        self._arrange()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The person scrolled: follow the end from now on, or stay."""
        super().watch_scroll_y(old_value, new_value)
        if self._is_pinning or self._rows.canvas is None:
            return
        self._rows.settle_from(round(new_value), self._view_rows)
        self._set_height(self._rows.height)
        at_end = round(new_value) >= self.max_scroll_y
        if at_end or new_value < old_value:
            self.following = at_end

    # -- painting ----------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One row of the view."""
        row = y + self.scroll_offset.y
        canvas = self._rows.canvas
        line = self._rows.line_at(row) if canvas is not None else None
        if canvas is None or line is None:
            return Strip.blank(self.size.width, self.rich_style)
        strip = self._selected(line, row)
        if canvas.width < self._view_width():
            base = canvas.base.rich_style
            left = Segment(_CURSOR, (canvas.base + canvas.style("cursor")).rich_style)
            if not self._is_cursor_row(row):
                left = Segment(" ", base)
            strip = Strip([left, *strip, Segment(" ", base)], strip.cell_length + 2 * _MARGIN)
        return strip.apply_offsets(0, row)

    def _is_cursor_row(self, row: int) -> bool:
        if self._cursor is None:
            return False
        place = self._rows.place_of(row)
        return place is not None and self._rows.block_at(place.block) is self._cursor

    @property
    def _left(self) -> int:
        canvas = self._rows.canvas
        return _MARGIN if canvas is not None and canvas.width < self._view_width() else 0

    def _span(self, line: Line, start: int, end: int) -> tuple[int, int]:
        """The selected characters of a line, without its decoration; `end` -1 is the line's end."""
        text = line.text
        last = len(text) if end < 0 else min(len(text), end - self._left)
        return max(line.gutter, start - self._left), last

    def _selected(self, line: Line, row: int) -> Strip:
        selection = self.text_selection
        span = None if selection is None else selection.get_span(row)
        if span is None:
            return line.strip
        start, end = self._span(line, *span)
        if end <= start:
            return line.strip
        text = line.strip.text
        left, right = width_of(text[:start]), width_of(text[:end])
        mark = self.screen.get_component_rich_style("screen--selection").bgcolor
        style = RichStyle(bgcolor=mark)
        middle = [
            Segment(piece, (own or RichStyle()) + style)
            for piece, own, _ in line.strip.crop(left, right)
        ]
        whole = line.strip.cell_length
        return Strip.join([line.strip.crop(0, left), Strip(middle), line.strip.crop(right, whole)])

    # -- mouse -------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text behind the selected rows: unwrapped, without bullets and bars."""
        last_row = self._rows.height - 1
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else last_row, last_row)
        parts: list[str] = []
        for row in range(first, last + 1):
            line = self._rows.line_at(row)
            if line is None:
                continue
            start, end = self._span(line, *(selection.get_span(row) or (0, -1)))
            parts += [line.text[start:end], line.joint]
        return "".join(parts).rstrip("\n"), "\n"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where, to tell a click from a drag."""
        self._pressed_at = (event.x, event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """A drag selects, and what is selected is copied."""
        if self._pressed_at != (event.x, event.y):
            self.call_after_refresh(self._offer_selection)

    def _offer_selection(self) -> None:
        text = self.screen.get_selected_text()
        if text:
            self.post_message(self.Copied(text))

    def action_toggle_block(self, block_id: str) -> None:
        """The head of a block was clicked."""
        for block in self.blocks:
            if block.id == block_id:
                self.toggle(block)

    def action_open_link(self, address: str) -> None:
        """A link in a message was clicked."""
        if urlsplit(address).scheme in ("http", "https", "file"):
            self.post_message(self.LinkOpened(address))
