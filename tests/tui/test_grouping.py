"""Panels that stand together, as a person sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui import ToolResult, tool
from agent_tui.testing import call, calls, text
from agent_tui.tools import builtin_tools
from agent_tui.tui.blocks import ToolBlock
from tests.tui.chat import chat
from tests.tui.drawing import rows
from tests.tui.stage import Stage, stage


def panels(s: Stage) -> list[str]:
    """The rows of all panels, their blanks joined."""
    return [
        " ".join(row.split())
        for row in s.screen.text.split("\n")
        if row[:1] in "✓✗⊘■●○" or row.startswith("  │")
    ]


def project(folder: Path) -> Path:
    for name in "abc":
        (folder / f"{name}.py").write_text(f"{name}\n" * 3)
    return folder


def read(name: str, **window: int) -> Any:
    return call("read", {"path": name, **window})


async def test_reads_that_stand_together_are_one_line(tmp_path: Path) -> None:
    tools = builtin_tools(project(tmp_path))
    script = [
        calls(read("a.py"), read("b.py")),
        calls(read("c.py"), call("grep", {"pattern": "a"})),
        text("ok"),
    ]
    async with stage(*script, tools=tools) as s:
        await s.session.prompt("go")
        shown = panels(s)
        leader = next(b for b in s.screen.blocks if isinstance(b, ToolBlock))
        leader.toggle()
        expanded = panels(s)

        assert len(shown) == 1
        assert shown[0].startswith("✓ read 3 files, 1 search: a.py, b.py, c.py")
        assert [row.split(" done")[0] for row in expanded[1:]] == [
            "│ ✓ read a.py:1-3",
            "│ ✓ read b.py:1-3",
            "│ ✓ read c.py:1-3",
            "│ ✓ grep a",
        ]


async def test_a_name_of_a_file_cannot_draw_outside_of_its_line() -> None:
    @tool(name="read")
    def read_any(path: str) -> str:
        """Read."""
        return "x"

    script = calls(read("a\x1b[2Jb\nc"), read("\x1b]0;title\x07d"))
    async with stage(script, text("ok"), tools=[read_any]) as s:
        await s.session.prompt("go")

        assert panels(s)[0].startswith("✓ read 2 files: ab c, d done")


async def test_what_is_said_between_two_reads_keeps_them_apart(tmp_path: Path) -> None:
    tools = builtin_tools(project(tmp_path))
    one, two = calls(read("a.py")), calls(read("b.py"))
    async with stage(one, [text("Now b."), two], text("ok"), tools=tools) as s:
        await s.session.prompt("go")

        assert [row.split(" done")[0] for row in panels(s)] == [
            "✓ read a.py:1-3",
            "✓ read b.py:1-3",
        ]


async def test_a_call_that_changes_something_is_never_folded(tmp_path: Path) -> None:
    tools = builtin_tools(project(tmp_path))
    script = calls(
        read("a.py"),
        call("write", {"path": "d.py", "content": "d\n"}),
        read("b.py"),
    )
    async with stage(script, text("ok"), tools=tools) as s:
        await s.session.prompt("go")

        assert len(panels(s)) == 3


async def test_a_read_panel_says_which_lines_and_how_many_of_them(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("x\n" * 2_500)
    (tmp_path / "empty.py").write_text("")
    tools = builtin_tools(tmp_path)
    one = calls(read("long.py", offset=11, limit=20))
    two = calls(read("empty.py"))
    async with stage(one, [text("."), two], text("ok"), tools=tools) as s:
        await s.session.prompt("go")

        assert panels(s)[0].startswith("✓ read long.py:11-30 done · 20 of 2,500 lines")
        assert panels(s)[1].startswith("✓ read empty.py done")


async def test_a_failed_edit_that_is_repaired_becomes_one_quiet_line(tmp_path: Path) -> None:
    tools = builtin_tools(project(tmp_path))
    wrong = calls(call("edit", {"path": "a.py", "old": "zzz", "new": "b"}))
    right = calls(call("edit", {"path": "a.py", "old": "a\na\na", "new": "b"}))
    async with stage(wrong, right, text("ok"), tools=tools) as s:
        seen: list[list[str]] = []
        s.session.subscribe(
            lambda event, signal: seen.append(panels(s)) if event.type == "turn_end" else None
        )
        await s.session.prompt("go")

        assert any("was not found" in row for row in seen[0])
        assert [row.split(" ·")[0] for row in panels(s)] == [
            "✗ edit a.py failed, then repaired",
            "✓ edit a.py done",
        ]


async def test_a_call_nobody_understood_is_quiet_once_the_model_goes_on(tmp_path: Path) -> None:
    @tool
    def good(n: int) -> ToolResult:
        """Fine."""
        return ToolResult("fine")

    unknown, bad = calls(call("goood", {"n": 1})), calls(call("good", {"n": "x"}))
    right = calls(call("good", {"n": 1}))
    async with stage(unknown, bad, right, text("ok"), tools=[good]) as s:
        await s.session.prompt("go")

        assert [row.split(" ·")[0] for row in panels(s)[:2]] == [
            "✗ goood n=1 failed, then repaired",
            '✗ good n="x" failed, then repaired',
        ]


async def test_a_failure_that_stays_is_shown_with_its_reason(tmp_path: Path) -> None:
    tools = builtin_tools(project(tmp_path))
    wrong = calls(call("edit", {"path": "a.py", "old": "zzz", "new": "b"}))
    async with stage(wrong, text("ok"), tools=tools) as s:
        await s.session.prompt("go")

        assert any("was not found in a.py" in row for row in panels(s))


async def test_the_block_cursor_stops_once_at_a_group_and_the_viewer_shows_all(
    tmp_path: Path,
) -> None:
    tools = builtin_tools(project(tmp_path))
    script = calls(read("a.py"), read("b.py"), read("c.py"))
    async with chat(script, tools=tools, cwd=tmp_path) as c:
        await c.say("go")
        await c.idle()
        seen = []
        await c.press("f6")
        for _ in range(6):
            seen.append(c.app.transcript.cursor)
            await c.press("f6")
        groups = {block for block in seen if isinstance(block, ToolBlock)}
        await c.press("escape")

        assert len(groups) == 1
        assert len(groups.pop().members) == 3


async def test_the_setting_says_how_much_of_a_running_tool_is_shown() -> None:
    block = ToolBlock("c1", "bash", "make")
    block.tail_lines = 2
    block.start(0.0)
    block.update("1\n2\n3\n4\n", now=0.0)

    assert rows(block)[1:] == ["  │ 3", "  │ 4"]
    block.tail_lines = 0
    assert len(rows(block)) == 1
