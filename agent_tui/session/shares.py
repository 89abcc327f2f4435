"""Which part of each request was results of tools, and what reading them cost.

The transcript is laid out as the model reads it: what every request begins with, then message after
message, sized by guess and scaled to the prompt tokens that the provider counted. Cached tokens are
the front of it. Every token and every unit of cost is in one share or in nobody's: they add up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_tui.core.model import ModelCost
from agent_tui.core.pricing import costs_by_class
from agent_tui.core.spending import Spent, ToolShare
from agent_tui.core.usage import Usage, units_of
from agent_tui.session.context import message_tokens


@dataclass(slots=True)
class _Track:
    """Where the results of one tool lie in the transcript, in guessed tokens."""

    starts: list[int] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    """Their size up to and including each."""
    read: int = 0
    """How much of it a request has held before."""

    @property
    def size(self) -> int:
        return self.sums[-1] if self.sums else 0

    def add(self, start: int, size: int) -> None:
        self.starts.append(start)
        self.sums.append(self.size + size)

    def before(self, place: float) -> float:
        """How much of it lies before `place`."""
        index = bisect_left(self.starts, place)
        if not index:
            return 0
        earlier = self.sums[index - 2] if index > 1 else 0
        return earlier + min(self.sums[index - 1] - earlier, place - self.starts[index - 1])


@dataclass(slots=True)
class _Layout:
    """The transcript as it was at the last request."""

    ids: list[str] = field(default_factory=list)
    end: int = 0
    results: list[tuple[str, str]] = field(default_factory=list)
    """Tool and message id of the results that no request has held yet."""
    tracks: dict[str, _Track] = field(default_factory=dict)


@dataclass(slots=True)
class _Account:
    calls: int = 0
    unread: int = 0
    """Guessed size of results that no request has held yet."""
    first: int = 0
    first_units: int = 0
    again: int = 0
    again_units: int = 0
    is_partial: bool = False
    own: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class _Prices:
    """What the prompt of one request cost, in units, and how many tokens that was."""

    cached: int
    cached_units: int
    fresh: int
    fresh_units: int

    def units(self, cached: int, fresh: int) -> int:
        """The part that so many tokens of it cost, rounded down."""
        read = cached * self.cached_units // self.cached if cached else 0
        return read + (fresh * self.fresh_units // self.fresh if fresh else 0)


class Shares:
    """Follows the results of tools from request to request."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}
        self._layout = _Layout()
        self._seen: set[str] = set()
        """Results that some request has held."""
        self.other_units = 0
        """The cost that is in nobody's share."""

    def add_result(self, message: ToolResultMessage, own: Spent) -> None:
        """A tool has answered; `own` is what it spent by itself."""
        account = self._accounts.setdefault(message.tool_name, _Account())
        account.calls += 1
        account.unread += message_tokens(message)
        account.own += own

    def read(
        self,
        transcript: Sequence[AgentMessage],
        fixed_tokens: int,
        usage: Usage,
        prices: ModelCost | None,
    ) -> None:
        """A request held `transcript` behind `fixed_tokens`, and this is what it used."""
        self._lay_out(transcript)
        units = 0 if usage.cost_usd is None else units_of(usage.cost_usd)
        self.other_units += units
        prompt, end = usage.prompt_tokens, fixed_tokens + self._layout.end
        if not prompt or not end:
            return
        priced = _prompt_prices(usage, prices, units)
        boundary = usage.cache_read * end / prompt - fixed_tokens
        fresh_left = prompt - usage.cache_read
        for name, track in self._layout.tracks.items():
            tokens = track.size * prompt // end
            cached = min(tokens, int(track.before(boundary) * prompt // end))
            fresh = min(tokens - cached, fresh_left)
            fresh_left -= fresh
            first = tokens - track.read * prompt // end
            track.read = track.size
            self._book(self._accounts.setdefault(name, _Account()), tokens, fresh, first, priced)
        self._seen.update(message_id for _, message_id in self._layout.results)
        self._layout.results.clear()

    def rows(self) -> list[ToolShare]:
        """One row for each tool that was called."""
        return [
            ToolShare(
                tool=name,
                calls=account.calls,
                added=account.first + account.unread,
                first_units=account.first_units,
                again=account.again,
                again_units=account.again_units,
                is_partial=account.is_partial,
                own=account.own,
            )
            for name, account in self._accounts.items()
        ]

    def _book(
        self, account: _Account, tokens: int, fresh: int, first: int, priced: _Prices | None
    ) -> None:
        """Put one tool's part of one request on its account."""
        account.unread = 0
        account.first += first
        account.again += tokens - first
        if priced is None:
            account.is_partial |= bool(tokens)
            return
        # What is read for the first time lies at the end, and what is cached at the front.
        first_fresh = min(first, fresh)
        whole = priced.units(tokens - fresh, fresh)
        first_units = priced.units(first - first_fresh, first_fresh)
        account.first_units += first_units
        account.again_units += whole - first_units
        self.other_units -= whole

    def _lay_out(self, transcript: Sequence[AgentMessage]) -> None:
        """Bring the layout up to date; usually the transcript has only grown."""
        known = len(self._layout.ids)
        if known > len(transcript) or (
            known and transcript[known - 1].id != self._layout.ids[known - 1]
        ):
            self._layout, known = _Layout(), 0
        layout = self._layout
        for message in transcript[known:]:
            size = _size(message)
            if isinstance(message, ToolResultMessage):
                track = layout.tracks.setdefault(message.tool_name, _Track())
                track.add(layout.end, size)
                if message.id in self._seen:
                    track.read = track.size
                else:
                    layout.results.append((message.tool_name, message.id))
            layout.ids.append(message.id)
            layout.end += size


def _size(message: AgentMessage) -> int:
    """A failed answer is not sent."""
    if isinstance(message, AssistantMessage) and message.error is not None:
        return 0
    return message_tokens(message)


def _prompt_prices(usage: Usage, prices: ModelCost | None, units: int) -> _Prices | None:
    """How `units`, the cost of a request, falls on its prompt; None if nobody can say.

    A provider's own figure is divided as the prices say.
    """
    if usage.cost_usd is None:
        return None
    fresh = usage.input + usage.cache_write
    if not units:
        return _Prices(usage.cache_read, 0, fresh, 0)
    costs = None if prices is None else costs_by_class(usage, prices)
    if costs is None or not costs.total:
        return None
    cached_units = min(units, int(units * (costs.cache_read / costs.total)))
    fresh_units = int(units * ((costs.input + costs.cache_write) / costs.total))
    return _Prices(usage.cache_read, cached_units, fresh, min(fresh_units, units - cached_units))
