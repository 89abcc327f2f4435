"""Settings, and where things live on disk."""

from agent_tui.config.flags import unset_variable
from agent_tui.config.folders import Folders, find_folders
from agent_tui.config.loading import load_settings
from agent_tui.config.settings import (
    APIS,
    LIMITS,
    TIMEOUTS,
    AfterAbort,
    Flags,
    LocalServers,
    Mode,
    ModelSettings,
    ProviderSettings,
    QueueMode,
    Settings,
)

__all__ = [
    "APIS",
    "LIMITS",
    "TIMEOUTS",
    "AfterAbort",
    "Flags",
    "Folders",
    "LocalServers",
    "Mode",
    "ModelSettings",
    "ProviderSettings",
    "QueueMode",
    "Settings",
    "find_folders",
    "load_settings",
    "unset_variable",
]
