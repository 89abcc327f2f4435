"""The list of blocks on the screen: what is in view, what follows, what stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agent_tui.tui import themes
from agent_tui.tui.blocks import (
    AssistantBlock,
    Block,
    NoticeBlock,
    SummaryBlock,
    ThoughtBlock,
    ToolBlock,
    UserBlock,
)
from agent_tui.tui.canvas import Canvas, Line, Run
from agent_tui.tui.selecting import Copied
from agent_tui.tui.transcript import Transcript
from tests.tui.drawing import case


class Stage(App[None]):
    """Nothing but a transcript; remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()
        self.copied: list[str] = []
        self.opened: list[str] = []
        self.paints = 0

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        themes.install(self, [], None)

    def post_display_hook(self) -> None:
        self.paints += 1

    def on_copied(self, event: Copied) -> None:
        self.copied.append(event.text)

    def on_transcript_link_opened(self, event: Transcript.LinkOpened) -> None:
        self.opened.append(event.address)

    @property
    def screen_rows(self) -> list[str]:
        transcript = self.transcript
        return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]

    @property
    def filled(self) -> list[str]:
        return [row for row in self.screen_rows if row]


@asynccontextmanager
async def stage(
    *blocks: Block, size: tuple[int, int] = (60, 12)
) -> AsyncIterator[tuple[Stage, Transcript, Pilot[None]]]:
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.transcript.append(*blocks)
        await pilot.pause()
        yield app, app.transcript, pilot


def answer(text: str = "") -> AssistantBlock:
    block = AssistantBlock()
    block.append(text)
    return block


def said(count: int, first: int = 0) -> list[Block]:
    return [NoticeBlock(f"line {n}") for n in range(first, first + count)]


def finished_tool(lines: int = 30) -> ToolBlock:
    block = ToolBlock("call", "bash", "make")
    block.start(0.0)
    block.finish("ok", text="\n".join(f"out {n}" for n in range(lines)), now=1.0)
    return block


class Probe(Block):
    """Counts how often it is drawn."""

    drawn = 0

    def lines(self, canvas: Canvas) -> list[Line]:
        Probe.drawn += 1
        return canvas.lines([Run("probe")])

    def estimate(self, width: int) -> int:
        return 1


# -- following --------------------------------------------------------------------------------


async def test_the_view_follows_while_it_is_at_the_end() -> None:
    block = answer()
    async with stage(block) as (app, transcript, pilot):
        for n in range(40):
            block.append(f"paragraph {n}\n\n")
            transcript.changed(block)
            await pilot.pause()

        assert app.filled[-1] == "   paragraph 39"
        assert transcript.following
        assert not transcript.unseen


def _text(transcript: Transcript, block: AssistantBlock, n: int) -> None:
    block.append(f"\n\nmore text {n}")
    transcript.changed(block)


def _thought(transcript: Transcript, block: AssistantBlock, n: int) -> None:
    thought = ThoughtBlock()
    thought.append(f"thought {n}")
    transcript.append(thought)


def _tool(transcript: Transcript, block: AssistantBlock, n: int) -> None:
    tool = ToolBlock("id", "bash", "make")
    transcript.append(tool)
    tool.start(0.0)
    tool.update("a\nb\nc\n" * n, now=1.0)
    transcript.changed(tool)


@pytest.mark.parametrize("arrive", [_text, _thought, _tool], ids=["text", "thought", "tool"])
async def test_a_view_that_was_scrolled_up_stays_whatever_arrives(
    arrive: Callable[[Transcript, AssistantBlock, int], None],
) -> None:
    block = answer("streaming")
    async with stage(*said(100), block) as (app, transcript, pilot):
        transcript.scroll_page_up(animate=False)
        transcript.scroll_page_up(animate=False)
        await pilot.pause()
        before = app.screen_rows

        for n in range(20):
            arrive(transcript, block, n)
            await pilot.pause()

        assert app.screen_rows == before
        assert (transcript.following, transcript.unseen) == (False, True)


async def test_the_view_follows_again_after_going_to_the_end() -> None:
    block = answer("streaming")
    async with stage(*said(100), block) as (app, transcript, pilot):
        transcript.scroll_page_up(animate=False)
        await pilot.pause()
        _text(transcript, block, 1)

        transcript.follow()
        _text(transcript, block, 2)
        await pilot.pause()

        assert app.filled[-1] == "   more text 2"
        assert (transcript.following, transcript.unseen) == (True, False)


@pytest.mark.parametrize("way", ["scroll_end", "scroll_page_down", "scroll_down"])
async def test_scrolling_down_to_the_end_follows_again(way: str) -> None:
    async with stage(*said(100)) as (_, transcript, pilot):
        transcript.scroll_up(animate=False)
        await pilot.pause()
        left = transcript.following

        getattr(transcript, way)(animate=False)
        await pilot.pause()

        assert (left, transcript.following) == (False, True)


async def test_what_changes_above_the_view_does_not_move_it() -> None:
    tool = ToolBlock("id", "bash", "make")
    tool.start(0.0)
    async with stage(tool, *said(60)) as (app, transcript, pilot):
        transcript.scroll_page_up(animate=False)
        await pilot.pause()
        before = app.screen_rows

        tool.update("a\nb\nc\nd\n", now=1.0)
        transcript.changed(tool)
        await pilot.pause()

        assert app.screen_rows == before


async def test_blocks_can_be_put_in_and_taken_out_above_the_view() -> None:
    blocks = said(60)
    async with stage(*blocks) as (app, transcript, pilot):
        transcript.scroll_page_up(animate=False)
        await pilot.pause()
        before = app.screen_rows

        transcript.insert(said(30, first=900), before=blocks[0])
        await pilot.pause()
        after_insert = app.screen_rows
        transcript.discard(blocks[1])
        await pilot.pause()

        assert after_insert == before
        assert app.screen_rows == before
        assert len(transcript.blocks) == 89


async def test_an_empty_answer_takes_no_row() -> None:
    async with stage(UserBlock("hi"), answer(), SummaryBlock("1 step")) as (app, *_):
        assert app.screen_rows[:4] == ["", " ❯ hi", "", "   1 step"]


async def test_panels_stand_together_and_all_else_apart() -> None:
    blocks = [UserBlock("go"), finished_tool(0), finished_tool(0), NoticeBlock("done")]
    async with stage(*blocks) as (app, *_):
        kinds = [row[:3] for row in app.screen_rows[:7]]

        assert kinds == ["", " ❯ ", "", " ✓ ", " ✓ ", "", " · "]


# -- size and theme ----------------------------------------------------------------------------


def long_answer() -> AssistantBlock:
    return answer("\n\n".join(f"paragraph {n} " + "with words " * 12 for n in range(30)))


async def test_resizing_while_text_arrives_ends_as_if_nothing_had_happened() -> None:
    block, same = answer(), answer()
    text = "\n\n".join(f"line {n} " + "word " * 20 for n in range(30))
    async with stage(block, size=(80, 24)) as (app, transcript, pilot):
        for start, size in ((0, (40, 12)), (900, (120, 40)), (1_800, (80, 24))):
            block.append(text[start : start + 900])
            transcript.changed(block)
            await pilot.resize_terminal(*size)
        block.append(text[2_700:])
        transcript.changed(block)
        await pilot.pause()
        resized = app.screen_rows
    same.append(text)
    async with stage(same, size=(80, 24)) as (app, *_):
        assert resized == app.screen_rows


async def test_resizing_keeps_what_was_on_top() -> None:
    async with stage(*said(50), long_answer(), *said(50, 50)) as (app, transcript, pilot):
        transcript.scroll_to(y=30, animate=False)
        await pilot.pause()
        before = next(row for row in app.screen_rows if row)

        await pilot.resize_terminal(35, 12)

        assert next(row for row in app.screen_rows if row) == before


async def test_resizing_in_the_middle_of_a_long_answer_stays_there() -> None:
    async with stage(long_answer(), size=(80, 12)) as (app, transcript, pilot):
        transcript.scroll_to(y=45, animate=False)
        await pilot.pause()
        before = next(row for row in app.screen_rows if "paragraph" in row).split()[1]

        await pilot.resize_terminal(40, 12)
        narrow = " ".join(app.screen_rows)
        await pilot.resize_terminal(80, 12)

        assert f"paragraph {before}" in narrow
        assert f"paragraph {before}" in " ".join(app.screen_rows)


@pytest.mark.parametrize("size", [(12, 4), (1, 1), (2, 30), (200, 1)])
async def test_a_tiny_window_does_no_harm(size: tuple[int, int]) -> None:
    blocks: list[Block] = [UserBlock("hello"), finished_tool(), long_answer(), *said(5)]
    async with stage(*blocks, size=(80, 40)) as (app, transcript, pilot):
        before = app.screen_rows

        await pilot.resize_terminal(*size)
        transcript.move_cursor(-1)
        await pilot.pause()
        transcript.end_cursor()
        await pilot.resize_terminal(80, 40)
        transcript.follow()
        await pilot.pause()

        assert app.screen_rows == before


async def test_a_fence_is_complete_after_every_redraw() -> None:
    text = case("fence-stays-complete.md")
    block = answer()
    async with stage(block, size=(80, 70)) as (app, transcript, pilot):
        for start in range(0, len(text), 7):
            block.append(text[start : start + 7])
            transcript.changed(block)
        await pilot.pause()
        shown = [app.filled]
        transcript.scroll_up(animate=False)
        transcript.scroll_end(animate=False)
        shown.append(app.filled)
        app.theme = "paper"
        await pilot.pause()
        shown.append(app.filled)
        await pilot.resize_terminal(60, 70)
        await pilot.resize_terminal(80, 70)
        shown.append(app.filled)

        assert [row[3:] for row in shown[0]] == [
            "Here it is:",
            "│ python",
            *(f"│ line_{n} = {n}" for n in range(60)),
            "Done.",
        ]
        assert shown == [shown[0]] * 4


async def test_losing_the_focus_redraws_nothing() -> None:
    Probe.drawn = 0
    async with stage(Probe()) as (app, _, pilot):
        app.app_focus = False
        await pilot.pause()

        assert Probe.drawn == 1


async def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    block = answer("# Head\n\n`code` [link](http://a.b)\n\n```py\nx = 'a'\n```")
    async with stage(block, finished_tool()) as (app, transcript, _):
        colours = {
            colour.get_truecolor()
            for strip in transcript.render_lines(app.size.region)
            for segment in strip
            if segment.style
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour
        }

        assert colours
        assert all(colour.red == colour.green == colour.blue for colour in colours)


async def test_another_theme_colours_everything_anew() -> None:
    async with stage(UserBlock("hi")) as (app, transcript, pilot):
        before = [segment.style for segment in transcript.render_lines(app.size.region)[1]]

        app.theme = "paper"
        await pilot.pause()

        after = [segment.style for segment in transcript.render_lines(app.size.region)[1]]
        assert all(old != new for old, new in zip(before, after, strict=True))


# -- expanding and the block cursor ------------------------------------------------------------


async def test_a_click_on_the_header_toggles_a_panel() -> None:
    tool = finished_tool()
    async with stage(UserBlock("go"), tool) as (app, _, pilot):
        await pilot.click(Transcript, offset=(5, 3))
        expanded = tool.expanded
        await pilot.pause()
        rows = app.screen_rows

        assert expanded
        assert rows[-1] == "   │ out 29"


async def test_toggling_keeps_the_header_where_it_is() -> None:
    tool = finished_tool()
    async with stage(*said(30), tool, *said(30)) as (app, transcript, pilot):
        transcript.scroll_to(y=55, animate=False)
        await pilot.pause()
        place = next(y for y, row in enumerate(app.screen_rows) if "make" in row)

        transcript.toggle(tool)
        await pilot.pause()

        assert "make" in app.screen_rows[place]
        assert app.screen_rows[place + 1] == "   │ out 0"


async def test_all_panels_expand_and_collapse_together() -> None:
    tools = [finished_tool(), finished_tool(1), finished_tool()]
    async with stage(*tools) as (_, transcript, _):
        transcript.toggle_all()
        after_first = [tool.expanded for tool in tools]
        transcript.toggle_all()

        assert after_first == [True, False, True]
        assert not any(tool.expanded for tool in tools)


async def test_the_block_cursor_starts_at_the_end_and_brings_blocks_into_view() -> None:
    blocks = said(50)
    async with stage(*blocks) as (app, transcript, pilot):
        first = transcript.move_cursor(-1)
        last_row = app.filled[-1]
        for _ in range(30):
            transcript.move_cursor(-1)
        await pilot.pause()
        marked = [row for row in app.screen_rows if row.startswith("▌")]
        transcript.end_cursor()

        assert first is blocks[-1]
        assert last_row == "▌· line 49"
        assert marked == ["▌· line 19"]
        assert not transcript.following
        assert not [row for row in app.screen_rows if row.startswith("▌")]


async def test_the_cursor_stops_at_both_ends() -> None:
    blocks = said(3)
    async with stage(*blocks) as (_, transcript, _):
        at_top = [transcript.move_cursor(-1) for _ in range(5)][-1]
        at_bottom = [transcript.move_cursor(1) for _ in range(5)][-1]

        assert (at_top, at_bottom) == (blocks[0], blocks[2])


async def test_there_is_no_cursor_without_blocks() -> None:
    async with stage() as (_, transcript, _):
        assert transcript.move_cursor(-1) is None


async def test_a_block_that_goes_takes_the_cursor_with_it() -> None:
    blocks = said(3)
    async with stage(*blocks) as (_, transcript, _):
        transcript.move_cursor(-1)

        transcript.discard(blocks[2])

        assert transcript.cursor is None


async def test_clear_empties_the_screen() -> None:
    async with stage(*said(50)) as (app, transcript, pilot):
        transcript.scroll_home(animate=False)
        transcript.clear()
        transcript.append(NoticeBlock("fresh"))
        await pilot.pause()

        assert app.filled == [" · fresh"]


# -- mouse -------------------------------------------------------------------------------------


async def test_a_drag_copies_the_words_without_bullets_and_breaks() -> None:
    text = "- one two three four five six seven\n- eight\n\n```\ncode  here\n```"
    async with stage(answer(text), size=(30, 12)) as (app, _, pilot):
        await pilot.mouse_down(Transcript, offset=(4, 1))
        await pilot.hover(Transcript, offset=(20, 6))
        await pilot.mouse_up(Transcript, offset=(20, 6))
        await pilot.pause()

        assert app.copied == ["one two three four five six seven\neight\n\ncode  here"]


@pytest.mark.parametrize(
    "before", ["東京の空", "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}", "e\u0301", "🇩🇪"]
)
async def test_a_selection_takes_what_was_pointed_at_behind_wide_characters(before: str) -> None:
    async with stage(answer(f"{before} abc def")) as (app, transcript, pilot):
        row = transcript.render_line(1).text
        column = 3 + cell_len(before) + 1
        await pilot.mouse_down(Transcript, offset=(column, 1))
        await pilot.hover(Transcript, offset=(column + 2, 1))
        await pilot.pause()
        selected = transcript.render_line(1).text
        await pilot.mouse_up(Transcript, offset=(column + 2, 1))
        await pilot.pause()

        assert app.copied == ["abc"]
        assert selected == row


async def test_what_is_selected_can_be_seen() -> None:
    async with stage(NoticeBlock("select me")) as (app, transcript, pilot):
        before = str(transcript.render_line(1))

        await pilot.mouse_down(Transcript, offset=(3, 1))
        await pilot.hover(Transcript, offset=(9, 1))
        await pilot.pause()

        assert str(transcript.render_line(1)) != before
        assert app.screen_rows[1] == " · select me"


@pytest.mark.parametrize(
    ("address", "opened"),
    [
        ("https://a.b/c", ["https://a.b/c"]),
        ("http://a.b/'c'", ["http://a.b/'c'"]),
        ("javascript:alert(1)", []),
        ("/etc/passwd", []),
        ("ftp://a.b", []),
    ],
)
async def test_only_harmless_links_open(address: str, opened: list[str]) -> None:
    async with stage() as (app, transcript, pilot):
        transcript.action_open_link(address)
        await pilot.pause()

        assert app.opened == opened


async def test_links_to_files_open_below_the_folder_only(tmp_path: Path) -> None:
    inside = tmp_path / "in" / "a b.py"
    inside.parent.mkdir()
    inside.write_text("")
    (tmp_path / "secret").write_text("")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    async with stage() as (app, transcript, pilot):
        transcript.folder = tmp_path / "in"

        for address in ("a%20b.py", inside.as_uri(), "../secret", "link", "gone.py", "//host/a"):
            transcript.action_open_link(address)
        await pilot.pause()

        assert app.opened == [inside.as_uri()] * 2


@pytest.mark.parametrize("place", ["", ":12", ":12:3", ":12-14", "#L3", "#L3-L5"])
async def test_a_link_to_a_line_opens_its_file(tmp_path: Path, place: str) -> None:
    (tmp_path / "a.py").write_text("")
    async with stage() as (app, transcript, pilot):
        transcript.folder = tmp_path
        transcript.action_open_link(f"a.py{place}")
        await pilot.pause()

        assert app.opened == [(tmp_path / "a.py").as_uri()]


async def test_a_link_tells_where_it_leads() -> None:
    async with stage(answer("see [this](https://a.b/c)")) as (_, transcript, pilot):
        await pilot.hover(Transcript, offset=(8, 1))
        over_link = str(transcript.tooltip)
        await pilot.hover(Transcript, offset=(4, 1))

        assert over_link == "https://a.b/c"
        assert transcript.tooltip is None


async def test_a_click_on_a_link_opens_it() -> None:
    async with stage(answer("see [this](https://a.b/c?d='e')")) as (app, _, pilot):
        await pilot.click(Transcript, offset=(8, 1))
        await pilot.pause()

        assert app.opened == ["https://a.b/c?d='e'"]


async def test_markup_in_a_message_cannot_be_clicked() -> None:
    async with stage(answer("[@click=app.quit]quit[/]"), size=(40, 8)) as (app, _, pilot):
        await pilot.click(Transcript, offset=(8, 1))
        await pilot.click(Transcript, offset=(22, 1))
        await pilot.pause()

        assert app.is_running
        assert app.filled == ["   [@click=app.quit]quit[/]"]


# -- cost --------------------------------------------------------------------------------------


async def test_only_what_is_near_the_view_is_drawn() -> None:
    Probe.drawn = 0
    async with stage(*(Probe() for _ in range(10_000))) as (_, transcript, pilot):
        at_the_end = Probe.drawn
        transcript.scroll_home(animate=False)
        await pilot.pause()
        transcript.scroll_end(animate=False)
        await pilot.pause()

        assert at_the_end < 50
        assert Probe.drawn < 120


async def test_there_is_no_widget_per_message() -> None:
    async with stage(*said(1_000)) as (app, *_):
        assert len([*app.screen.walk_children()]) <= 4


async def test_a_change_out_of_view_paints_nothing() -> None:
    block = answer("streaming")
    async with stage(*said(200), block, *said(50)) as (app, transcript, pilot):
        transcript.scroll_home(animate=False)
        await pilot.pause()
        transcript.unseen = True
        await pilot.pause()
        paints = app.paints

        block.append(" and more")
        transcript.changed(block)
        await pilot.pause()

        assert app.paints == paints


async def test_a_block_that_looks_the_same_paints_nothing() -> None:
    tool = finished_tool()
    async with stage(tool) as (app, transcript, pilot):
        paints = app.paints

        transcript.changed(tool)
        await pilot.pause()

        assert app.paints == paints


async def test_rows_that_were_rendered_but_not_painted_are_painted_later() -> None:
    """Textual renders the rows between those it paints: a message was missing on the screen."""
    async with stage(UserBlock("first")) as (app, transcript, pilot):
        block = UserBlock("second")
        transcript.add(block)
        transcript.render_lines(transcript.size.region)
        paints = app.paints

        transcript.changed(block)
        await pilot.pause(0.1)

        assert app.paints > paints
