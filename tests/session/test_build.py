"""A session from settings: model, tools, prompt, limits, and the person's own Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent_tui.config import Flags, SessionChoice, load_settings
from agent_tui.core.errors import ConfigError, InvalidInputError
from agent_tui.core.messages import UserMessage
from agent_tui.core.tool import ToolContext
from agent_tui.session.build import build_session, open_session
from agent_tui.session.journal.journal import Journal
from agent_tui.session.journal.store import SessionStore
from agent_tui.session.session import Session
from tests.session.rig import lets_run

TOOLS = '''
from agent_tui import tool

@tool
def read(path: str) -> str:
    """Instead of the built-in one."""
    return "mine"

@tool
def count(words: str) -> int:
    """Count words."""
    return len(words.split())
'''
AGENTS = """
from agent_tui import Agent
from agent_tui.testing import ScriptedModel, text

nobody = ScriptedModel([text("x")])
agent = Agent("test/own", system_prompt="Mine.", max_iterations=7, stream_fn=nobody)
plain = Agent("test/own", stream_fn=ScriptedModel([]))

def made():
    return Agent("test/made", stream_fn=ScriptedModel([]))

def broken():
    raise RuntimeError("no luck")

number = 3
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "own_tools.py").write_text(TOOLS)
    (tmp_path / "own_agents.py").write_text(AGENTS)
    yield tmp_path
    sys.modules.pop("own_agents", None)
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


def built(place: Path, flags: Flags | None = None, toml: str = "", **environ: str) -> Session:
    (place / "config.toml").write_text(toml)
    settings = load_settings(flags or Flags(), {"AGENT_TUI_HOME": str(place), **environ}, place)
    return build_session(settings)


def tool_names(session: Session) -> list[str]:
    return [tool.name for tool in session.agent.state.tools]


def test_nothing_configured_gives_the_demonstration_with_all_tools(place: Path) -> None:
    session = built(place)

    assert session.agent.state.model.key == "demo/tour"
    assert tool_names(session) == ["read", "bash", "edit", "write", "grep", "find", "ls", "job"]
    assert session.max_steps == 100
    assert session.approvals.mode == "ask"
    assert session.cwd == place.resolve()


def test_settings_reach_the_agent(place: Path) -> None:
    toml = """
    thinking = "high"
    max_iterations = 5
    after_abort = "restore"
    steering_mode = "all"
    follow_up_mode = "all"
    mode = "read-only"
    """

    session = built(place, toml=toml)

    agent = session.agent
    assert (agent.state.thinking_level, session.max_steps) == ("high", 5)
    assert (agent.steering_mode, agent.follow_up_mode) == ("all", "all")
    assert (session.after_abort, session.approvals.mode) == ("restore", "read-only")


def test_the_prompt_says_where_and_when_and_stays_short(place: Path) -> None:
    (place / ".git").mkdir()

    prompt = built(place).agent.state.system_prompt or ""

    assert f"Working folder: {place.resolve()} (a git repository)" in prompt
    assert "Date: 2" in prompt
    assert len(prompt) < 2500


def test_a_prompt_of_ones_own_replaces_it_and_another_is_added(place: Path) -> None:
    flags = Flags(system_prompt="Be a poet.", append_system_prompt="In verse.")

    assert built(place, flags).agent.state.system_prompt == "Be a poet.\n\nIn verse."


def test_an_addition_stands_at_the_end_of_the_built_in_prompt(place: Path) -> None:
    prompt = built(place, Flags(append_system_prompt="In verse.\n")).agent.state.system_prompt

    assert (prompt or "").startswith("You are")
    assert (prompt or "").endswith("\n\nIn verse.")


def test_the_session_switches_to_models_of_the_settings(place: Path) -> None:
    toml = '[providers.lab]\nbase_url = "http://lab"\n[[providers.lab.models]]\nid = "m"'
    session = built(place, toml=toml)

    session.set_model("lab/m")

    assert session.agent.state.model.base_url == "http://lab/v1"


def test_tools_of_ones_own_come_last_and_win_over_built_in_ones(place: Path) -> None:
    session = built(place, Flags(tools=(Path("own_tools.py"),)))

    assert tool_names(session) == [
        "bash",
        "edit",
        "write",
        "grep",
        "find",
        "ls",
        "job",
        "read",
        "count",
    ]


async def test_a_tool_that_only_has_a_built_in_name_needs_approval(place: Path) -> None:
    session = built(place, Flags(tools=(Path("own_tools.py"),)))

    assert not await lets_run(session.approvals, "read", {"path": "a.txt"})
    assert await lets_run(session.approvals, "ls", {})


def test_an_agent_of_ones_own_keeps_what_it_brought(place: Path) -> None:
    session = built(place, Flags(agent="own_agents:agent"), 'model = "demo/tour"')

    state = session.agent.state
    assert (state.model.key, state.system_prompt) == ("test/own", "Mine.")
    assert session.max_steps == 7


def test_an_agent_without_a_limit_gets_the_usual_one(place: Path) -> None:
    assert built(place, Flags(agent="own_agents:plain")).max_steps == 100


def test_flags_change_an_agent_of_ones_own(place: Path) -> None:
    flags = Flags(
        agent="own_agents:made",
        model="demo/tour",
        thinking="low",
        system_prompt="A.",
        append_system_prompt="B.",
        tools=(Path("own_tools.py"),),
        max_iterations=2,
    )

    session = built(place, flags)

    state = session.agent.state
    assert (state.model.key, state.thinking_level) == ("demo/tour", "low")
    assert state.system_prompt == "A.\n\nB."
    assert tool_names(session) == ["read", "count"]
    assert session.max_steps == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_agents", "write MODULE:NAME"),
        ("own_agents:", "write MODULE:NAME"),
        ("no_such_module:agent", "no_such_module"),
        ("own_agents:nothing", "own_agents has no nothing"),
        ("own_agents:number", "it is a int, not an Agent"),
        ("own_agents:broken", "RuntimeError: no luck"),
        ("own_agents:Agent", "Agent"),
    ],
)
def test_what_is_no_agent_is_said(place: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(place, Flags(agent=name))

    assert words in caught.value.message


def test_two_tools_of_one_name_are_refused(place: Path) -> None:
    (place / "own_agents.py").write_text(
        "from own_tools import count\nfrom agent_tui import Agent\n"
        "from agent_tui.testing import ScriptedModel\n"
        'agent = Agent("test/m", tools=[count], stream_fn=ScriptedModel([]))\n'
    )

    with pytest.raises(InvalidInputError, match="'count'"):
        built(place, Flags(agent="own_agents:agent", tools=(Path("own_tools.py"),)))

    sys.modules.pop("own_tools", None)


def test_what_the_tools_change_is_kept_beside_the_session(place: Path) -> None:
    session = built(place)
    write = next(tool for tool in session.agent.state.tools if tool.name == "write")
    assert write.execute is not None
    write.execute("c1", {"path": "new.txt", "content": "x\n"}, ToolContext())
    path = session.journal.path
    session.close()

    assert path is not None
    assert (place / "checkpoints" / path.stem / "timeline.jsonl").exists()
    assert [change.path.name for change in session.checkpoints.changed_since(None)] == ["new.txt"]


async def test_commands_inherit_no_key_that_the_configuration_names(place: Path) -> None:
    toml = '[providers.lab]\nbase_url = "https://h.test/v1"\napi_key_env = "LAB_KEY"\n'
    session = built(place, toml=toml, LAB_KEY="canary-key", OTHER="kept")
    bash = next(tool for tool in session.agent.state.tools if tool.name == "bash")
    assert bash.execute is not None

    answer = await bash.execute("c1", {"command": "env"}, ToolContext())  # type: ignore[misc]
    ran = await session.run_command("env")
    session.close()

    for seen in (answer.text, ran.output):
        assert "canary-key" not in seen
        assert "OTHER=kept" in seen


async def test_a_session_that_cannot_be_built_lets_go_of_its_file(place: Path) -> None:
    environ = {"AGENT_TUI_HOME": str(place / "home")}
    settings = load_settings(Flags(cwd=place), environ, place)
    path = SessionStore(settings.folders.sessions, settings.cwd).folder / "s1.jsonl"
    with closing(Journal.new(path, place, durable=False)) as journal:
        journal.add_message(UserMessage(content="go"))
    choice = SessionChoice(resume="s1")
    flags = Flags(cwd=place, session=choice, agent="nowhere:agent")

    with pytest.raises(ConfigError):
        await open_session(load_settings(flags, environ, place))

    with closing(Journal.open(path, place)) as journal:
        assert journal.tree.has_messages
