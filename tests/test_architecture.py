"""The rules of the house, checked: who imports whom, how long things are, what loads when."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "agent_tui"
MODULES = sorted(ROOT.rglob("*.py"))

MAY_IMPORT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # layer: (our layers, third-party packages)
    "__init__": (("core", "agent", "version"), ()),
    "__main__": (("cli", "launch"), ()),
    "launch": (("core", "config", "session", "tui", "linear"), ()),
    "version": ((), ()),
    "core": ((), ("pydantic", "pydantic_core", "jsonschema")),
    "config": (("core",), ("pydantic", "platformdirs")),
    "agent": (("core",), ()),
    "providers": (("core", "version"), ("httpx", "keyring")),
    "tools": (("core",), ("mcp", "httpx2")),
    "session": (
        ("core", "config", "agent", "providers", "tools", "version"),
        ("pydantic", "pydantic_core", "tree_sitter", "tree_sitter_bash"),
    ),
    "testing": (("core",), ()),
    "headless": (("core", "config", "session"), ()),
    "linear": (("core", "config", "session"), ()),
    "tui": (
        ("core", "config", "session", "version"),
        ("textual", "rich", "markdown_it", "pygments"),
    ),
    "cli": (("launch", "core", "config", "session", "headless", "tui", "version"), ("typer",)),
}
OWNED = {package for _, packages in MAY_IMPORT.values() for package in packages}
MODULE_LINES = 500
FUNCTION_LINES = 60
NO_NAMES = ("utils", "helpers", "common", "base", "manager")


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    """Every imported name; inside functions and under TYPE_CHECKING count too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    layer = layer_of(path)
    ours, packages = MAY_IMPORT[layer]
    for name in imports_of(path):
        top, _, rest = name.partition(".")
        if top == "agent_tui" and rest:
            assert rest.partition(".")[0] in (layer, *ours), f"{layer} must not import {name}"
        elif top in OWNED:
            assert top in packages, f"{layer} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_stay_short(path: Path) -> None:
    source = path.read_text("utf-8")
    long_functions = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    ]

    assert source.count("\n") <= MODULE_LINES
    assert not long_functions


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_has_a_name_that_says_something(path: Path) -> None:
    assert path.stem not in NO_NAMES


@pytest.mark.parametrize("path", ["presenter.py", "blocks.py", "markdown.py"])
def test_what_is_shown_is_decided_without_widgets(path: str) -> None:
    widgets = ("textual.widget", "textual.widgets", "textual.app", "textual.screen")
    names = list(imports_of(ROOT / "tui" / path))

    assert not [name for name in names if name.startswith(widgets)]


@pytest.mark.parametrize("path", sorted((ROOT / "tui").rglob("*.py")), ids=lambda p: p.stem)
def test_only_app_and_presenter_see_the_session(path: Path) -> None:
    if path.stem not in ("app", "opening", "presenter", "__init__"):
        assert not [name for name in imports_of(path) if name.startswith("agent_tui.session")]


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import agent_tui", {"textual", "httpx", "rich", "pydantic", "asyncio"}),
        ("import agent_tui.cli", {"textual", "httpx", "rich", "jsonschema", "markdown_it"}),
        ("from agent_tui import Agent", {"textual", "httpx", "rich", "jsonschema"}),
        ("import agent_tui.tui.app", {"httpx", "jsonschema", "markdown_it", "pygments"}),
        (
            "import agent_tui.launch, agent_tui.tui.app, agent_tui.session.first_model",
            {"typer", "pydantic", "httpx", "agent_tui.agent.agent"},
        ),
    ],
)
def test_nothing_heavy_loads_before_it_is_needed(statement: str, forbidden: set[str]) -> None:
    assert not loaded_after(statement) & forbidden


def test_every_public_name_is_there() -> None:
    import agent_tui

    for name in agent_tui.__all__:
        assert getattr(agent_tui, name) is not None
