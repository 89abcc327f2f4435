"""Which messages a summary takes the place of, and which stay as they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    CompactionSummaryMessage,
    ToolResultMessage,
)
from agent_tui.session.context import message_tokens

_TURN_STARTS = ("user", "custom", "bash_execution", "branch_summary")


@dataclass(frozen=True, slots=True)
class Cut:
    """A transcript in parts; `pinned` and `kept` stay, the rest becomes one summary."""

    previous: CompactionSummaryMessage | None
    """The summary that is to be brought up to date."""
    history: list[AgentMessage]
    """Whole turns."""
    prefix: list[AgentMessage]
    """The beginning of a turn whose end is kept; empty if the cut is between two turns."""
    pinned: list[AgentMessage]
    """What the person wants kept word for word, in its order, a call with all its results."""
    kept: list[AgentMessage]
    """The newest messages, at least one."""

    @property
    def summarised(self) -> int:
        """How many messages the summary stands for, an earlier summary not counted."""
        return len(self.history) + len(self.prefix)


def find_cut(
    messages: Sequence[AgentMessage], keep_tokens: int, pins: Collection[str] = ()
) -> Cut | None:
    """Where to cut so that some `keep_tokens` stay; None if nothing lies before that."""
    first = messages[0] if messages else None
    previous = first if isinstance(first, CompactionSummaryMessage) else None
    start = 0 if previous is None else 1
    groups = _groups(messages)
    place = _place(messages, start, keep_tokens, {n for group in groups for n in group[1:]})
    if place is None:
        return None
    stays = _stays(messages, groups, pins, place)
    old = [n for n in range(start, place) if n not in stays]
    if not old:
        return None
    turn = _turn_start(messages, start, place)
    return Cut(
        previous=previous,
        history=[messages[n] for n in old if n < turn],
        prefix=[messages[n] for n in old if n >= turn],
        pinned=[messages[n] for n in sorted(stays)],
        kept=[*messages[place:]],
    )


def _groups(messages: Sequence[AgentMessage]) -> list[range]:
    """An answer with calls and everything up to the last of their results: never parted."""
    groups: list[range] = []
    begin: int | None = None
    for n, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            begin = n if message.tool_calls else None
        elif isinstance(message, ToolResultMessage) and begin is not None:
            if groups and groups[-1].start == begin:
                groups.pop()
            groups.append(range(begin, n + 1))
    return groups


def _place(
    messages: Sequence[AgentMessage], start: int, keep_tokens: int, inside: Collection[int]
) -> int | None:
    """The first valid cut that keeps no more than is asked for, else the last that keeps more."""
    tokens = 0
    for n in range(len(messages) - 1, start, -1):
        tokens += message_tokens(messages[n])
        if tokens >= keep_tokens:
            later = range(n, len(messages))
            earlier = range(n - 1, start, -1)
            return next((m for m in (*later, *earlier) if _is_valid(messages, m, inside)), None)
    return None


def _is_valid(messages: Sequence[AgentMessage], place: int, inside: Collection[int]) -> bool:
    return place not in inside and not isinstance(messages[place], ToolResultMessage)


def _stays(
    messages: Sequence[AgentMessage], groups: list[range], pins: Collection[str], place: int
) -> set[int]:
    pinned = {n for n in range(place) if messages[n].id in pins}
    for group in groups:
        if group.start < place and pinned.intersection(group):
            pinned.update(group)
    return pinned


def _turn_start(messages: Sequence[AgentMessage], start: int, place: int) -> int:
    """Where the turn of the first kept message begins; `place` if that is between two turns."""
    if messages[place].role in _TURN_STARTS:
        return place
    turn = place - 1
    while turn >= start and messages[turn].role not in _TURN_STARTS:
        turn -= 1
    return turn if turn >= start else place
