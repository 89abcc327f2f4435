"""What a request tells the demonstration.

Nothing is remembered between requests: each one carries the whole transcript, and all that a scene
needs to go on is in it. A call names its scene in `thought_signature`, a finished answer the time
of its end in the `signature` of its text: opaque fields of a provider that come back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_tui.core.messages import (
    AssistantMessage,
    LlmMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.stream import LlmContext

Verdict = Literal["done", "failed", "declined", "refused", "aborted"]
"""How a call ended: `declined` by the person, `refused` by the mode without asking anybody."""

_LESSON = re.compile(r"^### Lesson (\d) of \d", re.M)
_DECLINED = re.compile(r"The user declined this call(?:: |\.$)", re.S)
_REFUSED = re.compile(r"nobody is there|the mode is read-only")
_ABORTED = re.compile(r"\baborted\b|\binterrupted\b|stopped by the user|not started", re.I)
_THIS_CALL_ONLY = re.compile(r"the run goes on|\(stopped by the user\)")
_NO_PICTURE = re.compile(r"\[image left out.*?\]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call of the last answer and what came back."""

    call: ToolCall
    text: str
    verdict: Verdict

    @property
    def lines(self) -> list[str]:
        """The lines of the result that hold something."""
        return [line for line in self.text.splitlines() if line.strip()]

    @property
    def comment(self) -> str:
        """What the person said with a no, empty if they only said no or did not say no."""
        return _DECLINED.sub("", self.text, count=1).strip() if self.verdict == "declined" else ""

    @property
    def ended_alone(self) -> bool:
        """The call was ended while the turn went on."""
        return self.verdict == "aborted" and _THIS_CALL_ONLY.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that decides the next answer."""

    said: tuple[str, ...]
    """What the person wrote since the last answer, oldest first."""
    was_waiting: bool
    """The newest of it was written while something still ran, so it waited in a queue."""
    outcomes: tuple[Outcome, ...]
    """The results of the last answer's calls, in their order."""
    mark: str
    """`scene:state` of those calls; empty when there are none or someone else made them."""
    lesson: int
    """The lesson begun last, 0 before the first."""
    last_answer: str
    """The text of the last answer, empty before the first."""
    was_interrupted: bool
    """The last answer is only a part."""
    steered: tuple[str, ...]
    """What was written into the running turns of this lesson."""
    listing: tuple[str, ...]
    """Names in the folder as `ls` last showed them, folders with a slash."""
    has_made_file: bool
    """The file of the scene `write` was made here and not removed since."""
    tools: Mapping[str, str]
    """The tools of this request: name and description."""
    has_picture: bool

    @property
    def latest(self) -> str:
        """The newest of what was said, empty if nothing was."""
        return self.said[-1] if self.said else ""

    @property
    def scene(self) -> str:
        """Which scene made the last answer's calls."""
        return self.mark.partition(":")[0]

    @property
    def state(self) -> str:
        """How far that scene had come."""
        return self.mark.partition(":")[2]

    @property
    def is_first(self) -> bool:
        """No answer was given yet."""
        return not self.last_answer and not self.outcomes

    @property
    def was_ended(self) -> bool:
        """The turn ended with these results: by a stop, or by a no without a comment."""
        return any(
            (outcome.verdict == "aborted" and not outcome.ended_alone)
            or (outcome.verdict == "declined" and not outcome.comment)
            for outcome in self.outcomes
        )


def read_context(context: LlmContext) -> Situation:
    """The situation that `context` describes."""
    messages = context.messages
    place = max((n for n, m in enumerate(messages) if isinstance(m, AssistantMessage)), default=-1)
    answer = messages[place] if place >= 0 else None
    assert answer is None or isinstance(answer, AssistantMessage)
    tail = messages[place + 1 :]
    said = [m for m in tail if isinstance(m, UserMessage)]
    results = [m for m in tail if isinstance(m, ToolResultMessage)]
    outcomes = _outcomes(answer, results)
    lesson, steered = _course(messages)
    return Situation(
        said=tuple(_NO_PICTURE.sub("", m.text).strip() for m in said),
        was_waiting=bool(said) and _was_waiting(said[-1], answer, results),
        outcomes=outcomes,
        mark=(outcomes[0].call.thought_signature or "") if outcomes else "",
        lesson=lesson,
        last_answer=_own_words(answer),
        was_interrupted=answer is not None and answer.stop_reason == "aborted",
        steered=steered,
        listing=_listing(messages),
        has_made_file=_has_made_file(messages),
        tools={tool.name: tool.description for tool in context.tools},
        has_picture=any(_has_picture(m) for m in said),
    )


def names_in(listing: str) -> tuple[str, ...]:
    """The names in the text of an `ls` result, without sizes, links and notes."""
    if re.match(r".* is empty\.(\n|$)", listing):
        return ()
    entries = (re.sub(r"  (\([a-z ]+\)|[\d.]+ ?\w+)$", "", line) for line in listing.splitlines())
    return tuple(name for name in entries if name and name[0] != "[")


def _outcomes(
    answer: AssistantMessage | None, results: Sequence[ToolResultMessage]
) -> tuple[Outcome, ...]:
    by_id = {result.tool_call_id: result for result in results}
    calls = answer.tool_calls if answer else []
    return tuple(
        Outcome(call, result.text, _verdict_of(result))
        for call in calls
        if (result := by_id.get(call.id)) is not None
    )


def _verdict_of(result: ToolResultMessage) -> Verdict:
    if not result.is_error:
        return "done"
    if _DECLINED.match(result.text):
        return "declined"
    if _REFUSED.search(result.text):
        return "refused"
    # Only the end of a result is the engine's or the tool's own word: before it is program output.
    return "aborted" if _ABORTED.search(result.text[-200:]) else "failed"


def _was_waiting(
    message: UserMessage, answer: AssistantMessage | None, results: Sequence[ToolResultMessage]
) -> bool:
    if results:
        return message.timestamp <= max(result.timestamp for result in results)
    last = answer.content[-1] if answer and answer.content else None
    end = last.signature if isinstance(last, TextBlock) else None
    return end is not None and end.isdigit() and message.timestamp < int(end)


def _course(messages: Sequence[LlmMessage]) -> tuple[int, tuple[str, ...]]:
    lesson = 0
    steered: list[str] = []
    after_results = False
    for message in messages:
        if isinstance(message, AssistantMessage):
            after_results = False
            if found := _LESSON.findall("\n".join(_texts(message))):
                lesson, steered = int(found[-1]), []
        elif isinstance(message, ToolResultMessage):
            after_results = True
        elif after_results:
            steered.append(message.text.strip())
    return lesson, tuple(steered)


def _own_words(answer: AssistantMessage | None) -> str:
    """The answer's text, the mark of an interruption left out."""
    if answer is None:
        return ""
    texts = _texts(answer)
    if answer.stop_reason == "aborted" and texts and texts[-1].startswith("[Interrupted"):
        texts.pop()
    return "\n".join(texts)


def _texts(answer: AssistantMessage) -> list[str]:
    return [block.text for block in answer.content if isinstance(block, TextBlock)]


def _listing(messages: Sequence[LlmMessage]) -> tuple[str, ...]:
    here: set[str] = set()
    found: tuple[str, ...] = ()
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = (call for call in message.tool_calls if call.name == "ls")
            here |= {call.id for call in calls if call.arguments.get("path", ".") == "."}
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in here:
            found = found if message.is_error else names_in(message.text)
    return found


def _has_made_file(messages: Sequence[LlmMessage]) -> bool:
    marks = {
        call.id: call.thought_signature
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    done = [
        marks.get(message.tool_call_id)
        for message in messages
        if isinstance(message, ToolResultMessage) and not message.is_error
    ]
    return done.count("write:made") > done.count("write:removed")


def _has_picture(message: UserMessage) -> bool:
    return _NO_PICTURE.search(message.text) is not None or (
        not isinstance(message.content, str)
        and any(block.type == "image" for block in message.content)
    )
