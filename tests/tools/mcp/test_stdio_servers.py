"""Servers that are programs, good ones and bad ones: they harm nobody."""

from __future__ import annotations

import asyncio
import re
import stat
import time
from pathlib import Path

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import ImageBlock
from agent_tui.core.tool import ToolContext, ToolResult
from agent_tui.tools.mcp import Program
from tests.tools.calls import running
from tests.tools.mcp.servers import call, case, connected, names, odd, until


async def test_lines_that_are_no_messages_are_skipped_and_logged() -> None:
    async with connected(case("banner-on-stdout")) as server:
        result = await call(server, "ping")

        assert result.text == "pong"
        assert "Demo server v1.2 started successfully" in "\n".join(server.log())


async def test_a_server_that_dies_in_a_call_is_an_error_with_its_last_words() -> None:
    async with connected(case("dies-in-call")) as server:
        began = time.monotonic()
        first = await call(server, "ping")
        second = await call(server, "ping")

        assert time.monotonic() - began < 5
        for result in (first, second):
            assert result.is_error
            assert "exit code 3" in result.text
            assert "out of memory" in result.text


async def test_a_server_that_keeps_dying_is_given_up_at_last() -> None:
    async with connected(case("dies-in-call")) as server:
        await call(server, "ping")

        await until(lambda: server.snapshot.state in ("waiting", "starting"))
        await until(lambda: server.snapshot.state == "ready")


async def test_a_server_that_never_answers_has_failed_after_its_time() -> None:
    async with connected(case("never-answers-initialize"), start_seconds=0.3) as server:
        assert server.snapshot.state == "failed"
        assert "not ready within 0.3 s" in server.snapshot.problem


async def test_a_program_that_is_not_there_has_failed_with_its_name() -> None:
    async with connected(("no-such-program-9",)) as server:
        assert server.snapshot.state == "failed"
        assert "no-such-program-9 cannot be started" in server.snapshot.problem


async def test_odd_names_become_names_that_every_provider_takes() -> None:
    async with connected(case("tool-name-with-dots")) as server:
        tools = [tool.name for tool, _ in server.tools(())]
        result = await call(server, "db_rows_count")

        assert len(set(tools)) == 3
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in tools)
        assert result.text == "called db.rows.count"


async def test_what_a_server_started_ends_with_it() -> None:
    async with connected(case("children-end-with-the-program")) as server:
        assert server.snapshot.state == "ready"
        assert running("sleep 306")

    assert not running("sleep 306")


async def test_a_server_that_does_not_want_to_leave_is_killed_with_its_children(nap: str) -> None:
    async with connected(odd("stubborn", nap)):
        await until(lambda: len(running(f"sleep {nap}")) == 2)
        began = time.monotonic()

    assert time.monotonic() - began < 3
    assert not running(nap)


@pytest.mark.parametrize(
    ("mode", "problem"), [("rubbish", "are no messages"), ("endless-line", "a line of more than")]
)
async def test_a_flood_of_rubbish_ends_the_connection(mode: str, problem: str) -> None:
    async with connected(odd(mode), settled=False) as server:
        await until(lambda: problem in server.snapshot.problem)


@pytest.mark.parametrize("mode", ["notifications", "stderr"])
async def test_a_server_that_talks_without_end_still_answers(mode: str) -> None:
    async with connected(odd(mode)) as server:
        result = await call(server, "echo", a=1)

        assert result.text == '{"a": 1}'


async def test_a_schema_that_is_none_leaves_its_tool_out() -> None:
    async with connected(odd("bad-schema")) as server:
        assert "echo" in names(server)
        assert "bad" not in names(server)
        assert "bad is left out" in server.snapshot.offer.notices[0]


async def test_a_list_that_is_none_is_a_failed_server() -> None:
    async with connected(odd("bad-list")) as server:
        assert server.snapshot.state == "failed"
        assert server.snapshot.problem


async def test_only_the_wanted_tools_are_used() -> None:
    async with connected(odd(), tools=("e*", "grow"), deny_tools=("env*",)) as server:
        assert names(server) == ["echo", "grow", "read_resource"]


async def test_results_hold_text_pictures_and_notes_about_the_rest() -> None:
    async with connected(odd()) as server:
        result = await call(server, "show")

    pictures = [block for block in result.content if isinstance(block, ImageBlock)]
    assert [picture.mime_type for picture in pictures] == ["image/png"]
    assert "broken data, left out" in result.text
    assert "[audio, audio/wav, left out]" in result.text
    assert "[x://1]\ninside" in result.text
    assert "[resource two at x://2]" in result.text
    assert '"a": 1' in result.text


async def test_an_error_of_the_tool_is_an_error_result() -> None:
    async with connected(odd()) as server:
        result = await call(server, "fail")

    assert result.is_error
    assert result.text == "out of luck"


async def test_a_long_result_is_shortened_and_kept(tmp_path: Path) -> None:
    async with connected(odd(), output=tmp_path) as server:
        result = await call(server, "many")

    kept = Path(result.details["output_path"])
    assert "Showing lines 1-2000 of 5000" in result.text
    assert kept.read_text().splitlines()[-1] == "4999"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_progress_is_shown_and_a_stop_is_told_to_the_server() -> None:
    signal, shown = AbortSignal(), list[str]()
    async with connected(odd()) as server:

        def show(update: ToolResult | str) -> None:
            shown.append(str(update))
            signal.set("stopped by the person")

        result = await asyncio.wait_for(call(server, "slow", ToolContext(signal, show)), 5)
        await until(lambda: any("cancelled" in line for line in server.log()))

        assert result.is_error
        assert "was stopped" in result.text
        assert "1 of 4" in shown[0]
        assert (await call(server, "echo", a=1)).text == '{"a": 1}'


async def test_a_call_without_any_word_ends_after_its_time() -> None:
    async with connected(odd(), call_seconds=0.2) as server:
        result = await call(server, "hang")

        assert result.is_error
        assert "has not answered for 0.2 s" in result.text


async def test_tools_that_come_later_are_there_later() -> None:
    async with connected(odd()) as server:
        assert "fresh" not in names(server)

        await call(server, "grow")

        await until(lambda: "fresh" in names(server))


async def test_resources_are_read_with_a_tool_of_their_own() -> None:
    async with connected(odd()) as server:
        result = await call(server, "read_resource", uri="note://one")

        assert result.text == "[note://one]\nthe note"


async def test_a_prompt_is_a_text() -> None:
    async with connected(odd()) as server:
        assert await server.prompt("re.view", {"what": "x"}) == "Look at it."


async def test_a_restarted_server_is_another_process() -> None:
    async with connected(odd()) as server:
        before = running(" ".join(odd()[1:]))

        server.restart()
        await until(lambda: running(" ".join(odd()[1:])) not in ([], before))
        await until(lambda: server.snapshot.state == "ready")

        assert (await call(server, "echo")).text == "{}"


async def test_a_server_gets_the_variables_that_it_was_given() -> None:
    async with connected(Program(odd(), Path.cwd(), {"MINE": "1"})) as server:
        found = (await call(server, "environ")).text.split()

    assert "MINE" in found
    assert "HOME" not in found


async def test_what_a_server_says_is_kept_in_a_private_file(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "mcp-s.log"
    async with connected(case("dies-in-call"), log=log) as server:
        await call(server, "ping")

    assert "stderr: fatal: out of memory" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_control_characters_of_a_server_are_not_kept() -> None:
    async with connected(odd()) as server:
        assert server.snapshot.about == "odd 1"
