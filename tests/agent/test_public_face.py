"""The names and keywords that other people's code relies on."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import agent_tui

PROMISED = """
    Agent ToolAgent AgentResult AgentState AgentContext AgentLoopConfig agent_loop
    agent_loop_continue Tool tool ToolHandler ToolContext ToolResult AbortSignal Model
    ThinkingLevel Usage UserMessage AssistantMessage ToolResultMessage
    CompactionSummaryMessage BranchSummaryMessage CustomMessage BashExecutionMessage TextBlock
    ThinkingBlock ImageBlock ToolCall AgentStartEvent AgentEndEvent TurnStartEvent
    TurnEndEvent MessageStartEvent MessageUpdateEvent MessageEndEvent ToolExecutionStartEvent
    ToolExecutionUpdateEvent ToolExecutionEndEvent AgentEvent AgentError AuthenticationError
    RateLimitError QuotaError RequestTimeoutError OverloadedError NetworkError
    ContentPolicyError ContextOverflowError ProviderError ToolError CancelledRunError
    InvalidInputError AgentBusyError InvalidStateError SessionError InternalError ConfigError
    BeforeToolCall AfterToolCall NextTurn QueuedItem ModelCost ErrorInfo AgentMessage
"""


@pytest.mark.parametrize("name", re.findall(r"\w+", PROMISED))
def test_a_name_can_be_imported_from_the_root(name: str) -> None:
    assert name in agent_tui.__all__
    assert name in dir(agent_tui)
    assert getattr(agent_tui, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = agent_tui.no_such_name


def keywords(target: Any) -> list[str]:
    """All names, in order; those behind the promised ones may be anything."""
    return [name for name in inspect.signature(target).parameters if name != "self"]


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (
            agent_tui.Agent,
            """model system_prompt tools tool_handler messages thinking_level stream_fn
            max_iterations tool_execution max_parallel_tools steering_mode follow_up_mode
            convert_to_llm transform_context get_api_key before_tool_call after_tool_call
            prepare_next_turn should_stop_after_turn tool_error_policy aborted_messages
            final_answer_on_limit session_id""",
        ),
        (
            agent_tui.Tool,
            "name description parameters execute label execution_mode prepare_arguments",
        ),
        (agent_tui.ToolResult, "content details is_error terminate usage"),
        (agent_tui.BeforeToolCall, "block reason terminate end_turn args"),
        (agent_tui.AfterToolCall, "content details is_error usage terminate"),
        (agent_tui.NextTurn, "system_prompt messages tools model thinking_level"),
        (agent_tui.AgentContext, "system_prompt messages tools"),
        (agent_tui.ModelCost, "input output cache_read cache_write"),
        (
            agent_tui.Model,
            """provider id api base_url name context_window max_output_tokens reasoning images
            cost headers compat""",
        ),
        (
            agent_tui.AgentResult,
            """final_message iterations tool_call_count total_usage total_cost_usd reason
            new_messages""",
        ),
        (agent_tui.ToolAgent, "model system_prompt tools tool_handler max_iterations options"),
        (agent_tui.agent_loop, "prompts context config emit signal"),
        (agent_tui.agent_loop_continue, "context config emit signal"),
        (agent_tui.Agent.prompt, "input images"),
        (agent_tui.Agent.move_queued, "id index kind"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_keywords_have_the_promised_names(target: Any, names: str) -> None:
    promised = names.split()

    assert keywords(target)[: len(promised)] == promised


def test_usage_is_counted_in_the_promised_classes() -> None:
    promised = "input output cache_read cache_write reasoning total cost_usd incomplete"

    assert set(promised.split()) <= set(keywords(agent_tui.Usage))


def test_the_options_of_an_agent_are_keywords_only() -> None:
    parameters = list(inspect.signature(agent_tui.Agent).parameters.values())

    assert parameters[0].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {each.kind for each in parameters[1:]} == {inspect.Parameter.KEYWORD_ONLY}


def test_only_the_model_of_a_configuration_is_required() -> None:
    parameters = list(inspect.signature(agent_tui.AgentLoopConfig).parameters.values())

    assert [each.name for each in parameters if each.default is each.empty] == ["model"]
