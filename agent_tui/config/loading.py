"""Settings: defaults < user file < project file < environment < flags.

A bad value in a file or a variable is a sentence in `Settings.problems` and the default holds; a
bad flag is a `ConfigError`. A project's file (`.agent-tui/config.toml`) counts in a folder that the
person trusts, and there are things that it may not say.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_tui.config.flags import from_flags
from agent_tui.config.folders import find_folders
from agent_tui.config.hooks import read_hooks
from agent_tui.config.keys import read_keys
from agent_tui.config.mcp import read_servers
from agent_tui.config.project import with_project
from agent_tui.config.providers import read_providers
from agent_tui.config.rules import RuleOrigin, read_rules
from agent_tui.config.scalars import given, read_scalars
from agent_tui.config.settings import LIMITS, Flags, Settings
from agent_tui.config.trust import Trust, brings_something, project_file
from agent_tui.core.limits import Limits, Scope
from agent_tui.core.tables import Table

UNREADABLE = "and is not used"
"""In the sentence about a file of settings that counts for nothing."""
_OF_THE_AGENT = frozenset(
    {
        "model",
        "model_reason",
        "thinking",
        "fallback",
        "max_iterations",
        "system_prompt",
        "append_system_prompt",
    }
)
"""What an agent that a flag names brings with it."""


def load_settings(flags: Flags, environ: Mapping[str, str], cwd: Path) -> Settings:
    """The settings of this start; `cwd` is where the program was started.

    Raises:
        ConfigError: A flag makes no sense; bad values elsewhere are `problems` instead.
    """
    folders = find_folders(environ)
    problems: list[str] = []
    said = from_flags(flags, environ, cwd)
    folder: Path = said["cwd"]
    found = _from_file(folders.config_file, problems, "settings")
    answer = True if flags.trust else Trust(folders).is_trusted(folder)
    if answer:
        file = project_file(folder)
        found = with_project(found, _from_file(file, problems, "project settings"), file, problems)
    found |= _from_environment(environ, problems)
    if flags.agent is not None:
        found = {key: value for key, value in found.items() if key not in _OF_THE_AGENT}
    found |= said
    if "off" in found.get("fallback", ()):
        found["fallback"] = ()
    providers = {**found.pop("providers", {}), **found.pop("flag_providers", {})}
    limits = {key: found.pop(key) for key in LIMITS if key in found}
    return Settings(
        turn_limits=_limits(limits, "turn"),
        session_limits=_limits(limits, "session"),
        folders=folders,
        providers=providers,
        flags=flags,
        started_in=cwd,
        is_trusted=bool(answer),
        asks_for_trust=answer is None and brings_something(folder),
        environ=dict(environ),
        problems=tuple(problems),
        **found,
    )


def load_again(settings: Settings) -> Settings:
    """The settings of the same start by what the files say now; no model is chosen.

    Raises:
        ConfigError: A flag makes no sense any more.
    """
    return load_settings(settings.flags, settings.environ, settings.started_in)


def _from_file(path: Path, problems: list[str], origin: RuleOrigin) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path} is no valid TOML {UNREADABLE}: {error}")
        return {}
    except OSError as error:
        problems.append(f"{path} cannot be read {UNREADABLE}: {error.strerror}")
        return {}
    table = Table(data, str(path), problems)
    found = read_scalars(table)
    found["providers"] = read_providers(table.table("providers"))
    found["rules"] = read_rules(table.table("rules"), origin)
    found["keys"] = read_keys(table.table("keys"))
    found["hooks"] = read_hooks(table.table("hooks"))
    found |= {key: table.switch(key) for key in ("fsync", "sandbox", "sandbox_network", "vim")}
    found["mcp_servers"] = read_servers(table.table("mcp"))
    table.finish()
    if "model" in found:
        found["model_reason"] = f"it is set in {path}"
    return given(found)


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    data: dict[str, Any] = {name: value for name, value in environ.items() if value.strip()}
    for name in map(_variable, ("max_iterations", "tail_lines", *LIMITS)):
        if name in data:
            data[name] = _as_number(data[name])
    if (name := _variable("fallback")) in data:
        data[name] = [key for key in data[name].split(",") if key.strip()]
    found = read_scalars(Table(data, "environment", problems), _variable)
    if found["model"] is not None:
        found["model_reason"] = f"{_variable('model')} is set"
    return given(found)


def _as_number(text: str) -> int | float | str:
    """The number that a variable holds, else its text."""
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text


def _variable(key: str) -> str:
    return f"AGENT_TUI_{key.upper()}"


def _limits(values: Mapping[str, Any], scope: Scope) -> Limits:
    """The limits of one scope out of `values`, which are by the names of `LIMITS`."""
    named = {LIMITS[key][1]: value for key, value in values.items() if LIMITS[key][0] == scope}
    return Limits(**named)
