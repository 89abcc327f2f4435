"""From the transcript to what a provider may see.

`convert_to_llm` turns every kind of message into one of the three that providers know. `normalise`
then makes the list acceptable for one model. Both are pure; `normalise` is idempotent and returns
the very list it got if nothing had to change, so that a cached prefix stays byte-stable.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from agent_tui.agent.hooks import AbortedPolicy
from agent_tui.core.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageBlock,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import Model

INTERRUPTED = "[Interrupted by the user before this answer was complete.]"
NO_RESULT = "No result: the run was interrupted before this tool call finished."
_NO_IMAGES = "[image left out: this model takes no images]"
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def convert_to_llm(messages: Sequence[AgentMessage]) -> list[LlmMessage]:
    """The default conversion; summaries, notes and shell commands become user messages."""
    out: list[LlmMessage] = []
    for message in messages:
        match message:
            case UserMessage() | AssistantMessage() | ToolResultMessage():
                out.append(message)
            case CompactionSummaryMessage():
                title = "Summary of the earlier part of this conversation"
                out.append(_as_user(message, _wrapped("summary", title, message.summary)))
            case BranchSummaryMessage():
                title = "Summary of a branch of this conversation that was left"
                out.append(_as_user(message, _wrapped("branch_summary", title, message.summary)))
            case CustomMessage():
                out.append(_as_user(message, message.content))
            case BashExecutionMessage() if not message.exclude_from_context:
                out.append(_as_user(message, _bash_text(message)))
            case _:
                pass
    return out


def normalise(
    messages: list[LlmMessage], model: Model, aborted: AbortedPolicy = "keep_text"
) -> list[LlmMessage]:
    """`messages` as `model` accepts them: paired, complete, without foreign or empty parts."""
    steps: tuple[Callable[[list[LlmMessage]], list[LlmMessage]], ...] = (
        lambda items: _each(items, _with_content_at_all),
        lambda items: items if model.images else _each(items, _without_images),
        lambda items: _each(items, lambda m: _without_failures(m, aborted)),
        lambda items: _each(items, lambda m: _thinking_for(m, model)),
        _with_legal_ids,
        lambda items: _each(items, _without_nothing),
        _adjacent,
        lambda items: _merged_users(items) if model.compat.get("merge_user_messages") else items,
    )
    done = messages
    for step in steps:
        done = step(done)
    return messages if _same(done, messages) else done


class Boundary:
    """`normalise` for the requests of one agent, each of which mostly repeats the one before.

    Work done up to the last answer is kept: nothing before an answer depends on what follows it.
    So a turn costs what is new in it, not the length of the transcript.
    """

    def __init__(self, aborted: AbortedPolicy) -> None:
        self.aborted = aborted
        """What becomes of aborted answers."""
        self._model: Model | None = None
        self._input: list[LlmMessage] = []
        """What was seen, up to and including the last answer."""
        self._output: list[LlmMessage] = []
        """What it became, without that answer."""

    def normalise(self, messages: list[LlmMessage], model: Model) -> list[LlmMessage]:
        """The same list as `normalise(messages, model)` gives."""
        known = len(self._input)
        repeats = (
            bool(known)
            and self._model == model
            and len(messages) >= known
            and all(map(is_, self._input, messages))
        )
        if repeats:
            rest = normalise(messages[known - 1 :], model, self.aborted)
            done = [*self._output, *rest]
            done = messages if _same(done, messages) else done
        else:
            done = normalise(messages, model, self.aborted)
        self._remember(messages, done, model)
        return done

    def _remember(self, messages: list[LlmMessage], done: list[LlmMessage], model: Model) -> None:
        place = _last_answer(done)
        if place is None:
            self._input = []
            return
        answer_id = done[place].id
        end = len(messages) - 1
        while messages[end].id != answer_id:
            end -= 1
        self._model, self._input, self._output = model, messages[: end + 1], done[:place]


def _last_answer(messages: list[LlmMessage]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], AssistantMessage):
            return place
    return None


def _each(
    messages: list[LlmMessage], change: Callable[[LlmMessage], LlmMessage | None]
) -> list[LlmMessage]:
    return [kept for message in messages if (kept := change(message)) is not None]


def _same(a: list[LlmMessage], b: list[LlmMessage]) -> bool:
    return len(a) == len(b) and all(map(is_, a, b))


def _with_content(message: Any, content: Any) -> Any:
    return message.model_copy(update={"content": content})


# -- 1: missing content ------------------------------------------------------------------------


def _with_content_at_all(message: LlmMessage) -> LlmMessage:
    content: Any = message.content
    return message if content is not None else _with_content(message, [])


# -- 2: images ---------------------------------------------------------------------------------


def _without_images(message: LlmMessage) -> LlmMessage:
    if isinstance(message, AssistantMessage) or not isinstance(message.content, list):
        return message
    if not any(isinstance(block, ImageBlock) for block in message.content):
        return message
    content: list[TextBlock | ImageBlock] = []
    in_group = False
    for block in message.content:
        if not isinstance(block, ImageBlock):
            content.append(block)
        elif not in_group:
            content.append(TextBlock(text=_NO_IMAGES))
        in_group = isinstance(block, ImageBlock)
    done: LlmMessage = _with_content(message, content)
    return done


# -- 3: failed and aborted answers -------------------------------------------------------------


def _without_failures(message: LlmMessage, aborted: AbortedPolicy) -> LlmMessage | None:
    if not isinstance(message, AssistantMessage) or message.stop_reason not in ("error", "aborted"):
        return message
    if message.stop_reason == "error" or aborted == "drop":
        return None
    texts = [b for b in message.content if isinstance(b, TextBlock) and b.text.strip()]
    if not texts:
        return None
    if texts[-1].text == INTERRUPTED and len(texts) == len(message.content):
        return message
    done: LlmMessage = _with_content(message, [*texts, TextBlock(text=INTERRUPTED)])
    return done


# -- 4: thinking and opaque data of another model ----------------------------------------------


def _thinking_for(message: LlmMessage, model: Model) -> LlmMessage:
    if not isinstance(message, AssistantMessage):
        return message
    same_model = (message.provider, message.api, message.model) == (
        model.provider,
        model.api,
        model.id,
    )
    content = [
        kept
        for block in message.content
        if (kept := (_own_block if same_model else _foreign_block)(block, model)) is not None
    ]
    if len(content) == len(message.content) and all(
        a is b for a, b in zip(content, message.content, strict=True)
    ):
        return message
    done: LlmMessage = _with_content(message, content)
    return done


_AssistantBlock = TextBlock | ThinkingBlock | ToolCall


def _own_block(block: _AssistantBlock, model: Model) -> _AssistantBlock | None:
    if not isinstance(block, ThinkingBlock) or block.signature is not None or block.redacted:
        return block
    if not block.thinking.strip():
        return None
    return block if model.compat.get("unsigned_thinking", True) else TextBlock(text=block.thinking)


def _foreign_block(block: _AssistantBlock, model: Model) -> _AssistantBlock | None:
    match block:
        case ThinkingBlock():
            empty = block.redacted or not block.thinking.strip()
            return None if empty else TextBlock(text=block.thinking)
        case TextBlock() if block.signature is not None:
            return block.model_copy(update={"signature": None})
        case ToolCall() if block.thought_signature is not None:
            return block.model_copy(update={"thought_signature": None})
    return block


# -- 5: call ids -------------------------------------------------------------------------------


def _with_legal_ids(messages: list[LlmMessage]) -> list[LlmMessage]:
    def change(message: LlmMessage) -> LlmMessage:
        if isinstance(message, ToolResultMessage):
            legal = _legal_id(message.tool_call_id)
            same = legal == message.tool_call_id
            return message if same else message.model_copy(update={"tool_call_id": legal})
        if isinstance(message, AssistantMessage) and any(
            not _LEGAL_ID.fullmatch(call.id) for call in message.tool_calls
        ):
            content = [
                block.model_copy(update={"id": _legal_id(block.id)})
                if isinstance(block, ToolCall)
                else block
                for block in message.content
            ]
            done: LlmMessage = _with_content(message, content)
            return done
        return message

    return _each(messages, change)


def _legal_id(call_id: str) -> str:
    """A function of the id alone, so that calls and results stay paired and requests stable."""
    if _LEGAL_ID.fullmatch(call_id):
        return call_id
    tail = hashlib.blake2s(call_id.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', call_id)[:51]}_{tail}"


# -- 6, 7: empty messages, adjacency -----------------------------------------------------------


def _without_nothing(message: LlmMessage) -> LlmMessage | None:
    content: Any = message.content
    if isinstance(message, ToolResultMessage):
        return message
    if isinstance(content, str):
        return message if content.strip() else None
    kept = [block for block in content if not _is_nothing(block)]
    if not kept:
        return None
    return message if len(kept) == len(content) else _with_content(message, kept)


def _is_nothing(block: TextBlock | ImageBlock | ThinkingBlock | ToolCall) -> bool:
    """A signature must go back on its part even where that part has no text (Gemini)."""
    return isinstance(block, TextBlock) and not block.text.strip() and block.signature is None


def _adjacent(messages: list[LlmMessage]) -> list[LlmMessage]:
    """After each message with calls exactly its results, in call order, then all else."""
    out: list[LlmMessage] = []
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if isinstance(message, ToolResultMessage):
            continue  # its call is absent, or it was already answered
        out.append(message)
        if not isinstance(message, AssistantMessage):
            continue
        span = place
        while span < len(messages) and not isinstance(messages[span], AssistantMessage):
            span += 1
        following = messages[place:span]
        place = span
        results: dict[str, ToolResultMessage] = {}
        for item in following:
            if isinstance(item, ToolResultMessage):
                results.setdefault(item.tool_call_id, item)
        out.extend(
            results.get(call.id) or missing_result(call, message) for call in message.tool_calls
        )
        out.extend(item for item in following if not isinstance(item, ToolResultMessage))
    return out


def missing_result(call: ToolCall, message: AssistantMessage) -> ToolResultMessage:
    """The error result for a call that never got one; the same object data each time."""
    return ToolResultMessage(
        id=f"{message.id}-{call.id}",
        timestamp=message.timestamp,
        tool_call_id=call.id,
        tool_name=call.name,
        content=[TextBlock(text=NO_RESULT)],
        is_error=True,
    )


def results_of_open_calls(messages: Sequence[AgentMessage]) -> list[ToolResultMessage]:
    """Error results for the last answer's calls that have none, as after a crash or an import."""
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolResultMessage)}
    last = next((m for m in reversed(messages) if isinstance(m, AssistantMessage)), None)
    if last is None or last.stop_reason in ("error", "aborted"):
        return []
    return [missing_result(call, last) for call in last.tool_calls if call.id not in answered]


def _merged_users(messages: list[LlmMessage]) -> list[LlmMessage]:
    out: list[LlmMessage] = []
    for message in messages:
        last = out[-1] if out else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            out[-1] = _with_content(last, [*_blocks(last.content), *_blocks(message.content)])
        else:
            out.append(message)
    return out


def _blocks(content: str | list[TextBlock | ImageBlock]) -> list[TextBlock | ImageBlock]:
    return [TextBlock(text=content)] if isinstance(content, str) else content


# -- words -------------------------------------------------------------------------------------


def _as_user(message: AgentMessage, content: str | list[TextBlock | ImageBlock]) -> UserMessage:
    return UserMessage(id=message.id, timestamp=message.timestamp, content=content)


def _wrapped(tag: str, title: str, text: str) -> str:
    return f"{title}:\n\n<{tag}>\n{text}\n</{tag}>"


def _bash_text(message: BashExecutionMessage) -> str:
    fence = "```"
    while fence in message.output:
        fence += "`"
    text = f"I ran this command: `{message.command}`\n{fence}\n{message.output}\n{fence}"
    if message.cancelled:
        text += "\nThe command was cancelled."
    elif message.exit_code not in (None, 0):
        text += f"\nThe command exited with status {message.exit_code}."
    if message.truncated:
        where = f"; all of it: {message.full_output_path}" if message.full_output_path else ""
        text += f"\nThe output was shortened{where}."
    return text
