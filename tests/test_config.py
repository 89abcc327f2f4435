"""Settings from files, variables and flags: who wins, and what a mistake says."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Flags, Settings, find_folders, load_settings
from agent_tui.core.errors import ConfigError
from agent_tui.core.model import ModelCost


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def settings_of(home: Path, toml: str = "", flags: Flags | None = None, **environ: str) -> Settings:
    (home / "config.toml").write_text(toml)
    return load_settings(flags or Flags(), {"AGENT_TUI_HOME": str(home), **environ}, home)


def only_problem(settings: Settings) -> str:
    [problem] = settings.problems
    return problem


# -- who wins ------------------------------------------------------------------------------------


def test_without_anything_there_are_defaults_and_no_problem(home: Path) -> None:
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(home)}, home)

    assert (settings.mode, settings.thinking, settings.max_iterations) == ("ask", None, None)
    assert settings.after_abort == "hold"
    assert settings.model is None
    assert settings.problems == ()


def test_the_file_is_read(home: Path) -> None:
    settings = settings_of(home, 'model = "a/b"\nmode = "auto-edit"\nmax_iterations = 7\n')

    assert (settings.model, settings.mode, settings.max_iterations) == ("a/b", "auto-edit", 7)
    assert settings.model_reason == f"it is set in {home / 'config.toml'}"


def test_a_variable_wins_over_the_file_and_a_flag_over_both(home: Path) -> None:
    toml = 'mode = "auto-edit"\nthinking = "low"\nmodel = "file/m"'
    environ = {"AGENT_TUI_MODE": "read-only", "AGENT_TUI_THINKING": "high"}

    settings = settings_of(home, toml, Flags(mode="full-auto"), **environ)

    assert (settings.mode, settings.thinking, settings.model) == ("full-auto", "high", "file/m")


def test_variables_may_hold_numbers(home: Path) -> None:
    assert settings_of(home, AGENT_TUI_MAX_ITERATIONS="12").max_iterations == 12
    assert settings_of(home, AGENT_TUI_TAIL_LINES="0").tail_lines == 0


def test_an_agent_of_ones_own_is_changed_by_flags_only(home: Path) -> None:
    toml = 'model = "file/m"\nmax_iterations = 3\nmode = "auto-edit"'

    settings = settings_of(home, toml, Flags(agent="mine:agent", thinking="low"))

    assert (settings.model, settings.max_iterations) == (None, None)
    assert (settings.thinking, settings.mode) == ("low", "auto-edit")


# -- folders -------------------------------------------------------------------------------------


def test_one_folder_holds_everything(home: Path) -> None:
    folders = find_folders({"AGENT_TUI_HOME": str(home)})

    assert folders.config_file == home / "config.toml"
    assert folders.sessions == home / "sessions"
    assert folders.history == home / "history"
    assert folders.logs == home / "logs"
    assert folders.themes == home / "themes"


def test_without_it_the_platforms_folders_are_taken() -> None:
    folders = find_folders({})

    assert folders.config.name == "agent-tui"
    assert folders.config.is_absolute()


def test_cwd_is_resolved_from_where_the_program_was_started(home: Path) -> None:
    (home / "sub").mkdir()

    assert settings_of(home, flags=Flags(cwd=Path("sub"))).cwd == (home / "sub").resolve()


# -- providers -----------------------------------------------------------------------------------


def test_a_provider_table_is_read_whole(home: Path) -> None:
    toml = """
[providers.local]
api = "openai-chat"
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "LOCAL_KEY"
timeouts = { connect = 3, stall = 0.5 }
headers = { X-Team = "ml" }
compat = { think_tags = true }
[[providers.local.models]]
id = "qwen"
context_window = 32768
reasoning = true
cost = { input = 0.0, output = 0.25 }
"""

    provider = settings_of(home, toml).providers["local"]

    assert provider.base_url == "http://127.0.0.1:8080/v1"
    assert provider.api_key_env == "LOCAL_KEY"
    assert provider.timeouts == {"connect": 3.0, "stall": 0.5}
    assert provider.headers == {"X-Team": "ml"}
    assert provider.compat == {"think_tags": True}
    assert provider.models[0].id == "qwen"
    assert provider.models[0].cost == ModelCost(0.0, 0.25)


def test_a_base_url_makes_a_provider_of_its_own(home: Path) -> None:
    flags = Flags(base_url="http://127.0.0.1:1/v1", model="qwen", api_key_env="LAB")

    settings = settings_of(home, flags=flags, LAB="k")

    assert settings.model == "custom/qwen"
    assert settings.providers["custom"].api == "openai-chat"
    assert settings.providers["custom"].api_key_env == "LAB"


def test_the_first_slash_names_the_provider_that_a_base_url_makes(home: Path) -> None:
    settings = settings_of(home, flags=Flags(base_url="http://h", model="lab/org/qwen"))

    assert settings.model == "lab/org/qwen"
    assert list(settings.providers) == ["lab"]


def test_a_base_url_takes_nothing_from_a_table_of_that_name(home: Path) -> None:
    toml = '[providers.lab]\nbase_url = "http://old"\nheaders = { X-Token = "secret" }'

    settings = settings_of(home, toml, Flags(base_url="http://new", model="lab/m"))

    assert settings.providers["lab"].headers == {}
    assert settings.providers["lab"].base_url == "http://new"


# -- mistakes in files and variables -------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('modle = "x"', "unknown key 'modle'; did you mean 'model'?"),
        ("zzz = 1", "unknown key 'zzz'; known: model, "),
        (
            'mode = "full_auto"',
            "mode = 'full_auto' must be one of ask, auto-edit, full-auto, read-only; "
            "did you mean 'full-auto'?",
        ),
        ("tail_lines = 21", "tail_lines = 21 must be a whole number from 0 to 20"),
        ("tail_lines = true", "tail_lines = True must be a whole number from 0 to 20"),
        ('motion = "none"', "motion = 'none' must be one of full, reduced"),
        ('long_lines = "scroll"', "long_lines = 'scroll' must be one of wrap, cut"),
        ("max_iterations = 0", "max_iterations = 0 must be a whole number above 0"),
        ("max_iterations = true", "max_iterations = True must be a whole number above 0"),
        ("model = 3", "model = 3 must be text that is not empty"),
        ('model = " "', "model = ' ' must be text that is not empty"),
        ("providers = 1", "providers = 1 must be a table"),
        ('[providers.x]\nbaseurl = "h"', "unknown key 'providers.x.baseurl'; did you mean"),
        ('[providers.x]\napi = "openai"', "providers.x.api = 'openai' must be one of openai-chat"),
        ("[providers.x]\nmodels = 1", "providers.x.models = 1 must be tables, [[providers.x.mod"),
        ('[[providers.x.models]]\nname = "n"', "providers.x.models[0].id is missing"),
        (
            '[[providers.x.models]]\nid = "m"\ncost = { input = 1 }',
            "providers.x.models[0].cost.output is missing",
        ),
        (
            '[[providers.x.models]]\nid = "m"\ncost = { input = -1, output = 1 }',
            "providers.x.models[0].cost.input = -1 must be a number, 0 or more",
        ),
        (
            '[[providers.x.models]]\nid = "m"\nreasoning = "yes"',
            "providers.x.models[0].reasoning = 'yes' must be true or false",
        ),
        ("[providers.x]\ntimeouts = { conect = 1 }", "unknown key 'providers.x.timeouts.conect'"),
    ],
    ids=lambda value: value.splitlines()[-1][:30],
)
def test_a_mistake_is_one_sentence_with_file_and_key(home: Path, toml: str, sentence: str) -> None:
    problem = settings_of(home, toml).problems[0]

    assert problem.startswith(f"{home / 'config.toml'}: {sentence}")


def test_after_a_mistake_the_default_holds_and_the_rest_is_used(home: Path) -> None:
    settings = settings_of(home, 'mode = "no"\nthinking = "low"')

    assert (settings.mode, settings.thinking) == ("ask", "low")


def test_a_file_that_is_no_toml_is_said_with_its_place(home: Path) -> None:
    problem = only_problem(settings_of(home, "a = 1\nmode = ask\n"))

    assert problem.startswith(f"{home / 'config.toml'} is no valid TOML and is not used: ")
    assert "line 2" in problem


def test_a_file_that_is_no_text_is_said(home: Path) -> None:
    (home / "config.toml").write_bytes(b"\xff\xfe\x00")

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(home)}, home)

    assert "is no valid TOML" in only_problem(settings)


def test_a_folder_in_place_of_the_file_is_said(home: Path) -> None:
    (home / "config.toml").mkdir()

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(home)}, home)

    assert "cannot be read" in only_problem(settings)


def test_a_bad_variable_is_named(home: Path) -> None:
    settings = settings_of(home, AGENT_TUI_MODE="yolo")

    assert only_problem(settings).startswith("environment: AGENT_TUI_MODE = 'yolo' must be one of")


# -- mistakes in flags ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (Flags(mode="yolo"), "--mode = 'yolo' must be one of ask, "),
        (Flags(thinking="hihg"), "--thinking = 'hihg' must be one of off, "),
        (Flags(max_iterations=0), "--max-iterations = 0 must be"),
        (Flags(api="openai-chat", model="m"), "--api needs --base-url"),
        (Flags(base_url="http://h"), "--base-url needs --model"),
        (Flags(api_key_env="NOPE"), "--api-key-env NOPE: there is no NOPE in the environment"),
        (Flags(cwd=Path("nowhere")), "--cwd "),
        (Flags(system_prompt="@nowhere.txt"), "--system-prompt @nowhere.txt: cannot read "),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_a_flag_that_makes_no_sense_is_an_error(home: Path, flags: Flags, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(home, flags=flags)

    assert caught.value.message.startswith(sentence)


def test_a_prompt_is_text_or_a_file(home: Path) -> None:
    (home / "prompt.md").write_text("Be brief.\n")
    flags = Flags(system_prompt="@prompt.md", append_system_prompt="In verse.")

    settings = settings_of(home, flags=flags)

    assert settings.system_prompt == "Be brief.\n"
    assert settings.append_system_prompt == "In verse."


def test_keys_and_headers_are_not_in_the_printed_form(home: Path) -> None:
    toml = '[providers.x]\nheaders = { X-Token = "canary-1" }'

    settings = settings_of(home, toml, OPENAI_API_KEY="canary-2")

    assert "canary" not in repr(settings)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ('fallback = "lab/a"', ("lab/a",)),
        ('fallback = ["lab/a", "lab/b"]', ("lab/a", "lab/b")),
        ('fallback = "off"', ()),
    ],
)
def test_fallbacks_are_one_name_or_several(
    tmp_path: Path, said: str, names: tuple[str, ...]
) -> None:
    (tmp_path / "config.toml").write_text(said)

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    assert settings.fallback == names
    assert settings.problems == ()


def test_the_command_line_and_the_environment_name_fallbacks_too(tmp_path: Path) -> None:
    environ = {"AGENT_TUI_HOME": str(tmp_path), "AGENT_TUI_FALLBACK": "lab/a, lab/b"}

    assert load_settings(Flags(), environ, tmp_path).fallback == ("lab/a", "lab/b")
    assert load_settings(Flags(fallback=("lab/c",)), environ, tmp_path).fallback == ("lab/c",)
    assert load_settings(Flags(fallback=("off",)), environ, tmp_path).fallback == ()
