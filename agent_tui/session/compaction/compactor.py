"""Puts a summary in the place of the older part of an agent's transcript."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from agent_tui.agent.agent import Agent
from agent_tui.agent.calling import settled, unless_aborted
from agent_tui.agent.hooks import MaybeAwaitable
from agent_tui.agent.response import Response
from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import AgentError, ContextOverflowError, ErrorInfo, error_to_info
from agent_tui.core.ids import now_ms
from agent_tui.core.messages import AgentMessage, AssistantMessage, CompactionSummaryMessage
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import BlockEvent, LlmContext, StreamOptions
from agent_tui.core.usage import Usage, add_usage
from agent_tui.session.compaction.breaker import Breaker
from agent_tui.session.compaction.cut import Cut, find_cut
from agent_tui.session.compaction.serialise import TouchedFiles, touched_files
from agent_tui.session.compaction.sizes import keep_recent_for, threshold_for
from agent_tui.session.compaction.summary import (
    HISTORY_SHARE,
    PREFIX_SHARE,
    branch_request,
    history_request,
    joined,
    max_output,
    prefix_request,
    room_for,
    text_size,
)
from agent_tui.session.context import (
    ContextMeter,
    estimate_context,
    fixed_tokens,
    message_tokens,
)
from agent_tui.session.events import (
    CompactionEndEvent,
    CompactionReason,
    CompactionStartEvent,
    NoticeEvent,
    SessionEvent,
)
from agent_tui.session.journal.tree import SessionTree
from agent_tui.session.retry import Retries, RetryPolicy

_SMALLER = 4
"""So often a request that is too long is made again with half the material."""
NOTHING = "There is nothing to summarise: all of the context is recent."


@dataclass(slots=True)
class Waits:
    """How requests that failed in passing are made again."""

    policy: RetryPolicy
    jitter: Callable[[], float]
    sleep: Callable[[float], Awaitable[object]]


class _Failed(Exception):
    """There will be no summary; `error` is None if somebody stopped it."""

    def __init__(self, error: ErrorInfo | None) -> None:
        self.error = error


class Compactor:
    """Summarises for one agent. `post` tells the session, which writes the journal."""

    def __init__(
        self,
        agent: Agent,
        tree: SessionTree,
        waits: Waits,
        post: Callable[[SessionEvent], None],
        pins: Callable[[], Sequence[str]],
    ) -> None:
        self._agent = agent
        self._tree = tree
        self._waits = waits
        self._post = post
        self._pins = pins
        self._meter = ContextMeter()
        self._has_warned = False
        self.is_automatic = True
        """It may begin without being asked."""
        self.breaker = Breaker()

    # -- when --------------------------------------------------------------------------------

    def context_tokens(self, coming: Sequence[AgentMessage] = ()) -> int:
        """Tokens that the agent's next request will roughly hold, with `coming` at its end."""
        state = self._agent.state
        messages = [*state.messages, *coming] if coming else state.messages
        return self._meter.tokens(messages, state.system_prompt, state.tools)

    @property
    def is_context_guessed(self) -> bool:
        """No count of the provider stands behind what `context_tokens` gave last."""
        return self._meter.is_guess

    def is_due(self, coming: Sequence[AgentMessage] = ()) -> bool:
        """The context is too full, and something can be done about it.

        `coming` is what is about to be sent and not in the transcript yet.
        """
        state = self._agent.state
        limit = threshold_for(state.model.context_window)
        if limit is None or not self.may_begin() or not state.messages:
            return False
        if self.context_tokens(coming) <= limit:
            return False
        fixed = fixed_tokens(state.system_prompt, state.tools)
        if fixed > limit:
            self._warn(
                f"The system prompt and the tools alone take about {fixed} tokens of a window of "
                f"{state.model.context_window}: a summary would not help."
            )
            return False
        said = sum(map(message_tokens, coming))
        if said and fixed + said >= (state.model.context_window or 0):
            return False  # no summary makes room for that; the server says so
        return not self._is_fresh() and self._cut(state.messages, "threshold", said) is not None

    def may_begin(self) -> bool:
        """Whether anything is summarised without being asked for."""
        return self.is_automatic and self.breaker.reason is None

    def can_shrink(self, messages: Sequence[AgentMessage]) -> bool:
        """Something of these can be summarised to make room after an overflow."""
        return self._cut(messages, "overflow") is not None

    def _is_fresh(self) -> bool:
        """No message has come since the last summary."""
        for entry in reversed(self._tree.path()):
            if entry.message is not None:
                return False
            if entry.type == "compaction":
                return True
        return False

    def _warn(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            self._post(NoticeEvent(message))

    # -- how ---------------------------------------------------------------------------------

    async def compact(
        self,
        reason: CompactionReason,
        messages: Sequence[AgentMessage],
        signal: AbortSignal,
        focus: str = "",
        *,
        coming: Sequence[AgentMessage] = (),
        before_taking: Callable[[], None] = lambda: None,
    ) -> list[AgentMessage] | None:
        """What takes the place of `messages`; None if that failed, which has been told then.

        `coming` is sent behind them, and takes up some of the room for what stays as it is.
        `before_taking` is called when there is a summary, and before anybody hears of it.
        """
        state = self._agent.state
        before = estimate_context(messages, state.system_prompt, state.tools)
        cut = self._cut(messages, reason, sum(map(message_tokens, coming)))
        if cut is None:
            self._post(CompactionEndEvent(reason, before, error=NOTHING))
            return None
        self._post(CompactionStartEvent(reason, before))
        end = CompactionEndEvent(reason, before, model=state.model.key)
        asking = _Asking(self._agent, self._waits, signal)
        files = touched_files([*cut.history, *cut.prefix], self._earlier_files())
        text = await self._told(end, asking, self._text(asking, cut, focus, files))
        if text is None:
            return None
        before_taking()
        # Usage that is older than the summary tells nothing about the context behind it.
        timestamp = max(now_ms(), *(message.timestamp + 1 for message in messages))
        summary = CompactionSummaryMessage(summary=text, tokens_before=before, timestamp=timestamp)
        context: list[AgentMessage] = [summary, *cut.pinned, *cut.kept]
        self._succeeded(reason)
        fixed = fixed_tokens(state.system_prompt, state.tools)
        self._post(
            replace(
                end,
                summary=summary,
                tokens_after=fixed + sum(map(message_tokens, context)),
                first_kept_id=cut.kept[0].id,
                pinned_ids=tuple(message.id for message in cut.pinned),
                summarised=cut.summarised,
                details={"read_files": [*files.read], "modified_files": [*files.modified]},
                usage=asking.usage,
            )
        )
        return context

    async def summarise_branch(
        self, messages: Sequence[AgentMessage], signal: AbortSignal
    ) -> str | None:
        """What a branch that is left was about; None if that failed, which has been told then."""
        model = self._agent.state.model
        before = sum(map(message_tokens, messages))
        self._post(CompactionStartEvent("branch", before))
        end = CompactionEndEvent("branch", before, model=model.key, summarised=len(messages))
        asking = _Asking(self._agent, self._waits, signal)
        asked = asking.ask_in(
            room_for(model), lambda fits: branch_request(messages, fits), HISTORY_SHARE
        )
        text = await self._told(end, asking, asked)
        if text is None:
            return None
        self._post(replace(end, usage=asking.usage))
        return joined(text, "", touched_files(messages, TouchedFiles()).to_text())

    async def _told(
        self, end: CompactionEndEvent, asking: _Asking, asked: Awaitable[str]
    ) -> str | None:
        """What was asked for; None, once it is told, if it failed or was stopped."""
        try:
            return await asked
        except _Failed as failed:
            self._failed(end.reason, failed.error)
            said = None if failed.error is None else failed.error.message
            self._post(replace(end, usage=asking.usage, error=said, aborted=failed.error is None))
            return None
        except BaseException:
            self._post(replace(end, usage=asking.usage, aborted=True))
            raise

    def _cut(
        self, messages: Sequence[AgentMessage], reason: CompactionReason, coming: int = 0
    ) -> Cut | None:
        keep = keep_recent_for(self._agent.state.model.context_window)
        keep = max(keep // 4, keep - coming)
        if reason != "threshold":
            # Somebody wants room, or the server counts otherwise than we do.
            keep = min(keep, sum(map(message_tokens, messages)) // 3)
        return find_cut(messages, keep, self._pins())

    def _earlier_files(self) -> TouchedFiles:
        entry = self._tree.compaction()
        details = None if entry is None else entry.data.get("details")
        if not isinstance(details, dict):
            return TouchedFiles()
        lists = (details.get("read_files"), details.get("modified_files"))
        return TouchedFiles(*(tuple(map(str, paths or ())) for paths in lists))

    async def _text(self, asking: _Asking, cut: Cut, focus: str, files: TouchedFiles) -> str:
        model = self._agent.state.model
        history = ""
        if cut.previous is not None:
            lists = self._earlier_files().to_text()
            history = cut.previous.summary.removesuffix(lists).rstrip()
        room = room_for(model)
        if cut.history:
            earlier, turns = history, cut.history
            history = await asking.ask_in(
                room, lambda fits: history_request(turns, earlier, focus, fits), HISTORY_SHARE
            )
        prefix = ""
        if cut.prefix:
            prefix = await asking.ask_in(
                room, lambda fits: prefix_request(cut.prefix, focus, fits), PREFIX_SHARE
            )
        return joined(history, prefix, files.to_text())

    def _succeeded(self, reason: CompactionReason) -> None:
        if reason == "manual":
            self.breaker.reset()
            return
        self.breaker.succeeded()
        if self.breaker.reason is not None:
            self._post(NoticeEvent(self.breaker.reason))

    def _failed(self, reason: CompactionReason, error: ErrorInfo | None) -> None:
        if error is None or reason in ("manual", "branch"):
            return
        self.breaker.failed(is_transient=error.retryable)
        if self.breaker.reason is not None:
            self._post(NoticeEvent(self.breaker.reason))


class _Asking:
    """The requests for one summary, one after another, and what they used."""

    def __init__(self, agent: Agent, waits: Waits, signal: AbortSignal) -> None:
        self._agent = agent
        self._waits = waits
        self._signal = signal
        self._usages: list[Usage] = []

    @property
    def usage(self) -> Usage | None:
        """The sum, failed attempts included; None before the first."""
        return add_usage(self._usages) if self._usages else None

    async def ask_in(
        self, room: int | None, make: Callable[[int | None], LlmContext], share: float
    ) -> str:
        """The same with less and less material, if the window is smaller than it is said to be."""
        for _ in range(_SMALLER):
            request = make(room)
            try:
                return await self.ask(request, share)
            except _Failed as failed:
                if failed.error is None or failed.error.code != ContextOverflowError.default_code:
                    raise
                room = text_size(request) // 2
        return await self.ask(make(room), share)

    async def ask(self, request: LlmContext, share: float) -> str:
        """The text of one summary; raises `_Failed`."""
        retries = Retries(self._waits.policy, self._waits.jitter)
        while True:
            error = None
            try:
                answer = await self._answer(request, share)
            except Exception as fault:  # a key command or a hook of somebody's own
                error = error_to_info(fault) if isinstance(fault, AgentError) else _broken(fault)
            else:
                error = answer.error
                if answer.stop_reason == "aborted" or self._signal.aborted:
                    raise _Failed(None)
                if error is None and answer.stop_reason != "error":
                    if text := answer.text.strip():
                        return text
                    error = ErrorInfo(code="provider", message="the model gave an empty summary")
            plan = retries.plan(error or ErrorInfo(code="provider", message="the request failed"))
            if plan.delay is None:
                raise _Failed(plan.error)
            if not await self._slept(plan.delay):
                raise _Failed(None)

    async def _slept(self, seconds: float) -> bool:
        """True after so long, False as soon as somebody stops it."""

        async def sleep() -> bool:
            await self._waits.sleep(seconds)
            return True

        waiting: Callable[[], MaybeAwaitable[bool]] = sleep
        waited, _ = await unless_aborted(waiting(), self._signal)
        return waited

    async def _answer(self, request: LlmContext, share: float) -> AssistantMessage:
        agent, model = self._agent, self._agent.state.model
        key = agent.get_api_key
        options = StreamOptions(
            max_output_tokens=max_output(model, share),
            api_key=await settled(key(model.provider)) if key else None,
            session_id=agent.session_id,
            signal=self._signal,
        )
        stream = agent.stream_fn or stream_fn_for(model)
        response = Response(model, self._signal, _ignore, _ignore_update)
        answer = await response.run(lambda: stream(model, request, options))
        if answer.error is None or not answer.usage.is_empty:
            self._usages.append(answer.usage)
        return answer


def _broken(fault: Exception) -> ErrorInfo:
    return ErrorInfo(code="internal", message=f"the summary could not be asked for: {fault}")


async def _ignore(message: AssistantMessage) -> None:
    """Nobody watches a summary grow."""


async def _ignore_update(message: AssistantMessage, event: BlockEvent) -> None:
    """Nobody watches a summary grow."""
