"""What a start needs to know, whoever said it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_tui.config.folders import Folders
from agent_tui.config.hooks import HookSettings
from agent_tui.config.mcp import ServerSettings
from agent_tui.config.rules import RuleSettings
from agent_tui.core.limits import LimitKind, Limits, Scope
from agent_tui.core.model import ModelCost, ThinkingLevel

Mode = Literal["ask", "auto-edit", "full-auto", "read-only"]
AfterAbort = Literal["hold", "restore", "send"]
QueueMode = Literal["one-at-a-time", "all"]
LocalServers = Literal["find", "ignore"]
Compaction = Literal["auto", "off"]
Motion = Literal["full", "reduced"]
LongLines = Literal["wrap", "cut"]
NotifyBy = Literal["bell", "osc9", "osc777", "off"]

DEFAULT_THEME = "harbour"
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
    origin: Literal["file", "flags", "project"] = "file"
    """`flags`: made by `--base-url`; its key comes from `--api-key-env` alone. `project`: made by a
    project's file; it never gets a key."""


LATEST, PICK = "", "?"
"""Instead of the id of a session: the last one of this folder; the one that the person picks."""


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """Which session a start goes on with, and whether it is kept."""

    resume: str | None = None
    """How the id of a session begins, `LATEST` or `PICK`; None is a new one."""
    is_kept: bool = True
    recover: bool = False
    """Open what can be read of a damaged session as a new one."""
    fork: bool = False
    """Go on with a copy."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line said; None is "not given"."""

    model: str | None = None
    api: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    thinking: str | None = None
    fallback: tuple[str, ...] = ()
    mode: str | None = None
    max_iterations: int | None = None
    limits: Mapping[str, float | None] = field(default_factory=dict)
    """By the names of `LIMITS`."""
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    tools: tuple[Path, ...] = ()
    agent: str | None = None
    cwd: Path | None = None
    theme: str | None = None
    linear: bool = False
    """The chat as plain lines."""
    sandbox: bool = False
    session: SessionChoice = field(default_factory=lambda: SessionChoice())
    trust: bool = False
    """Use what the folder brings along, for this start."""


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
    fallback: tuple[str, ...] = ()
    """`provider/id` of the models that go on, in this order, when the chosen one is overloaded."""
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
    tools_files: tuple[Path, ...] = ()
    """Python files with tools that flags name."""
    agent: str | None = None
    """`module:name` of an `Agent` of the person's own; only flags change its model and prompt."""
    theme: str | None = None
    session: SessionChoice = field(default_factory=SessionChoice)
    asked: frozenset[str] = frozenset()
    """Of `model` and `thinking`: what a flag or a variable of this start said."""
    sandbox: bool = False
    """Commands of the `bash` tool are shut in."""
    sandbox_network: bool = False
    """They may use the network even so."""
    fsync: bool = True
    """Whether the disk is asked to keep each message, beside the system."""
    after_abort: AfterAbort = "hold"
    steering_mode: QueueMode = "one-at-a-time"
    follow_up_mode: QueueMode = "one-at-a-time"
    compaction: Compaction = "auto"
    """Whether older messages are summarised by themselves when the window is nearly full."""
    local_servers: LocalServers = "find"
    """Whether to look for servers on this machine when nothing else says which model answers."""
    tail_lines: int = 5
    """Lines of its output that the panel of a running tool shows, 0 to 20."""
    motion: Motion = "full"
    """`reduced`: nothing on the screen moves by itself; times and counters go on."""
    long_lines: LongLines = "wrap"
    """What becomes of code, tables and output that are wider than the screen."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By action (`config.keys.ACTIONS`), the keys that it has instead of its usual ones."""
    vim: bool = False
    """Vim's keys in the composer."""
    notify: NotifyBy = "bell"
    """How somebody is called who is looking elsewhere."""
    notify_command: str | None = None
    """A shell command that is run then, besides."""
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    rules: RuleSettings = field(default_factory=RuleSettings)
    """What needs no question, and what is never done, by the files."""
    hooks: tuple[HookSettings, ...] = ()
    """The person's, then the project's."""
    mcp_servers: Mapping[str, ServerSettings] = field(default_factory=dict)
    """Servers that offer tools: the person's, then those of a project that is trusted."""
    is_trusted: bool = False
    """The person said yes to what the project brings along in `.agent-tui/`; else none of it may be
    used or run."""
    asks_for_trust: bool = False
    """The project brings something along, and the person has not said anything about it yet."""
    flags: Flags = field(default_factory=Flags, repr=False)
    started_in: Path = field(default_factory=Path, repr=False)
    """Where the program was started: what the flags' paths begin at."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    problems: tuple[str, ...] = ()
    """One sentence for each unknown key or bad value; the default is used instead."""
