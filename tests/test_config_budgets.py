"""Budgets and prices in the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.config import LIMITS, Flags, Settings, load_settings
from agent_tui.core.errors import ConfigError
from agent_tui.core.limits import Limits
from agent_tui.core.model import ModelCost, PriceTier

TOML = """
max_iterations = 50
max_cost = 5
max_tokens = 2000000
max_time = 3600
max_session_iterations = 400
max_turn_cost = 0.5
max_turn_tokens = 500000
max_turn_time = 600.5
"""


def settings_of(
    tmp_path: Path, toml: str = "", flags: Flags | None = None, **environ: str
) -> Settings:
    (tmp_path / "config.toml").write_text(toml)
    return load_settings(flags or Flags(), {"AGENT_TUI_HOME": str(tmp_path), **environ}, tmp_path)


def priced(tmp_path: Path, cost: str) -> tuple[ModelCost | None, tuple[str, ...]]:
    toml = f'[[providers.lab.models]]\nid = "m"\ncost = {cost}'
    settings = settings_of(tmp_path, toml)
    return settings.providers["lab"].models[0].cost, settings.problems


def test_there_is_no_budget_until_somebody_sets_one(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)

    assert (settings.turn_limits, settings.session_limits) == (Limits(), Limits())


def test_budgets_of_a_turn_and_of_the_session_have_their_keys(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, TOML)

    assert settings.max_iterations == 50
    assert settings.turn_limits == Limits(cost=0.5, tokens=500_000, time=600.5)
    assert settings.session_limits == Limits(
        cost=5.0, tokens=2_000_000, iterations=400, time=3600.0
    )
    assert settings.problems == ()


def test_flags_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    variables = {"AGENT_TUI_MAX_COST": "3.5", "AGENT_TUI_MAX_TOKENS": "1000"}
    flags = Flags(limits={"max_cost": 2.0, "max_tokens": None})

    settings = settings_of(tmp_path, TOML, flags, **variables)

    assert (settings.session_limits.cost, settings.session_limits.tokens) == (2.0, 1000)
    assert settings.session_limits.time == 3600.0


def test_an_agent_of_ones_own_is_held_to_the_budget(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, TOML, Flags(agent="mine:agent"))

    assert settings.max_iterations is None
    assert settings.session_limits.cost == 5.0


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        ("max_cost = 0", "max_cost = 0 must be a number above 0"),
        ("max_cost = inf", "max_cost = inf must be a number above 0"),
        ("max_turn_time = true", "max_turn_time = True must be a number above 0"),
        ("max_tokens = 1.5", "max_tokens = 1.5 must be a whole number above 0"),
        ("max_coast = 1", "unknown key 'max_coast'; did you mean 'max_cost'?"),
    ],
)
def test_a_budget_that_makes_no_sense_is_a_problem(tmp_path: Path, toml: str, problem: str) -> None:
    settings = settings_of(tmp_path, toml)

    assert settings.problems == (f"{tmp_path / 'config.toml'}: {problem}",)
    assert settings.session_limits == Limits()


@pytest.mark.parametrize("value", ["much", "-1", "nan", "1e999"])
def test_a_variable_that_makes_no_sense_is_named(tmp_path: Path, value: str) -> None:
    settings = settings_of(tmp_path, AGENT_TUI_MAX_COST=value)

    [problem] = settings.problems
    assert problem.startswith("environment: AGENT_TUI_MAX_COST = ")


@pytest.mark.parametrize("key", list(LIMITS))
def test_a_flag_that_makes_no_sense_is_an_error(tmp_path: Path, key: str) -> None:
    flag = f"--{key.replace('_', '-')}"
    limits: dict[str, Any] = {key: -1}

    with pytest.raises(ConfigError, match=f"^{flag} = -1 must be a"):
        settings_of(tmp_path, flags=Flags(limits=limits))


def test_prices_may_have_tiers(tmp_path: Path) -> None:
    cost, problems = priced(
        tmp_path,
        "{ input = 1, output = 4, tiers = [{ above = 200000, input = 2, output = 8 }] }",
    )

    assert cost == ModelCost(1.0, 4.0, tiers=(PriceTier(200_000, 2.0, 8.0),))
    assert problems == ()


def test_a_price_of_the_settings_is_known_as_ones_own(tmp_path: Path) -> None:
    cost, _ = priced(tmp_path, "{ input = 1, output = 4 }")

    assert cost is not None
    assert cost.is_own


@pytest.mark.parametrize(
    ("tier", "problem"),
    [
        ("{ input = 2, output = 8 }", "cost.tiers[0].above is missing"),
        ("{ above = 5, input = 2 }", "cost.tiers[0].output is missing"),
        ("{ above = 5, inputs = 2, output = 8 }", "unknown key 'providers.lab.models[0].cost."),
    ],
)
def test_a_tier_that_makes_no_sense_is_left_out(tmp_path: Path, tier: str, problem: str) -> None:
    cost, problems = priced(tmp_path, f"{{ input = 1, output = 4, tiers = [{tier}] }}")

    assert cost == ModelCost(1.0, 4.0)
    assert any(problem in said for said in problems)
