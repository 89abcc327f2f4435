"""How much a turn and the session may use: said at 80 %, asked before the next model call.

Nothing that runs is cut short and nothing that was paid for is lost. A budget is judged by what is
known to be used; where the provider or the prices leave that open, it says so once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_tui.core.abort import AbortSignal
from agent_tui.core.ids import new_id
from agent_tui.core.limits import LIMIT_KINDS, LimitKind, Limits, Meter, Scope, amount
from agent_tui.core.messages import AssistantMessage
from agent_tui.core.model import Model
from agent_tui.core.spending import Spent
from agent_tui.session.events import (
    BudgetAnswer,
    BudgetAnswerEvent,
    BudgetRequestEvent,
    BudgetVerdict,
    BudgetWarningEvent,
    SessionEvent,
)
from agent_tui.session.ledger import Ledger
from agent_tui.session.stopwatch import Stopwatch

WARN_SHARE = 0.8
Passage = Literal["go", "finish", "stop", "aborted"]
"""What may follow: a model call, a last one without tools, none, none because of an abort."""


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """One question to the person."""

    meters: tuple[Meter, ...]
    """Every budget that is used up."""
    message: str
    """The same in words: `$0.52 of this turn's $0.50`."""
    offer: str
    """What `extend` would make of them: `$1.00`."""
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class _Open:
    request: BudgetRequest
    answered: asyncio.Future[BudgetVerdict]


class Budgets:
    """The gate before every model call. With `unattended` nobody is asked: the answer is stop."""

    def __init__(
        self,
        ledger: Ledger,
        watch: Stopwatch,
        *,
        turn: Limits | None = None,
        session: Limits | None = None,
        unattended: bool = False,
        announce: Callable[[SessionEvent], None] | None = None,
    ) -> None:
        self.unattended = unattended
        self.announce = announce
        self.refused: BudgetRequest | None = None
        """The question that ended this turn, None if it goes on or ended otherwise."""
        self._ledger = ledger
        self._watch = watch
        self._original = {"turn": turn or Limits(), "session": session or Limits()}
        self._limits = dict(self._original)
        self._warned: set[tuple[Scope, LimitKind]] = set()
        self._said: set[tuple[LimitKind, str]] = set()
        self._open: _Open | None = None
        self._finish: Literal["no", "asked", "done"] = "no"

    # -- what others read --------------------------------------------------------------------

    @property
    def turn(self) -> Limits:
        """The budget of the current turn, extensions included."""
        return self._limits["turn"]

    @property
    def session(self) -> Limits:
        """The budget of the session, extensions included."""
        return self._limits["session"]

    @property
    def pending(self) -> BudgetRequest | None:
        """The open question."""
        return None if self._open is None else self._open.request

    def meters(self, *scopes: Scope) -> list[Meter]:
        """Every budget that is set, with what is used of it."""
        return [
            self._meter(scope, kind, limit)
            for scope in scopes or ("turn", "session")
            for kind in LIMIT_KINDS
            if (limit := self._limits[scope].get(kind)) is not None
        ]

    # -- the course of a turn ----------------------------------------------------------------

    def open_turn(self) -> None:
        """A turn has been asked for."""
        self.refused = None
        self._finish = "no"

    def begin_turn(self) -> None:
        """A turn has begun: its budget is whole again."""
        self._limits["turn"] = self._original["turn"]
        self._warned = {key for key in self._warned if key[0] == "session"}
        if self._finish == "done":
            self.open_turn()

    def answered(self) -> None:
        """An answer came; if it was to be the last, nothing follows."""
        if self._finish == "asked":
            self._finish = "done"

    def is_closed(self, *, is_new_turn: bool = False) -> bool:
        """Whether `gate` would not simply say `go`; a new turn is judged by the session alone."""
        return self._finish != "no" or bool(self._reached(is_new_turn))

    async def gate(
        self, signal: AbortSignal | None = None, *, is_new_turn: bool = False
    ) -> Passage:
        """What may follow now; asks, and waits for the answer, if a budget is used up."""
        if self._finish != "no":
            return "finish" if self._finish == "asked" else "stop"
        while reached := self._reached(is_new_turn):
            request = self._request(reached)
            match await self._ask(request, signal):
                case "extend":
                    continue
                case "finish":
                    self._finish = "asked"
                    return "finish"
                case "stop":
                    self.refused = request
                    return "stop"
                case "aborted":
                    return "aborted"
        return "go"

    # -- answers -----------------------------------------------------------------------------

    def answer(self, request_id: str, verdict: BudgetAnswer, more: float | None = None) -> bool:
        """Answer the open question; False if it is not open any more.

        `extend` allows as much again as was allowed at first, or `more` of it.
        """
        if self._open is None or self._open.request.id != request_id:
            return False
        if verdict == "extend":
            for meter in self._open.request.meters:
                self._extend(meter, more)
        self._settle(verdict)
        return True

    def dismiss(self) -> None:
        """The step is to be the last anyway: an open question is answered with stop."""
        self._settle("stop")

    # -- warnings ----------------------------------------------------------------------------

    def news(self) -> list[BudgetWarningEvent]:
        """What is newly worth saying: budgets of which 80 % are used."""
        found = []
        for meter in self.meters():
            key = (meter.scope, meter.kind)
            if WARN_SHARE <= meter.share < 1 and key not in self._warned:
                self._warned.add(key)
                said = f"{meter.share:.0%} of a budget is used: {meter.words}"
                found.append(BudgetWarningEvent(said, meter))
        return found

    def doubts(self, model: Model) -> list[BudgetWarningEvent]:
        """What cannot be enforced with this model, said once: its price is unknown."""
        limits = [limit for limit in (self.turn.cost, self.session.cost) if limit is not None]
        if model.cost is not None or not limits:
            return []
        budget = amount("cost", min(limits))
        return self._say_once(
            "cost",
            model.key,
            f"The price of {model.key} is unknown: the budget of {budget} cannot be enforced, "
            "unless the server itself reports what it charges",
        )

    def doubts_after(self, message: AssistantMessage) -> list[BudgetWarningEvent]:
        """The same after an answer whose tokens nobody counted."""
        has_limit = self.turn.tokens is not None or self.session.tokens is not None
        if not has_limit or message.usage.has_tokens:
            return []
        key = f"{message.provider}/{message.model}"
        return self._say_once(
            "tokens",
            key,
            f"{key} does not report how many tokens it uses: the token budget cannot be enforced",
        )

    # -- inside ------------------------------------------------------------------------------

    def _meter(self, scope: Scope, kind: LimitKind, limit: float) -> Meter:
        spent: Spent = self._ledger.turn if scope == "turn" else self._ledger.session
        match kind:
            case "cost":
                used, is_partial = spent.usage.cost_usd or 0.0, spent.cost_is_partial
            case "tokens":
                used, is_partial = float(spent.usage.total), spent.tokens_are_partial
            case "iterations":
                used, is_partial = float(spent.answers), False
            case "time":
                watch = self._watch
                used = watch.worked if scope == "turn" else watch.worked_in_all
                is_partial = False
        return Meter(scope, kind, used, limit, is_partial)

    def _reached(self, is_new_turn: bool) -> tuple[Meter, ...]:
        scopes: Sequence[Scope] = ("session",) if is_new_turn else ("turn", "session")
        return tuple(meter for meter in self.meters(*scopes) if meter.share >= 1)

    def _request(self, reached: tuple[Meter, ...]) -> BudgetRequest:
        offers = [amount(meter.kind, self._extended(meter)) for meter in reached]
        words = " and ".join(meter.words for meter in reached)
        return BudgetRequest(reached, words, " and ".join(offers))

    def _extended(self, meter: Meter) -> float:
        """As much again as was allowed at first, as often as it takes to be above what is used."""
        step = self._original[meter.scope].get(meter.kind) or meter.limit
        times = max(0, int((meter.used - meter.limit) // step)) + 1
        return meter.limit + step * times

    def _extend(self, meter: Meter, more: float | None) -> None:
        limit = max(meter.used, meter.limit) + more if more else self._extended(meter)
        value = round(limit, 10) if meter.kind in ("cost", "time") else round(limit)
        change: dict[str, Any] = {meter.kind: value}
        self._limits[meter.scope] = replace(self._limits[meter.scope], **change)
        self._warned.discard((meter.scope, meter.kind))

    def _say_once(self, kind: LimitKind, model: str, message: str) -> list[BudgetWarningEvent]:
        if (kind, model) in self._said:
            return []
        self._said.add((kind, model))
        return [BudgetWarningEvent(message)]

    async def _ask(self, request: BudgetRequest, signal: AbortSignal | None) -> BudgetVerdict:
        opened = _Open(request, asyncio.get_running_loop().create_future())
        self._open = opened
        self._tell(BudgetRequestEvent(request))
        if self.unattended:
            self._settle("stop")
        forget = signal.on_set(lambda: self._settle("aborted")) if signal else lambda: None
        try:
            return await opened.answered
        finally:
            forget()
            self._settle("aborted")

    def _settle(self, verdict: BudgetVerdict) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        if not opened.answered.done():
            opened.answered.set_result(verdict)
        self._tell(BudgetAnswerEvent(opened.request.id, verdict))

    def _tell(self, event: SessionEvent) -> None:
        if self.announce is not None:
            self.announce(event)
