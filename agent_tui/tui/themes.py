"""Themes from TOML files: the program's own, then the person's; the later of one name wins.

A file holds the fields of a theme (colours, `dark`, …) and under `variables` our own roles. What a
file leaves out of the roles follows from its colours.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from agent_tui.core.errors import ConfigError

DEFAULT_THEME = "harbour"
ROLES = {
    "user": "primary",
    "tool-running": "warning",
    "tool-ok": "success",
    "tool-failed": "error",
    "diff-add": "success",
    "diff-remove": "error",
}
"""Our own variables, and the colour of the theme that each has where the file does not set it."""

_FIELDS = {field.name for field in dataclasses.fields(Theme)}
_COLOURS = {
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "boost",
}


def own_folder() -> Path:
    """Where the themes are that the program ships."""
    package = Path(__file__).parent.parent
    installed = package / "themes"
    return installed if installed.is_dir() else package.parent / "themes"


def theme_files(folders: Iterable[Path]) -> dict[str, Path]:
    """Theme name → file, the program's own first, then those of `folders`. Reads no file."""
    files: dict[str, Path] = {}
    for folder in (own_folder(), *folders):
        for path in sorted(folder.glob("*.toml")):
            files[path.stem] = path
    return files


def load_themes(folders: Iterable[Path]) -> list[Theme]:
    """All themes, by name. Raises `ConfigError` for the first file that is none."""
    return [load_theme(path) for _, path in sorted(theme_files(folders).items())]


def load_theme(path: Path) -> Theme:
    """One theme. Raises `ConfigError` that names the file, the key and what is allowed."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}", path=str(path)) from None
    data["name"] = path.stem
    for key in data.keys() - _FIELDS:
        raise ConfigError(
            f"{path}: unknown key {key!r}{_did_you_mean(key)}", path=str(path), key=key
        )
    if "primary" not in data:
        raise ConfigError(f"{path}: the key 'primary' is missing", path=str(path), key="primary")
    variables = dict(data.get("variables", {}))
    for key, value in [*_items(data), *variables.items()]:
        _check_colour(path, key, value)
    for role, colour in ROLES.items():
        variables.setdefault(role, data.get(colour) or data["primary"])
    try:
        return Theme(**{**data, "variables": variables})
    except TypeError as error:
        raise ConfigError(f"{path}: {error}", path=str(path)) from None


def _items(data: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in data.items() if key in _COLOURS]


def _check_colour(path: Path, key: str, value: Any) -> None:
    try:
        Color.parse(value if isinstance(value, str) else "")
    except ColorParseError:
        raise ConfigError(
            f"{path}: {key} is {value!r}, which is no colour; write one like '#5fa8d3' or 'teal'",
            path=str(path),
            key=key,
        ) from None


def _did_you_mean(key: str) -> str:
    close = get_close_matches(key, sorted(_FIELDS), 1)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(sorted(_FIELDS))}"
