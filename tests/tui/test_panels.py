"""What a tool panel says about a call and its result."""

from __future__ import annotations

from typing import Any

import pytest

from agent_tui.tui.panels import changed_path, size_of, target_of, target_of_partial


@pytest.mark.parametrize(
    ("name", "args", "target"),
    [
        ("bash", {"command": "pytest -q\n  tests/"}, "pytest -q tests/"),
        ("read", {"path": "src/app.py"}, "src/app.py"),
        ("read", {"path": "a.py", "offset": 10, "limit": 20}, "a.py:10-29"),
        ("read", {"path": "a.py", "limit": 120}, "a.py:1-120"),
        ("read", {"path": "a.py", "offset": 10}, "a.py:10-"),
        ("write", {"path": "a.py", "content": "x"}, "a.py"),
        ("ls", {}, "."),
        ("grep", {"pattern": "TODO", "path": "src"}, "TODO in src"),
        ("find", {"pattern": "*.py"}, "*.py"),
        ("weather", {"city": "Bonn", "days": 2}, 'city="Bonn" days=2'),
        ("fetch", {"timeout": 3, "url": "http://x"}, "http://x"),
        ("noargs", {}, ""),
    ],
)
def test_a_header_names_the_target(name: str, args: dict[str, Any], target: str) -> None:
    assert target_of(name, args) == target


@pytest.mark.parametrize(
    ("raw", "target"),
    [
        ("", ""),
        ('{"pa', ""),
        ('{"path": "src/ap', "src/ap"),
        ('{"path": "a b.py", "content": "x', "a b.py"),
        ('{"command": "echo \\"hi\\" \\n', 'echo "hi"'),
        ('{"command": "echo \\', "echo"),
        ('{"command": "\\u00', "\\u00"),
    ],
)
def test_a_target_shows_while_its_arguments_arrive(raw: str, target: str) -> None:
    assert target_of_partial(raw) == target


@pytest.mark.parametrize(
    ("name", "text", "details", "is_error", "size"),
    [
        ("read", "a\nb\n", {"lines": 120}, False, "120 lines"),
        ("bash", "a\nb", None, False, "2 lines"),
        ("bash", "boom", {"exit_code": 1, "lines": 8}, True, "exit 1 · 8 lines"),
        ("bash", "", {"exit_code": 0, "lines": 0}, False, ""),
        ("edit", "ok", {"added": 12, "removed": 3}, False, "+12 −3"),
        ("read", "no such file", None, True, ""),
        ("bash", "x", {"lines": 200_000}, False, "200k lines"),
    ],
)
def test_a_header_gives_the_size(
    name: str, text: str, details: object, is_error: bool, size: str
) -> None:
    assert size_of(name, text, details, is_error=is_error) == size


def test_only_writing_tools_change_files() -> None:
    assert changed_path("edit", {"path": "a.py"}) == "a.py"
    assert changed_path("read", {"path": "a.py"}) is None
    assert changed_path("write", None) is None
