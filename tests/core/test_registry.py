"""Who serves a model."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent_tui import InvalidInputError, Model
from agent_tui.core.model import THINKING_LEVELS
from agent_tui.core.registry import (
    find_model,
    is_registered,
    register_provider,
    require_wire,
    stream_fn_for,
)
from agent_tui.core.stream import LlmContext, StreamDone, StreamEvent, StreamOptions


async def first(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    yield StreamDone()


async def second(
    model: Model, context: LlmContext, options: StreamOptions
) -> AsyncIterator[StreamEvent]:
    yield StreamDone()


def test_the_last_registration_wins() -> None:
    register_provider("registry-test-a", first)
    register_provider("registry-test-a", second)

    assert stream_fn_for(Model("registry-test-a", "x")) is second


def test_a_registration_comes_before_the_built_in_wire() -> None:
    register_provider("registry-test-b", first)

    assert stream_fn_for(Model("registry-test-b", "x", api="openai-chat")) is first


def test_a_registered_provider_serves_any_model() -> None:
    register_provider("registry-test-c", first)

    assert is_registered("registry-test-c")
    assert find_model("registry-test-c/any/thing") == Model("registry-test-c", "any/thing")


@pytest.mark.parametrize("api", ["openai-chat", "demo"])
def test_a_built_in_wire_is_found_by_the_api(api: str) -> None:
    assert callable(stream_fn_for(Model("anybody", "x", api=api)))


def test_an_unknown_wire_is_refused_with_what_is_known() -> None:
    with pytest.raises(InvalidInputError, match="openai-chat"):
        stream_fn_for(Model("nobody", "x", api="telepathy"))


def test_whether_a_model_is_served_can_be_asked_without_loading_anything() -> None:
    register_provider("registry-test-d", first)

    require_wire(Model("registry-test-d", "x", api="telepathy"))
    require_wire(Model("anybody", "x", api="demo"))
    with pytest.raises(InvalidInputError, match="telepathy"):
        require_wire(Model("nobody", "x", api="telepathy"))


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        find_model("nobody/nothing")


def test_a_model_is_named_by_provider_and_id() -> None:
    assert Model.from_key("a/b/c") == Model("a", "b/c")
    assert Model.from_key("alone") == Model("", "alone")
    assert Model("a", "b").key == "a/b"
    assert Model("a", "b").label == "b"
    assert Model("a", "b", name="The B").label == "The B"


def test_a_model_knows_nothing_it_was_not_told() -> None:
    model = Model("a", "b")

    assert (model.context_window, model.max_output_tokens, model.cost) == (None, None, None)
    assert (model.reasoning, model.images, model.api, model.base_url) == (False, False, "", "")
    assert (dict(model.headers), dict(model.compat)) == ({}, {})


def test_levels_go_from_off_to_very_high() -> None:
    assert THINKING_LEVELS == ("off", "minimal", "low", "medium", "high", "xhigh")
