"""Hooks from the settings: commands before and after a call and after a turn."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agent_tui import AfterToolCall, BeforeToolCall, ToolResultMessage
from agent_tui.config import Flags, load_settings
from agent_tui.core.events import ToolExecutionEndEvent
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.session.events import (
    ApprovalRequestEvent,
    ArgumentsChangedEvent,
    HookStartEvent,
    NoticeEvent,
)
from agent_tui.session.outfit import Outfit
from agent_tui.testing import Part, call, calls, hang, text
from tests.session.rig import Rig, plain_tool, start, until, user_texts

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ONE_CALL = (calls(call("say", {"text": "hello"})), text("done"))


def say(seen: list[str]) -> Tool:
    """A tool that notes what it is told."""

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        seen.append(args["text"])
        return f"said {args['text']}"

    return Tool("say", "Says.", SCHEMA, execute)


def hooked(
    folder: Path,
    toml: str,
    *script: Part | list[Part],
    seen: list[str] | None = None,
    **options: Any,
) -> Rig:
    """A rig whose session has the hooks of these settings."""
    (folder / "config.toml").write_text(toml)
    environ = {
        "AGENT_TUI_HOME": str(folder),
        "PATH": os.environ["PATH"],
        "OPENAI_API_KEY": "sk-secret",
        "OTHER": "other",
    }
    settings = load_settings(Flags(), environ, folder)
    assert settings.problems == ()
    tools = options.pop("tools", [say([] if seen is None else seen)])
    rig = Rig(*script, tools=tools, cwd=folder, **options)
    rig.session.wear(Outfit(settings, []))
    return rig


def results(rig: Rig) -> list[tuple[str, bool]]:
    messages = rig.agent.state.messages
    return [(m.text, m.is_error) for m in messages if isinstance(m, ToolResultMessage)]


def notices(rig: Rig) -> list[str]:
    return [event.message for event in rig.told(NoticeEvent)]


def before(command: str, more: str = "") -> str:
    return f"[[hooks.before_tool]]\ncommand = {json.dumps(command)}\n{more}"


def after(command: str, more: str = "") -> str:
    return f"[[hooks.after_tool]]\ncommand = {json.dumps(command)}\n{more}"


def turn_end(command: str, more: str = "") -> str:
    return f"[[hooks.turn_end]]\ncommand = {json.dumps(command)}\n{more}"


def answering(answer: object) -> str:
    return f"cat > /dev/null; echo '{json.dumps(answer)}'"


# -- before a call ---------------------------------------------------------------------------------


async def test_a_hook_reads_one_json_object(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("cat > asked.json"), *ONE_CALL)

    await rig.session.prompt("go")

    lines = (tmp_path / "asked.json").read_text().splitlines()
    asked = json.loads(lines[0])
    assert len(lines) == 1
    assert asked.pop("call_id")
    assert asked == {
        "event": "before_tool",
        "session_id": rig.session.id,
        "cwd": str(tmp_path),
        "tool": "say",
        "args": {"text": "hello"},
    }
    assert results(rig) == [("said hello", False)]


async def test_a_hook_inherits_no_keys(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("env > env.txt"), *ONE_CALL)

    await rig.session.prompt("go")

    inherited = (tmp_path / "env.txt").read_text()
    assert "OTHER=other" in inherited
    assert "sk-secret" not in inherited


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (answering({"block": True, "reason": "not today"}), "Blocked by a hook: not today"),
        (answering({"block": True}), "Blocked by a hook: it gave no reason"),
        ("echo 'no, never' >&2; exit 2", "Blocked by a hook: no, never"),
        ("exit 3", "ended with exit code 3"),
        ("echo oops >&2; exit 1", "ended with exit code 1: oops"),
        ("kill -9 $$", "was killed by signal 9"),
        ("echo yes", "did not answer with one JSON object but with: yes"),
        ("echo '[1]'", "did not answer with a JSON object"),
        (answering({"args": {"txt": "x"}}), "gave arguments that do not fit"),
        (answering({"args": 1}), "they are no JSON object"),
    ],
)
async def test_a_hook_that_says_no_or_fails_keeps_the_call_from_running(
    tmp_path: Path, command: str, said: str
) -> None:
    seen: list[str] = []
    rig = hooked(tmp_path, before(command), *ONE_CALL, seen=seen)

    await rig.session.prompt("go")

    [(answer, is_error)] = results(rig)
    assert said in answer
    assert is_error
    assert seen == []


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    toml = '[[hooks.before_tool]]\ncommand = ["/no/such/program", "x"]\n'
    rig = hooked(tmp_path, toml, *ONE_CALL)

    await rig.session.prompt("go")

    assert "`/no/such/program x` could not be started: No such file" in results(rig)[0][0]


async def test_a_hook_changes_the_arguments_before_the_person_is_asked(tmp_path: Path) -> None:
    seen: list[str] = []
    rig = hooked(
        tmp_path, before(answering({"args": {"text": "changed"}})), *ONE_CALL, seen=seen, mode="ask"
    )
    rig.when(
        ApprovalRequestEvent,
        lambda: rig.session.approvals.answer(rig.session.approvals.pending[0].id, "once"),
    )

    await rig.session.prompt("go")

    [asked] = rig.told(ApprovalRequestEvent)
    assert asked.request.args == {"text": "changed"}
    assert [event.args for event in rig.told(ArgumentsChangedEvent)] == [{"text": "changed"}]
    assert seen == ["changed"]


async def test_hooks_run_in_order_each_with_what_the_one_before_changed(tmp_path: Path) -> None:
    script = (
        'import json, sys; args = json.load(sys.stdin)["args"]; args["text"] += "%s"; '
        'print(json.dumps({"args": args}))'
    )
    toml = "".join(
        f'[[hooks.before_tool]]\ncommand = ["python3", "-c", {json.dumps(script % letter)}]\n'
        for letter in "ab"
    )
    seen: list[str] = []
    rig = hooked(tmp_path, toml, *ONE_CALL, seen=seen)

    await rig.session.prompt("go")

    assert seen == ["helloab"]


async def test_a_hook_is_only_for_the_tools_it_matches(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("exit 2", 'match = "ba*"'), *ONE_CALL)

    await rig.session.prompt("go")

    assert results(rig) == [("said hello", False)]


async def test_a_hook_that_hangs_is_killed_with_all_it_started(tmp_path: Path) -> None:
    command = "sleep 300 & echo $! > child; echo $$ > shell; wait"
    rig = hooked(tmp_path, before(command, "timeout = 0.3"), *ONE_CALL)

    await rig.session.prompt("go")

    assert "did not end within 0.3 s and was killed" in results(rig)[0][0]
    await until(lambda: not alive(tmp_path / "child"))
    assert not alive(tmp_path / "shell")


async def test_a_stop_ends_a_hook_at_once(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("echo $$ > shell; sleep 300"), *ONE_CALL)
    turn = start(rig.session.prompt("go"))
    await until(lambda: (tmp_path / "shell").exists() and (tmp_path / "shell").read_text() != "")
    assert rig.session.waiting_for().startswith("before_tool hook `echo $$")

    began = time.monotonic()
    rig.session.abort()
    await turn

    assert time.monotonic() - began < 2
    assert rig.reasons == ["aborted"]
    await until(lambda: not alive(tmp_path / "shell"))


async def test_what_a_hook_leaves_behind_does_not_keep_it(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("sleep 300 & echo $! > child"), *ONE_CALL)

    began = time.monotonic()
    await rig.session.prompt("go")
    os.kill(int((tmp_path / "child").read_text()), 9)

    assert time.monotonic() - began < 5
    assert results(rig) == [("said hello", False)]


async def test_a_hook_that_floods_is_no_harm(tmp_path: Path) -> None:
    rig = hooked(tmp_path, before("head -c 20000000 /dev/zero"), *ONE_CALL)

    await rig.session.prompt("go")

    assert "did not answer with one JSON object" in results(rig)[0][0]
    assert len(results(rig)[0][0]) < 2000


async def test_large_arguments_reach_a_hook_that_does_not_read_them(tmp_path: Path) -> None:
    seen: list[str] = []
    large = "x" * 1_000_000
    script = (calls(call("say", {"text": large})), text("done"))
    rig = hooked(tmp_path, before("true"), *script, seen=seen)

    await rig.session.prompt("go")

    assert seen == [large]


async def test_the_agents_own_hook_comes_first_and_counts(tmp_path: Path) -> None:
    rig = hooked(
        tmp_path,
        before("cat > asked.json"),
        *ONE_CALL,
        before_tool_call=lambda ctx, signal: BeforeToolCall(args={"text": "mine"}),
    )

    await rig.session.prompt("go")

    assert json.loads((tmp_path / "asked.json").read_text())["args"] == {"text": "mine"}
    assert results(rig) == [("said mine", False)]


# -- after a call ----------------------------------------------------------------------------------


async def test_a_hook_sees_and_changes_a_result(tmp_path: Path) -> None:
    command = 'cat > asked.json; echo \'{"content": "changed", "is_error": true}\''
    rig = hooked(tmp_path, after(command), *ONE_CALL)

    await rig.session.prompt("go")

    asked = json.loads((tmp_path / "asked.json").read_text())
    assert (asked["event"], asked["content"], asked["is_error"]) == (
        "after_tool",
        "said hello",
        False,
    )
    assert results(rig) == [("changed", True)]


async def test_a_hook_that_fails_after_a_call_is_a_warning(tmp_path: Path) -> None:
    rig = hooked(tmp_path, after("echo oops >&2; exit 1"), *ONE_CALL)

    await rig.session.prompt("go")

    assert results(rig) == [("said hello", False)]
    assert notices(rig) == [
        "The after_tool hook `echo oops >&2; exit 1` ended with exit code 1: oops"
    ]


async def test_a_stop_during_a_hook_keeps_the_result(tmp_path: Path) -> None:
    rig = hooked(tmp_path, after("touch here; sleep 300"), *ONE_CALL)
    turn = start(rig.session.prompt("go"))
    await until(lambda: (tmp_path / "here").exists())

    rig.session.abort()
    await turn

    assert results(rig)[0][0] == "said hello"


async def test_the_agents_own_hook_after_a_call_is_kept(tmp_path: Path) -> None:
    rig = hooked(
        tmp_path,
        after("cat > asked.json; echo '{\"is_error\": true}'"),
        *ONE_CALL,
        after_tool_call=lambda ctx, signal: AfterToolCall(content="mine", details=7),
    )

    await rig.session.prompt("go")

    assert json.loads((tmp_path / "asked.json").read_text())["content"] == "mine"
    assert results(rig) == [("mine", True)]
    assert rig.told(ToolExecutionEndEvent)[0].result.details == 7


# -- after a turn ----------------------------------------------------------------------------------


async def test_a_hook_after_the_turn_may_ask_for_more(tmp_path: Path) -> None:
    once = 'cat >> asked; test -e once || { touch once; echo \'{"follow_up": "check it"}\'; }'
    rig = hooked(tmp_path, turn_end(once), text("one"), text("two"))

    await rig.session.prompt("go")

    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert [(a["reason"], a["text"], a["follow_ups"]) for a in asked] == [
        ("completed", "one", 0),
        ("completed", "two", 1),
    ]
    assert user_texts(rig.model.requests[-1]) == ["go", "check it"]
    assert rig.settled == 1


async def test_hooks_cannot_go_on_for_ever(tmp_path: Path) -> None:
    rig = hooked(
        tmp_path, turn_end(answering({"follow_up": "more"})), *(text(str(n)) for n in range(9))
    )

    await rig.session.prompt("go")

    assert len(rig.model.requests) == 4
    assert "then it is over" in notices(rig)[0]
    assert rig.queued == []


async def test_a_stop_ends_a_hook_after_the_turn(tmp_path: Path) -> None:
    rig = hooked(tmp_path, turn_end("touch here; sleep 300"), text("one"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: (tmp_path / "here").exists())
    assert rig.session.is_running

    rig.session.abort()
    await turn

    assert rig.settled == 1


async def test_there_are_no_hooks_after_a_turn_that_was_stopped(tmp_path: Path) -> None:
    rig = hooked(tmp_path, turn_end("touch here"), hang())
    turn = start(rig.session.prompt("go"))
    await until(lambda: len(rig.model.requests) == 1)

    rig.session.abort()
    await turn

    assert not (tmp_path / "here").exists()


async def test_what_the_person_typed_meanwhile_is_delivered(tmp_path: Path) -> None:
    command = "touch here; while test ! -e go; do sleep 0.01; done"
    rig = hooked(tmp_path, turn_end(command), text("one"), text("two"))
    turn = start(rig.session.prompt("go"))
    await until(lambda: (tmp_path / "here").exists())

    rig.session.steer("and this")
    (tmp_path / "go").touch()
    await turn

    assert user_texts(rig.model.requests[-1]) == ["go", "and this"]


# -- all of them -----------------------------------------------------------------------------------


async def test_hooks_of_the_settings_are_read_again(tmp_path: Path) -> None:
    rig = hooked(tmp_path, "", *ONE_CALL)
    (tmp_path / "config.toml").write_text(before("exit 2"))

    assert rig.session.outfit is not None
    await rig.session.outfit.reload()
    await rig.session.prompt("go")

    assert "Blocked by a hook" in results(rig)[0][0]


async def test_calls_side_by_side_have_their_hooks_told(tmp_path: Path) -> None:
    script = (calls(call("a", {}), call("b", {})), text("done"))
    rig = hooked(tmp_path, after("true"), *script, tools=[plain_tool("a"), plain_tool("b")])

    await rig.session.prompt("go")

    started = rig.told(HookStartEvent)
    assert len({event.tool_call_id for event in started}) == 2


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[[hooks.before_tool]]\n", "hooks.before_tool[0].command is missing"),
        ("[[hooks.before_tool]]\ncommand = []\n", "must be a line for the shell"),
        ("[[hooks.before_toll]]\ncommand = 'x'\n", "did you mean 'before_tool'"),
        ("[[hooks.turn_end]]\ncommand = 'x'\nmatch = 'x'\n", "unknown key"),
        ("[[hooks.turn_end]]\ncommand = 'x'\ntimeout = 0\n", "must be a number above 0"),
        ("[hooks]\nturn_end = 'x'\n", "must be tables"),
    ],
)
def test_what_is_no_hook_is_said(tmp_path: Path, toml: str, words: str) -> None:
    (tmp_path / "config.toml").write_text(toml)

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    assert any(words in problem for problem in settings.problems), settings.problems


def alive(file: Path) -> bool:
    """Whether the process whose number stands in the file still runs."""
    try:
        state = Path(f"/proc/{int(file.read_text())}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # gone, or going while it is read
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"
