"""Faults that programs like this one have had, as the engine meets them."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from agent_tui import Tool, ToolCall, ToolContext, UserMessage
from agent_tui.testing import call, calls, hang, text
from tests.agent.stage import Make, Request, until
from tests.agent.toolbox import ANYTHING, acting, echo, waiting


def result_of(request: Request, call_id: str) -> str:
    """The text of the one result of that call."""
    found = [
        message.text
        for message in request.messages
        if message.role == "tool_result" and message.tool_call_id == call_id
    ]
    assert len(found) == 1
    return str(found[0])


async def test_a_call_without_a_result_after_an_abort_is_answered_in_the_next_request(
    stage: Make,
) -> None:
    """abort-during-tool."""
    it = stage(
        [text("Running it."), calls(call("shell", {"command": "make"}, id="c1"))],
        text("Sure."),
        tools=[waiting("shell", asyncio.Event())],
    )
    run = asyncio.create_task(it.prompt("run the long job"))
    await until(lambda: it.executed)
    it.agent.abort()
    await run

    await it.prompt("never mind, say hi")

    assert it.requests[-1].roles == ["user", "assistant", "tool_result", "user"]
    assert result_of(it.requests[-1], "c1")


async def test_a_tool_that_was_cut_off_tells_the_model_that_the_user_did_it(stage: Make) -> None:
    """abort-during-tool, for a tool that says nothing itself."""

    async def silent(call_id: str, args: dict[str, Any], ctx: ToolContext) -> None:
        await asyncio.Event().wait()

    it = stage(
        calls(call("shell", id="c1")),
        text("Sure."),
        tools=[Tool("shell", "Runs.", ANYTHING, silent)],
    )
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)
    it.agent.abort()
    await run

    await it.prompt("say hi")

    assert re.search("interrupt|abort|cancel", result_of(it.requests[-1], "c1").lower())


async def test_the_model_can_know_that_the_last_turn_was_aborted(stage: Make) -> None:
    """abort-leaves-a-trace-for-the-model."""
    it = stage([text("Plan: 1. push 2. open a request"), hang()], text("ok"))
    it.when("text_end", lambda: it.agent.abort())
    await it.prompt("push and open a request")

    await it.prompt("only tell me the date")

    assert it.requests[-1].roles == ["user", "assistant", "user"]
    assert it.requests[-1].texts[0] == "push and open a request"
    assert re.search("interrupt|abort|cancel|stopped", it.requests[-1].texts[1].lower())


async def test_three_quick_aborts_are_one(stage: Make) -> None:
    """ctrl-c-three-times-fast."""
    it = stage(
        [text("Running it."), calls(call("shell", id="c1"))],
        tools=[waiting("shell", asyncio.Event())],
    )
    run = asyncio.create_task(it.prompt("run"))
    await until(lambda: it.executed)

    for _ in range(3):
        it.agent.abort()
    await run

    it.expect('AS TS M:u"run" A:a/tool_use XS(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')


async def test_follow_ups_survive_an_abort_in_their_order(stage: Make) -> None:
    """queued-follow-ups-survive-abort."""
    it = stage(
        calls(call("shell", id="c1")),
        text("fresh"),
        text("one"),
        text("two"),
        tools=[waiting("shell", asyncio.Event())],
    )
    run = asyncio.create_task(it.prompt("start"))
    await until(lambda: it.executed)
    it.agent.follow_up("follow-up ONE")
    it.agent.follow_up("follow-up TWO")
    it.agent.abort()
    await run
    held = it.queue

    await it.prompt("again")

    said = [m.text for m in it.messages if isinstance(m, UserMessage)]
    assert held == ["follow-up ONE", "follow-up TWO"]
    assert said == ["start", "again", "follow-up ONE", "follow-up TWO"]


async def test_text_that_arrives_at_the_last_moment_still_reaches_the_model(stage: Make) -> None:
    """steer-at-the-last-moment."""
    it = stage(text("All done, bye.", chunk=4), text("One more"))
    it.when("text_end", lambda: it.agent.steer("STEER one more thing"))

    await it.prompt("start")

    assert it.requests[-1].texts.count("STEER one more thing") == 1


async def test_steering_drops_no_call_that_was_already_made(stage: Make) -> None:
    """steer-does-not-drop-generated-calls."""
    written: list[str] = []
    it = stage(
        calls(call("write_a", id="c1"), call("write_b", id="c2")),
        text("ok"),
        tools=[
            acting("write_a", lambda: written.append("A")),
            acting("write_b", lambda: written.append("B")),
        ],
    )
    it.when("toolcall_delta", lambda: it.agent.steer("STEER then stop"))

    await it.prompt("write both")

    assert written == ["A", "B"]
    assert it.requests[1].texts[-1] == "STEER then stop"


async def test_steering_goes_before_an_older_follow_up(stage: Make) -> None:
    """steer-goes-before-older-follow-up."""
    it = stage(calls(call("echo", id="c1")), text("steered"), text("followed"), tools=[echo()])
    it.when("XS(c1)", lambda: it.agent.follow_up("LATER write docs"))
    it.when("XS(c1)", lambda: it.agent.steer("NOW use tabs"))

    await it.prompt("start")

    assert "NOW use tabs" in it.requests[1].texts
    assert "LATER write docs" not in it.requests[1].texts
    assert "LATER write docs" in it.requests[2].texts


async def test_steering_is_never_put_between_a_call_and_its_result(stage: Make) -> None:
    """steer-waits-for-the-tool-result."""
    it = stage(
        calls(call("act", id="c1"), call("echo", id="c2")),
        text("ok"),
        tools=[acting("act", lambda: it.agent.steer("STEER please be brief")), echo()],
    )

    await it.prompt("start")

    sent = it.requests[1].messages
    assert [block.id for block in sent[1].tool_calls] == ["c1", "c2"]
    assert [getattr(m, "tool_call_id", None) for m in sent[2:4]] == ["c1", "c2"]
    assert it.requests[1].texts[-1] == "STEER please be brief"


async def test_a_turn_of_calls_alone_is_sent_back_without_empty_text(stage: Make) -> None:
    """tool-only-turn-has-no-empty-text."""
    it = stage([text(""), calls(call("echo", id="c1"))], text("ok"), tools=[echo()])

    await it.prompt("run true")

    sent = it.requests[1].messages[1]
    assert [type(block) for block in sent.content] == [ToolCall]


async def test_an_unknown_tool_is_named_in_its_result(stage: Make) -> None:
    """unknown-tool."""
    it = stage(calls(call("no_such_tool", {"x": 1}, id="c1")), text("ok"), tools=[echo()])

    await it.prompt("go")

    assert "no_such_tool" in result_of(it.requests[1], "c1")
