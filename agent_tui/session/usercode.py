"""The person's own Python: a file of tools, an agent object. It runs because a flag named it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from agent_tui.agent.agent import Agent
from agent_tui.core.errors import ConfigError
from agent_tui.core.tool import Tool


def load_tools(path: Path) -> list[Tool]:
    """The `Tool` objects (functions decorated with `@tool`) at the top of a Python file.

    Raises:
        ConfigError: The file is not there, does not run, or holds no tool.
    """
    if not path.is_file():
        raise ConfigError(f"--tools {path}: there is no such file", path=str(path))
    spec = importlib.util.spec_from_file_location(f"agent_tui_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"--tools {path}: this is no Python file", path=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # foreign code
        raise ConfigError(f"--tools {path}: {_told(error, path)}", path=str(path)) from error
    tools = {item.name: item for item in vars(module).values() if isinstance(item, Tool)}
    if not tools:
        raise ConfigError(
            f"--tools {path}: there is no tool in it; decorate a function with @tool "
            "(from agent_tui import tool)",
            path=str(path),
        )
    return list(tools.values())


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
        return importlib.import_module(module_name)
    except Exception as error:  # foreign code
        raise ConfigError(f"--agent {name}: {_told(error)}", key="--agent") from error


def _told(error: Exception, path: Path | None = None) -> str:
    """What went wrong on one line, with the line of the file if it can be named."""
    what = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == str(path)]
    return f"{what} (line {lines[-1]})" if lines else what
