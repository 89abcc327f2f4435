"""`!cmd` and `!!cmd`: shown as a panel, stopped like anything else."""

from __future__ import annotations

from agent_tui.testing import text
from agent_tui.tui.blocks import ToolBlock
from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.hints import Situation, hint_line
from tests.tui.chat import chat


def hint(**now: object) -> str:
    return "".join(part for part, _ in hint_line(Situation(**now), 120))  # type: ignore[arg-type]


async def test_a_command_is_a_panel_and_the_model_sees_it_with_the_next_message() -> None:
    async with chat(text("fine")) as c:
        await c.say("!echo out; exit 3")
        await c.until(lambda: len(c.session.agent.state.messages) == 1)
        await c.until(lambda: not c.app.verbs.on_shell.is_running)

        [panel] = [block for block in c.app.transcript.blocks if isinstance(block, ToolBlock)]
        assert (panel.title, panel.status, panel.output) == ("! echo out; exit 3", "failed", "out")
        await c.say("well?")
        await c.idle()
        assert "I ran this command: `echo out; exit 3`" in c.request(0)[0]


async def test_two_marks_hide_it_from_the_model() -> None:
    async with chat(text("fine")) as c:
        await c.say("!!echo out")
        await c.until(lambda: len(c.session.agent.state.messages) == 1)
        await c.say("well?")
        await c.idle()

        assert c.request(0) == ["well?"]


async def test_escape_stops_it() -> None:
    async with chat() as c:
        await c.say("!sleep 600")
        await c.until(lambda: c.app.verbs.on_shell.is_running)
        await c.press("escape")
        await c.until(lambda: not c.app.verbs.on_shell.is_running)

        [panel] = [block for block in c.app.transcript.blocks if isinstance(block, ToolBlock)]
        assert panel.status == "killed"


async def test_the_panel_counts_all_lines_and_not_only_those_that_are_kept() -> None:
    async with chat() as c:
        await c.say("!!seq 5000")
        await c.until(lambda: len(c.session.agent.state.messages) == 1)
        await c.until(lambda: not c.app.verbs.on_shell.is_running)

        [panel] = [block for block in c.app.transcript.blocks if isinstance(block, ToolBlock)]
        assert any("5000 lines" in line.text for line in panel.lines(plain_canvas(80)))


async def test_a_mark_alone_runs_nothing_and_stays() -> None:
    async with chat() as c:
        await c.say("!")

        assert c.draft == "!"
        assert not c.app.verbs.on_shell.is_running


def test_the_hints_say_what_the_mark_does() -> None:
    assert "runs it in the shell" in hint(has_draft=True, shell="!")
    assert "!! hides it" in hint(has_draft=True, shell="!")
    assert "the model does not see it" in hint(has_draft=True, shell="!!", running=True)
    assert "esc stops the command" in hint(runs_command=True)
