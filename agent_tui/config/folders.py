"""Where things live on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Folders:
    """Where things live: one folder under `AGENT_TUI_HOME`, else the platform's own folders."""

    config: Path
    """Holds `config.toml`, `AGENTS.md`, `themes/`, `tools/`, `skills/` and `prompts/`."""
    state: Path
    """Holds `sessions/`, `checkpoints/`, `history/`, `logs/`, `logins/` and `output/`."""

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.toml"

    @property
    def rules_file(self) -> Path:
        """The rules that the person's answers have made."""
        return self.config / "rules.toml"

    @property
    def own(self) -> tuple[Path, ...]:
        """What decides how the program behaves; no tool changes it without a question."""
        names = ("config.toml", "rules.toml", "AGENTS.md")
        folders = ("tools", "hooks", "skills", "prompts", "commands", "themes")
        told = tuple(self.config / name for name in (*names, *folders))
        return (*told, self.state / "trust.json", self.sessions, self.logins)

    @property
    def themes(self) -> Path:
        """The user's own themes."""
        return self.config / "themes"

    @property
    def tools(self) -> Path:
        """Python files with the user's own tools."""
        return self.config / "tools"

    @property
    def skills(self) -> Path:
        """The user's skills, a folder each."""
        return self.config / "skills"

    @property
    def prompts(self) -> Path:
        """The user's prompt templates."""
        return self.config / "prompts"

    @property
    def sessions(self) -> Path:
        """Saved sessions."""
        return self.state / "sessions"

    @property
    def checkpoints(self) -> Path:
        """What files held before a session changed them, one folder a session."""
        return self.state / "checkpoints"

    @property
    def history(self) -> Path:
        """What was typed, one file a project."""
        return self.state / "history"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.state / "logs"

    @property
    def logins(self) -> Path:
        """What logins to MCP servers gave, a private file each."""
        return self.state / "logins"

    @property
    def output(self) -> Path:
        """Tool output that was too long for the window."""
        return self.state / "output"


def find_folders(environ: Mapping[str, str]) -> Folders:
    """Where things live, by `AGENT_TUI_HOME` or the platform's habits."""
    if home := environ.get("AGENT_TUI_HOME", "").strip():
        folder = Path(os.path.abspath(Path(home).expanduser()))  # noqa: PTH100 - links stay
        return Folders(folder, folder)
    from platformdirs import PlatformDirs

    places = PlatformDirs("agent-tui", appauthor=False)
    return Folders(places.user_config_path, places.user_state_path)
