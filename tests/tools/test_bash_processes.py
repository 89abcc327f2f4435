from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path

import pytest

from agent_tui.core.tool import Tool, ToolContext, ToolResult
from tests.tools.calls import named, run, running, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names processes by /proc")


@pytest.fixture
def bash(tmp_path: Path) -> Tool:
    return named("bash", tmp_path)


async def aborted_once(bash: Tool, command: str, sleepers: int, nap: str) -> ToolResult:
    """The result of a call that is aborted as soon as so many of its sleepers run."""
    ctx = ToolContext()
    call = asyncio.create_task(run(bash, ctx, command=command))
    await until(lambda: len(sleeping(nap)) == sleepers)

    ctx.signal.set()
    return await call


def sleeping(nap: str) -> list[int]:
    return [process.pid for process in running(f"sleep {nap}") if process.name() == "sleep"]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("sleep {nap} & echo started", "started"),
        ("setsid sh -c 'sleep {nap}; true' & disown; echo detached", "detached"),
        ("sleep {nap} </dev/null >/dev/null & echo out", "out"),
        ("sleep {nap} >/dev/null 2>&1 & echo quiet", "quiet"),
    ],
    ids=["silent", "setsid", "holds-stderr", "lets-go-of-everything"],
)
async def test_the_call_ends_with_the_shell_and_names_what_runs_on(
    bash: Tool, nap: str, command: str, printed: str
) -> None:
    """Cases background-child-silent, background-child-setsid, background-child-holds-stderr."""
    began = time.monotonic()

    result = await run(bash, command=command.format(nap=nap))

    assert time.monotonic() - began < 5
    assert not result.is_error
    assert result.text.startswith(f"{printed}\n\n[Still running in the background: ")
    # On a busy machine the child may not have become `sleep` yet when the call ends.
    await until(lambda: len(sleeping(nap)) == 1)
    [pid] = sleeping(nap)
    assert f"(pid {pid})" in result.text


async def test_a_background_child_goes_on_printing_into_the_saved_output(
    bash: Tool, tmp_path: Path, nap: str
) -> None:
    later = f"(while [ ! -e go ]; do sleep 0.02; done; echo later; exec sleep {nap}) &"

    result = await run(bash, command=f"{later} echo now")
    (tmp_path / "go").touch()

    path = Path(result.details["output_path"])
    assert f"further output goes to {path}" in result.text
    await until(lambda: path.read_text() == "now\nlater\n")
    assert sleeping(nap)


async def test_an_abort_ends_the_whole_tree(bash: Tool, nap: str) -> None:
    """Case abort-kills-the-tree."""
    tree = f"bash -c 'bash -c \"sleep {nap} & sleep {nap} & wait\" & wait'; # mk-tree"

    began = time.monotonic()
    result = await aborted_once(bash, tree, 2, nap)

    assert result.is_error
    assert not running(nap)
    assert time.monotonic() - began < 5
    assert result.text.count(f"sleep {nap} (pid ") == 2
    assert result.details["outcome"] == "aborted"


async def test_a_child_in_a_session_of_its_own_ends_with_the_tree(bash: Tool, nap: str) -> None:
    result = await aborted_once(bash, f"setsid sleep {nap} & sleep {nap}", 2, nap)

    assert result.is_error
    assert not running(nap)


async def test_those_who_ignore_the_polite_signal_are_killed(bash: Tool, nap: str) -> None:
    stubborn = f"trap '' TERM; setsid sleep {nap} & sleep {nap}; sleep {nap}"

    began = time.monotonic()
    result = await aborted_once(bash, stubborn, 2, nap)

    assert result.is_error
    assert not running(nap)
    assert time.monotonic() - began < 5


async def test_a_process_that_had_detached_itself_is_named_and_left(bash: Tool, nap: str) -> None:
    daemon = f"(setsid sleep {nap} >/dev/null 2>&1 &); sleep {nap}"

    result = await aborted_once(bash, daemon, 2, nap)

    [pid] = sleeping(nap)
    assert f"Had detached itself and still runs: sleep {nap} (pid {pid})." in result.text


async def test_an_aborted_command_keeps_what_it_had_printed(bash: Tool, nap: str) -> None:
    result = await aborted_once(bash, f"echo partial; sleep {nap}", 1, nap)

    assert result.is_error
    assert re.match(r"partial\n\nCommand aborted after \d+\.\d s\.\n\nEnded: ", result.text)


async def test_the_reason_of_an_abort_is_told(bash: Tool, nap: str) -> None:
    ctx = ToolContext()
    call = asyncio.create_task(run(bash, ctx, command=f"sleep {nap}"))
    await until(lambda: sleeping(nap))

    ctx.signal.set("stopped by the user")

    assert "Command aborted (stopped by the user) after" in (await call).text


async def test_a_cancelled_call_leaves_nothing_running(bash: Tool, nap: str) -> None:
    call = asyncio.create_task(run(bash, command=f"trap '' TERM; sleep {nap} & wait"))
    await until(lambda: sleeping(nap))

    call.cancel()
    await asyncio.wait({call})

    assert call.cancelled()
    await until(lambda: not running(nap))


async def test_a_call_cancelled_while_it_ends_its_processes_kills_them(
    bash: Tool, nap: str
) -> None:
    ctx = ToolContext()
    stubborn = f"trap '' TERM; setsid sleep {nap} & sleep {nap}"
    call = asyncio.create_task(run(bash, ctx, command=stubborn))
    await until(lambda: len(sleeping(nap)) == 2)

    ctx.signal.set()
    await asyncio.wait({call}, timeout=0.2)  # SIGKILL comes after 0.5 s
    call.cancel()
    await asyncio.wait({call})

    assert call.cancelled()
    await until(lambda: not running(nap))


async def test_commands_run_side_by_side(bash: Tool, tmp_path: Path) -> None:
    first = run(bash, command="touch a; while [ ! -e b ]; do sleep 0.01; done; echo first")
    second = run(bash, command="touch b; while [ ! -e a ]; do sleep 0.01; done; echo second")

    results = await asyncio.gather(first, second)

    assert [result.text for result in results] == ["first", "second"]


async def test_an_abort_from_another_thread_is_heard(bash: Tool, nap: str) -> None:
    ctx = ToolContext()
    call = asyncio.create_task(run(bash, ctx, command=f"sleep {nap}"))
    await until(lambda: sleeping(nap))

    await asyncio.to_thread(ctx.signal.set)

    assert (await call).is_error
    assert not running(nap)
