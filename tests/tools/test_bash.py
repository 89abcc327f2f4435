from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.tools.bash import bash_tool
from tests.tools.calls import Updates, named, run, running, until


@pytest.fixture
def bash(tmp_path: Path) -> Tool:
    return named("bash", tmp_path)


async def test_stdout_and_stderr_come_in_the_order_they_were_printed(bash: Tool) -> None:
    result = await run(bash, command="echo one; echo two >&2; echo three")

    assert result.text == "one\ntwo\nthree"
    assert not result.is_error
    assert result.details["exit_code"] == 0
    assert result.details["lines"] == 3


async def test_silence_has_words(bash: Tool) -> None:
    result = await run(bash, command="true")

    assert result.text == "(no output)"


async def test_a_failing_command_is_an_error_with_its_output(bash: Tool) -> None:
    result = await run(bash, command="echo before; exit 3")

    assert result.is_error
    assert result.text == "before\n\nCommand exited with code 3."
    assert result.details["exit_code"] == 3


async def test_a_signal_that_ended_the_command_is_named(bash: Tool) -> None:
    result = await run(bash, command="kill -9 $$")

    assert result.is_error
    assert "SIGKILL" in result.text


async def test_a_command_starts_in_the_working_directory(bash: Tool, tmp_path: Path) -> None:
    result = await run(bash, command="pwd")

    assert result.text == str(tmp_path)


async def test_standard_input_is_at_its_end(bash: Tool) -> None:
    """Case reads-stdin."""
    result = await run(bash, command="read -p 'Name? ' n; echo \"got [$n]\"; cat; echo end")

    assert result.text == "got []\nend"


async def test_editors_and_pagers_wait_for_nobody(bash: Tool) -> None:
    """Case git-editor-and-pager."""
    who = "-c user.name=a -c user.email=a@example.com"
    commit = f"git {who} commit --allow-empty"

    result = await run(
        bash,
        command=f"git init -q g && cd g && {commit} -q -m x && {commit} --amend && "
        "git --paginate log && echo finished",
    )

    assert result.text.endswith("finished")
    assert not result.is_error


async def test_bytes_that_are_no_utf8_are_replaced(bash: Tool) -> None:
    """Case invalid-utf8-output."""
    result = await run(bash, command=r"printf 'caf\xe9 \xff\xfe ok\n'")

    assert result.text == "caf\ufffd \ufffd\ufffd ok"
    assert result.details["exit_code"] == 0


async def test_a_character_that_comes_in_pieces_stays_whole(bash: Tool) -> None:
    """Case utf8-cut-by-read."""
    updates = Updates()
    bytes_one_by_one = " ".join(
        rf"printf '\x{byte:02x}'; sleep 0.02;" for byte in "é漢🙂".encode() * 2
    )

    result = await run(bash, updates.context(), command=bytes_one_by_one)

    assert result.text == "é漢🙂é漢🙂"
    assert updates
    assert "\ufffd" not in "".join(updates.texts)


async def test_output_is_shown_while_the_command_runs(bash: Tool, tmp_path: Path) -> None:
    """Case live-output."""
    updates = Updates()
    waits = "echo step-1; while [ ! -e go ]; do sleep 0.02; done; echo step-2"

    call = asyncio.create_task(run(bash, updates.context(), command=waits))
    await until(lambda: "step-1" in updates.texts)
    (tmp_path / "go").touch()
    result = await call

    assert result.text == "step-1\nstep-2"
    assert updates[0].details == {"lines": 1, "bytes": 7}


async def test_the_panel_is_not_redrawn_for_every_line(bash: Tool) -> None:
    updates = Updates()
    began = time.monotonic()

    await run(bash, updates.context(), command="for i in {1..300}; do echo $i; sleep 0.003; done")

    assert 2 <= len(updates) <= (time.monotonic() - began) / 0.1 + 1


async def test_a_live_view_is_a_bounded_end_with_counters(bash: Tool) -> None:
    updates = Updates()

    await run(bash, updates.context(), command="seq 1 50000; sleep 0.3")

    assert updates[-1].text.startswith("49961\n")
    assert updates[-1].text.endswith("\n50000")
    details = updates[-1].details
    assert (details["lines"], details["bytes"]) == (50000, 288894)
    assert Path(details["output_path"]).read_text().endswith("\n50000\n")


async def test_a_flood_is_shortened_and_saved_whole(bash: Tool, tmp_path: Path) -> None:
    """Case output-flood."""
    result = await run(bash, command="seq 1 400000")

    path = Path(result.details["output_path"])
    assert result.text.startswith("398001\n")
    assert result.text.endswith(f"400000\n\n[Lines 398001-400000 of 400000; whole output: {path}]")
    assert path.parent == tmp_path / "saved"
    assert path.read_text() == "".join(f"{number}\n" for number in range(1, 400001))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_short_output_leaves_no_file(bash: Tool, tmp_path: Path) -> None:
    result = await run(bash, command="seq 1 2000")

    assert result.details["output_path"] is None
    assert not (tmp_path / "saved").exists()


async def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file, no folder")

    result = await run(bash_tool(tmp_path, output_dir=tmp_path / "blocked"), command="seq 1 3000")

    assert not result.is_error
    assert "[Lines 1001-3000 of 3000; not saved completely: File exists]" in result.text


async def test_what_a_process_substitution_prints_late_is_there(bash: Tool) -> None:
    result = await run(bash, command="echo late > >(sleep 0.02; cat)")

    assert result.text == "late"
    assert result.details["background"] == []


async def test_the_programs_own_keys_stay_with_the_program(tmp_path: Path) -> None:
    environ = {
        "PATH": "/usr/bin:/bin",
        "OPENAI_API_KEY": "sk-1",
        "WEATHER_API_KEY": "w-1",
        "NO_COLOR": "1",
        "PAGER": "less",
    }

    result = await run(bash_tool(tmp_path, environ=environ), command="env")

    lines = result.text.split("\n")
    assert "sk-1" not in result.text
    assert {"WEATHER_API_KEY=w-1", "NO_COLOR=1", "PAGER=cat", "TERM=dumb"} <= set(lines)


async def test_a_time_limit_ends_the_command(bash: Tool, nap: str) -> None:
    result = await run(bash, command=f"echo before; sleep {nap}", timeout=0.2)

    assert result.is_error
    assert result.text.startswith("before\n\nCommand timed out after 0.2 s and was ended.")
    assert result.details["outcome"] == "timed_out"
    assert not running(nap)


async def test_no_time_limit_is_given_by_nothing_or_zero(bash: Tool) -> None:
    result = await run(bash, command="sleep 0.05; echo done", timeout=0)

    assert result.text == "done"


async def test_a_call_that_should_end_already_starts_nothing(bash: Tool, tmp_path: Path) -> None:
    signal = AbortSignal()
    signal.set()

    result = await run(bash, ToolContext(signal=signal), command="touch started")

    assert result.is_error
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("echo \0", "The command contains a NUL character."),
        ("#" * 200_000, "The command is too long for the system; write it to a file and run that."),
    ],
    ids=["NUL", "too long"],
)
async def test_what_no_shell_takes_is_refused_in_a_sentence(
    bash: Tool, command: str, sentence: str
) -> None:
    result = await run(bash, command=command)

    assert result.is_error
    assert result.text == sentence


async def test_a_working_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    result = await run(named("bash", tmp_path / "gone"), command="true")

    assert result.is_error
    assert result.text == f"The working directory {tmp_path / 'gone'} does not exist."


async def test_half_a_character_in_a_command_is_replaced(bash: Tool) -> None:
    result = await run(bash, command="echo a\ud800b")

    assert result.text == "a\ufffdb"
