"""What the command line says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from agent_tui.config.scalars import given, read_limit
from agent_tui.config.settings import APIS, LIMITS, Flags, Mode, ProviderSettings
from agent_tui.core.errors import ConfigError
from agent_tui.core.model import THINKING_LEVELS
from agent_tui.core.tables import Table


def from_flags(flags: Flags, environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """What the flags say, by the names of `Settings`.

    Raises:
        ConfigError: A flag makes no sense.
    """
    _check_flags(flags, environ)
    folder = _folder(cwd if flags.cwd is None else cwd / flags.cwd.expanduser())
    found: dict[str, Any] = {
        "model": flags.model,
        "model_reason": "--model chose it" if flags.model else None,
        "thinking": flags.thinking,
        "fallback": flags.fallback or None,
        "mode": flags.mode,
        "max_iterations": flags.max_iterations,
        **flags.limits,
        "theme": flags.theme,
        "session": flags.session,
        "sandbox": flags.sandbox or None,
        "asked": frozenset(name for name in ("model", "thinking") if getattr(flags, name)),
        "agent": flags.agent,
        "tools_files": tuple(cwd / path.expanduser() for path in flags.tools) or None,
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
    return {"cwd": folder, **given(found)}


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
        read_limit(table, key, _flag)
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


def unset_variable(name: str) -> str:
    """Says that there is no such variable, without showing a key that was given for its name."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        return f"{name}: there is no {name} in the environment"
    return "takes the name of a variable in the environment; what it was given is none"
