"""Events as the shorthand of the engine's specification, and the invariants of every run.

`AS` agent_start, `AE:reason` agent_end, `TS`/`TE[ids]` turn_start/turn_end, `MS MU ME` message
start/update/end, `XS XU XE` tool execution start/update/end, `✗` an error result. Messages:
`u"text"` user, `a/reason` assistant, `r(id)` tool result, `role"text"` any other. In patterns also
`M:x` = start and end of x, `A:a/reason` the same with any number of updates, `[XU(c)*]` and `[MU*]`
any number of these, `…` anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from agent_tui.core.events import (
    AgentEndEvent,
    AgentEvent,
    AgentStartEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from agent_tui.core.messages import AgentMessage, AssistantMessage, ToolResultMessage, text_of


def token(event: AgentEvent) -> str:
    """The shorthand of one event."""
    match event:
        case AgentStartEvent():
            return "AS"
        case AgentEndEvent(reason=reason):
            return f"AE:{reason}"
        case TurnStartEvent():
            return "TS"
        case TurnEndEvent(tool_results=results):
            return f"TE[{','.join(result.tool_call_id for result in results)}]"
        case MessageStartEvent(message=AssistantMessage()):
            return "MS:a"
        case MessageStartEvent(message=message):
            return f"MS:{label(message)}"
        case MessageUpdateEvent():
            return "MU"
        case MessageEndEvent(message=message):
            return f"ME:{label(message)}"
        case ToolExecutionStartEvent(tool_call_id=call):
            return f"XS({call})"
        case ToolExecutionUpdateEvent(tool_call_id=call):
            return f"XU({call})"
        case ToolExecutionEndEvent(tool_call_id=call, is_error=failed):
            return f"XE({call}){'✗' if failed else ''}"
    assert_never(event)


def label(message: AgentMessage) -> str:
    """The shorthand of one finished message."""
    match message:
        case AssistantMessage():
            return f"a/{message.stop_reason}"
        case ToolResultMessage():
            return f"r({message.tool_call_id})"
    shown = "u" if message.role == "user" else message.role
    return f'{shown}"{text_of(getattr(message, "content", ""))}"'


def shorthand(events: Iterable[AgentEvent]) -> str:
    """All events, uncontracted."""
    return " ".join(map(token, events))


def matches(events: Iterable[AgentEvent], pattern: str) -> bool:
    """Whether the events are exactly those of a pattern."""
    expression = "".join(map(_expression, re.findall(r'(?:"[^"]*"|[^\s"])+', pattern)))
    return re.fullmatch(expression, "".join(f"{token(event)}\n" for event in events)) is not None


def _expression(part: str) -> str:
    if part == "…":
        return r"(?:[^\n]*\n)*"
    if part.startswith("[") and part.endswith("*]"):
        return f"(?:{re.escape(part[1:-2])}\n)*"
    if part.startswith("A:a/"):
        return f"MS:a\n(?:MU\n)*ME:{part[2:]}\n"
    if part.startswith("M:a/"):
        return f"MS:a\nME:{part[2:]}\n"
    if part.startswith("M:"):
        return re.escape(f"MS:{part[2:]}\nME:{part[2:]}\n")
    return re.escape(f"{part}\n")


def runs_of(events: Iterable[AgentEvent]) -> list[list[AgentEvent]]:
    """The events, one list a run."""
    runs: list[list[AgentEvent]] = []
    for event in events:
        if isinstance(event, AgentStartEvent) or not runs:
            runs.append([])
        runs[-1].append(event)
    return runs


def problems_of_run(events: Sequence[AgentEvent]) -> list[str]:
    """What breaks the invariants I1 to I8 in the events of one run."""
    found = [
        *_bracket_problems(events),
        *_message_problems(events),
        *_tool_problems(events),
        *_answer_problems(events),
    ]
    ended = [event.message for event in events if isinstance(event, MessageEndEvent)]
    last = events[-1]
    if isinstance(last, AgentEndEvent) and [id(m) for m in last.messages] != [id(m) for m in ended]:
        found.append("I8: agent_end.messages are not the finished messages in order")
    return found


def _bracket_problems(events: Sequence[AgentEvent]) -> list[str]:
    found = []
    kinds = [event.type for event in events]
    if kinds[0] != "agent_start" or kinds.count("agent_start") != 1:
        found.append("I1: agent_start is not first or not alone")
    if kinds[-1] != "agent_end" or kinds.count("agent_end") != 1:
        found.append("I1: agent_end is not last or not alone")
    turns = [kind for kind in kinds if kind in ("turn_start", "turn_end")]
    if turns != ["turn_start", "turn_end"] * (len(turns) // 2):
        found.append(f"I2: turns do not alternate: {turns}")
    indexes = [event.turn_index for event in events if isinstance(event, TurnStartEvent)]
    if indexes != list(range(len(indexes))):
        found.append(f"I2: turns are numbered {indexes}")
    return found


def _message_problems(events: Sequence[AgentEvent]) -> list[str]:
    found = []
    in_turn = False
    current: AgentMessage | None = None
    for event in events:
        match event:
            case TurnStartEvent():
                in_turn = True
            case TurnEndEvent():
                in_turn = False
            case MessageStartEvent():
                if current is not None:
                    found.append("I3: a message starts inside another")
                if not in_turn:
                    found.append("I2: a message outside of a turn")
                current = event.message
            case MessageEndEvent():
                if current is None or current.id != event.message.id:
                    found.append("I3: a message ends that did not start")
                current = None
            case MessageUpdateEvent():
                if not isinstance(current, AssistantMessage) or current.id != event.message.id:
                    found.append("I4: an update outside of its assistant message")
            case ToolExecutionStartEvent() | ToolExecutionEndEvent() | ToolExecutionUpdateEvent():
                if current is not None:
                    found.append("I3: a tool event inside a message")
    return found + (["I3: a message does not end"] if current is not None else [])


def _tool_problems(events: Sequence[AgentEvent]) -> list[str]:
    found = []
    answer: AssistantMessage | None = None
    running: set[str] = set()
    started: list[str] = []
    for event in events:
        match event:
            case TurnStartEvent():
                answer, started = None, []
            case MessageEndEvent(message=AssistantMessage() as message):
                answer = message
            case ToolExecutionStartEvent(tool_call_id=call):
                started.append(call)
                running.add(call)
                if answer is None or [c.id for c in answer.tool_calls][: len(started)] != started:
                    found.append(f"I5: {call} starts out of order or before its message ended")
            case ToolExecutionUpdateEvent(tool_call_id=call):
                if call not in running:
                    found.append(f"I6: an update of {call} outside of its execution")
            case ToolExecutionEndEvent(tool_call_id=call):
                if call not in running:
                    found.append(f"I5: {call} ends without a start")
                running.discard(call)
            case TurnEndEvent():
                if running:
                    found.append(f"I5: {sorted(running)} do not end within their turn")
    return found


def _answer_problems(events: Sequence[AgentEvent]) -> list[str]:
    found = []
    recorded: list[ToolResultMessage] = []
    for event in events:
        match event:
            case TurnStartEvent():
                recorded = []
            case MessageEndEvent(message=ToolResultMessage() as message):
                recorded.append(message)
            case TurnEndEvent():
                failed = event.message.stop_reason in ("error", "aborted")
                asked = [] if failed else [call.id for call in event.message.tool_calls]
                if [result.tool_call_id for result in recorded] != asked:
                    found.append(f"I7: calls {asked} have results {shorthand_of(recorded)}")
                if [r.id for r in event.tool_results] != [r.id for r in recorded]:
                    found.append("I7: turn_end lists other results than were recorded")
    return found


def shorthand_of(results: Iterable[ToolResultMessage]) -> list[str]:
    """The call ids that results answer."""
    return [result.tool_call_id for result in results]


def adjacency_problems(messages: Sequence[AgentMessage]) -> list[str]:
    """Where a request does not put exactly the results of each call behind it, in call order."""
    found = []
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            if not owed or owed.pop(0) != message.tool_call_id:
                found.append(f"I10: result of {message.tool_call_id} is out of place")
            continue
        if owed:
            found.append(f"I10: {owed} unanswered before {message.role}")
        owed = (
            [call.id for call in message.tool_calls]
            if isinstance(message, AssistantMessage)
            else []
        )
    return found + ([f"I10: {owed} unanswered at the end"] if owed else [])
