"""Commands that the person runs: at once, and in the transcript where they do not disturb."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_tui import Tool, ToolContext
from agent_tui.agent.agent import Agent
from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import BashExecutionMessage
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, text


def open_session(
    folder: Path, *script: object, tools: tuple[Tool, ...] = (), path: Path | None = None
) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel(script)  # type: ignore[arg-type]
    agent = Agent("test/m", tools=list(tools), stream_fn=model)
    session = Session.open(agent, path, cwd=folder, mode="full-auto")
    session.own_output_dir = folder / "out"
    return session, model


def roles(session: Session) -> list[str]:
    return [message.role for message in session.agent.state.messages]


async def test_the_model_sees_a_command_with_the_next_prompt_and_no_turn_begins(
    tmp_path: Path,
) -> None:
    session, model = open_session(tmp_path, text("I see"))

    message = await session.run_command("echo out; echo err >&2; exit 3")
    assert (message.output, message.exit_code) == ("out\nerr", 3)
    assert not session.is_running
    assert model.requests == []
    await session.prompt("what was that?")
    session.close()

    told = str(model.requests[0].messages)
    assert "I ran this command: `echo out; echo err >&2; exit 3`" in told
    assert "exited with status 3" in told


async def test_a_hidden_command_is_kept_and_never_sent(tmp_path: Path) -> None:
    session, model = open_session(tmp_path, text("hello"))

    await session.run_command("echo secret", exclude_from_context=True)
    await session.prompt("hi")
    session.close()

    assert roles(session)[0] == "bash_execution"
    assert "secret" not in str(model.requests[0].messages)


async def test_a_command_beside_a_turn_enters_between_two_steps(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, model = open_session(tmp_path, path=path)

    async def wait(call_id: str, args: dict[str, object], ctx: ToolContext) -> str:
        await session.run_command("echo beside")
        assert roles(session) == ["user", "assistant"]
        return "waited"

    session.close()
    tool = Tool("wait", "waits", {"type": "object"}, wait)
    session, model = open_session(
        tmp_path, calls(call("wait", {})), text("done"), tools=(tool,), path=path
    )
    await session.prompt("go")
    expected = ["user", "assistant", "tool_result", "bash_execution", "assistant"]
    assert roles(session) == expected
    assert "beside" in str(model.requests[1].messages[-1])
    session.close()

    again, _ = open_session(tmp_path, path=path)
    assert roles(again) == expected
    again.close()


async def test_a_command_alone_is_there_when_the_session_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session, _ = open_session(tmp_path, path=path)
    await session.run_command("echo kept")
    session.close()

    again, _ = open_session(tmp_path, path=path)
    [message] = again.agent.state.messages
    again.close()

    assert isinstance(message, BashExecutionMessage)
    assert message.output == "kept"
    assert again.resumed is not None
    assert not again.resumed.can_continue


async def test_the_last_command_of_a_turn_is_behind_its_answer(tmp_path: Path) -> None:
    session, model = open_session(tmp_path, text("answer"), text("next"))
    turn = asyncio.create_task(session.prompt("go"))
    await session.run_command("echo beside")
    await turn
    await session.prompt("and?")
    session.close()

    assert roles(session).count("bash_execution") == 1
    assert "beside" in str(model.requests[1].messages)


async def test_a_stopped_command_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    session, _ = open_session(tmp_path)
    signal = AbortSignal()

    message = await session.run_command(
        "echo begun; sleep 600", signal=signal, on_update=lambda shown: signal.set("stopped")
    )
    session.close()

    assert message.cancelled
    assert message.exit_code is None
    assert message.output == "begun"


async def test_long_output_is_shortened_and_whole_on_disk(tmp_path: Path) -> None:
    session, _ = open_session(tmp_path)
    message = await session.run_command("seq 5000")
    session.close()

    assert message.truncated
    assert message.output.splitlines()[-1] == "5000"
    assert len(message.output.splitlines()) == 2000
    assert message.full_output_path is not None
    assert Path(message.full_output_path).read_text().splitlines()[0] == "1"
