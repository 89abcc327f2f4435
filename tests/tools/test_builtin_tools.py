from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.schema import ArgumentChecker
from agent_tui.core.tool import NAME
from agent_tui.tools import ACCESS, builtin_tools, preview
from tests.tools.calls import named, run

PARAMETERS = {
    "read": ({"path", "offset", "limit"}, {"path"}),
    "write": ({"path", "content"}, {"path", "content"}),
    "edit": ({"path", "old", "new", "replace_all", "edits"}, {"path"}),
    "bash": ({"command", "timeout"}, {"command"}),
    "grep": ({"pattern", "path", "glob", "ignore_case"}, {"pattern"}),
    "find": ({"pattern", "path"}, {"pattern"}),
    "ls": ({"path"}, set()),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_tool_takes_what_the_documents_say(tmp_path: Path, name: str) -> None:
    schema = named(name, tmp_path).schema

    assert (set(schema["properties"]), set(schema.get("required", ()))) == PARAMETERS[name]


def test_every_tool_has_an_access_and_a_usable_name(tmp_path: Path) -> None:
    names = [tool.name for tool in builtin_tools(tmp_path)]

    assert set(names) == set(PARAMETERS)
    assert set(ACCESS) == {*names, "job"}
    assert all(NAME.fullmatch(name) for name in names)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_model_is_told_what_every_parameter_means(tmp_path: Path, name: str) -> None:
    tool = named(name, tmp_path)

    assert len(tool.description) > 60
    assert all(value["description"] for value in tool.schema["properties"].values())


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("read", {"path": "a", "offset": None, "limit": "5"}),
        ("edit", {"path": "a", "edits": '[{"old": "a", "new": "b"}]'}),
        ("bash", {"command": "true", "timeout": 0.5}),
    ],
)
def test_arguments_as_models_send_them_are_accepted(
    tmp_path: Path, name: str, args: dict[str, Any]
) -> None:
    _, problems = ArgumentChecker(named(name, tmp_path).schema).check(args)

    assert not problems


def test_a_preview_is_the_diff_before_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")

    edit = preview("edit", {"path": "a.txt", "old": "two", "new": "2"}, tmp_path)
    write = preview("write", {"path": "b.txt", "content": "x\n"}, tmp_path)

    assert edit == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert write == "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+x\n"
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"
    assert not (tmp_path / "b.txt").exists()


async def test_a_preview_is_what_the_call_does(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    args: dict[str, Any] = {"path": "a.txt", "old": "two", "new": "2"}

    expected = preview("edit", args, tmp_path)
    result = await run(named("edit", tmp_path), **args)

    assert result.details["diff"] == expected


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("bash", {"command": "true"}),
        ("unknown", {}),
        ("write", {"path": "a.txt"}),
        ("write", {"path": 5, "content": "x"}),
    ],
)
def test_nothing_to_preview_is_none(tmp_path: Path, name: str, args: dict[str, Any]) -> None:
    (tmp_path / "a.txt").write_text("same\n")

    assert preview(name, args, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("edit", {"path": "missing", "old": "a", "new": "b"}),
        ("edit", {"path": "a.txt", "old": "nowhere", "new": "b"}),
        ("write", {"path": "a.txt", "content": "same\n"}),
    ],
)
def test_the_preview_of_a_call_that_changes_nothing_is_empty(
    tmp_path: Path, name: str, args: dict[str, Any]
) -> None:
    (tmp_path / "a.txt").write_text("same\n")

    assert preview(name, args, tmp_path) == ""


def test_a_preview_shows_everything(tmp_path: Path) -> None:
    content = "x" * 1000 + "\n"

    shown = preview("write", {"path": "a", "content": content * 1000}, tmp_path)

    assert shown is not None
    assert shown.count(content) == 1000
