"""The exact request of a step as JSON, as its provider would build it, without any key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from agent_tui.core.errors import AgentError
from agent_tui.core.messages import AgentMessage, LlmMessage
from agent_tui.core.steps import Sent, Step
from agent_tui.core.stream import LlmContext, StreamOptions
from agent_tui.core.text import without_surrogates

NOT_KEPT = "of an earlier time: the system prompt, the tools and the exact messages are not kept"
NOT_SENT = "no request was made in this step"
_SEEN = {"role", "content", "tool_call_id", "tool_name", "is_error", "summary", "command", "output"}
"""What a model gets to see of a message."""


async def request_json(
    step: Step, messages: Sequence[LlmMessage] | None, *, is_ours: bool = True
) -> str:
    """The request of a step, indented; `messages` is all that it held.

    Without `is_ours` an application talks to the model itself: then it is what it was given.
    """
    if step.sent is None or messages is None:
        data = {
            "note": NOT_KEPT if step.is_past else NOT_SENT,
            "messages_since_the_answer_before": step.new,
        }
        return await asyncio.to_thread(_as_json, data)
    context = LlmContext(step.sent.system_prompt, [*messages], [*step.sent.tools])
    found = await _built(step.sent, context) if is_ours else None
    return await asyncio.to_thread(_as_json, found or _given(step.sent, context))


async def _built(sent: Sent, context: LlmContext) -> dict[str, Any] | None:
    """What one of our providers sends; None where none of them does."""
    from agent_tui.providers.shown import shown_request

    options = StreamOptions(
        thinking_level=sent.thinking_level,
        max_output_tokens=sent.max_output_tokens,
        temperature=sent.temperature,
        session_id=sent.session_id,
    )
    try:
        return await shown_request(sent.model, context, options)
    except AgentError:  # it never went out
        return None


def _given(sent: Sent, context: LlmContext) -> dict[str, Any]:
    return {
        "model": sent.model.key,
        "thinking_level": sent.thinking_level,
        "system": context.system_prompt,
        "messages": context.messages,
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in context.tools
        ],
    }


def _as_json(data: dict[str, Any]) -> str:
    from agent_tui.providers.request import without_nan

    text = json.dumps(without_nan(data), indent=2, ensure_ascii=False, default=_plain)
    return without_surrogates(text)


def _plain(value: Any) -> Any:
    if isinstance(value, AgentMessage):
        return value.model_dump(mode="json", include=_SEEN, exclude_none=True)
    return str(value)
