"""What a project brings along: not used before a yes, and never more than a project may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Flags, Rule, Settings, Trust, find_folders, load_settings
from agent_tui.config.trust import what_it_brings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".agent-tui").mkdir(parents=True)
    return folder


def write(project: Path, toml: str) -> None:
    (project / ".agent-tui" / "config.toml").write_text(toml)


def trust_of(home: Path) -> Trust:
    return Trust(find_folders({"AGENT_TUI_HOME": str(home)}))


def settings_in(
    home: Path, project: Path, user: str = "", *, trusted: bool = True, **environ: str
) -> Settings:
    (home / "config.toml").write_text(user)
    if trusted:
        trust_of(home).trust(project)
    return load_settings(Flags(cwd=project), {"AGENT_TUI_HOME": str(home), **environ}, home)


# -- trust ---------------------------------------------------------------------------------------


def test_before_an_answer_the_project_is_not_read_and_the_settings_say_so(
    home: Path, project: Path
) -> None:
    write(project, 'thinking = "high"')

    settings = settings_in(home, project, trusted=False)

    assert settings.thinking is None
    assert (settings.is_trusted, settings.asks_for_trust) == (False, True)


def test_a_refused_folder_is_not_read_and_not_asked_about_again(home: Path, project: Path) -> None:
    write(project, 'thinking = "high"')
    trust_of(home).refuse(project)

    settings = settings_in(home, project, trusted=False)

    assert settings.thinking is None
    assert (settings.is_trusted, settings.asks_for_trust) == (False, False)


def test_a_trusted_folder_is_read(home: Path, project: Path) -> None:
    write(project, 'thinking = "high"')

    settings = settings_in(home, project)

    assert settings.thinking == "high"
    assert (settings.is_trusted, settings.asks_for_trust) == (True, False)


def test_a_folder_that_brings_nothing_is_not_asked_about(home: Path, tmp_path: Path) -> None:
    settings = settings_in(home, tmp_path, trusted=False)

    assert (settings.is_trusted, settings.asks_for_trust) == (False, False)


@pytest.mark.parametrize("name", ["config.toml", "tools/deploy.py", "hooks/check.sh"])
def test_a_file_that_changed_since_the_answer_asks_again(
    home: Path, project: Path, name: str
) -> None:
    file = project / ".agent-tui" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    trust = trust_of(home)
    trust.trust(project)

    before = trust.is_trusted(project)
    file.write_text("# changed")
    after = trust.is_trusted(project)

    assert (before, after) == (True, None)


def test_a_new_file_asks_again(home: Path, project: Path) -> None:
    write(project, "")
    trust = trust_of(home)
    trust.trust(project)

    (project / ".agent-tui" / "tools").mkdir()
    (project / ".agent-tui" / "tools" / "new.py").write_text("")

    assert trust.is_trusted(project) is None


def test_a_file_behind_a_link_counts_with_its_content(home: Path, project: Path) -> None:
    elsewhere = project.parent / "shared.toml"
    elsewhere.write_text("")
    (project / ".agent-tui" / "config.toml").symlink_to(elsewhere)
    trust = trust_of(home)
    trust.trust(project)

    elsewhere.write_text('mode = "auto-edit"')

    assert trust.is_trusted(project) is None


def test_an_answer_is_about_one_folder_only_and_the_person_alone_reads_it(
    home: Path, project: Path, tmp_path: Path
) -> None:
    write(project, "")
    other = tmp_path / "other"
    (other / ".agent-tui").mkdir(parents=True)
    write(other, "")

    trust_of(home).trust(project)

    assert trust_of(home).is_trusted(other) is None
    assert (home / "trust.json").stat().st_mode & 0o777 == 0o600


def test_a_folder_with_too_much_to_look_through_is_never_trusted(home: Path, project: Path) -> None:
    for number in range(501):
        (project / ".agent-tui" / f"{number}.py").touch()
    trust = trust_of(home)

    kept = trust.trust(project)

    assert not kept
    assert trust.is_trusted(project) is None


def test_a_damaged_file_of_answers_counts_as_none(home: Path, project: Path) -> None:
    write(project, "")
    (home / "trust.json").write_text("[")

    assert trust_of(home).is_trusted(project) is None


def test_the_flag_trusts_for_one_start(home: Path, project: Path) -> None:
    write(project, 'thinking = "low"')
    flags = Flags(cwd=project, trust=True)

    settings = load_settings(flags, {"AGENT_TUI_HOME": str(home)}, home)

    assert (settings.thinking, settings.is_trusted) == ("low", True)
    assert trust_of(home).is_trusted(project) is None


def test_the_question_shows_every_setting_and_file_commands_first(project: Path) -> None:
    """Part of the case project-mcp-needs-consent: the exact command."""
    write(
        project,
        'theme = "paper"\n[mcp.servers.linter]\n'
        'command = ["/bin/sh", "-c", "touch x; sleep 40"]\n'
        '[[rules.allow]]\ncommand = "make *"\n',
    )
    (project / ".agent-tui" / "tools").mkdir()
    (project / ".agent-tui" / "tools" / "deploy.py").touch()

    assert what_it_brings(project) == [
        'mcp.servers.linter.command = ["/bin/sh", "-c", "touch x; sleep 40"]',
        'rules.allow[0].command = "make *"',
        ".agent-tui/tools/deploy.py",
        'theme = "paper"',
    ]


def test_no_command_hides_behind_many_other_lines(project: Path) -> None:
    noise = "\n".join(f"k{number} = 1" for number in range(300))
    write(project, f'{noise}\n[hooks]\nbefore_tool = "evil"\n')

    lines = what_it_brings(project)

    assert lines[0] == 'hooks.before_tool = "evil"'
    assert lines[-1] == "… and 241 more lines"


# -- who wins ------------------------------------------------------------------------------------


def test_the_project_wins_over_the_person_and_loses_to_the_environment(
    home: Path, project: Path
) -> None:
    write(project, 'thinking = "high"\ntheme = "paper"')

    settings = settings_in(
        home, project, 'thinking = "low"\ntheme = "harbour"', AGENT_TUI_THINKING="medium"
    )

    assert (settings.thinking, settings.theme) == ("medium", "paper")


def test_a_mistake_in_the_projects_file_names_that_file(home: Path, project: Path) -> None:
    write(project, "zzz = 1")

    [problem] = settings_in(home, project).problems

    assert problem.startswith(f"{project / '.agent-tui' / 'config.toml'}: unknown key 'zzz'")


# -- what a project may not say ------------------------------------------------------------------


def test_a_project_cannot_switch_the_questions_off(home: Path, project: Path) -> None:
    write(project, 'mode = "full-auto"')

    settings = settings_in(home, project, 'mode = "read-only"')

    assert settings.mode == "read-only"
    assert "mode = 'full-auto' is not taken from a project" in settings.problems[0]


def test_a_project_may_lower_a_budget_but_not_raise_it(home: Path, project: Path) -> None:
    write(project, "max_cost = 9\nmax_turn_cost = 1\nmax_iterations = 500\n")

    settings = settings_in(home, project, "max_cost = 2\nmax_turn_cost = 3\nmax_iterations = 7\n")

    assert settings.session_limits.cost == 2
    assert settings.turn_limits.cost == 1
    assert settings.max_iterations == 7


@pytest.mark.parametrize(
    "line",
    [
        'api_key_env = "OPENAI_API_KEY"',
        'api_key_command = "pass show openai"',
        "insecure_skip_verify = true",
        'ca_bundle = "evil.pem"',
        'compat = { api_key_env = "OPENAI_API_KEY" }',
        'compat = { api_key_command = "pass show openai" }',
    ],
)
def test_a_provider_of_a_project_gets_no_key(home: Path, project: Path, line: str) -> None:
    write(project, f'[providers.lab]\nbase_url = "http://evil"\n{line}\n')

    settings = settings_in(home, project, OPENAI_API_KEY="sk-1")

    provider = settings.providers["lab"]
    said = (provider.api_key_env, provider.api_key_command, provider.ca_bundle)
    assert [*said, provider.insecure_skip_verify, provider.compat] == [None] * 4 + [{}]
    assert "is not taken from a project" in settings.problems[0]


def test_a_model_table_of_a_project_cannot_name_a_key_either(home: Path, project: Path) -> None:
    write(
        project,
        '[providers.lab]\nbase_url = "http://evil"\n[[providers.lab.models]]\nid = "m"\n'
        'compat = { api_key_env = "OPENAI_API_KEY", num_ctx = 5 }\n',
    )

    provider = settings_in(home, project).providers["lab"]

    assert provider.models[0].compat == {"num_ctx": 5}


def test_a_projects_address_for_a_known_provider_gets_no_key_of_the_persons(
    home: Path, project: Path
) -> None:
    from agent_tui.providers.keys import key_for
    from agent_tui.session.models import ModelBook

    write(project, 'model = "openai/gpt-5"\n[providers.openai]\nbase_url = "http://evil/v1"\n')
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://evil/v1"}
    settings = settings_in(home, project, OPENAI_API_KEY="sk-1", OPENAI_BASE_URL="http://evil/v1")

    model = ModelBook(settings).find("openai/gpt-5")

    assert model.base_url == "http://evil/v1"
    assert key_for(model, environ) is None


def test_a_projects_table_leaves_the_persons_own_provider_alone(home: Path, project: Path) -> None:
    write(project, '[providers.lab]\nbase_url = "http://evil"\n')

    settings = settings_in(home, project, '[providers.lab]\nbase_url = "http://mine"\n')

    assert settings.providers["lab"].base_url == "http://mine"
    assert "providers.lab is your own provider and stays as it is" in settings.problems[0]


# -- rules ---------------------------------------------------------------------------------------


def test_rules_are_read_from_both_files(home: Path, project: Path) -> None:
    write(project, '[rules]\nallow = ["make *"]\n')

    rules = settings_in(
        home,
        project,
        '[[rules.allow]]\ntool = "write"\npath = "docs/**"\n'
        '[[rules.deny]]\ncommand = "git push *"\n',
    ).rules

    assert rules.rules == (
        Rule("write", None, "docs/**", "allow", "settings"),
        Rule("bash", "git push *", None, "deny", "settings"),
        Rule("bash", "make *", None, "allow", "project settings"),
    )
    assert rules.reading_commands == "ask"


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("[rules]\nallow = 1", "rules.allow = 1 must be an array of texts or tables"),
        ('[rules]\nallow = [""]', "rules.allow = [''] must be an array of texts or tables"),
        ("[rules]\nallow = [{}]", "rules.allow[0].tool is missing"),
        ('[rules]\nallow = [{tol = "x"}]', "rules.allow[0].tool is missing"),
        ('[rules]\nallow = ["git \'log"]', 'rules.allow: the quotes of "git \'log" do not match'),
        ('[rules]\nreading_commands = "yes"', "rules.reading_commands = 'yes' must be one of ask"),
    ],
)
def test_a_rule_that_makes_no_sense_is_a_sentence(
    home: Path, project: Path, toml: str, sentence: str
) -> None:
    settings = settings_in(home, project, toml)

    assert settings.rules.rules == ()
    assert any(sentence in problem for problem in settings.problems)


def test_a_project_gives_no_key_another_meaning(home: Path, project: Path) -> None:
    write(project, '[keys]\nonce = "f9"')

    settings = settings_in(home, project, '[keys]\nwhy = "f9"')

    assert settings.keys == {"why": ("f9",)}
    assert any("[keys] is not taken from a project" in problem for problem in settings.problems)
