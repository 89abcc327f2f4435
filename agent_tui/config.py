"""Settings: defaults < user file < environment < flags; and where things live on disk.

A bad value in a file or a variable is a sentence in `Settings.problems` and the default holds; a
bad flag is a `ConfigError`. Project files (`.agent-tui/config.toml`) are not read: there is no way
yet to say that a folder is trusted.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from agent_tui.core.errors import ConfigError
from agent_tui.core.limits import LimitKind, Limits, Scope
from agent_tui.core.model import THINKING_LEVELS, ModelCost, PriceTier, ThinkingLevel
from agent_tui.core.tables import Table

Mode = Literal["ask", "auto-edit", "full-auto", "read-only"]
AfterAbort = Literal["hold", "restore", "send"]
QueueMode = Literal["one-at-a-time", "all"]
LocalServers = Literal["find", "ignore"]

APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "demo")
TIMEOUTS = ("connect", "first_byte", "first_event", "stall")
LIMITS: Mapping[str, tuple[Scope, LimitKind]] = {
    "max_cost": ("session", "cost"),
    "max_tokens": ("session", "tokens"),
    "max_time": ("session", "time"),
    "max_session_iterations": ("session", "iterations"),
    "max_turn_cost": ("turn", "cost"),
    "max_turn_tokens": ("turn", "tokens"),
    "max_turn_time": ("turn", "time"),
}
"""The budgets that can be set; steps of a turn are `max_iterations`."""
_OF_THE_AGENT = frozenset(
    {
        "model",
        "model_reason",
        "thinking",
        "max_iterations",
        "system_prompt",
        "append_system_prompt",
    }
)
"""What an agent that a flag names brings with it."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where things live: one folder under `AGENT_TUI_HOME`, else the platform's own folders."""

    config: Path
    """Holds `config.toml`, `themes/` and `tools/`."""
    state: Path
    """Holds `sessions/`, `history/`, `logs/` and `output/`."""

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.toml"

    @property
    def themes(self) -> Path:
        """The user's own themes."""
        return self.config / "themes"

    @property
    def sessions(self) -> Path:
        """Saved sessions."""
        return self.state / "sessions"

    @property
    def history(self) -> Path:
        """What was typed, one file a project."""
        return self.state / "history"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.state / "logs"

    @property
    def output(self) -> Path:
        """Tool output that was too long for the window."""
        return self.state / "output"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One `[[providers.X.models]]` table; None is "not said"."""

    id: str
    name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: bool | None = None
    images: bool | None = None
    cost: ModelCost | None = None
    compat: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One `[providers.X]` table; None is "not said"."""

    name: str
    api: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api_key_command: str | None = None
    """A shell command that prints the key."""
    ca_bundle: str | None = None
    """A file of certificates to trust instead of the usual ones."""
    insecure_skip_verify: bool | None = None
    timeouts: Mapping[str, float] = field(default_factory=dict)
    """Seconds: `connect`, `first_byte`, `first_event`, `stall`."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    compat: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[ModelSettings, ...] = ()
    origin: Literal["file", "flags"] = "file"
    """`flags`: made by `--base-url`; its key comes from `--api-key-env` alone."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line said; None is "not given"."""

    model: str | None = None
    api: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    thinking: str | None = None
    mode: str | None = None
    max_iterations: int | None = None
    limits: Mapping[str, float | None] = field(default_factory=dict)
    """By the names of `LIMITS`."""
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    tools: Path | None = None
    agent: str | None = None
    cwd: Path | None = None
    theme: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a start needs to know."""

    cwd: Path
    folders: Folders
    model: str | None = None
    """`provider/id`; None if nobody chose, until `session.models.settle_model` has."""
    model_reason: str = ""
    """Why this model, as a clause: "OPENAI_API_KEY is set"."""
    api_key_env: str | None = None
    """The variable with the key for the chosen model's provider, if a flag named one."""
    thinking: ThinkingLevel | None = None
    """None is off, or what an agent of the person's own has."""
    mode: Mode = "ask"
    max_iterations: int | None = None
    """Steps of a turn; None is 100, or what an agent of the person's own has."""
    turn_limits: Limits = field(default_factory=Limits)
    """What a turn may use beside its steps."""
    session_limits: Limits = field(default_factory=Limits)
    """What all turns together may use."""
    system_prompt: str | None = None
    """Replaces the built-in prompt."""
    append_system_prompt: str | None = None
    tools_file: Path | None = None
    agent: str | None = None
    """`module:name` of an `Agent` of the person's own; only flags change its model and prompt."""
    theme: str | None = None
    after_abort: AfterAbort = "hold"
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    local_servers: LocalServers = "find"
    """Whether to look for servers on this machine when nothing else says which model answers."""
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    problems: tuple[str, ...] = ()
    """One sentence for each unknown key or bad value; the default is used instead."""


def load_settings(flags: Flags, environ: Mapping[str, str], cwd: Path) -> Settings:
    """The settings of this start; `cwd` is where the program was started.

    Raises:
        ConfigError: A flag makes no sense; bad values elsewhere are `problems` instead.
    """
    folders = find_folders(environ)
    problems: list[str] = []
    found = _from_file(folders.config_file, problems)
    found |= _from_environment(environ, problems)
    if flags.agent is not None:
        found = {key: value for key, value in found.items() if key not in _OF_THE_AGENT}
    found |= _from_flags(flags, environ, cwd)
    providers = {**found.pop("providers", {}), **found.pop("flag_providers", {})}
    limits = {key: found.pop(key) for key in LIMITS if key in found}
    return Settings(
        turn_limits=_limits(limits, "turn"),
        session_limits=_limits(limits, "session"),
        folders=folders,
        providers=providers,
        environ=dict(environ),
        problems=tuple(problems),
        **found,
    )


def unset_variable(name: str) -> str:
    """Says that there is no such variable, without showing a key that was given for its name."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        return f"{name}: there is no {name} in the environment"
    return "takes the name of a variable in the environment; what it was given is none"


def find_folders(environ: Mapping[str, str]) -> Folders:
    """Where things live, by `AGENT_TUI_HOME` or the platform's habits."""
    if home := environ.get("AGENT_TUI_HOME", "").strip():
        folder = Path(os.path.abspath(Path(home).expanduser()))  # noqa: PTH100 - links stay
        return Folders(folder, folder)
    from platformdirs import PlatformDirs

    places = PlatformDirs("agent-tui", appauthor=False)
    return Folders(places.user_config_path, places.user_state_path)


def _from_file(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path} is no valid TOML and is not used: {error}")
        return {}
    except OSError as error:
        problems.append(f"{path} cannot be read and is not used: {error.strerror}")
        return {}
    table = Table(data, str(path), problems)
    found = _scalars(table)
    found["providers"] = _providers(table.table("providers"))
    table.finish()
    if "model" in found:
        found["model_reason"] = f"it is set in {path}"
    return _given(found)


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    data: dict[str, Any] = {name: value for name, value in environ.items() if value.strip()}
    for name in map(_variable, ("max_iterations", *LIMITS)):
        if name in data:
            data[name] = _as_number(data[name])
    found = _scalars(Table(data, "environment", problems), _variable)
    if found["model"] is not None:
        found["model_reason"] = f"{_variable('model')} is set"
    return _given(found)


def _as_number(text: str) -> int | float | str:
    """The number that a variable holds, else its text."""
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text


def _variable(key: str) -> str:
    return f"AGENT_TUI_{key.upper()}"


def _scalars(table: Table, spell: Callable[[str], str] = str) -> dict[str, Any]:
    """The settings that are one value each; `spell` gives the table's name for each."""
    choices = {
        "thinking": THINKING_LEVELS,
        "mode": get_args(Mode),
        "after_abort": get_args(AfterAbort),
        "steering_mode": get_args(QueueMode),
        "follow_up_mode": get_args(QueueMode),
        "local_servers": get_args(LocalServers),
    }
    texts = ("model", "theme", "system_prompt", "append_system_prompt")
    found: dict[str, Any] = {key: table.text(spell(key)) for key in texts}
    found |= {key: table.choice(spell(key), allowed) for key, allowed in choices.items()}
    found["max_iterations"] = table.count(spell("max_iterations"))
    found |= {key: _limit(table, key, spell) for key in LIMITS}
    return found


def _limit(table: Table, key: str, spell: Callable[[str], str]) -> float | None:
    is_whole = LIMITS[key][1] in ("tokens", "iterations")
    return table.count(spell(key)) if is_whole else table.amount(spell(key))


def _limits(values: Mapping[str, Any], scope: Scope) -> Limits:
    """The limits of one scope out of `values`, which are by the names of `LIMITS`."""
    named = {LIMITS[key][1]: value for key, value in values.items() if LIMITS[key][0] == scope}
    return Limits(**named)


def _providers(table: Table) -> dict[str, ProviderSettings]:
    return {name: _provider(name, table.table(name)) for name in table.names()}


def _provider(name: str, table: Table) -> ProviderSettings:
    timeouts = table.table("timeouts")
    limits = {key: limit for key in TIMEOUTS if (limit := timeouts.number(key)) is not None}
    timeouts.finish()
    provider = ProviderSettings(
        name,
        api=table.choice("api", APIS),
        base_url=table.text("base_url"),
        api_key_env=table.text("api_key_env"),
        api_key_command=table.text("api_key_command"),
        ca_bundle=table.text("ca_bundle"),
        insecure_skip_verify=table.switch("insecure_skip_verify"),
        timeouts=limits,
        headers=table.table("headers").texts(),
        compat=table.table("compat").anything(),
        models=tuple(model for inner in table.tables("models") if (model := _model(inner))),
    )
    table.finish()
    return provider


def _model(table: Table) -> ModelSettings | None:
    model_id = table.text("id")
    model = ModelSettings(
        id=model_id or "",
        name=table.text("name"),
        context_window=table.count("context_window"),
        max_output_tokens=table.count("max_output_tokens"),
        reasoning=table.switch("reasoning"),
        images=table.switch("images"),
        cost=_cost(table.table("cost")),
        compat=table.table("compat").anything(),
    )
    table.finish()
    if model_id is None:
        table.missing("id")
        return None
    return model


def _cost(table: Table) -> ModelCost | None:
    tiers = [tier for inner in table.tables("tiers") if (tier := _tier(inner)) is not None]
    prices = _prices(table)
    return None if prices is None else ModelCost(*prices, tiers=tuple(tiers), is_own=True)


def _tier(table: Table) -> PriceTier | None:
    above = table.count("above")
    prices = _prices(table)
    if above is None:
        table.missing("above")
    return None if above is None or prices is None else PriceTier(above, *prices)


def _prices(table: Table) -> tuple[float, float, float | None, float | None] | None:
    """Input, output, cache read, cache write; None if the table does not hold the first two."""
    names = ("input", "output", "cache_read", "cache_write")
    given, asked, read, write = (table.number(name) for name in names)
    table.finish()
    if given is not None and asked is not None:
        return given, asked, read, write
    if table.anything():
        table.missing("input" if given is None else "output")
    return None


def _from_flags(flags: Flags, environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    _check_flags(flags, environ)
    folder = _folder(cwd if flags.cwd is None else cwd / flags.cwd.expanduser())
    found: dict[str, Any] = {
        "model": flags.model,
        "model_reason": "--model chose it" if flags.model else None,
        "thinking": flags.thinking,
        "mode": flags.mode,
        "max_iterations": flags.max_iterations,
        **flags.limits,
        "theme": flags.theme,
        "agent": flags.agent,
        "tools_file": None if flags.tools is None else cwd / flags.tools.expanduser(),
        "system_prompt": _prompt_text("--system-prompt", flags.system_prompt, cwd),
        "append_system_prompt": _prompt_text(
            "--append-system-prompt", flags.append_system_prompt, cwd
        ),
    }
    if flags.base_url is None:
        found["api_key_env"] = flags.api_key_env
    else:
        provider, found["model"] = _provider_from_flags(flags)
        found["flag_providers"] = {provider.name: provider}
    return {"cwd": folder, **_given(found)}


def _check_flags(flags: Flags, environ: Mapping[str, str]) -> None:
    problems: list[str] = []
    given = {
        "--mode": flags.mode,
        "--thinking": flags.thinking,
        "--api": flags.api,
        "--max-iterations": flags.max_iterations,
        **{_flag(key): value for key, value in flags.limits.items()},
    }
    table = Table(given, "command line", problems)
    table.choice("--mode", get_args(Mode))
    table.choice("--thinking", THINKING_LEVELS)
    table.choice("--api", APIS)
    table.count("--max-iterations")
    for key in LIMITS:
        _limit(table, key, _flag)
    if problems:
        raise ConfigError(problems[0].removeprefix("command line: "))
    if flags.api is not None and flags.base_url is None:
        raise ConfigError("--api needs --base-url: the address of the server", key="--api")
    if flags.base_url is not None and not (flags.model or "").strip():
        raise ConfigError("--base-url needs --model: the model's name there", key="--base-url")
    name = flags.api_key_env
    if name is not None and not environ.get(name, "").strip():
        raise ConfigError(f"--api-key-env {unset_variable(name)}", key="--api-key-env")


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _provider_from_flags(flags: Flags) -> tuple[ProviderSettings, str]:
    """The provider that `--base-url` makes, and the key of its model."""
    name, slash, model_id = (flags.model or "").strip().partition("/")
    if not slash or not model_id:
        name, model_id = "custom", name
    provider = ProviderSettings(
        name,
        api=flags.api or "openai-chat",
        base_url=flags.base_url,
        api_key_env=flags.api_key_env,
        origin="flags",
    )
    return provider, f"{name}/{model_id}"


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise ConfigError(f"--cwd {path}: there is no such folder", key="--cwd")
    return path.resolve()


def _prompt_text(flag: str, value: str | None, cwd: Path) -> str | None:
    """The text itself, or that of the file behind an `@`."""
    if value is None or not value.startswith("@"):
        return value
    path = cwd / Path(value[1:]).expanduser()
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{flag} {value}: cannot read {path}: {reason}", key=flag) from None


def _given(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value is not None}
