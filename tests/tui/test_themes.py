"""Themes from files, and what is said about a file that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widget import Widget

from agent_tui.config import DEFAULT_THEME
from agent_tui.core.errors import ConfigError
from agent_tui.tui import looks, themes
from agent_tui.tui.transcript import Transcript
from tests.tui.chat import chat

OWN = sorted(themes.own_folder().glob("*.toml"))
SOURCES = sorted((Path(themes.__file__).parent).rglob("*.py")) + sorted(
    (Path(themes.__file__).parent).rglob("*.tcss")
)


class Stage(App[None]):
    def __init__(self, folder: Path | None = None, wanted: str | None = None) -> None:
        super().__init__()
        self.folders = [folder] if folder else []
        self.wanted = wanted
        self.problems: list[str] = []

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_mount(self) -> None:
        self.problems = themes.install(self, self.folders, self.wanted)


def write(folder: Path, text: str, name: str = "night") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return path


def test_there_are_dark_and_light_themes() -> None:
    loaded = [themes.load_theme(path) for path in themes.theme_files([]).values()]

    assert {theme.dark for theme in loaded} == {True, False}
    assert DEFAULT_THEME in [theme.name for theme in loaded]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_every_own_theme_has_every_role_and_can_be_read(path: Path) -> None:
    theme = themes.load_theme(path)

    assert set(themes.ROLES) <= set(theme.variables)
    if theme.ansi:  # whether those can be read is the terminal's business
        return
    for words in (theme.foreground, theme.variables["user"], theme.variables["tool-failed"]):
        assert _contrast(str(words), str(theme.background)) >= 4.5


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(words: str) -> float:
    parts = [part / 255 for part in Color.parse(words).rgb]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        pytest.param('primay = "red"', "primay", "did you mean 'primary'?", id="misspelt"),
        pytest.param('primary = "#12"', "primary", "'#12', which is no colour", id="no colour"),
        pytest.param("primary = 7", "primary", "7, which is no colour", id="a number"),
        pytest.param('accent = "red"', "primary", "'primary' is missing", id="missing"),
        pytest.param('primary = "red"\ndark = "yes"', "dark", "true or false", id="no switch"),
        pytest.param('primary = "red"\ntext_alpha = 7', "text_alpha", "from 0 to 1", id="range"),
        pytest.param(
            'primary = "red"\nvariables = 1', "variables", "table of texts", id="no table"
        ),
        pytest.param(
            'primary = "red"\n[variables]\ntool-runing = "red"',
            "tool-runing",
            "did you mean 'tool-running'?",
            id="misspelt role",
        ),
        pytest.param(
            'primary = "red"\n[variables]\nuser = "reddish"',
            "user",
            "user is 'reddish'",
            id="role without colour",
        ),
    ],
)
def test_a_wrong_theme_names_the_file_the_key_and_the_way_out(
    tmp_path: Path, text: str, key: str, words: str
) -> None:
    path = write(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        themes.load_theme(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.key) == (str(path), key)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "primary = ")

    with pytest.raises(ConfigError, match=re.escape(f"{path}: ")):
        themes.load_theme(path)


def test_a_theme_of_the_person_wins_over_ours(tmp_path: Path) -> None:
    path = write(tmp_path, 'primary = "#123456"', name="harbour")

    assert themes.theme_files([tmp_path])["harbour"] == path
    assert len(themes.theme_files([tmp_path])) == len(OWN)


def test_roles_follow_from_the_colours_of_the_theme(tmp_path: Path) -> None:
    path = write(tmp_path, 'primary = "#123456"\nsuccess = "#00ff00"\n[variables]\nuser = "teal"')

    variables = themes.load_theme(path).variables

    assert variables["user"] == "teal"
    assert variables["diff-add"] == variables["tool-ok"] == "#00FF00"


async def test_an_own_theme_may_leave_the_colours_to_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, 'ansi = true\nprimary = "ansi_blue"\nbackground = "ansi_default"', name="mine")
    app = Stage(tmp_path, "mine")

    async with app.run_test():
        assert app.theme == "mine"
        assert not app.problems


async def test_wrong_themes_are_told_and_the_program_starts(tmp_path: Path) -> None:
    write(tmp_path, "primary = 1", name="broken")
    app = Stage(tmp_path, "no-such-theme")

    async with app.run_test():
        assert app.theme == DEFAULT_THEME
        assert len(app.problems) == 2
        assert app.problems[1].startswith("There is no theme 'no-such-theme'; known are ")


@pytest.mark.parametrize("theme", ["harbour", "paper", "textual-dark", "ansi-dark", "terminal"])
async def test_every_role_has_a_look_in_every_theme(theme: str) -> None:
    app = Stage(wanted=theme)

    async with app.run_test():
        _, base, style = looks.look_of(app.query_one(Transcript))

        plain = {role for role in looks.ROLES if not style(role)}
        assert plain == ({"user", "code"} if app.current_theme.ansi else set())
        assert not style("no such role")
        assert base.background is not None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_colour_is_written_into_the_program(path: Path) -> None:
    text = re.sub(r"like '#5fa8d3'", "", path.read_text("utf-8"))

    assert not re.findall(r"#[0-9a-fA-F]{6}\b", text)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
async def test_without_colours_every_word_can_still_be_read(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chat() as c:
        await c.say("hello")
        await c.idle()
        c.app.theme = path.stem
        await c.pilot.pause()
        shown = [*c.app.screen.walk_children(Widget)]
        segments = [
            segment
            for widget in shown
            for strip in widget.render_lines(widget.size.region)
            for segment in strip
            if segment.text.strip() and segment.style is not None
        ]

        assert any("hello" in segment.text for segment in segments)
        for style in {segment.style for segment in segments if segment.style is not None}:
            words, behind = style.color, style.bgcolor
            assert words is not None
            assert words.is_default or words != behind
            assert not words.is_default or behind is None or behind.is_default
