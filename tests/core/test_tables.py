"""Settings read value by value; what is wrong becomes one clear sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent_tui.core.tables import Table


def read(data: dict[str, Any], use: Callable[[Table], Any]) -> tuple[Any, list[str]]:
    """What `use` makes of the table, and the problems it found."""
    problems: list[str] = []
    value = use(Table(data, "config.toml", problems))
    return value, problems


@pytest.mark.parametrize(
    ("data", "use", "value"),
    [
        ({"a": " words "}, lambda t: t.text("a"), "words"),
        ({"a": "ask"}, lambda t: t.choice("a", ["ask", "full-auto"]), "ask"),
        ({"a": 7}, lambda t: t.count("a"), 7),
        ({"a": 0}, lambda t: t.number("a"), 0.0),
        ({"a": 1.5}, lambda t: t.number("a"), 1.5),
        ({"a": False}, lambda t: t.switch("a"), False),
        ({"a": {"b": "x"}}, lambda t: t.table("a").text("b"), "x"),
        (
            {"a": [{"b": "x"}, {"b": "y"}]},
            lambda t: [r.text("b") for r in t.tables("a")],
            ["x", "y"],
        ),
        ({"a": "x", "b": "y"}, lambda t: t.texts(), {"a": "x", "b": "y"}),
        ({"a": [1]}, lambda t: t.anything(), {"a": [1]}),
        ({}, lambda t: t.text("a"), None),
        ({}, lambda t: t.choice("a", ["x"]), None),
        ({}, lambda t: t.count("a"), None),
        ({}, lambda t: t.number("a"), None),
        ({}, lambda t: t.switch("a"), None),
        ({}, lambda t: t.table("a").text("b"), None),
        ({}, lambda t: t.tables("a"), []),
    ],
)
def test_a_good_value_is_read(
    data: dict[str, Any], use: Callable[[Table], Any], value: Any
) -> None:
    assert read(data, use) == (value, [])


@pytest.mark.parametrize(
    ("data", "use"),
    [
        ({"a": " "}, lambda t: t.text("a")),
        ({"a": 7}, lambda t: t.text("a")),
        ({"a": "asj"}, lambda t: t.choice("a", ["ask", "full-auto"])),
        ({"a": 0}, lambda t: t.count("a")),
        ({"a": True}, lambda t: t.count("a")),
        ({"a": 1.5}, lambda t: t.count("a")),
        ({"a": -1}, lambda t: t.number("a")),
        ({"a": float("inf")}, lambda t: t.number("a")),
        ({"a": float("nan")}, lambda t: t.number("a")),
        ({"a": True}, lambda t: t.number("a")),
        ({"a": "yes"}, lambda t: t.switch("a")),
        ({"a": 1}, lambda t: t.table("a").text("b")),
        ({"a": [1]}, lambda t: t.tables("a") or None),
    ],
)
def test_a_bad_value_is_named_with_file_and_key(
    data: dict[str, Any], use: Callable[[Table], Any]
) -> None:
    value, problems = read(data, use)

    assert value is None
    assert len(problems) == 1
    assert problems[0].startswith("config.toml: a")


def test_a_wrong_word_is_answered_with_the_allowed_ones_and_the_nearest() -> None:
    _, problems = read({"mode": "full-aut"}, lambda t: t.choice("mode", ["ask", "full-auto"]))

    assert "ask, full-auto" in problems[0]
    assert "did you mean 'full-auto'?" in problems[0]


def test_an_unknown_key_is_reported_with_the_nearest_known_one() -> None:
    def use(table: Table) -> None:
        table.text("primary")
        table.finish()

    _, problems = read({"primay": "x"}, use)

    assert problems == ["config.toml: unknown key 'primay'; did you mean 'primary'?"]


def test_an_unknown_key_that_is_near_nothing_is_reported_with_all_known_ones() -> None:
    def use(table: Table) -> None:
        table.text("model")
        table.text("theme")
        table.finish()

    _, problems = read({"zzz": 1}, use)

    assert "model, theme" in problems[0]


def test_a_key_inside_is_named_with_its_path() -> None:
    def use(table: Table) -> None:
        table.table("providers").tables("models")[1].count("context_window")

    _, problems = read({"providers": {"models": [{}, {"context_window": "big"}]}}, use)

    assert problems[0].startswith("config.toml: providers.models[1].context_window = 'big'")


def test_a_missing_key_is_named() -> None:
    _, problems = read({}, lambda t: t.table("providers").missing("api"))

    assert problems == ["config.toml: providers.api is missing"]
