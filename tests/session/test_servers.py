"""MCP servers in a session: their tools at the agent, approvals, trust, keys, and the end."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_tui.config import Flags, Trust, find_folders, load_settings
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.messages import ToolResultMessage
from agent_tui.session.build import build_session
from agent_tui.session.doctor import examine
from agent_tui.session.events import AnyEvent, NoticeEvent, ServerEvent
from agent_tui.session.servers import Servers
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, text
from tests.tools.mcp.servers import case, odd, until


def table(name: str, command: tuple[str, ...], more: str = "") -> str:
    return f"[mcp.servers.{name}]\ncommand = {json.dumps(list(command))}\n{more}\n"


def built(place: Path, toml: str, *, mode: str = "full-auto", **environ: str) -> Session:
    (place / "config.toml").write_text(toml)
    known = {"AGENT_TUI_HOME": str(place), "PATH": "/usr/bin:/bin", **environ}
    settings = load_settings(Flags(mode=mode), known, place)
    assert list(settings.problems) == []
    return build_session(settings)


def script(session: Session, *parts: Any) -> ScriptedModel:
    model = ScriptedModel([*parts])
    session.agent.stream_fn = model
    return model


@asynccontextmanager
async def begun(session: Session) -> AsyncIterator[Servers]:
    """The session's servers, settled; the session is closed afterwards."""
    assert session.servers is not None
    session.servers.start()
    try:
        await session.servers.ready(15)
        yield session.servers
    finally:
        session.close()


def results(session: Session) -> list[ToolResultMessage]:
    return [m for m in session.agent.state.messages if isinstance(m, ToolResultMessage)]


async def test_a_model_calls_the_tool_of_a_server_by_the_name_that_it_was_given(
    tmp_path: Path,
) -> None:
    session = built(tmp_path, table("db", case("tool-name-with-dots")))
    model = script(session, calls(call("mcp__db__db_rows_count", {})), text("ok"))
    async with begun(session):
        await session.prompt("count")

    offered = [tool.name for tool in model.requests[0].tools]
    assert "mcp__db__db_rows_count" in offered
    assert results(session)[0].text == "called db.rows.count"


async def test_a_prompt_does_not_wait_for_a_server_that_never_answers(tmp_path: Path) -> None:
    more = "start_timeout = 0.5"
    session = built(tmp_path, table("slow", case("never-answers-initialize"), more))
    script(session, text("hello"))
    heard: list[AnyEvent] = []
    session.subscribe(lambda event, signal: heard.append(event))
    assert session.servers is not None
    session.servers.start()
    began = time.monotonic()

    await session.prompt("hi")

    assert time.monotonic() - began < 5
    notices = [event for event in heard if isinstance(event, NoticeEvent)]
    async with begun(session) as servers:
        await until(lambda: servers.views()[0].state == "failed")
    notices = [event for event in heard if isinstance(event, NoticeEvent)]
    assert "MCP server slow is not there: it was not ready within 0.5 s" in notices[0].message


async def test_tools_that_come_during_a_turn_are_there_at_its_next_step(tmp_path: Path) -> None:
    session = built(tmp_path, table("odd", odd()))
    model = script(session, calls(call("mcp__odd__grow", {})), calls(call("ls", {})), text("ok"))
    async with begun(session) as servers:

        async def wait_for_it(event: AnyEvent, signal: object) -> None:
            if event.type == "tool_execution_end" and len(model.requests) == 1:
                async with asyncio.timeout(10):
                    while "mcp__odd__fresh" not in dict(servers.views()[0].tools):
                        await asyncio.sleep(0.01)

        session.subscribe(wait_for_it)
        await session.prompt("grow")

    names = [[tool.name for tool in request.tools] for request in model.requests]
    assert "mcp__odd__fresh" not in names[0]
    assert "mcp__odd__fresh" in names[1]


async def test_a_server_is_told_of_with_events_and_shown_with_its_offer(tmp_path: Path) -> None:
    session = built(tmp_path, table("odd", odd()) + table("off", odd(), "enabled = false"))
    heard: list[ServerEvent] = []
    session.subscribe(
        lambda event, signal: heard.append(event) if isinstance(event, ServerEvent) else None
    )
    async with begun(session) as servers:
        view, off = servers.views()

        assert [event.state for event in heard][-1] == "ready"
        assert heard[-1].tools == len(view.tools) == 9
        assert (view.state, off.state) == ("ready", "off")
        assert view.resources == ("note://one",)
        assert list(servers.prompts()) == ["odd:re-view"]
        assert servers.mark == ""
        assert await servers.expanded("odd:re-view", "this how=well") == "Look at it."
        with pytest.raises(InvalidInputError, match="It needs what"):
            await servers.expanded("odd:re-view", "")
        with pytest.raises(InvalidInputError, match="switched off"):
            servers.restart("off")


@pytest.mark.parametrize("mode", ["ask", "auto-edit"])
async def test_a_tool_of_a_server_asks(tmp_path: Path, mode: str) -> None:
    session = built(tmp_path, table("odd", odd()), mode=mode)
    script(session, calls(call("mcp__odd__echo", {"a": 1})), text("ok"))

    def answer(event: AnyEvent, signal: object) -> None:
        if event.type == "approval_request":
            asked.append(event.request.reason)
            session.approvals.answer(event.request.id, "once")

    asked: list[str] = []
    session.subscribe(answer)
    async with begun(session):
        await session.prompt("echo")

    assert asked == ["it is the tool 'echo' of the MCP server odd"]
    assert results(session)[0].text == '{"a": 1}'


async def test_a_rule_makes_a_tool_of_a_server_free(tmp_path: Path) -> None:
    toml = '[rules]\nallow = [{ tool = "mcp__odd__e*" }]\n' + table("odd", odd())
    session = built(tmp_path, toml, mode="ask")
    script(session, calls(call("mcp__odd__echo", {"a": 1})), text("ok"))
    async with begun(session):
        await session.prompt("echo")

    assert results(session)[0].text == '{"a": 1}'


async def test_reading_only_refuses_what_does_not_even_claim_to_read(tmp_path: Path) -> None:
    toml = '[rules]\nallow = [{ tool = "mcp__odd__*" }]\n' + table("odd", odd())
    session = built(tmp_path, toml, mode="read-only")
    script(
        session,
        calls(
            call("mcp__odd__echo", {"a": 1}),
            call("mcp__odd__read_resource", {"uri": "note://one"}),
        ),
        text("ok"),
    )
    async with begun(session):
        await session.prompt("echo")

    assert "read-only" in results(session)[0].text
    assert results(session)[1].text == "[note://one]\nthe note"


async def test_a_server_inherits_no_key(tmp_path: Path) -> None:
    toml = table("odd", odd(), '[mcp.servers.odd.env]\nGIVEN = "1"')
    toml += '[mcp.servers.far]\nurl = "http://127.0.0.1:9/mcp"\napi_key_env = "FAR_TOKEN"\n'
    keys = {"OPENAI_API_KEY": "sk-secret", "FAR_TOKEN": "secret", "PLAIN": "x"}
    session = built(tmp_path, 'model = "demo/tour"\n' + toml, **keys)
    script(session, calls(call("mcp__odd__environ", {})), text("ok"))
    async with begun(session):
        await session.prompt("environ")

    found = results(session)[0].text.split()
    assert "GIVEN" in found
    assert "PLAIN" in found
    assert not {"OPENAI_API_KEY", "FAR_TOKEN"} & set(found)


async def test_a_key_that_is_not_set_is_a_server_that_is_not_there(tmp_path: Path) -> None:
    toml = '[mcp.servers.far]\nurl = "http://127.0.0.1:9/mcp"\napi_key_env = "FAR_TOKEN"\n'
    session = built(tmp_path, toml)
    async with begun(session) as servers:
        view = servers.views()[0]

        assert (view.state, view.problem) == ("failed", "FAR_TOKEN is not set")
        assert servers.has_broken
        assert servers.mark == "mcp 0/1"


async def test_a_project_starts_nothing_before_a_yes(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".agent-tui").mkdir(parents=True)
    home.mkdir()
    trace = project / "started-by-project"
    touch = (sys.executable, "-c", f"open({str(trace)!r}, 'w')")
    (project / ".agent-tui" / "config.toml").write_text(table("linter", touch))
    foreign = {"mcpServers": {"linter": {"command": touch[0], "args": touch[1:]}}}
    (project / ".mcp.json").write_text(json.dumps(foreign))
    environ = {"AGENT_TUI_HOME": str(home)}

    async with begun(build_session(load_settings(Flags(), environ, project))) as servers:
        assert servers.views() == []
    assert not trace.exists()

    Trust(find_folders(environ)).trust(project)
    async with begun(build_session(load_settings(Flags(), environ, project))) as servers:
        assert servers.views()[0].is_of_project
        await until(trace.exists)


def test_a_project_replaces_no_server_and_gets_no_key(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".agent-tui").mkdir(parents=True)
    home.mkdir()
    (home / "config.toml").write_text(table("mine", ("true",)))
    address = '[mcp.servers.far]\nurl = "https://x.example/mcp"\napi_key_env = "HOME"\n'
    (project / ".agent-tui" / "config.toml").write_text(table("mine", ("false",)) + address)

    settings = load_settings(Flags(trust=True), {"AGENT_TUI_HOME": str(home)}, project)

    assert settings.mcp_servers["mine"].command == ("true",)
    assert settings.mcp_servers["far"].api_key_env is None
    assert len(settings.problems) == 2


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        ("[mcp.servers.x]", "either command"),
        ('[mcp.servers.x]\nurl = "ftp://a"', "must begin with https://"),
        ('[mcp.servers."a b"]\ncommand = ["x"]', "letters, digits"),
        ("[mcp.servers.x]\ncommand = [1]", "an array of texts"),
        ('[mcp.servers.x]\ncommand = ["x"]\ntimout = 3', "did you mean 'timeout'"),
        ("[mcp]\nserver = 1", "unknown key"),
    ],
)
def test_a_table_that_makes_no_sense_is_a_problem(tmp_path: Path, toml: str, problem: str) -> None:
    (tmp_path / "config.toml").write_text(toml)

    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    assert problem in " ".join(settings.problems)


async def test_the_doctor_names_servers_without_starting_them(tmp_path: Path) -> None:
    trace = tmp_path / "started"
    touch = (sys.executable, "-c", f"open({str(trace)!r}, 'w')")
    (tmp_path / "config.toml").write_text(table("linter", touch))
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    report = await examine(settings, {})

    assert sys.executable in report.mcp_servers["linter"]
    assert not trace.exists()
