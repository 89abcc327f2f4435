"""Events of a session become blocks and a status: looked at as data, without an app."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_tui import ToolError, ToolResult, Usage, UserMessage, tool
from agent_tui.agent import batch
from agent_tui.core.model import Model, ModelCost
from agent_tui.session.journal.resume import INTERRUPTED
from agent_tui.testing import Part, call, calls, end, fail, hang, text, think
from agent_tui.tui.blocks import ThoughtBlock, ToolBlock
from agent_tui.tui.presenter import Presenter
from tests.tui.stage import Screen, stage, until

READ = calls(call("read", {"path": "src/app.py", "limit": 120}))
PRICED = Model("test", "m", context_window=200_000, cost=ModelCost(1.0, 2.0))


@tool(name="read")
def read_app(path: str, limit: int = 0) -> ToolResult:
    """Read."""
    return ToolResult("one\ntwo\n", details={"path": path, "lines": 120})


@tool(name="edit")
def edit_app(path: str) -> ToolResult:
    """Edit."""
    return ToolResult("ok", details={"path": path, "added": 12, "removed": 3, "diff": ""})


@tool(name="bash")
def failing_bash(command: str) -> ToolResult:
    """Fail."""
    return ToolResult("E501\nFound 1 error", details={"exit_code": 1, "lines": 8}, is_error=True)


# -- blocks --------------------------------------------------------------------------------------


async def test_a_turn_becomes_message_thought_answer_and_summary() -> None:
    async with stage([think("hm"), text("Hello **there**.")]) as s:
        await s.session.prompt("hi")

        assert s.screen.kinds == ["user", "thought", "assistant", "summary"]
        assert s.screen.blocks[2].source() == "Hello **there**."


async def test_a_panel_names_tool_target_size_and_how_it_ended() -> None:
    async with stage(READ, text("ok"), tools=[read_app]) as s:
        await s.session.prompt("go")

        panel = next(b for b in s.screen.blocks if isinstance(b, ToolBlock))
        assert panel.status == "ok"
        assert panel.title == "read src/app.py:1-120"
        assert "120 lines" in s.screen.text


async def test_a_panel_exists_from_the_first_token_of_its_call() -> None:
    async with stage([READ, hang()], tools=[read_app]) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: "tool" in s.screen.kinds)

        panel = s.screen.blocks[-1]
        assert isinstance(panel, ToolBlock)
        assert panel.status == "pending"
        assert panel.title == "read src/app.py:1-120"
        s.session.abort()
        await running


async def test_a_call_that_was_cut_off_is_closed() -> None:
    async with stage([READ, hang()], tools=[read_app]) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: "tool" in s.screen.kinds)

        s.presenter.stopping()
        s.session.abort()
        await running

        assert "before the call was complete" in s.screen.text


async def test_a_failed_tool_shows_exit_code_and_output() -> None:
    script = (calls(call("bash", {"command": "ruff check ."})), text("ok"))
    async with stage(*script, tools=[failing_bash]) as s:
        await s.session.prompt("go")

        panel = next(b for b in s.screen.blocks if isinstance(b, ToolBlock))
        assert panel.status == "failed"
        assert "exit 1 · 8 lines" in s.screen.text
        assert "Found 1 error" in s.screen.text


async def test_parallel_calls_have_a_panel_each() -> None:
    both = calls(call("read", {"path": "a"}), call("edit", {"path": "b"}))
    async with stage(both, text("ok"), tools=[read_app, edit_app]) as s:
        await s.session.prompt("go")

        titles = [b.title for b in s.screen.blocks if isinstance(b, ToolBlock)]
        assert titles == ["read a", "edit b"]
        assert "+12 −3" in s.screen.text


async def test_an_unknown_tool_is_a_failed_panel() -> None:
    async with stage(calls(call("no_such_tool", {"x": 1})), text("ok")) as s:
        await s.session.prompt("go")

        assert "no_such_tool" in s.screen.text
        assert "failed" in s.screen.text


async def test_delivered_messages_stand_where_they_entered_with_a_thin_mark() -> None:
    async with stage(READ, text("a"), text("b"), tools=[read_app]) as s:
        s.session.steer("use tabs")
        s.session.follow_up("then docs")

        await s.session.prompt("go")

        said = [b.source() for b in s.screen.blocks if type(b).__name__ == "UserBlock"]
        assert said == ["go", "use tabs", "then docs"]
        assert "↳ follow-up" in s.screen.text


async def test_a_steer_is_marked_with_the_step_it_came_before() -> None:
    async with stage(READ, text("a"), tools=[read_app]) as s:
        s.session.subscribe(
            lambda event, _: (
                s.session.steer("use tabs") if event.type == "tool_execution_start" else None
            )
        )

        await s.session.prompt("go")

        assert "↳ steered before step 2" in s.screen.text


async def test_a_message_that_is_on_its_way_is_shown_once() -> None:
    async with stage(text("ok")) as s:
        message = UserMessage(content="hello")
        s.presenter.sending(message)

        await s.session.prompt(message)

        assert s.screen.kinds == ["user", "assistant", "summary"]


async def test_a_withdrawn_message_leaves_no_trace() -> None:
    async with stage() as s:
        message = UserMessage(content="hello")
        s.presenter.sending(message)

        s.presenter.withdraw(message.id)

        assert s.screen.blocks == []


async def test_an_answer_without_text_leaves_no_empty_block() -> None:
    async with stage([text(""), READ], text("ok"), tools=[read_app]) as s:
        await s.session.prompt("go")

        assert s.screen.kinds == ["user", "tool", "assistant", "summary"]


@pytest.mark.parametrize(("stop", "note"), [("length", "output limit"), ("aborted", "interrupted")])
async def test_an_unfinished_answer_is_marked(stop: Any, note: str) -> None:
    async with stage([text("half"), end(stop)]) as s:
        await s.session.prompt("go")

        assert note in s.screen.text


async def test_an_error_is_one_sentence_with_a_way_out() -> None:
    async with stage(fail("auth", "The key was refused.")) as s:
        await s.session.prompt("go")

        assert (
            s.screen.blocks[-1]
            .source()
            .startswith("The key was refused — check the key, or pick another model with /model.\n")
        )
        assert s.presenter.course.can_continue
        assert s.presenter.course.has_failed


async def test_a_fatal_tool_error_is_said() -> None:
    @tool(name="read")
    def broken(path: str, limit: int = 0) -> str:
        """Break."""
        raise ToolError("the disk is gone")

    async with stage(READ, tools=[broken]) as s:
        await s.session.prompt("go")

        assert "the disk is gone" in s.screen.blocks[-1].source()


async def test_tool_output_and_names_cannot_carry_escape_sequences() -> None:
    @tool(name="read")
    def evil(path: str, limit: int = 0) -> str:
        """Try."""
        return "before \x1b]52;c;AAAA\x07A\x1b[6n B\x1bc C"

    async with stage(
        [think("\x1b]0;owned\x07t"), text("\x1b[2Jx"), READ], text("ok"), tools=[evil]
    ) as s:
        await s.session.prompt("\x1b]0;title\x07hi [bold]")

        assert "\x1b" not in s.screen.text
        assert "owned" not in s.screen.text
        assert "[bold]" in s.screen.text


async def test_thinking_is_unfolded_when_that_was_asked_for() -> None:
    async with stage([think("a\nb"), text("x")]) as s:
        s.presenter.shows_thinking = True

        await s.session.prompt("go")

        thought = next(b for b in s.screen.blocks if isinstance(b, ThoughtBlock))
        assert thought.expanded


# -- retries, stops, questions -------------------------------------------------------------------


async def test_a_retry_counts_down_and_leaves_no_trace_when_it_succeeds() -> None:
    async with stage(fail("overloaded", "Overloaded."), text("ok")) as s:
        seen: list[str] = []

        def look() -> None:
            seen.append(s.screen.text)
            s.time += 1
            s.presenter.tick()
            seen.append(s.screen.text)
            seen.append(s.lines)

        s.on_wait = look
        await s.session.prompt("go")

        assert "Overloaded. Try 1 of 3 in 2 s · esc gives up" in seen[0]
        assert "Overloaded. Try 1 of 3 in 1 s" in seen[1]
        assert "overloaded: try 1/3 in 1 s" in seen[2]
        assert "Overloaded" not in s.screen.text
        assert s.screen.kinds.count("summary") == 1


async def test_a_failed_request_and_its_repetition_are_one_step() -> None:
    async with stage(fail("overloaded"), [text("ok"), hang()]) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: "ok" in s.screen.text)

        assert "step 1" in s.lines
        assert "try 2" in s.lines
        s.session.abort()
        await running

        assert "1 step (1 failed request) · " in s.screen.text


async def test_another_model_goes_on_visibly_and_for_the_turn_only() -> None:
    async with stage(fail("overloaded", retry_after=90), text("ok"), text("again")) as s:
        s.session.set_model(PRICED)
        s.session.fallback.find = lambda name: Model("lab", name, context_window=8000)
        s.session.fallback.names = ("small",)
        windows: list[int | None] = []
        s.session.subscribe(lambda event, signal: windows.append(s.presenter.status.context_window))

        await s.session.prompt("go")

        said = " ".join(s.screen.text.split())
        assert "test/m: overloaded; going on with lab/small for this turn" in said
        assert "/model lab/small keeps it" in said
        assert windows[-2] == 8000
        assert s.presenter.status.context_window == 200_000


async def test_retries_that_fail_end_in_one_error() -> None:
    async with stage(*(fail("overloaded", "Overloaded.") for _ in range(4))) as s:
        await s.session.prompt("go")

        assert s.screen.kinds == ["user", "summary", "failure"]
        assert s.waits == [2.0, 4.0, 8.0]


async def test_a_stop_while_waiting_for_a_retry_says_what_failed() -> None:
    async with stage(fail("network", "Connection refused.")) as s:

        def stop() -> None:
            s.presenter.stopping()
            s.session.abort()

        s.on_wait = stop
        await s.session.prompt("go")

        assert s.screen.kinds == ["user", "summary", "failure", "notice"]
        assert s.screen.blocks[2].source().startswith("Connection refused — check the connection")
        assert "your message is back in the composer" in s.screen.text
        assert s.presenter.unanswered_prompt is not None


async def test_a_stop_names_what_was_killed_changed_and_pending() -> None:
    started = asyncio.Event()

    @tool(name="bash")
    async def slow(command: str) -> str:
        """Wait."""
        started.set()
        await asyncio.Event().wait()
        return ""

    script = (
        calls(call("edit", {"path": "a.py"})),
        calls(call("bash", {"command": "pytest -q"})),
    )
    async with stage(*script, tools=[edit_app, slow]) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await started.wait()
        s.session.follow_up("later")
        s.time += 14

        s.presenter.stopping()
        stopping = s.lines
        s.session.abort()
        await running

        assert "stopping… 0 s (ctrl+c: kill)" in stopping
        banner = s.screen.blocks[-1].source().splitlines()
        assert banner[0] == (
            "Stopped at step 2 · pytest -q killed after 14 s · "
            "1 file changed since the turn began · 1 pending, on hold"
        )
        assert banner[1].startswith("enter (empty composer): send all now")


async def test_the_banner_forgets_its_keys_when_nothing_is_pending_any_more() -> None:
    async with stage(hang(), text("ok")) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: s.model.requests)
        s.session.follow_up("later")
        s.presenter.stopping()
        s.session.abort()
        await running
        with_keys = s.screen.text

        s.session.agent.clear_queue()

        assert "enter (empty composer)" in with_keys
        assert "enter (empty composer)" not in s.screen.text


async def test_a_stop_to_send_something_holds_nothing_back() -> None:
    async with stage([text("x"), hang()], text("ok")) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: "assistant" in s.screen.kinds)

        s.presenter.stopping(to_send=True)
        await s.session.send_now("instead")
        await running

        assert "on hold" not in s.screen.text
        assert "Stopped at step 1" in s.screen.text
        assert s.presenter.unanswered_prompt is None
        assert not s.presenter.course.is_stopping


@pytest.mark.parametrize(
    ("response", "unanswered"),
    [
        pytest.param([hang()], True, id="silent"),
        pytest.param([think("hm"), hang()], False, id="thinking"),
        pytest.param([text("a"), hang()], False, id="answering"),
    ],
)
async def test_only_a_prompt_without_any_output_is_unanswered(
    response: list[Part], unanswered: bool
) -> None:
    async with stage(response) as s:
        running = asyncio.create_task(s.session.prompt("question"))
        await until(lambda: s.model.requests)
        await until(lambda: unanswered or len(s.screen.kinds) > 1)

        s.presenter.stopping()
        s.session.abort()
        await running

        assert (s.presenter.unanswered_prompt is not None) is unanswered


async def test_a_question_is_seen_in_status_moment_and_panel() -> None:
    script = (calls(call("bash", {"command": "rm -rf build"})), text("ok"))
    async with stage(*script, tools=[failing_bash], mode="ask") as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: s.presenter.questions)

        asking = (s.lines, s.presenter.moment, s.screen.text)
        s.session.approvals.answer(s.presenter.questions[0].id, "decline", "use make clean")
        await running

        assert "needs your answer" in asking[0]
        assert (asking[1].phase, asking[1].asking) == ("asking", "rm -rf build")
        assert "asks you" in asking[2]
        assert 'declined: "use make clean"' in s.screen.text
        assert s.presenter.questions == []


# -- counters ------------------------------------------------------------------------------------


async def test_the_steps_add_up_to_the_turn_and_the_turns_to_the_session() -> None:
    def counted(part: Part, tokens: int) -> list[Part]:
        usage = Usage(input=tokens, output=tokens // 10, total=tokens + tokens // 10)
        return [part, end(usage=usage)]

    script = (counted(READ, 1000), counted(text("a"), 2000), counted(text("b"), 4000))
    async with stage(*script, tools=[read_app], model=PRICED) as s:
        await s.session.prompt("one")
        s.time += 5
        first = s.screen.blocks[-1].source()
        await s.session.prompt("two")
        second = s.screen.blocks[-1].source()

        assert first == "2 steps · 0 s · ↑3k ↓300 · $0.0036"
        assert second.startswith("1 step · 0 s · ↑4k ↓400")
        assert "session $0.0084 · ↑7k ↓700" in s.lines


async def test_unreported_usage_is_unknown_and_not_zero() -> None:
    async with stage(text("a")) as s:
        await s.session.prompt("one")

        assert s.screen.blocks[-1].source() == "1 step · 0 s · ↑? ↓? · $?"


async def test_while_an_answer_arrives_its_tokens_are_estimates() -> None:
    async with stage([text("x" * 400), hang()]) as s:
        running = asyncio.create_task(s.session.prompt("go"))
        await until(lambda: "assistant" in s.screen.kinds)
        s.time += 2

        arriving = s.lines
        s.session.abort()
        await running

        assert "↓~100" in arriving
        assert "~50 tok/s" in arriving
        assert "answering" in arriving


async def test_the_clock_of_a_turn_stands_still_after_its_end() -> None:
    async with stage(text("a")) as s:
        await s.session.prompt("one")

        s.time += 60

        assert "step 1 · 0 s" in s.lines
        assert s.presenter.status.state == "idle"


async def test_each_delta_marks_its_own_block_only() -> None:
    async with stage(text("word " * 50, chunk=5)) as s:
        await s.session.prompt("go")

        answer = next(b for b in s.screen.blocks if type(b).__name__ == "AssistantBlock")
        assert set(s.screen.marks) == {answer.id}


async def test_an_earlier_transcript_is_shown_with_results_in_their_panels() -> None:
    async with stage(READ, text("after"), tools=[read_app]) as s:
        await s.session.prompt("before")
        messages = s.session.agent.state.messages
        again = Screen()

        Presenter(again, s.session, lambda: s.time).show_history(messages)

        assert again.kinds == ["user", "tool", "assistant"]
        assert "120 lines" in again.text


@pytest.mark.parametrize(
    ("result", "status", "shown"),
    [
        ("The user declined this call: not there", "declined", 'declined: "not there"'),
        ("The user declined this call.", "declined", "declined"),
        (batch.BEFORE_START, "killed", "before it started"),
        (batch.NOT_STARTED, "killed", "before it started"),
        (f"half\n\n{batch.KILLED}", "killed", "half"),
        (INTERRUPTED, "killed", "Interrupted"),
        (
            "(no output)\n\nCommand aborted after 3.7 s.\n\nEnded: sleep 8 (pid 2).",
            "killed",
            "Ended",
        ),
        ("Command aborted, says the log.\na\nb\n\nExit code 1.", "failed", "Exit code 1"),
    ],
)
async def test_an_earlier_call_says_how_it_ended(result: str, status: str, shown: str) -> None:
    @tool(name="bash")
    def ended_so(command: str) -> ToolResult:
        """End."""
        return ToolResult(result, is_error=True)

    async with stage(calls(call("bash", {"command": "x"})), text("b"), tools=[ended_so]) as s:
        await s.session.prompt("a")
        again = Screen()

        Presenter(again, s.session, lambda: s.time).show_history(s.session.agent.state.messages)

        panel = next(b for b in again.blocks if isinstance(b, ToolBlock))
        assert panel.status == status
        assert shown in again.text


async def test_every_place_says_the_same_about_the_next_try() -> None:
    async with stage(fail("rate_limit", "Slow down.", retry_after=4), text("ok")) as s:
        seen: list[tuple[bool, bool, bool]] = []

        def look() -> None:
            said = s.session.waiting_for()
            when = said.partition("next try ")[2]
            seen.append((when in s.lines, f"3 {when} ·" in s.screen.text, "in 4 s" in said))

        s.on_wait = look
        await s.session.prompt("go")

        assert seen == [(True, True, True)]
