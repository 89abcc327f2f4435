"""Settings: defaults < user file < environment < flags; and where things live on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_tui.core.model import ModelCost, ThinkingLevel

Mode = Literal["ask", "auto-edit", "full-auto", "read-only"]
AfterAbort = Literal["hold", "restore", "send"]
QueueMode = Literal["one-at-a-time", "all"]


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
    """`provider/id`, settled by `session.models.settle_model`; None before that if nobody chose."""
    model_reason: str = ""
    """Why this model, e.g. `OPENAI_API_KEY is set`."""
    thinking: ThinkingLevel = "off"
    mode: Mode = "ask"
    max_iterations: int = 100
    system_prompt: str | None = None
    """Replaces the built-in prompt."""
    append_system_prompt: str | None = None
    tools_file: Path | None = None
    agent: str | None = None
    """`module:name` of the user's own `Agent`."""
    theme: str | None = None
    after_abort: AfterAbort = "hold"
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    problems: tuple[str, ...] = ()
    """One sentence for each unknown key or bad value; the default is used instead."""


def load_settings(flags: Flags, environ: Mapping[str, str], cwd: Path) -> Settings:
    """The settings of this start.

    Raises:
        ConfigError: A flag makes no sense; bad values in files are `problems` instead.
    """
    raise NotImplementedError
