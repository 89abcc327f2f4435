"""Themes from TOML files: the program's own, then the person's; the later of one name wins.

A file holds the fields of a theme (colours, `dark`, …) and under `variables` our own roles, or
variables of Textual. What a file leaves out of the roles follows from its colours.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.app import App
from textual.color import Color, ColorParseError
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from agent_tui.config import DEFAULT_THEME
from agent_tui.core.errors import ConfigError

ROLES: Mapping[str, str] = {
    "user": "primary",
    "tool-running": "warning",
    "tool-ok": "success",
    "tool-failed": "error",
    "diff-add": "success",
    "diff-remove": "error",
}
"""Our own variables, and the colour of the theme that each has where a theme does not set it."""

_ANSI_VARIABLES = {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}
"""What Textual's own widgets ask for when a theme uses the terminal's colours."""

_COLOURS = (
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
)
_NO_COLOUR = NoColor()
_SWITCHES = ("dark", "ansi")
_NUMBERS = ("luminosity_spread", "text_alpha")
_FIELDS = (*_COLOURS, *_SWITCHES, *_NUMBERS, "variables")


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


def install(app: App[Any], folders: Iterable[Path], wanted: str | None) -> list[str]:
    """Register every theme and switch to `wanted` (None: ours); returns what is wrong."""
    problems: list[str] = []
    files = theme_files(folders)
    for path in files.values():
        try:
            app.register_theme(load_theme(path))
        except ConfigError as error:
            problems.append(error.message)
    if wanted is not None and wanted not in app.available_themes:
        problems.append(f"There is no theme {wanted!r}; known are {', '.join(sorted(files))}.")
        wanted = None
    app.theme = wanted or DEFAULT_THEME
    return problems


def colourless(filters: Sequence[LineFilter]) -> list[LineFilter]:
    """The filters for `NO_COLOR` with a theme of the terminal's own colours.

    Nobody knows how bright those are; made grey, text and background came out the same black.
    """
    return [_NO_COLOUR if isinstance(each, Monochrome) else each for each in filters]


def load_theme(path: Path) -> Theme:
    """One theme. Raises `ConfigError` that names the file, the key and what is allowed."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}", path=str(path)) from None
    for key, value in data.items():
        _check(path, key, value)
    if "primary" not in data:
        raise ConfigError(f"{path}: the key 'primary' is missing", path=str(path), key="primary")
    theme = Theme(**{**data, "name": path.stem})
    needed = _ANSI_VARIABLES if theme.ansi else {}
    colours = {**needed, **theme.to_color_system().generate()}
    for key, value in theme.variables.items():
        if key not in ROLES and key not in colours:
            raise _unknown(path, key, (*ROLES, *colours))
        if key in ROLES:
            _check_colour(path, key, value)
    return dataclasses.replace(
        theme, variables={**needed, **role_colours(colours), **theme.variables}
    )


def role_colours(colours: Mapping[str, str]) -> dict[str, str]:
    """Our own variables where a theme does not set them. `colours` are those of the theme."""
    return {role: colours[colour] for role, colour in ROLES.items()}


def _check(path: Path, key: str, value: object) -> None:
    if key not in _FIELDS:
        raise _unknown(path, key, _FIELDS)
    if key in _COLOURS:
        _check_colour(path, key, value)
    elif key in _SWITCHES and not isinstance(value, bool):
        raise ConfigError(f"{path}: {key} is true or false", path=str(path), key=key)
    elif key in _NUMBERS and not (isinstance(value, int | float) and 0 <= value <= 1):
        raise ConfigError(f"{path}: {key} is a number from 0 to 1", path=str(path), key=key)
    elif key == "variables" and not (
        isinstance(value, dict) and all(isinstance(words, str) for words in value.values())
    ):
        raise ConfigError(f"{path}: variables is a table of texts", path=str(path), key=key)


def _check_colour(path: Path, key: str, value: object) -> None:
    try:
        Color.parse(value if isinstance(value, str) else "")
    except ColorParseError:
        raise ConfigError(
            f"{path}: {key} is {value!r}, which is no colour; write one like '#5fa8d3' or 'teal'",
            path=str(path),
            key=key,
        ) from None


def _unknown(path: Path, key: str, known: Iterable[str]) -> ConfigError:
    close = get_close_matches(key, [*known], 1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(sorted(known))}"
    return ConfigError(f"{path}: unknown key {key!r}{hint}", path=str(path), key=key)
