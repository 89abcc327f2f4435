"""The person's own Python: files of tools, an agent object.

A file runs because a flag named it, because it lies in the person's own folder, or because the
person said yes to the project that it came with.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import ConfigError
from agent_tui.core.tool import NAME, Tool


@dataclass(frozen=True, slots=True)
class ToolFile:
    """A Python file with tools, and what is in it."""

    path: Path
    tools: tuple[Tool, ...] = ()
    problem: str | None = None
    """Why there is nothing in it, as a sentence with file and line."""


def load_tools(path: Path) -> list[Tool]:
    """The `Tool` objects (functions decorated with `@tool`) at the top of a Python file.

    What the file prints while it is loaded goes to stderr.

    Raises:
        ConfigError: The file is not there, does not run, or holds no tool.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file", path=str(path))
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: this is no Python file", path=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # for what lies beside it
    try:
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # foreign code
        sys.modules.pop(spec.name, None)
        raise ConfigError(f"{path}: {_told(error, path)}", path=str(path)) from error
    return _tools_in(module, path)


def load_tool_file(path: Path) -> ToolFile:
    """The same for a file that nobody named: what is wrong with it is a sentence."""
    try:
        return ToolFile(path, tuple(load_tools(path)))
    except ConfigError as error:
        return ToolFile(path, problem=error.message)


def tool_files_in(folder: Path) -> list[Path]:
    """The Python files of a folder by name; those whose name begins with `_` are for the others."""
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def chosen_tools(
    builtin: Sequence[Tool], files: Iterable[ToolFile], notices: list[str]
) -> list[Tool]:
    """Built-in tools and those of the files; a later one stands for an earlier one of its name."""
    chosen = {tool.name: tool for tool in builtin}
    origins = dict.fromkeys(chosen, "the built-in tool")
    for file in files:
        for tool in file.tools:
            if tool.name in origins:
                notices.append(
                    f"{file.path}: its tool {tool.name} is used instead of {origins[tool.name]}."
                )
            chosen.pop(tool.name, None)  # what is the person's own comes last
            chosen[tool.name] = tool
            origins[tool.name] = f"that of {file.path}"
    return list(chosen.values())


def load_agent(name: str, folder: Path) -> Agent:
    """The `Agent` that `module:name` names, also as the result of a function without arguments.

    Modules are looked for in `folder` first, then where Python looks.

    Raises:
        ConfigError: There is no such module or name, or it is no agent.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise ConfigError(f"--agent {name}: write MODULE:NAME, as in mymodule:agent", key="--agent")
    module = _import(module_name, name, folder)
    if not hasattr(module, attribute):
        raise ConfigError(f"--agent {name}: {module_name} has no {attribute}", key="--agent")
    found = getattr(module, attribute)
    if not isinstance(found, Agent) and callable(found):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                found = found()
        except Exception as error:  # foreign code
            raise ConfigError(f"--agent {name}: {_told(error)}", key="--agent") from error
    if not isinstance(found, Agent):
        raise ConfigError(
            f"--agent {name}: it is a {type(found).__name__}, not an Agent", key="--agent"
        )
    return found


def _import(module_name: str, name: str, folder: Path) -> ModuleType:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(module_name)
    except Exception as error:  # foreign code
        raise ConfigError(f"--agent {name}: {_told(error)}", key="--agent") from error


def _module_name(path: Path) -> str:
    """A name that no other file has, so that two `tools.py` can stand side by side."""
    return f"agent_tui_tools_{path.stem}_{abs(hash(str(path))):x}"


def _tools_in(module: ModuleType, path: Path) -> list[Tool]:
    tools = {item.name: item for item in vars(module).values() if isinstance(item, Tool)}
    for name in tools:
        if not NAME.fullmatch(name):
            raise ConfigError(
                f"{path}: {name!r} is no name for a tool; up to 64 letters, digits, - and _ are",
                path=str(path),
            )
    if not tools:
        raise ConfigError(
            f"{path}: there is no tool in it; decorate a function with @tool "
            "(from agent_tui import tool)",
            path=str(path),
        )
    return list(tools.values())


def _told(error: BaseException, path: Path | None = None) -> str:
    """What went wrong on one line, with the line of the file if it can be named."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    what = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == str(path)]
    return f"{what} (line {lines[-1]})" if lines else what
