from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools import FileMemory, builtin_tools, preview
from tests.tools.calls import as_result, run


class Hands:
    """The tools of one agent in a folder."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.memory = FileMemory()
        self._tools = {tool.name: tool for tool in builtin_tools(cwd, memory=self.memory)}

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    async def call(self, call_id: str, name: str, **args: object) -> ToolResult:
        execute = self[name].execute
        assert execute is not None
        answer = await asyncio.to_thread(execute, call_id, dict(args), ToolContext())
        assert isinstance(answer, ToolResult)
        return as_result(answer)

    def show(self, call_id: str, name: str, **args: object) -> None:
        """A person sees what the call would do."""
        self.memory.was_shown(call_id, preview(name, args, self.cwd) or "")


async def test_writing_over_a_file_that_changed_since_it_was_read_is_refused(
    tmp_path: Path,
) -> None:
    hands, file = Hands(tmp_path), tmp_path / "a.txt"
    file.write_text("one\n")
    await run(hands["read"], path="a.txt")
    file.write_text("somebody's\n")

    refused = await run(hands["write"], path="a.txt", content="two\n")
    await run(hands["read"], path="a.txt")
    written = await run(hands["write"], path="a.txt", content="two\n")

    assert refused.is_error
    assert "changed on disk since it was read" in refused.text
    assert "Read it again" in refused.text
    assert not written.is_error
    assert file.read_text() == "two\n"


async def test_an_edit_that_still_fits_is_made_and_says_that_the_file_changed(
    tmp_path: Path,
) -> None:
    hands, file = Hands(tmp_path), tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    await run(hands["read"], path="a.txt")
    file.write_text("one\ntwo\nthree\n")

    edited = await run(hands["edit"], path="a.txt", old="one", new="1")
    again = await run(hands["edit"], path="a.txt", old="two", new="2")
    missed = await run(hands["edit"], path="a.txt", old="four", new="4")
    await run(hands["read"], path="a.txt")
    calm = await run(hands["edit"], path="a.txt", old="three", new="3")

    assert file.read_text() == "1\n2\n3\n"
    assert "changed on disk since it was read" in edited.text
    assert "changed on disk since it was read" in again.text
    assert "changed on disk since it was read" in missed.text
    assert "changed on disk" not in calm.text


async def test_the_tools_own_changes_are_no_surprise(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    await run(hands["write"], path="a.txt", content="one\n")
    edited = await run(hands["edit"], path="a.txt", old="one", new="two")
    written = await run(hands["write"], path="a.txt", content="three\n")

    assert "changed on disk" not in edited.text
    assert not written.is_error


async def test_a_file_that_was_never_read_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")

    written = await run(Hands(tmp_path)["write"], path="a.txt", content="two\n")

    assert not written.is_error


async def test_only_the_change_that_was_shown_is_made(tmp_path: Path) -> None:
    hands, file = Hands(tmp_path), tmp_path / "a.txt"
    file.write_text("one\n")
    hands.show("c1", "write", path="a.txt", content="two\n")
    file.write_text("somebody's\n")

    refused = await hands.call("c1", "write", path="a.txt", content="two\n")
    unasked = await hands.call("c2", "write", path="a.txt", content="two\n")

    assert refused.is_error
    assert "has changed since the user was shown this change" in refused.text
    assert not unasked.is_error


async def test_a_shown_change_that_only_moved_is_made(tmp_path: Path) -> None:
    hands, file = Hands(tmp_path), tmp_path / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    hands.show("c1", "edit", path="a.txt", old="one", new="1\n1")
    hands.show("c2", "edit", path="a.txt", old="three", new="3")

    first = await hands.call("c1", "edit", path="a.txt", old="one", new="1\n1")
    second = await hands.call("c2", "edit", path="a.txt", old="three", new="3")

    assert not first.is_error
    assert not second.is_error
    assert file.read_text() == "1\n1\ntwo\n3\n"


async def test_two_parallel_edits_of_one_file_are_both_made(tmp_path: Path) -> None:
    hands, file = Hands(tmp_path), tmp_path / "a.txt"
    file.write_text("".join(f"line {n}\n" for n in range(30)))

    results = await asyncio.gather(
        *(
            run(hands["edit"], path="a.txt", old=f"line {n}\n", new=f"Line {n}\n")
            for n in range(10, 20)
        )
    )

    assert not any(result.is_error for result in results)
    assert file.read_text().count("Line") == 10
