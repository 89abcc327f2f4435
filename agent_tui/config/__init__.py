"""Settings, and where things live on disk."""

from agent_tui.config.flags import unset_variable
from agent_tui.config.folders import Folders, find_folders
from agent_tui.config.hooks import HookEvent, HookSettings
from agent_tui.config.loading import UNREADABLE, load_again, load_settings
from agent_tui.config.mcp import ServerSettings
from agent_tui.config.rules import (
    ReadingCommands,
    Rule,
    RuleOrigin,
    RuleSettings,
    RuleVerdict,
    pattern_words,
)
from agent_tui.config.settings import (
    APIS,
    DEFAULT_THEME,
    LATEST,
    LIMITS,
    PICK,
    TIMEOUTS,
    AfterAbort,
    Flags,
    LocalServers,
    Mode,
    ModelSettings,
    NotifyBy,
    ProviderSettings,
    QueueMode,
    SessionChoice,
    Settings,
)
from agent_tui.config.trust import (
    NOT_TRUSTED,
    PROJECT_FOLDER,
    Trust,
    brings_something,
    what_it_brings,
)

__all__ = [
    "APIS",
    "DEFAULT_THEME",
    "LATEST",
    "LIMITS",
    "NOT_TRUSTED",
    "PICK",
    "PROJECT_FOLDER",
    "TIMEOUTS",
    "UNREADABLE",
    "AfterAbort",
    "Flags",
    "Folders",
    "HookEvent",
    "HookSettings",
    "LocalServers",
    "Mode",
    "ModelSettings",
    "NotifyBy",
    "ProviderSettings",
    "QueueMode",
    "ReadingCommands",
    "Rule",
    "RuleOrigin",
    "RuleSettings",
    "RuleVerdict",
    "ServerSettings",
    "SessionChoice",
    "Settings",
    "Trust",
    "brings_something",
    "find_folders",
    "load_again",
    "load_settings",
    "pattern_words",
    "unset_variable",
    "what_it_brings",
]
