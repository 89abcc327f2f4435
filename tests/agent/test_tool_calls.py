"""How calls are read, prepared, executed, hooked and stopped."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from agent_tui import (
    AbortSignal,
    AfterToolCall,
    BeforeToolCall,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    Usage,
)
from agent_tui.agent.hooks import AfterToolCallContext, BeforeToolCallContext
from agent_tui.core.events import ToolExecutionEndEvent, ToolExecutionUpdateEvent
from agent_tui.testing import call, calls, end, text
from tests.agent.stage import Make, Stage, answered, asked, breathe, until, user
from tests.agent.toolbox import (
    ANYTHING,
    acting,
    answering,
    deaf,
    echo,
    first_of,
    raising,
    recording,
    schema,
    waiting,
)

# -- argument text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "parsed"),
    [
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ('{"a": "line\nline\ttab"}', {"a": "line\nline\ttab"}),
        (r'{"a": "\d+ C:\Users"}', {"a": r"\d+ C:\Users"}),
        (r'{"a": "kept \n \u00e9 \\ \" "}', {"a": 'kept \n é \\ " '}),
        (' {"a": 1} \n', {"a": 1}),
    ],
    ids=["valid", "raw-control-characters", "illegal-escapes", "legal-escapes", "spaces-around"],
)
async def test_argument_text_is_read(stage: Make, raw: str, parsed: dict[str, Any]) -> None:
    log: list[dict[str, Any]] = []
    it = stage(calls(call("take", raw, id="c1")), text("ok"), tools=[recording("take", log)])

    await it.prompt()

    assert log == [parsed]
    assert it.answers[0].tool_calls[0].arguments == parsed
    assert it.answers[0].tool_calls[0].raw_arguments is None
    assert it.answers[0].tool_calls[0].arguments_error is None


@pytest.mark.parametrize(
    "raw",
    [
        '{"path": "a.txt", "content": "trunca',
        '{"a": 1} and more',
        "[1, 2]",
        '"text"',
        "7",
        "{a: 1}",
    ],
    ids=["truncated", "trailing", "array", "string", "number", "no-quotes"],
)
async def test_argument_text_that_is_no_object_is_never_executed(stage: Make, raw: str) -> None:
    it = stage(calls(call("take", raw, id="c1")), text("ok"), tools=[recording("take", [])])

    await it.prompt()

    block = it.answers[0].tool_calls[0]
    assert it.executed == []
    assert block.raw_arguments == raw
    assert block.arguments_error
    assert it.results[0].is_error
    assert block.arguments_error in it.results[0].text
    assert it.end.reason == "completed"


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": ' + "[" * 100_000,
        '{"s": "\n", "a": ' + "[" * 100_000,
        '{"a": ' + "[" * 600 + "]" * 600 + "}",
        '{"a": ' + "9" * 10_000 + "}",
    ],
    ids=["nan", "infinity", "deep", "deep-after-a-repair", "deep-but-whole", "long-number"],
)
async def test_argument_text_that_no_other_program_would_take_is_an_error(
    stage: Make, raw: str
) -> None:
    it = stage(calls(call("take", raw, id="c1")), text("ok"), tools=[recording("take", [])])

    await it.prompt()

    lines = [event.to_json() for event in it.events]
    assert it.executed == []
    assert it.results[0].is_error
    assert it.end.reason == "completed"
    assert len(lines) == len(it.events)


async def test_broken_argument_text_is_explained_with_place_and_excerpt(stage: Make) -> None:
    raw = '{"path": "a.txt", "mode" "w"}'
    it = stage(calls(call("take", raw, id="c1")), text("ok"), tools=[recording("take", [])])

    await it.prompt()

    assert str(raw.index('"w"')) in it.results[0].text
    assert '"mode"' in it.results[0].text


# -- ids -------------------------------------------------------------------------------------------


def paired(it: Stage) -> bool:
    """Whether every call has an id of its own and exactly one result with it."""
    asked = [block.id for answer in it.answers for block in answer.tool_calls]
    answered = [result.tool_call_id for result in it.results]
    return asked == answered and len(set(asked)) == len(asked) and all(asked)


async def test_two_calls_of_one_id_get_ids_of_their_own(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": "x"}, id="c1"), call("echo", {"a": "y"}, id="c1")),
        text("ok"),
        tools=[echo()],
    )

    await it.prompt()

    assert paired(it)
    assert [result.text for result in it.results] == ["x", "y"]
    assert it.results[0].tool_call_id == "c1"


async def test_calls_without_ids_get_some(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": "x"}, id=""), call("echo", {"a": "y"}, id="")),
        text("ok"),
        tools=[echo()],
    )

    await it.prompt()

    assert paired(it)
    assert [result.text for result in it.results] == ["x", "y"]


async def test_an_id_that_an_earlier_turn_used_is_replaced(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": "x"}, id="c1")),
        calls(call("echo", {"a": "y"}, id="c1")),
        text("ok"),
        tools=[echo()],
    )

    await it.prompt()

    assert paired(it)


async def test_an_id_that_the_given_transcript_used_is_replaced(stage: Make) -> None:
    it = stage(
        calls(call("echo", {"a": "y"}, id="c1")),
        text("ok"),
        tools=[echo()],
        messages=[user("old"), asked("c1"), answered("c1")],
    )

    await it.prompt()

    assert paired(it)


# -- preparing -------------------------------------------------------------------------------------


async def test_all_calls_are_prepared_before_any_runs(stage: Make) -> None:
    log: list[str] = []

    async def ask(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        log.append(f"asked {ctx.tool_call.id}")
        await breathe()

    it = stage(
        calls(call("a", id="c1"), call("b", id="c2")),
        text("ok"),
        tools=[
            acting("a", lambda: log.append("ran c1")),
            acting("b", lambda: log.append("ran c2")),
        ],
        before_tool_call=ask,
    )

    await it.prompt()

    assert log == ["asked c1", "asked c2", "ran c1", "ran c2"]


async def test_sequential_calls_are_prepared_one_by_one(stage: Make) -> None:
    log: list[str] = []

    def ask(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        log.append(f"asked {ctx.tool_call.id}")

    it = stage(
        calls(call("a", id="c1"), call("b", id="c2")),
        text("ok"),
        tools=[
            acting("a", lambda: log.append("ran c1")),
            acting("b", lambda: log.append("ran c2")),
        ],
        before_tool_call=ask,
        tool_execution="sequential",
    )

    await it.prompt()

    assert log == ["asked c1", "ran c1", "asked c2", "ran c2"]


async def test_an_unknown_tool_is_found_out_before_its_arguments_are(stage: Make) -> None:
    it = stage(calls(call("ghost", "{broken", id="c1")), text("ok"), tools=[echo()])

    await it.prompt()

    assert "ghost" in it.results[0].text


async def test_a_preparation_that_raises_answers_with_its_message(stage: Make) -> None:
    def prepare(args: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("cannot read the old shape")

    take = recording("take", [])
    take.prepare_arguments = prepare
    it = stage(calls(call("take", {"a": 1}, id="c1")), text("ok"), tools=[take])

    await it.prompt()

    assert "cannot read the old shape" in it.results[0].text
    assert it.executed == []
    assert it.end.reason == "completed"


async def test_every_problem_of_the_arguments_is_named_with_its_path(stage: Make) -> None:
    nested = {"type": "array", "items": schema(n={"type": "integer"})}
    it = stage(
        calls(call("take", {"rows": [{"n": 1}, {"n": "x"}], "extra": 1}, id="c1")),
        text("ok"),
        tools=[recording("take", [], schema(rows=nested))],
    )

    await it.prompt()

    assert "rows[1].n" in it.results[0].text
    assert "extra" in it.results[0].text


async def test_a_hook_that_raises_fails_closed(stage: Make) -> None:
    def broken(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        raise RuntimeError("the policy file is gone")

    it = stage(calls(call("echo", id="c1")), text("ok"), tools=[echo()], before_tool_call=broken)

    await it.prompt()

    assert "the policy file is gone" in it.results[0].text
    assert it.results[0].is_error
    assert it.executed == []
    assert it.end.reason == "completed"


async def test_a_block_without_a_reason_still_says_something(stage: Make) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("ok"),
        tools=[echo()],
        before_tool_call=lambda ctx, signal: BeforeToolCall(block=True),
    )

    await it.prompt()

    assert it.results[0].text.strip()


async def test_a_terminating_block_ends_the_run(stage: Make) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("never"),
        tools=[echo()],
        before_tool_call=lambda ctx, signal: BeforeToolCall(block=True, terminate=True),
    )

    await it.prompt()

    assert it.end.reason == "terminated"


async def test_replaced_arguments_run_and_are_coerced(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    it = stage(
        calls(call("take", {"n": 1}, id="c1")),
        text("ok"),
        tools=[recording("take", log, schema(n={"type": "integer"}))],
        before_tool_call=lambda ctx, signal: BeforeToolCall(args={"n": "7"}),
    )

    await it.prompt()

    assert log == [{"n": 7}]


async def test_the_hook_sees_checked_arguments_and_the_asking_message(stage: Make) -> None:
    seen: list[BeforeToolCallContext] = []
    transcript: list[bool] = []

    def look(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        seen.append(ctx)
        transcript.append(it.agent.state.messages[-1] is ctx.assistant_message)
        transcript.append(ctx.context.messages[-1] is ctx.assistant_message)

    it = stage(
        calls(call("take", {"n": "1"}, id="c1")),
        text("ok"),
        tools=[recording("take", [], schema(n={"type": "integer"}))],
        before_tool_call=look,
        system_prompt="be brief",
    )

    await it.prompt()

    assert seen[0].args == {"n": 1}
    assert seen[0].tool_call.arguments == {"n": "1"}
    assert seen[0].context.system_prompt == "be brief"
    assert [tool.name for tool in seen[0].context.tools] == ["take"]
    assert transcript == [True, True]


@pytest.mark.parametrize("nonsense", [{"block": True}, "no", 7, True], ids=repr)
async def test_a_before_hook_that_answers_nonsense_fails_closed(
    stage: Make, nonsense: object
) -> None:
    it = stage(
        calls(call("echo", id="c1")),
        text("ok"),
        tools=[echo()],
        before_tool_call=lambda ctx, signal: nonsense,
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert it.executed == []


@pytest.mark.parametrize("nonsense", [{"content": "x"}, "no", 7], ids=repr)
async def test_an_after_hook_that_answers_nonsense_keeps_the_result_and_marks_it(
    stage: Make, nonsense: object
) -> None:
    it = stage(
        calls(call("know", id="c1")),
        text("ok"),
        tools=[answering("know", "deployed")],
        after_tool_call=lambda ctx, signal: nonsense,
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert "deployed" in it.results[0].text


async def test_an_abort_abandons_a_hook_that_hangs(stage: Make) -> None:
    asked = asyncio.Event()

    async def hanging(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        asked.set()
        await asyncio.Event().wait()

    it = stage(calls(call("echo", id="c1")), tools=[echo()], before_tool_call=hanging)
    begun = time.monotonic()

    run = asyncio.create_task(it.prompt())
    await asked.wait()
    it.agent.abort()
    await run

    it.expect('AS TS M:u"p" A:a/tool_use XS(c1) XE(c1)✗ M:r(c1) TE[c1] AE:aborted')
    assert "abort" in it.results[0].text.lower()
    assert it.executed == []
    assert time.monotonic() - begun < 0.6


async def test_an_abort_in_the_hook_of_a_later_call_starts_no_call(stage: Make) -> None:
    def stop(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        if ctx.tool_call.id == "c2":
            it.agent.abort()

    it = stage(
        calls(call("echo", id="c1"), call("echo", id="c2"), call("echo", id="c3")),
        tools=[echo()],
        before_tool_call=stop,
    )

    await it.prompt()

    assert it.executed == []
    assert [result.is_error for result in it.results] == [True, True, True]
    assert it.end.reason == "aborted"


async def test_no_call_begins_after_a_sibling_aborted_in_its_first_step(stage: Make) -> None:
    it = stage(
        calls(call("stop", id="c1"), call("echo", id="c2")),
        tools=[acting("stop", lambda: it.agent.abort()), echo()],
    )

    await it.prompt()

    assert it.executed == ["c1"]
    assert [result.is_error for result in it.results] == [True, True]


# -- executing -------------------------------------------------------------------------------------


async def test_a_plain_function_runs_in_a_thread_of_its_own(stage: Make) -> None:
    threads: list[int] = []

    def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        threads.append(threading.get_ident())
        ctx.on_update("1")
        ctx.on_update("1 2")
        return "done"

    it = stage(
        calls(call("work", id="c1")), text("ok"), tools=[Tool("work", "Works.", ANYTHING, execute)]
    )

    await it.prompt()

    updates = [e for e in it.events if isinstance(e, ToolExecutionUpdateEvent)]
    assert threads != [threading.get_ident()]
    assert [update.partial_result.text for update in updates] == ["1", "1 2"]
    assert it.results[0].text == "done"


async def test_threads_report_in_order_while_they_run_side_by_side(stage: Make) -> None:
    def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        for n in range(25):
            ctx.on_update(str(n))
        return "done"

    it = stage(
        calls(*(call("work", id=f"c{n}") for n in range(4))),
        text("ok"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
    )

    await it.prompt()

    updates = [e for e in it.events if isinstance(e, ToolExecutionUpdateEvent)]
    seen = [(e.tool_call_id, int(e.partial_result.text)) for e in updates]
    assert sorted(seen) == [(f"c{n}", step) for n in range(4) for step in range(25)]
    assert [step for name, step in seen if name == "c2"] == list(range(25))


@pytest.mark.parametrize(
    ("answer", "content"),
    [("text", ["text"]), ("", [""]), (None, []), (ToolResult("x"), ["x"]), (ToolResult(None), [])],
    ids=["text", "empty-text", "none", "result", "empty-result"],
)
async def test_an_answer_becomes_blocks(
    stage: Make, answer: ToolResult | str | None, content: list[str]
) -> None:
    it = stage(calls(call("know", id="c1")), text("ok"), tools=[answering("know", answer)])

    await it.prompt()

    assert [getattr(block, "text", None) for block in it.results[0].content] == content
    assert not it.results[0].is_error


async def test_details_reach_the_transcript_and_usage_the_total(stage: Make) -> None:
    result = ToolResult("x", details={"rows": 3}, usage=Usage(input=5, total=5, cost_usd=0.25))
    it = stage(calls(call("know", id="c1")), text("ok"), tools=[answering("know", result)])

    outcome = await it.agent.run("p")

    assert it.results[0].details == {"rows": 3}
    assert it.results[0].usage == Usage(input=5, total=5, cost_usd=0.25)
    assert outcome.total_usage.input == 5
    assert outcome.total_cost_usd == 0.25


async def test_the_end_event_carries_the_result(stage: Make) -> None:
    it = stage(calls(call("know", id="c1")), text("ok"), tools=[answering("know", "x")])

    await it.prompt()

    ended = [event for event in it.events if isinstance(event, ToolExecutionEndEvent)]
    assert ended[0].result.text == "x"
    assert (ended[0].tool_name, ended[0].is_error) == ("know", False)


async def test_an_exception_without_words_is_named(stage: Make) -> None:
    it = stage(calls(call("break", id="c1")), text("ok"), tools=[raising("break", KeyError())])

    await it.prompt()

    assert it.results[0].text.strip()
    assert it.results[0].is_error


def leaving(wait_in_thread: bool) -> Tool:
    """A tool that calls `sys.exit()`, as command line functions do."""

    async def leave_loop(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        sys.exit("usage: deploy TARGET")

    def leave_thread(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        sys.exit("usage: deploy TARGET")

    return Tool("deploy", "Deploys.", ANYTHING, leave_thread if wait_in_thread else leave_loop)


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "loop"])
def test_a_tool_that_exits_ends_neither_run_nor_program(in_thread: bool) -> None:
    it = Stage(calls(call("deploy", id="c1")), text("ok"), tools=[leaving(in_thread)])

    with suppress(SystemExit):
        asyncio.run(it.prompt())

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert "usage: deploy TARGET" in it.results[0].text


async def test_a_generator_that_ran_dry_inside_a_tool_is_an_ordinary_error(stage: Make) -> None:
    def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        return next(iter(()))

    it = stage(
        calls(call("next", id="c1")), text("ok"), tools=[Tool("next", "Next.", ANYTHING, execute)]
    )

    await it.prompt()

    assert it.results[0].is_error
    assert it.end.reason == "completed"


async def test_a_schema_that_cannot_be_checked_lets_the_call_run(stage: Make) -> None:
    log: list[dict[str, Any]] = []
    foreign = {"type": "string", "pattern": r"^\p{L}+$"}
    it = stage(
        calls(call("take", {"name": "é"}, id="c1")),
        text("ok"),
        tools=[recording("take", log, schema(name=foreign))],
    )

    await it.prompt()

    assert log == [{"name": "é"}]


async def test_a_tool_that_says_it_failed_has_failed(stage: Make) -> None:
    it = stage(
        calls(call("know", id="c1")),
        text("ok"),
        tools=[answering("know", ToolResult("exit code 1", is_error=True))],
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert it.results[0].is_error


async def test_failing_results_do_not_terminate_a_batch_by_themselves(stage: Make) -> None:
    it = stage(
        calls(call("last", id="c1"), call("ghost", id="c2")),
        text("on"),
        tools=[answering("last", ToolResult("x", terminate=True))],
    )

    await it.prompt()

    assert it.end.reason == "completed"


@pytest.mark.parametrize("limit", [1, 2])
async def test_no_more_calls_run_at_once_than_allowed(stage: Make, limit: int) -> None:
    running: set[str] = set()
    most: list[int] = []

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        running.add(call_id)
        most.append(len(running))
        await breathe()
        running.discard(call_id)
        return "ok"

    it = stage(
        calls(*(call("work", id=f"c{n}") for n in range(5))),
        text("ok"),
        tools=[Tool("work", "Works.", ANYTHING, execute)],
        max_parallel_tools=limit,
    )

    await it.prompt()

    assert max(most) == limit
    assert it.executed == ["c0", "c1", "c2", "c3", "c4"]


async def test_the_mode_set_during_a_run_applies_to_the_next_batch(stage: Make) -> None:
    def change() -> None:
        it.agent.tool_execution = "sequential"

    it = stage(
        calls(call("echo", {"a": 1}, id="a1"), call("echo", {"a": 2}, id="a2")),
        calls(call("echo", {"a": 3}, id="b1"), call("echo", {"a": 4}, id="b2")),
        text("ok"),
        tools=[echo()],
    )
    it.when("XS(a1)", change)

    await it.prompt()

    it.expect("… XS(a1) XS(a2) … XS(b1) XE(b1) M:r(b1) XS(b2) XE(b2) M:r(b2) TE[b1,b2] …")


# -- the hook after --------------------------------------------------------------------------------


def counting(log: list[str]) -> Any:
    """A hook that notes for which calls it ran."""

    def hook(ctx: AfterToolCallContext, signal: AbortSignal) -> None:
        log.append(f"{ctx.tool_call.id} {'failed' if ctx.is_error else 'ok'}")

    return hook


async def test_an_after_hook_that_raises_keeps_the_result_and_marks_it(stage: Make) -> None:
    def broken(ctx: AfterToolCallContext, signal: AbortSignal) -> None:
        raise RuntimeError("redaction failed")

    it = stage(
        calls(call("know", id="c1")),
        text("ok"),
        tools=[answering("know", "deployed")],
        after_tool_call=broken,
    )

    await it.prompt()

    assert "deployed" in it.results[0].text
    assert "redaction failed" in it.results[0].text
    assert it.results[0].is_error
    assert it.end.reason == "completed"


async def test_an_after_hook_may_replace_everything(stage: Make) -> None:
    it = stage(
        calls(call("know", id="c1")),
        text("never"),
        tools=[answering("know", ToolResult("x", details=1, usage=Usage(total=1)))],
        after_tool_call=lambda ctx, signal: AfterToolCall(
            content="y", details=None, is_error=True, usage=None, terminate=True
        ),
    )

    await it.prompt()

    result = it.results[0]
    assert (result.text, result.details, result.is_error, result.usage) == ("y", None, True, None)
    assert it.end.reason == "terminated"


async def test_empty_content_of_an_after_hook_counts_as_given(stage: Make) -> None:
    it = stage(
        calls(call("know", id="c1")),
        text("ok"),
        tools=[answering("know", "secret")],
        after_tool_call=lambda ctx, signal: AfterToolCall(content=[]),
    )

    await it.prompt()

    assert it.results[0].content == []


async def test_an_after_hook_may_turn_a_failure_into_a_success(stage: Make) -> None:
    it = stage(
        calls(call("break", id="c1")),
        text("ok"),
        tools=[raising("break", ValueError("x"))],
        after_tool_call=lambda ctx, signal: AfterToolCall(content="fine", is_error=False),
    )

    await it.prompt()

    assert (it.results[0].text, it.results[0].is_error) == ("fine", False)


async def test_the_after_hook_runs_for_what_was_executed_and_nothing_else(stage: Make) -> None:
    log: list[str] = []
    it = stage(
        calls(
            call("echo", id="c1"),
            call("break", id="c2"),
            call("ghost", id="c3"),
            call("echo", "{broken", id="c4"),
        ),
        text("ok"),
        tools=[echo(), raising("break", ValueError("x"))],
        after_tool_call=counting(log),
    )

    await it.prompt()

    assert sorted(log) == ["c1 ok", "c2 failed"]


@pytest.mark.parametrize("policy", ["abort", "feed_back"])
async def test_the_after_hook_runs_for_a_call_that_raised_a_tool_error(
    stage: Make, policy: str
) -> None:
    log: list[str] = []
    it = stage(
        calls(call("break", id="c1")),
        text("ok"),
        tools=[raising("break", ToolError("x"))],
        after_tool_call=counting(log),
        tool_error_policy=policy,
    )

    await it.prompt()

    assert log == ["c1 failed"]


async def test_the_after_hook_runs_for_a_call_that_ended_within_the_grace(stage: Make) -> None:
    log: list[str] = []
    it = stage(
        calls(call("wait", id="c1")),
        tools=[waiting("wait", asyncio.Event())],
        after_tool_call=counting(log),
    )
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)

    it.agent.abort()
    await run

    assert log == ["c1 failed"]


async def test_the_after_hook_does_not_run_for_a_call_that_was_cancelled(stage: Make) -> None:
    log: list[str] = []
    it = stage(
        calls(call("deaf", id="c1")),
        tools=[deaf("deaf", reports="x")],
        after_tool_call=counting(log),
    )
    it.when("XU(c1)", lambda: it.agent.abort())

    await it.prompt()

    assert log == []


# -- stopping --------------------------------------------------------------------------------------


async def test_a_call_that_returns_within_the_grace_keeps_its_content_as_an_error(
    stage: Make,
) -> None:
    it = stage(calls(call("wait", id="c1")), tools=[waiting("wait", asyncio.Event())])
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)

    it.agent.abort()
    await run

    assert it.results[0].text == "stopped"
    assert it.results[0].is_error


async def test_a_tool_error_after_the_abort_is_an_ordinary_result(stage: Make) -> None:
    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        await ctx.signal.wait()
        raise ToolError("killed")

    it = stage(calls(call("work", id="c1")), tools=[Tool("work", "Works.", ANYTHING, execute)])
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)

    it.agent.abort()
    await run

    assert it.end.reason == "aborted"
    assert "killed" in it.results[0].text


async def test_a_tool_that_resists_cancellation_is_left_alone(stage: Make) -> None:
    release = asyncio.Event()
    ended = asyncio.Event()

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        ctx.on_update("half")
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return "too late"

    it = stage(calls(call("stubborn", id="c1")), tools=[Tool("stubborn", "No.", ANYTHING, execute)])
    it.when("XU(c1)", lambda: it.agent.abort())
    begun = time.monotonic()

    await it.prompt()
    took = time.monotonic() - begun
    before = len(it.events)
    release.set()
    await ended.wait()
    await breathe()

    assert 1.3 < took < 2.2
    assert "may still be running" in it.results[0].text
    assert "half" in it.results[0].text
    assert len(it.events) == before


async def test_a_thread_that_goes_on_is_said_to_go_on(stage: Make) -> None:
    release = threading.Event()

    def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        ctx.on_update("half")
        release.wait(10)
        return "too late"

    it = stage(calls(call("block", id="c1")), tools=[Tool("block", "Blocks.", ANYTHING, execute)])
    it.when("XU(c1)", lambda: it.agent.abort())
    begun = time.monotonic()

    await it.prompt()
    took = time.monotonic() - begun
    release.set()

    assert took < 2.2
    assert "may still be running" in it.results[0].text
    assert it.end.reason == "aborted"


async def test_several_calls_that_do_not_listen_share_their_grace(stage: Make) -> None:
    it = stage(
        calls(*(call("deaf", id=f"c{n}") for n in range(4))), tools=[deaf("deaf", reports="x")]
    )
    it.when("XU(c3)", lambda: it.agent.abort())
    begun = time.monotonic()

    await it.prompt()

    assert time.monotonic() - begun < 1.4
    assert [result.is_error for result in it.results] == [True] * 4


async def test_calls_that_were_never_started_say_so(stage: Make) -> None:
    it = stage(
        calls(call("wait", id="c1"), call("echo", id="c2")),
        tools=[waiting("wait", asyncio.Event()), echo()],
        max_parallel_tools=1,
    )
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)

    it.agent.abort()
    await run

    assert it.executed == ["c1"]
    assert "not start" in it.results[1].text.lower()


async def test_one_call_can_be_stopped_while_the_run_goes_on(stage: Make) -> None:
    gate = asyncio.Event()
    it = stage(
        calls(call("wait", id="c1"), call("wait", id="c2")),
        text("on"),
        tools=[waiting("wait", gate)],
    )
    it.when("XE(c1)", gate.set)
    run = asyncio.create_task(it.prompt())
    await until(lambda: len(it.executed) == 2)

    stopped = it.agent.abort_tool("c1")
    await run

    assert stopped
    assert [result.is_error for result in it.results] == [True, False]
    assert it.end.reason == "completed"


async def test_one_call_that_does_not_listen_can_be_stopped_too(stage: Make) -> None:
    it = stage(calls(call("deaf", id="c1")), text("on"), tools=[deaf("deaf", reports="half")])
    it.when("XU(c1)", lambda: it.agent.abort_tool("c1"))

    await it.prompt()

    assert it.results[0].is_error
    assert "half" in it.results[0].text
    assert it.end.reason == "completed"


async def test_a_call_can_be_stopped_while_its_approval_is_open(stage: Make) -> None:
    asked = asyncio.Event()

    async def ask(ctx: BeforeToolCallContext, signal: AbortSignal) -> None:
        asked.set()
        await asyncio.Event().wait()

    it = stage(calls(call("echo", id="c1")), text("on"), tools=[echo()], before_tool_call=ask)
    run = asyncio.create_task(it.prompt())
    await asked.wait()

    stopped = it.agent.abort_tool("c1")
    await run

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) TE[c1] TS A:a/stop TE[] AE:completed")
    assert stopped
    assert it.executed == []


async def test_a_call_can_be_stopped_before_its_turn_comes(stage: Make) -> None:
    gate = asyncio.Event()
    it = stage(
        calls(call("wait", id="c1"), call("echo", id="c2")),
        text("on"),
        tools=[waiting("wait", gate), echo()],
        max_parallel_tools=1,
    )
    run = asyncio.create_task(it.prompt())
    await until(lambda: it.executed)

    stopped = it.agent.abort_tool("c2")
    gate.set()
    await run

    assert stopped
    assert it.executed == ["c1"]
    assert [result.is_error for result in it.results] == [False, True]
    assert it.end.reason == "completed"


async def test_stopping_a_call_that_is_not_open_says_no(stage: Make) -> None:
    gate = asyncio.Event()
    told: list[bool] = []
    it = stage(
        calls(call("echo", id="c1"), call("wait", id="c2")),
        text("ok"),
        tools=[echo(), waiting("wait", gate)],
    )
    it.when("XS(c1)", lambda: told.append(it.agent.abort_tool("nobody")))
    it.when("XE(c1)", lambda: told.append(it.agent.abort_tool("c1")))
    it.when("XE(c1)", gate.set)

    await it.prompt()
    told.append(it.agent.abort_tool("c2"))

    assert told == [False, False, False]


# -- fatal errors ----------------------------------------------------------------------------------


async def test_the_first_fatal_error_wins(stage: Make) -> None:
    first, second = ToolError("first"), ToolError("second")
    gate = asyncio.Event()

    async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> str:
        await first_of(gate.wait(), ctx.signal.wait())
        raise second

    it = stage(
        calls(call("late", id="c1"), call("early", id="c2")),
        tools=[Tool("late", "Late.", ANYTHING, execute), raising("early", first)],
    )
    it.when("XE(c2)", gate.set)

    with pytest.raises(ToolError) as caught:
        await it.agent.run("p")

    assert caught.value is first
    assert it.agent.state.error is first


async def test_prompt_does_not_raise_a_fatal_error(stage: Make) -> None:
    error = ToolError("disk on fire")
    it = stage(calls(call("break", id="c1")), tools=[raising("break", error)])

    await it.prompt()

    assert it.agent.state.error is error
    assert it.end.error is not None
    assert (it.end.error.code, it.end.error.message) == ("tool", "disk on fire")


async def test_a_fatal_error_starts_no_further_call(stage: Make) -> None:
    it = stage(
        calls(call("break", id="c1"), call("echo", id="c2")),
        tools=[raising("break", ToolError("x")), echo()],
        tool_execution="sequential",
    )

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) XS(c2) XE(c2)✗ M:r(c2) TE[c1,c2] AE:tool_error")
    assert "not start" in it.results[1].text.lower()
    assert it.executed == ["c1"]


async def test_an_agent_goes_on_after_a_fatal_error(stage: Make) -> None:
    it = stage(
        calls(call("break", id="c1")), text("sorry"), tools=[raising("break", ToolError("x"))]
    )
    await it.prompt()

    await it.agent.continue_()

    assert it.end.reason == "completed"
    assert it.agent.state.error is None


# -- truncated -------------------------------------------------------------------------------------


async def test_calls_of_a_truncated_answer_are_told_why_nothing_ran(stage: Make) -> None:
    after: list[str] = []
    it = stage(
        [calls(call("echo", id="c1"), call("ghost", id="c2")), end("length")],
        text("ok"),
        tools=[echo()],
        after_tool_call=counting(after),
    )

    await it.prompt()

    answers = [result.text.lower() for result in it.results]
    assert all("limit" in a and "smaller" in a and "nothing" in a for a in answers)
    assert after == []


async def test_an_abort_during_a_truncated_batch_still_answers_its_calls(stage: Make) -> None:
    it = stage([calls(call("echo", id="c1"), call("echo", id="c2")), end("length")], tools=[echo()])
    it.when("XE(c1)", lambda: it.agent.abort())

    await it.prompt()

    it.expect("… XS(c1) XE(c1)✗ M:r(c1) XS(c2) XE(c2)✗ M:r(c2) TE[c1,c2] AE:aborted")


async def test_a_pending_call_shows_in_the_state(stage: Make) -> None:
    seen: list[frozenset[str]] = []
    gate = asyncio.Event()
    it = stage(
        calls(call("echo", id="c1"), call("wait", id="c2")),
        text("ok"),
        tools=[echo(), waiting("wait", gate)],
    )
    it.when("XE(c1)", lambda: seen.append(it.agent.state.pending_tool_calls))
    it.when("XE(c1)", gate.set)

    await it.prompt()

    assert seen == [frozenset({"c2"})]
    assert it.agent.state.pending_tool_calls == frozenset()
