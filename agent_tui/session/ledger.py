"""What a session has spent, call by call: the steps add up to the turn, the turns to the session.

Everything that was asked for counts, failed, aborted and repeated attempts included, whether or not
it is still in the transcript. What nobody reported is unknown, not zero; only a model whose prices
are all zero costs nothing for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from agent_tui.agent.result import WITHDRAWN
from agent_tui.agent.state import AgentState
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.model import Model, ModelCost
from agent_tui.core.spending import Charge, Outcome, Spent, ToolShare, UsageReport, add_spent
from agent_tui.core.tool import Tool
from agent_tui.core.usage import Usage, units_of
from agent_tui.session.context import fixed_tokens
from agent_tui.session.journal.tree import SessionTree
from agent_tui.session.shares import Shares


class Ledger:
    """Books every model call of one agent. `clock()` gives seconds."""

    def __init__(self, state: AgentState, clock: Callable[[], float]) -> None:
        self._state = state
        self._clock = clock
        self._models: dict[str, Model] = {}
        self._charges: list[Charge] = []
        self._shares = Shares()
        self._fixed: tuple[str | None, list[Tool], int] = (None, [], 0)
        self._turn = 0
        self._step_started: float | None = None
        self.session = Spent()
        """The sum of everything."""
        self.turn = Spent()
        """The sum of the current or last turn."""
        self.steps = 0
        """Steps begun in this turn; a failed request and its repetitions are one."""
        self._repeats = False
        """The last request failed: the next one is for the same step."""

    # -- writing -----------------------------------------------------------------------------

    def know(self, model: Model) -> None:
        """Remember what this model costs; it may answer from now on."""
        self._models[model.key] = model

    def recall(self, earlier: SessionTree | Sequence[AgentMessage]) -> None:
        """Count messages of an earlier time: they belong to the session and to no turn.

        Of a tree every branch counts, and what its summaries cost.
        """
        messages = earlier.spent() if isinstance(earlier, SessionTree) else _in_a_row(earlier)
        for message, before in messages:
            self.steps += isinstance(message, AssistantMessage)
            self._book(message, before)
        if isinstance(earlier, SessionTree):
            for entry in earlier:
                if entry.type in ("compaction", "usage") and entry.data.get("usage"):
                    usage = Usage.model_validate(entry.data["usage"])
                    self.count_summary(usage, str(entry.data.get("model", "")))
        self.steps, self.turn = 0, Spent()

    def begin_turn(self) -> None:
        """Start counting a new turn."""
        self._turn += 1
        self.turn = Spent()
        self.steps, self._repeats = 0, False

    def begin_step(self) -> None:
        """A model call is about to be made."""
        self.steps += not self._repeats
        self._repeats = False
        self._step_started = self._clock()

    def count(self, message: AgentMessage) -> None:
        """Book a finished message, which is the last of the transcript."""
        self._repeats = isinstance(message, AssistantMessage) and message.stop_reason == "error"
        self._book(message, self._state.messages[:-1])

    def count_summary(self, usage: Usage, model: str) -> None:
        """Book what it took to summarise, by a model named `provider/id`."""
        known = self._models.get(model)
        answer = AssistantMessage(usage=usage)
        spent = _spent_by(answer, None if known is None else known.cost)
        self._charge(Charge(self._turn, self.steps, model, "", "answered", spent))
        cost = spent.usage.cost_usd
        self._shares.other_units += 0 if cost is None else units_of(cost)

    # -- reading -----------------------------------------------------------------------------

    @property
    def turn_number(self) -> int:
        """Counts turns from 1; 0 before the first."""
        return self._turn

    @property
    def charges(self) -> Sequence[Charge]:
        """Everything booked, in the order in which it ended; grows."""
        return self._charges

    def spent_on(self, message: AssistantMessage) -> Spent:
        """What one answer cost."""
        model = self._models.get(f"{message.provider}/{message.model}")
        return _spent_by(message, None if model is None else model.cost)

    def report(self) -> UsageReport:
        """All rows as they are now."""
        return UsageReport(
            session=self.session,
            turn=self.turn,
            charges=tuple(self._charges),
            models=_by_model(self._charges),
            tools=tuple(sorted(self._shares.rows(), key=_dearness, reverse=True)),
            other_units=self._shares.other_units,
        )

    # -- inside ------------------------------------------------------------------------------

    def _book(self, message: AgentMessage, before: Sequence[AgentMessage]) -> None:
        if isinstance(message, AssistantMessage) and _was_asked_for(message):
            self._book_answer(message, before)
        elif isinstance(message, ToolResultMessage):
            self._book_result(message)

    def _book_answer(self, message: AssistantMessage, before: Sequence[AgentMessage]) -> None:
        key = f"{message.provider}/{message.model}"
        model = self._models.get(key)
        prices = None if model is None else model.cost
        spent = _spent_by(message, prices)
        began, self._step_started = self._step_started, None
        seconds = None if began is None else self._clock() - began
        outcome: Outcome = {"error": "failed", "aborted": "aborted"}.get(  # type: ignore[assignment]
            message.stop_reason, "answered"
        )
        self._charge(Charge(self._turn, self.steps, key, "", outcome, spent, seconds))
        self._shares.read(before, self._fixed_tokens(), spent.usage, prices)

    def _book_result(self, message: ToolResultMessage) -> None:
        usage = message.usage
        own = Spent() if usage is None else _spent_inside(usage)
        self._shares.add_result(message, own)
        if usage is not None:
            name = message.tool_name
            self._charge(Charge(self._turn, self.steps, "", name, "inside_tool", own))

    def _fixed_tokens(self) -> int:
        prompt, tools = self._state.system_prompt, self._state.tools
        if self._fixed[:2] != (prompt, tools):
            self._fixed = (prompt, [*tools], fixed_tokens(prompt, tools))
        return self._fixed[2]

    def _charge(self, charge: Charge) -> None:
        self._charges.append(charge)
        self.turn += charge.spent
        self.session += charge.spent


def _in_a_row(
    messages: Sequence[AgentMessage],
) -> Iterator[tuple[AgentMessage, list[AgentMessage]]]:
    before: list[AgentMessage] = []
    for message in messages:
        yield message, before
        before.append(message)


def _was_asked_for(message: AssistantMessage) -> bool:
    """Whether a request was made for this answer at all."""
    if message.raw_stop_reason == WITHDRAWN:
        return False
    return message.stop_reason not in ("error", "aborted") or not message.usage.is_empty


def _spent_by(message: AssistantMessage, prices: ModelCost | None) -> Spent:
    usage = message.usage
    is_free = prices is not None and prices.is_free
    if is_free and usage.cost_usd is None:
        usage = usage.model_copy(update={"cost_usd": 0.0})
    return Spent(
        usage,
        requests=1,
        answers=int(message.stop_reason not in ("error", "aborted")),
        tokens_are_partial=usage.incomplete or not usage.has_tokens,
        cost_is_partial=not is_free and (usage.incomplete or usage.cost_usd is None),
        has_own_price=prices is not None and prices.is_own,
    )


def _spent_inside(usage: Usage) -> Spent:
    is_unpriced = usage.cost_usd is None and usage.has_tokens
    return Spent(
        usage,
        tokens_are_partial=usage.incomplete,
        cost_is_partial=usage.incomplete or is_unpriced,
    )


def _by_model(charges: Iterable[Charge]) -> tuple[tuple[str, Spent], ...]:
    parts_by_model: dict[str, list[Spent]] = {}
    for charge in charges:
        parts_by_model.setdefault(charge.model, []).append(charge.spent)
    sums = [(model, add_spent(parts)) for model, parts in parts_by_model.items()]
    return tuple(sorted(sums, key=lambda row: row[1].usage.cost_usd or 0.0, reverse=True))


def _dearness(share: ToolShare) -> tuple[int, int]:
    return share.units, share.added + share.again
