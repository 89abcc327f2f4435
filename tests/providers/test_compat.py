"""How servers differ."""

from __future__ import annotations

import pytest

from agent_tui.core.model import Model
from agent_tui.providers.compat import compat_for, compat_problems
from agent_tui.providers.request import limits_for


def test_a_models_own_record_wins_over_what_its_host_is_known_for() -> None:
    model = Model("x", "m", base_url="https://api.openai.com/v1", compat={"store": False})

    assert compat_for(model).store is False
    assert compat_for(model).developer_role


def test_keys_of_others_are_left_alone() -> None:
    model = Model("x", "m", compat={"api_key_env": "X", "merge_user_messages": True, "what": 1})

    assert compat_for(model) == compat_for(Model("x", "m"))


def test_bad_keys_and_values_are_named() -> None:
    problems = compat_problems(
        {"stor": True, "store": "yes", "think_tags": True, "tool_id": "any", "api_key_env": "X"}
    )

    assert len(problems) == 2
    assert "'stor'" in problems[0]
    assert "true, false" in problems[1]


@pytest.mark.parametrize(
    ("base_url", "limits"),
    [
        ("https://api.openai.com/v1", (10, 120, 300, 120)),
        ("http://127.0.0.1:8080/v1", (3, 600, 600, 120)),
    ],
)
def test_time_limits_depend_on_where_the_server_is(
    base_url: str, limits: tuple[float, ...]
) -> None:
    found = limits_for(compat_for(Model("x", "m", base_url=base_url)), None)

    assert (found.connect, found.first_byte, found.first_event, found.stall) == limits


def test_configured_limits_win_over_the_options() -> None:
    model = Model("x", "m", compat={"timeouts": {"stall": 5, "nonsense": 1}})

    found = limits_for(compat_for(model), 9.0)

    assert (found.first_byte, found.first_event, found.stall) == (9.0, 9.0, 5.0)
