"""Where every row is: exact where it has been looked at, guessed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.tui.block import Block, Piece
from agent_tui.tui.canvas import Canvas, Line, Run, plain_canvas
from agent_tui.tui.layout import KEEP_ROWS, Layout, Place


class Part:
    """A piece of some rows, whose height is guessed wrongly."""

    def __init__(self, name: str, height: int) -> None:
        self.version = 0
        self.name = name
        self.height = height
        self.drawn = 0

    def lines(self, canvas: Canvas) -> list[Line]:
        self.drawn += 1
        return [canvas.row([Run(f"{self.name}.{n}")]) for n in range(self.height)]

    def estimate(self, width: int) -> int:
        return 3


class Parts(Block):
    """A block of several pieces."""

    def __init__(self, name: str, *heights: int) -> None:
        super().__init__()
        self.parts = [Part(f"{name}{n}", height) for n, height in enumerate(heights)]

    def pieces(self) -> Sequence[Piece]:
        return self.parts


def layout_of(*blocks: Block) -> Layout:
    layout = Layout()
    layout.reset(plain_canvas(20))
    layout.insert(0, blocks)
    return layout


def view(layout: Layout, top: int, rows: int) -> list[str | None]:
    lines = [layout.line_at(row) for row in range(top, top + rows)]
    return [None if line is None else line.text for line in lines]


def test_blocks_stand_apart_by_one_row() -> None:
    layout = layout_of(Parts("a", 1), Parts("b", 2))

    layout.settle_from(0, 10)

    assert view(layout, 0, 6) == [None, "a0.0", None, "b0.0", "b0.1", None]
    assert layout.height == 5


def test_a_block_without_rows_takes_no_room() -> None:
    layout = layout_of(Parts("a", 1), Parts("b", 0), Parts("c", 1))

    layout.settle_from(0, 10)

    assert view(layout, 0, 5) == [None, "a0.0", None, "c0.0", None]


def test_the_end_is_exact_after_it_was_settled() -> None:
    blocks = [Parts(str(n), n % 5 + 1) for n in range(200)]
    layout = layout_of(*blocks)

    layout.settle_end(10)

    assert view(layout, layout.height - 8, 8) == [
        "1980.2", "1980.3", None, "1990.0", "1990.1", "1990.2", "1990.3", "1990.4",
    ]  # fmt: skip
    assert sum(part.drawn for block in blocks for part in block.parts) < 10


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=30), st.data())
def test_settling_never_moves_the_row_it_begins_with(
    heights: list[list[int]], data: st.DataObject
) -> None:
    layout = layout_of(*(Parts(f"{n}-", *rows) for n, rows in enumerate(heights)))
    top = data.draw(st.integers(0, max(0, layout.height - 1)))
    place = layout.place_of(top)

    layout.settle_from(top, 12)
    first = view(layout, top, 12)
    layout.settle_from(top, 12)

    assert view(layout, top, 12) == first
    assert place is None or layout.row_of(place) in (top, top + 1, top - 1)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=20))
def test_settled_from_the_top_all_rows_are_there_in_order(heights: list[list[int]]) -> None:
    layout = layout_of(*(Parts(f"{n}-", *rows) for n, rows in enumerate(heights)))
    expected = [
        f"{n}-{part}.{row}"
        for n, rows in enumerate(heights)
        for part, height in enumerate(rows)
        for row in range(height)
    ]

    layout.settle_from(0, 10_000)

    assert [text for text in view(layout, 0, layout.height) if text] == expected
    assert layout.height == len(expected) + sum(1 for rows in heights if sum(rows))


def test_only_pieces_that_changed_are_drawn_again() -> None:
    block = Parts("a", 2, 2, 2)
    layout = layout_of(block)
    layout.settle_from(0, 20)
    view(layout, 0, 8)

    block.parts[2].height = 4
    block.parts[2].version += 1
    layout.update(0)
    layout.settle_from(0, 20)

    assert [part.drawn for part in block.parts] == [1, 1, 2]
    assert view(layout, 5, 4) == ["a2.0", "a2.1", "a2.2", "a2.3"]


def test_a_place_is_found_again_after_blocks_came_and_went() -> None:
    blocks = [Parts(str(n), 2) for n in range(5)]
    layout = layout_of(*blocks)
    layout.settle_from(0, 100)

    layout.insert(1, [Parts("x", 7)])
    layout.remove(0)
    layout.settle_from(0, 100)

    row = layout.row_of(Place(blocks[3], 1))
    assert row is not None
    assert view(layout, row, 1) == ["30.1"]
    assert layout.row_of(Place(blocks[0], 0)) is None
    assert layout.find(blocks[3].id) is blocks[3]


def test_drawn_rows_are_forgotten_when_there_are_too_many() -> None:
    blocks = [Parts(str(n), 100) for n in range(KEEP_ROWS // 100 * 3)]
    layout = layout_of(*blocks)
    layout.settle_from(0, 1_000_000)

    view(layout, 0, 50)

    assert blocks[0].parts[0].drawn == 2
    assert blocks[-1].parts[0].drawn == 1


def test_another_canvas_draws_everything_anew() -> None:
    block = Parts("a", 1)
    layout = layout_of(block)
    layout.settle_from(0, 5)

    layout.reset(plain_canvas(10))
    layout.settle_from(0, 5)

    line = layout.line_at(1)
    assert line is not None
    assert line.strip.cell_length == 10
