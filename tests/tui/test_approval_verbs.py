"""Answers, modes, rules and trust by keys and commands, on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent_tui import Agent
from agent_tui.agent.hooks import AgentContext, BeforeToolCallContext
from agent_tui.config import Flags, Rule, load_settings
from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import AssistantMessage, ToolCall
from agent_tui.core.model import Model
from agent_tui.session.approvals import Approvals
from agent_tui.session.rule_book import RuleBook
from agent_tui.session.session import Session
from agent_tui.testing import ScriptedModel, call, calls, text
from agent_tui.tui.app import ChatApp
from tests.tui.chat import Chat, Gate, as_text, chat

ASK = calls(call("bash", {"command": "touch ran.txt"}))


async def asked(c: Chat) -> None:
    await c.say("go")
    await c.until(lambda: c.app.card.display)
    await c.pilot.pause()


def opened() -> Gate:
    gate = Gate()
    gate.open.set()
    return gate


# -- the mode ------------------------------------------------------------------------------------


async def test_naming_full_auto_lets_the_open_question_run() -> None:
    gate = opened()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.say("/mode full-auto")
        await c.idle()

        assert len(gate.calls) == 1
        assert not c.app.card.display


async def test_naming_read_only_refuses_the_open_question() -> None:
    gate = opened()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.say("/mode read-only")
        await c.idle()

        assert gate.calls == []
        assert any("the mode is read-only" in panel for panel in c.panels)


async def test_a_key_on_its_way_through_the_modes_runs_nothing() -> None:
    gate = opened()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.press("shift+tab", "shift+tab", "shift+tab")
        await c.until(lambda: not c.session.approvals.pending)
        await c.idle()

        assert c.session.approvals.mode == "read-only"
        assert gate.calls == []


async def test_a_mode_that_a_key_stays_on_judges_the_open_question() -> None:
    gate = opened()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.press("shift+tab", "shift+tab")
        at_once = list(gate.calls)
        await c.idle()

        assert at_once == []
        assert len(gate.calls) == 1


# -- the guard -----------------------------------------------------------------------------------


async def test_the_next_question_has_a_guard_of_its_own() -> None:
    async with chat(mode="ask") as c:
        waits = []
        for command in ("make one", "make two"):
            waits.append(ask_for(c.session.approvals, command))
            await c.until(lambda: len(c.session.approvals.pending) == len(waits))
        c.app.redraw()
        await c.pilot.pause()
        card = as_text(_card(c))
        c.clock.time += 1

        await c.press("alt+y", "alt+y")

        assert card.startswith("1 of 2 · bash asks")
        assert [request.summary for request in c.session.approvals.pending] == ["make two"]
        c.clock.time += 1
        await c.press("alt+n")
        await asyncio.gather(*waits)
        assert c.session.approvals.pending == []


def _card(c: Chat) -> list[Any]:
    from agent_tui.tui.approval import card_rows

    pending = c.session.approvals.pending
    return card_rows(pending[0], (1, len(pending)), 80, 12, 0)[0]


def ask_for(approvals: Approvals, command: str) -> asyncio.Task[Any]:
    asking = ToolCall(id=command, name="bash", arguments={"command": command})
    ctx = BeforeToolCallContext(
        AssistantMessage(content=[asking]), asking, {"command": command}, AgentContext()
    )
    return asyncio.ensure_future(approvals.before_tool_call(ctx, AbortSignal()))


async def test_a_question_behind_another_screen_has_not_been_seen() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await c.press("f1")
        c.app.send("go", "enter")
        await c.until(lambda: bool(c.session.approvals.pending))
        c.app.redraw()
        await c.pilot.pause()
        c.clock.time += 5

        await c.press("escape", "alt+y")

        assert len(c.app.screen_stack) == 1
        assert len(c.session.approvals.pending) == 1


async def test_the_hints_say_what_can_be_done_while_a_question_is_open() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        hint = c.line("hint")

        assert all(word in hint for word in ("/yes", "/always", "/no", "enter steer", "esc stop"))


async def test_a_comment_asked_for_too_early_is_not_begun() -> None:
    gate = Gate()
    async with chat(ASK, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.press("alt+e")

        assert c.draft == ""
        assert "only just appeared" in c.line("hint")


# -- rules ---------------------------------------------------------------------------------------


async def test_always_says_what_was_stored_and_rules_take_it_back() -> None:
    gate = opened()
    again = calls(call("bash", {"command": "touch ran.txt"}))
    async with chat(ASK, again, text("ok"), tools=[gate.tool], mode="ask") as c:
        await asked(c)
        c.clock.time += 1

        await c.press("alt+a")
        said = c.line("hint")
        await c.idle()
        await c.say("/rules")
        await c.until(lambda: len(c.app.screen_stack) == 2)
        await c.press("enter")

        assert "Stored: bash: touch ran.txt (until the program ends)" in said
        assert len(gate.calls) == 2
        assert c.session.approvals.rules == []
        assert "taken back" in c.line("hint")


async def test_always_may_name_where_it_counts(tmp_path: Path) -> None:
    gate = opened()
    async with chat(ASK, text("ok"), tools=[gate.tool], mode="ask", cwd=tmp_path) as c:
        approvals = c.session.approvals
        approvals._book = RuleBook(tmp_path / "home" / "rules.toml", tmp_path)
        await asked(c)

        await c.say("/always nowhere")
        refused = c.line("hint")
        await c.say("/always everywhere")
        await c.idle()

        assert "/always takes session, project, everywhere or nothing" in refused
        assert approvals.rules == [Rule("bash", "touch ran.txt", origin="everywhere")]


async def test_without_a_sure_rule_always_says_so_and_the_question_stays() -> None:
    gate = Gate()
    unsure = calls(call("bash", {"command": "touch $X"}))
    async with chat(unsure, tools=[gate.tool], mode="ask") as c:
        await asked(c)

        await c.say("/always")

        assert "No rule is sure enough" in c.line("hint")
        assert len(c.session.approvals.pending) == 1


async def test_a_rule_of_the_settings_is_not_taken_back_here() -> None:
    async with chat(mode="ask") as c:
        c.session.approvals.rules.append(Rule("bash", "ls", origin="settings"))

        await c.say("/rules")
        await c.until(lambda: len(c.app.screen_stack) == 2)
        await c.press("enter")

        assert "That rule stands in your config.toml" in c.line("hint")
        assert len(c.session.approvals.rules) == 1


async def test_without_rules_the_list_says_how_they_are_made() -> None:
    async with chat() as c:
        await c.say("/rules")

        assert "There are no rules yet" in c.line("hint")


# -- trust ---------------------------------------------------------------------------------------


@asynccontextmanager
async def chat_in(home: Path, project: Path, *script: Any) -> AsyncIterator[tuple[ChatApp, Any]]:
    settings = load_settings(Flags(cwd=project), {"AGENT_TUI_HOME": str(home)}, project)
    agent = Agent(Model("test", "m"), stream_fn=ScriptedModel([*script]))
    app = ChatApp(Session.open(agent, cwd=project), settings=settings, environ={})
    async with app.run_test() as pilot:
        await _until(pilot, lambda: app.is_ready)
        yield app, pilot


async def _until(pilot: Pilot[None], claim: Any) -> None:
    for _ in range(1000):
        if claim():
            break
        await pilot.pause(0.005)
    await pilot.pause()
    assert claim()


async def say(app: ChatApp, pilot: Pilot[None], line: str) -> None:
    app.prompt.set_text(line)
    await pilot.press("enter")
    await pilot.pause()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".agent-tui").mkdir(parents=True)
    (folder / ".agent-tui" / "config.toml").write_text('[hooks]\nbefore_tool = "evil --now"\n')
    return folder


def notices(app: ChatApp) -> str:
    return "\n".join(block.source() for block in app.transcript.blocks)


async def test_a_folder_that_brings_something_is_asked_about_with_every_command(
    tmp_path: Path, project: Path
) -> None:
    async with chat_in(tmp_path / "home", project) as (app, _):
        said = notices(app)

    assert 'hooks.before_tool = "evil --now"' in said
    assert "None of it is read or run unless you trust it: /trust, or /trust no." in said


async def test_trust_is_kept_and_opens_the_chat_anew(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    async with chat_in(home, project) as (app, _):
        app.run_verb("trust")

    settings = load_settings(Flags(cwd=project), {"AGENT_TUI_HOME": str(home)}, project)
    assert app.leaving.another is not None
    assert (settings.is_trusted, settings.asks_for_trust) == (True, False)


async def test_a_conversation_is_not_lost_for_trust(tmp_path: Path, project: Path) -> None:
    async with chat_in(tmp_path / "home", project, text("hello")) as (app, pilot):
        await say(app, pilot, "hi")
        await _until(pilot, lambda: len(app.session.agent.state.messages) == 2)
        app.run_verb("trust")

        assert app.leaving.another is None
        assert "Trusted: /reload uses its tools" in as_text(app.chrome.rows("hint"))


async def test_a_folder_that_was_refused_is_not_asked_about_again(
    tmp_path: Path, project: Path
) -> None:
    home = tmp_path / "home"
    async with chat_in(home, project) as (app, pilot):
        await say(app, pilot, "/trust no ")
    async with chat_in(home, project) as (app, _):
        said = notices(app)

    assert "brings along" not in said


async def test_a_folder_that_changed_since_the_answer_is_asked_about_as_such(
    tmp_path: Path, project: Path
) -> None:
    home = tmp_path / "home"
    async with chat_in(home, project) as (app, _):
        app.run_verb("trust")
    (project / ".agent-tui" / "config.toml").write_text('[hooks]\nturn_end = "other"\n')
    async with chat_in(home, project) as (app, _):
        said = notices(app)

    assert "brings along (it has changed since your last answer):" in said
    assert 'hooks.turn_end = "other"' in said


async def test_trust_without_settings_says_why_it_means_nothing() -> None:
    async with chat() as c:
        await c.say("/trust")

        assert "nothing of the folder is used" in c.line("hint")


async def test_a_trust_that_cannot_be_kept_is_said(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    home.write_text("in the way")
    async with chat_in(home, project) as (app, pilot):
        app.run_verb("trust")
        await pilot.pause()

        assert "The answer cannot be kept" in as_text(app.chrome.rows("hint"))
