"""Templates and skills as slash commands, and /reload, on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Flags, load_settings
from agent_tui.session.outfit import Outfit
from agent_tui.testing import call, calls, text
from agent_tui.tui.screens.help import HelpScreen, help_rows
from tests.tui.chat import Chat, Gate, as_text, chat

RUN = calls(call("bash", {"command": "pytest -q"}))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "review.md").write_text(
        "---\ndescription: Look closely\nargument-hint: <file>\n---\nReview $1 now.\n"
    )
    (tmp_path / "prompts" / "fix_2.md").write_text("Fix it.\n")
    (tmp_path / "prompts" / "help.md").write_text("Never used.\n")
    (tmp_path / "skills" / "pdf").mkdir(parents=True)
    (tmp_path / "skills" / "pdf" / "SKILL.md").write_text(
        "---\ndescription: Reads PDF\n---\nStep one.\n"
    )
    return tmp_path


def wear(c: Chat, home: Path) -> None:
    """Give the chat's session what lies in `home`."""
    settings = load_settings(Flags(), {"AGENT_TUI_HOME": str(home)}, home)
    c.session.wear(Outfit(settings, []))


async def test_a_template_is_sent_as_what_it_stands_for(home: Path) -> None:
    async with chat(text("ok"), text("ok")) as c:
        wear(c, home)

        await c.say("/review a.py")
        await c.idle()
        await c.say("/fix_2")
        await c.idle()

        assert c.said == ["Review a.py now.", "Fix it."]


async def test_a_template_steers_a_running_turn(home: Path) -> None:
    gate = Gate()
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        wear(c, home)
        await c.say("start")
        await c.until(lambda: gate.running)

        await c.say("/review a.py")

        assert c.queued == ["Review a.py now."]
        gate.open.set()
        await c.idle()
        assert c.said == ["start", "Review a.py now."]


async def test_a_queued_template_is_read_when_its_turn_comes(home: Path) -> None:
    gate = Gate()
    async with chat(RUN, text("a"), text("b"), text("c"), tools=[gate.tool]) as c:
        wear(c, home)
        await c.say("start")
        await c.until(lambda: gate.running)
        await c.say("/review a.py", "alt+enter")
        await c.say("then this", "alt+enter")
        await c.say("/fix_2", "alt+enter")

        assert c.queued == ["/review a.py", "then this", "/fix_2"]
        (home / "prompts" / "review.md").write_text("Look at $1 instead.")
        assert c.session.outfit is not None
        await c.session.outfit.reload()
        gate.open.set()
        await c.until(lambda: len(c.said) == 4)
        await c.idle()

        assert c.said == ["start", "Look at a.py instead.", "then this", "Fix it."]


async def test_a_queued_template_that_is_gone_says_so(home: Path) -> None:
    gate = Gate()
    async with chat(RUN, text("a"), tools=[gate.tool]) as c:
        wear(c, home)
        await c.say("start")
        await c.until(lambda: gate.running)
        await c.say("/review a.py", "alt+enter")
        (home / "prompts" / "review.md").unlink()
        assert c.session.outfit is not None
        await c.session.outfit.reload()

        gate.open.set()
        await c.until(lambda: not c.queued)
        await c.idle()

        assert c.said[0] == "start"
        assert any("/review a.py" in block for block in c.shown)


async def test_a_template_in_the_strip_can_be_sent_now(home: Path) -> None:
    gate = Gate()
    async with chat(RUN, text("a"), tools=[gate.tool]) as c:
        wear(c, home)
        await c.say("start")
        await c.until(lambda: gate.running)
        await c.say("/fix_2", "alt+enter")

        await c.press("alt+up", "ctrl+s")
        await c.until(lambda: len(c.said) == 2)
        await c.idle()

        assert c.said == ["start", "Fix it."]
        assert c.queued == []


async def test_a_skill_is_given_by_hand(home: Path) -> None:
    async with chat(text("ok")) as c:
        wear(c, home)

        await c.say("/skill:pdf report.pdf")
        await c.idle()

        [message] = c.said
        assert message.startswith('<skill name="pdf"')
        assert message.endswith("report.pdf")


async def test_an_unknown_skill_keeps_its_text(home: Path) -> None:
    async with chat() as c:
        wear(c, home)

        await c.say("/skill:pfd report.pdf")

        assert c.draft == "/skill:pfd report.pdf"
        assert "there is pdf" in c.line("hint")
        assert c.said == []


async def test_a_built_in_command_wins_over_a_template(home: Path) -> None:
    async with chat() as c:
        wear(c, home)

        await c.say("/help")

        assert isinstance(c.app.screen, HelpScreen)
        assert c.said == []


async def test_a_mistyped_template_is_guessed(home: Path) -> None:
    async with chat() as c:
        wear(c, home)

        await c.say("/reviw a.py")

        assert "did you mean /review" in c.line("hint")
        assert c.draft == "/reviw a.py"


async def test_menu_and_help_have_them(home: Path) -> None:
    async with chat() as c:
        wear(c, home)

        hints = {hint.name: hint for hint in c.app.verbs.hints()}
        page = as_text(help_rows(100, c.app.verbs.own.rows()))

        assert hints["review"].summary == "Look closely"
        assert hints["review"].takes_argument
        assert not hints["fix_2"].takes_argument
        assert "skill:pdf" in hints
        assert "/review <file>" in page
        assert "/skill:pdf" in page
        assert "Never used" not in page


async def test_a_panel_shows_what_a_hook_has_made_of_the_call(home: Path) -> None:
    gate = Gate()
    (home / "config.toml").write_text(
        '[[hooks.before_tool]]\ncommand = "echo \'{\\"args\\": {\\"command\\": \\"ls\\"}}\'"\n'
    )
    async with chat(RUN, text("ok"), tools=[gate.tool]) as c:
        wear(c, home)
        await c.say("start")
        await c.until(lambda: gate.running)

        assert gate.calls == [{"command": "ls"}]
        assert "ls (changed by a hook)" in c.panels[0]
        gate.open.set()
        await c.idle()


async def test_reload_says_what_is_different(home: Path) -> None:
    async with chat() as c:
        wear(c, home)
        (home / "prompts" / "new.md").write_text("New.")

        await c.say("/reload")
        await c.until(lambda: any("templates new: /new" in block for block in c.shown))
        await c.say("/reload")
        await c.until(lambda: any("Nothing has changed" in block for block in c.shown))

        assert any("/help is a command of the chat" in block for block in c.shown)


async def test_without_settings_there_is_nothing_to_reload() -> None:
    async with chat() as c:
        await c.say("/reload")

        assert "without settings" in c.line("hint")


async def test_tools_are_listed_on_a_page() -> None:
    gate = Gate()
    async with chat(tools=[gate.tool], size=(100, 24)) as c:
        await c.say("/tools")

        assert c.app.screen.__class__.__name__ == "OutputScreen"
        await c.press("escape")


async def test_a_chat_without_tools_says_so() -> None:
    async with chat() as c:
        await c.say("/tools")

        assert "no tools" in c.line("hint")
