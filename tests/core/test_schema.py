"""Arguments bent into the shape of a schema, then checked."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.schema import ArgumentChecker


def check(kind: Any, value: Any) -> tuple[Any, list[str]]:
    """One value against the schema of one property."""
    schema = kind if isinstance(kind, dict) else {"type": kind}
    checked, problems = ArgumentChecker({"type": "object", "properties": {"v": schema}}).check(
        {"v": value}
    )
    return checked["v"], problems


@pytest.mark.parametrize(
    ("kind", "value", "becomes"),
    [
        ("integer", "42", 42),
        ("integer", "-7", -7),
        ("integer", 3.0, 3.0),
        ("integer", "3.0", 3),
        ("integer", True, 1),
        ("integer", None, 0),
        ("number", "4.5", 4.5),
        ("number", "1e3", 1000.0),
        ("number", None, 0),
        ("string", 42, "42"),
        ("string", 4.5, "4.5"),
        ("string", True, "true"),
        ("string", None, ""),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("boolean", 1, True),
        ("boolean", 0, False),
        ("boolean", None, False),
        ("null", "", None),
        ("null", 0, None),
        ("null", False, None),
        ("array", '["a", 1]', ["a", 1]),
        ("object", '{"a": 1}', {"a": 1}),
    ],
)
def test_a_value_is_bent_into_the_kind_that_is_wanted(kind: str, value: Any, becomes: Any) -> None:
    checked, problems = check(kind, value)

    assert problems == []
    assert checked == becomes
    assert type(checked) is type(becomes)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", "4.5"),
        ("integer", "four"),
        ("integer", ""),
        ("integer", [1]),
        ("number", "nan"),
        ("number", "inf"),
        ("boolean", "yes"),
        ("boolean", 2),
        ("array", '{"a": 1}'),
        ("array", "a, b"),
        ("object", "[1]"),
        ("object", '{"a": '),
        ("string", ["a"]),
        ("null", "null"),
    ],
)
def test_what_cannot_be_bent_is_a_problem_with_its_path(kind: str, value: Any) -> None:
    checked, problems = check(kind, value)

    assert checked == value
    assert len(problems) == 1
    assert problems[0].startswith("v:")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "null"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "42"),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, "42"),
        ({"type": ["string", "null"]}, "null"),
        ({"type": ["integer", "string"]}, "42"),
        ({}, "42"),
        ({"type": "string"}, '["a"]'),
        ({"enum": ["1", 2]}, "1"),
    ],
)
def test_a_value_that_already_fits_stays(schema: dict[str, Any], value: Any) -> None:
    assert check(schema, value) == (value, [])


def test_a_value_that_fits_no_arm_is_bent_into_the_first_it_can() -> None:
    schema = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}

    assert check(schema, '["1", 2]') == ([1, 2], [])
    assert check(schema, "7") == (7, [])


def test_values_inside_are_bent_too() -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
            },
            "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "integer"}],
                "items": {"type": "string"},
            },
        },
    }

    checked, problems = ArgumentChecker(schema).check(
        {"rows": [{"n": "1"}, {"n": 2}], "more": {"x": "true"}, "pair": ["1", 2]}
    )

    assert problems == []
    assert checked == {"rows": [{"n": 1}, {"n": 2}], "more": {"x": True}, "pair": [1, "2"]}


def test_a_json_text_of_an_array_is_read_and_its_items_bent() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}

    assert check(schema, '["1", "2"]') == ([1, 2], [])


def test_references_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/point"}, "q": {"allOf": [{"$ref": "#/$defs/point"}]}},
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    }

    checked, problems = ArgumentChecker(schema).check({"p": {"x": "1"}, "q": {"x": "2"}})

    assert problems == []
    assert checked == {"p": {"x": 1}, "q": {"x": 2}}


def test_a_tree_refers_to_itself() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
    }

    checked, problems = ArgumentChecker(schema).check({"n": "1", "children": [{"n": "2"}]})

    assert problems == []
    assert checked == {"n": 1, "children": [{"n": 2}]}


def test_each_problem_is_a_line_with_its_path() -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"n": {"type": "integer", "minimum": 1}},
                    "required": ["n"],
                },
            }
        },
        "required": ["name"],
    }

    _, problems = ArgumentChecker(schema).check({"rows": [{"n": 0}, {}]})

    assert len(problems) == 3
    assert any("rows[0].n" in problem for problem in problems)
    assert any("rows[1]" in problem and "'n'" in problem for problem in problems)
    assert any("'name'" in problem for problem in problems)
    assert not any("\n" in problem for problem in problems)


@pytest.mark.parametrize("schema", [{"type": "strnig"}, {"properties": 7}, {"$ref": "#/nowhere"}])
def test_a_schema_that_is_itself_wrong_does_not_break_the_check(schema: dict[str, Any]) -> None:
    checked, _ = ArgumentChecker(schema).check({"a": "1"})

    assert checked == {"a": "1"}


def test_a_pattern_of_another_regex_language_does_not_break_the_check() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": r"\p{L}"}}}

    assert ArgumentChecker(schema).check({"a": "x"}) == ({"a": "x"}, [])


def test_a_reference_in_a_circle_does_not_break_the_check() -> None:
    circle = {"properties": {"a": {"$ref": "#/properties/a"}}}

    assert ArgumentChecker(circle).check({"a": 1}) == ({"a": 1}, [])


def test_nothing_is_fetched_for_a_reference(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "string"}', "utf-8")
    schema = {"type": "object", "properties": {"a": {"$ref": elsewhere.as_uri()}}}

    assert ArgumentChecker(schema).check({"a": 1}) == ({"a": 1}, [])


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-9, 9),
        st.floats(-9, 9),
        st.sampled_from(["", "1", "true", "null", "[1]", '{"a": 1}', "x"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.builds(lambda kind: {"type": kind}, KINDS),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda properties: {"type": "object", "properties": properties},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        ),
        st.builds(lambda arms: {"anyOf": arms}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(SCHEMAS, st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_checking_changes_nothing_of_the_callers_and_is_stable(
    schema: dict[str, Any], args: dict[str, Any]
) -> None:
    whole = {"type": "object", "additionalProperties": schema}
    before = copy.deepcopy(args)
    checker = ArgumentChecker(whole)

    checked, problems = checker.check(args)
    again, again_problems = checker.check(checked)

    assert repr(args) == repr(before)
    assert again == checked or problems
    assert again_problems == problems or problems
