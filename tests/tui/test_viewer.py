"""The viewer over the chat: moving, searching, following, and what changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.config.folders import Folders
from agent_tui.config.settings import Settings
from agent_tui.testing import call, calls, text
from agent_tui.tools import FileMemory, builtin_tools
from agent_tui.tui.blocks import (
    AssistantBlock,
    Block,
    NoticeBlock,
    SummaryBlock,
    ThoughtBlock,
    UserBlock,
)
from agent_tui.tui.pages import Pages
from agent_tui.tui.screens.output import OutputScreen
from agent_tui.tui.texts import FileText
from tests.tui.chat import Chat, Gate, chat


def _said(block: AssistantBlock | ThoughtBlock, source: str) -> Block:
    block.append(source)
    block.finish()
    return block


def rows(c: Chat) -> list[str]:
    """What the viewer shows."""
    pages = c.app.screen.query_one(Pages)
    return [pages.render_line(y).text.rstrip() for y in range(pages.size.height)]


def said(c: Chat, name: str) -> str:
    return str(c.app.screen.query_one(f"#output-{name}").render())


async def look_at(c: Chat, screen: OutputScreen) -> Pages:
    c.app.push_screen(screen)
    await c.until(lambda: c.app.screen is screen and screen.query(Pages))
    await c.until(lambda: screen.query_one(Pages).text.lines)
    return screen.query_one(Pages)


async def test_a_search_goes_over_the_whole_file_and_marks_what_it_found(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"line {n}{' Needle' * (n % 1000 == 7)}\n" for n in range(20_000)))
    async with chat() as c:
        pages = await look_at(c, OutputScreen("bash", FileText(path)))
        await c.press("ctrl+f", *"needle", "enter")
        await c.until(lambda: not pages.is_searching)
        first = said(c, "hint")
        marked = [row for row in rows(c) if row.startswith("▸")]
        await c.press("n", "n")
        third = said(c, "hint"), pages.current
        await c.press("upper_n", "upper_n", "upper_n")
        around = pages.current

        assert "1 of 20 lines with “needle”" in first
        assert marked == ["▸ line 7 Needle"]
        assert "3 of 20" in third[0]
        assert third[1] == 2_007
        assert around == 19_007


async def test_what_was_found_is_reversed_not_only_coloured() -> None:
    async with chat() as c:
        await look_at(c, OutputScreen("a", "say the word once"))
        await c.press("slash", *"WORD", "enter")
        pages = c.app.screen.query_one(Pages)
        await c.until(lambda: pages.found)
        reversed_ = [s.text for s in pages.render_line(0) if s.style and s.style.reverse]

        assert reversed_ == ["word"]


async def test_nothing_found_is_said() -> None:
    async with chat() as c:
        await look_at(c, OutputScreen("a", "text"))
        await c.press("slash", *"zzz", "enter")
        await c.until(lambda: "no “zzz”" in said(c, "hint"))


async def test_keys_move_over_the_text_and_the_title_says_where() -> None:
    async with chat() as c:
        await look_at(c, OutputScreen("a", "\n".join(f"line {n}" for n in range(100))))
        height = c.app.screen.query_one(Pages).size.height
        top = rows(c)[0]
        await c.press("upper_g")
        end = rows(c)[-1], said(c, "title")
        await c.press("g", "down", "pagedown")
        paged = rows(c)[0]
        await c.press("end", "up")
        up = rows(c)[-1]

        assert top.strip() == "line 0"
        assert end[0].strip() == "line 99"
        assert "100 of 100 (100 %)" in end[1]
        assert paged.strip() == f"line {height - 1}"
        assert up.strip() == "line 98"


async def test_a_long_line_wraps_until_w_is_pressed() -> None:
    async with chat(size=(40, 12)) as c:
        await look_at(c, OutputScreen("a", "x" * 60 + "\nnext"))
        wrapped = [row.strip() for row in rows(c)][:3]
        await c.press("w")
        cut = [row.strip() for row in rows(c)][:2]

        assert wrapped == ["x" * 38, "x" * 22, "next"]
        assert cut == ["x" * 37 + "…", "next"]


async def test_a_running_tool_is_followed_until_the_person_moves(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("line 0\n")
    async with chat() as c:
        pages = await look_at(c, OutputScreen("bash", FileText(path), follows=True))
        with path.open("a") as stream:
            stream.writelines(f"line {n}\n" for n in range(1, 200))
        await c.until(lambda: rows(c)[-1].strip() == "line 199")
        following = said(c, "title")
        await c.press("up")
        with path.open("a") as stream:
            stream.write("line 200\n")
        await c.until(lambda: pages.text.lines == 201)

        assert "following" in following
        assert rows(c)[-1].strip() == "line 198"


async def test_what_was_found_grows_with_the_text(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("word\n")
    async with chat() as c:
        pages = await look_at(c, OutputScreen("bash", FileText(path)))
        await c.press("slash", *"word", "enter")
        await c.until(lambda: pages.found == [0])
        with path.open("a") as stream:
            stream.write("other\nword again\n")
        await c.until(lambda: pages.found == [0, 2])


async def test_y_copies_all_of_it() -> None:
    async with chat() as c:
        await look_at(c, OutputScreen("a", "one\n\x1b[31mtwo\x1b[0m"))
        await c.press("y")
        await c.until(lambda: c.app.copier.text)

        assert c.app.copier.text == "one\ntwo"
        await c.until(lambda: "Copied 2 lines" in said(c, "hint"))


async def test_without_an_editor_o_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    async with chat() as c:
        await look_at(c, OutputScreen("a", "one"))
        await c.press("o")
        await c.until(lambda: "No editor is set" in said(c, "hint"))


async def test_enter_on_a_running_panel_follows_it() -> None:
    gate = Gate()
    async with chat(calls(call("bash", {"command": "make"})), text("ok"), tools=[gate.tool]) as c:
        await c.say("go")
        await c.until(lambda: gate.running)
        await c.press("f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        follows = c.app.screen.query_one(Pages).follows
        gate.open.set()
        await c.press("escape")
        await c.idle()

        assert follows


async def test_diff_shows_what_the_agent_changed(tmp_path: Path) -> None:
    write = calls(call("write", {"path": "a.txt", "content": "one\n"}))
    edit = calls(call("edit", {"path": "a.txt", "old": "one", "new": "two"}))
    memory = FileMemory()
    tools = builtin_tools(tmp_path, memory=memory)
    async with chat(write, text("ok"), edit, text("ok"), tools=tools, cwd=tmp_path) as c:
        memory.keeper = c.session.checkpoints
        await c.say("/diff")
        early = c.line("hint")
        await c.say("first")
        await c.idle()
        await c.say("second")
        await c.idle()
        await c.say("/diff")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        turn = [row.split() for row in rows(c) if row]
        await c.press("q")
        await c.say("/diff session")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        session = [row.split() for row in rows(c) if row]

        assert "No turn has begun yet" in early
        assert turn[0] == ["changed", "a.txt", "·", "+1", "−1"]
        assert turn[1:] == [["1", "-", "one"], ["1", "+", "two"]]
        assert session == [["created", "a.txt", "·", "+1", "−0"], ["1", "+", "two"]]


@pytest.mark.parametrize(
    ("block", "title", "source"),
    [
        (UserBlock("a *b*"), "Your message", "a *b*"),
        (_said(AssistantBlock(), "a **b**"), "Answer", "a **b**"),
        (_said(ThoughtBlock(), "a `b`"), "Thought", "a `b`"),
        (NoticeBlock("it broke", "error"), "Error", "it broke"),
        (SummaryBlock("1 step"), "Turn", "1 step"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_every_block_can_be_looked_at_as_it_came(
    block: Block, title: str, source: str
) -> None:
    async with chat() as c:
        c.app.transcript.append(block)
        await c.press("f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))

        assert said(c, "title").startswith(title)
        assert rows(c)[0].strip() == source


async def test_an_answer_is_followed_while_it_arrives() -> None:
    async with chat() as c:
        answer = AssistantBlock()
        answer.append("one")
        c.app.transcript.append(answer)
        await c.press("f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        answer.append("\n" * 60 + "two")
        await c.until(lambda: rows(c)[-1].strip() == "two")


async def test_long_lines_are_gone_along_sideways() -> None:
    async with chat(size=(40, 12)) as c:
        line = "".join(f"{n:04}" for n in range(20))
        await look_at(c, OutputScreen("a", f"{line}\nshort"))
        await c.press("right")
        once = rows(c)[:2]
        await c.press("right", "right", "right")
        end = rows(c)[0]
        await c.press("left", "left", "left", "left")
        back = rows(c)[:2]

        assert once[0].strip(" ‹…") == line[19:56]
        assert once[1].strip() == "‹"
        assert end == " ‹" + line[-38:]
        assert back[0] == "  " + line[:37] + "…"


async def test_sideways_no_character_is_lost() -> None:
    family = "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"
    async with chat(size=(20, 12)) as c:
        line = f"{family}東" * 20
        pages = await look_at(c, OutputScreen("a", line))
        seen = set()
        for shift in range(40):
            pages.shift, pages.wraps = shift, False
            pages.changed()
            row = pages.render_line(0)
            seen.add(row.cell_length)
            shown = row.text[2:].strip(" …")

            assert shown in line
            assert shown.count("東") >= 3

        assert seen == {20}


async def test_where_long_lines_are_cut_the_viewer_does_not_wrap_them_either(
    tmp_path: Path,
) -> None:
    settings = Settings(cwd=tmp_path, folders=Folders(tmp_path, tmp_path), long_lines="cut")
    code = "```\n" + "x" * 50 + "\n```"
    async with chat(text(code), size=(40, 16), settings=settings) as c:
        await c.say("go")
        await c.idle()
        transcript = c.app.transcript
        shown = [transcript.render_line(y).text.strip() for y in range(transcript.size.height)]
        await c.press("f6", "f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))

        code_rows = [row for row in shown if "xxx" in row]
        assert [row[-1] for row in code_rows] == ["…"]
        assert rows(c)[1] == "  " + "x" * 37 + "…"


async def test_a_selection_copies_what_is_behind_the_rows() -> None:
    async with chat(size=(40, 12)) as c:
        text = "one two three four five six seven eight nine ten\nlast line"
        await look_at(c, OutputScreen("a", text))
        shown = rows(c)[:3]
        await c.pilot.mouse_down(Pages, offset=(6, 0))
        await c.pilot.hover(Pages, offset=(5, 2))
        await c.pilot.mouse_up(Pages, offset=(5, 2))
        await c.until(lambda: c.app.copier.text)

        assert [row.strip() for row in shown][1:] == ["eight nine ten", "last line"]
        assert c.app.copier.text == text[4:].removesuffix(" line")


async def test_a_selection_in_shifted_rows_copies_what_was_pointed_at() -> None:
    async with chat(size=(40, 12)) as c:
        await look_at(c, OutputScreen("a", "".join(f"{n:04}" for n in range(20))))
        await c.press("right")
        await c.pilot.mouse_down(Pages, offset=(2, 0))
        await c.pilot.hover(Pages, offset=(5, 0))
        await c.pilot.mouse_up(Pages, offset=(5, 0))
        await c.until(lambda: c.app.copier.text)
        shown = rows(c)[0][2:6]

        assert c.app.copier.text == shown


async def test_y_copies_the_selection_if_there_is_one() -> None:
    async with chat() as c:
        await look_at(c, OutputScreen("a", "one two"))
        await c.pilot.mouse_down(Pages, offset=(6, 0))
        await c.pilot.hover(Pages, offset=(9, 0))
        await c.pilot.mouse_up(Pages, offset=(9, 0))
        await c.until(lambda: c.app.copier.text)
        c.app.copier.text = ""
        await c.press("y")
        await c.until(lambda: c.app.copier.text)

        assert c.app.copier.text == "two"


async def test_ctrl_c_copies_the_selection_and_then_closes() -> None:
    async with chat() as c:
        screen = OutputScreen("a", "one two")
        await look_at(c, screen)
        await c.pilot.mouse_down(Pages, offset=(2, 0))
        await c.pilot.hover(Pages, offset=(4, 0))
        await c.pilot.mouse_up(Pages, offset=(4, 0))
        await c.until(lambda: c.app.copier.text)
        c.app.copier.text = ""
        await c.press("ctrl+c")
        await c.until(lambda: c.app.copier.text)
        still_there = c.app.screen is screen
        screen.clear_selection()
        await c.press("ctrl+c")

        assert (c.app.copier.text, still_there) == ("one", True)
        assert c.app.screen is not screen


async def test_a_link_to_a_file_of_the_project_opens_in_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a b.py").write_text("x")
    opened: list[Path] = []

    async def edit(app: object, path: Path, environ: object) -> None:
        opened.append(path)

    monkeypatch.setattr("agent_tui.tui.block_verbs.open_in_editor", edit)
    async with chat(text("see [it](a%20b.py#L1)"), cwd=tmp_path, size=(60, 12)) as c:
        await c.say("go")
        await c.idle()
        rows_of = c.app.transcript.render_line
        y = next(y for y in range(c.app.transcript.size.height) if "see it" in rows_of(y).text)
        await c.pilot.click(type(c.app.transcript), offset=(8, y))
        await c.until(lambda: opened)

        assert opened == [tmp_path / "a b.py"]
