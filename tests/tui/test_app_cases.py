"""Faults that programs like this one have had, played through the real app with real tools.

Bytes come from `tests/cases/input`; the loop's cases run a real shell.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import psutil
import pytest

from agent_tui.testing import Part, call, calls, hang, pause, text
from agent_tui.tools import builtin_tools
from agent_tui.tui.pages import Pages
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import Chat, Gate, chat

INPUT = Path(__file__).parent.parent / "cases" / "input"
STOP_SECONDS = 2.0

posix = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")


async def play(c: Chat, case: str) -> None:
    """The bytes of a case; `@WAIT_IDLE@` waits until the reply has ended."""
    for piece in (INPUT / f"{case}.keys").read_bytes().split(b"@WAIT_IDLE@"):
        await c.gets(piece)
        await c.idle()


# -- input ---------------------------------------------------------------------------------------


async def test_arrow_up_keeps_the_draft() -> None:
    async with chat(text("ok")) as c:
        await play(c, "arrow-up-keeps-draft")

        assert c.draft == "my long draft"


async def test_a_recalled_line_has_its_mark() -> None:
    async with chat(text("ok")) as c:
        await play(c, "bang-recalled-with-its-mark")

        assert c.draft == "!echo hi"


async def test_lone_surrogates_do_not_stop_the_message() -> None:
    async with chat(text("ok")) as c:
        await play(c, "lone-surrogate-input")

        (said,) = c.request(0)
        assert said.encode("utf-8")
        assert "ok" in said
        assert c.app.is_running


async def test_a_large_paste_is_complete() -> None:
    async with chat(text("ok")) as c:
        data = (INPUT / "paste-large.keys").read_bytes()
        pasted = data.removeprefix(b"\x1b[200~").partition(b"\x1b[201~")[0]

        await play(c, "paste-large")
        if not c.requests:
            await c.press("enter")
        await c.idle()

        sent = c.request(0)[0].encode()
        assert hashlib.sha256(sent).digest() == hashlib.sha256(pasted).digest()


async def test_a_pasted_text_is_never_sent_by_its_newlines() -> None:
    async with chat() as c:
        await play(c, "paste-multiline")
        await c.press("enter", "ctrl+c")

        assert len(c.requests) <= 1


async def test_a_path_at_the_beginning_is_a_message() -> None:
    async with chat(text("ok")) as c:
        await play(c, "slash-path-is-a-message")

        assert c.request(0) == ["/usr/lib/python3/dist-packages is missing, why?"]


async def test_a_mistyped_command_keeps_its_text() -> None:
    async with chat() as c:
        await play(c, "unknown-slash-keeps-text")

        assert c.draft == "/modle gpt please"
        assert "did you mean" in c.line("hint")


async def test_a_space_in_flight_does_not_answer_a_question(tmp_path: Path) -> None:
    ask = calls(call("bash", {"command": "touch ran.txt"}))
    async with chat(ask, tools=builtin_tools(tmp_path), mode="ask", cwd=tmp_path) as c:
        data = (INPUT / "approval-space-while-typing.keys").read_bytes()
        await c.say("go")
        await c.until(lambda: c.app.card.display)

        await c.gets(data)

        assert c.session.approvals.pending
        assert not (tmp_path / "ran.txt").exists()
        assert c.draft == data.decode()


# -- the loop ------------------------------------------------------------------------------------


def sleeper(mark: str, seconds: int = 60) -> Part:
    command = f'python3 -c "import time; time.sleep({seconds})  # {mark}"'
    return calls(call("bash", {"command": command}, id="c1"))


def processes(mark: str) -> list[int]:
    return [
        process.info["pid"]
        for process in psutil.process_iter(["pid", "cmdline"])
        if any(mark in word for word in process.info["cmdline"] or [])
    ]


@posix
@pytest.mark.parametrize("keys", [["ctrl+c"], ["escape"], ["ctrl+c", "ctrl+c", "ctrl+c"]])
async def test_a_stop_key_ends_the_turn_and_its_processes_and_nothing_else(
    keys: list[str], tmp_path: Path
) -> None:
    mark = f"mk-stop-{os.getpid()}-{len(keys)}{keys[0]}"
    async with chat(sleeper(mark), text("still here"), tools=builtin_tools(tmp_path)) as c:
        await c.say("run")
        await c.until(lambda: processes(mark))
        began = time.monotonic()

        await c.press(*keys)
        await c.idle()
        took = time.monotonic() - began
        left = processes(mark)
        await c.say("still there?")
        await c.idle()

        assert took < STOP_SECONDS
        assert left == []
        assert "assistant: still here" in c.shown
        assert "interrupt" in c.requests[1].messages[-2].text.lower() or any(
            "abort" in message.text.lower() for message in c.requests[1].messages
        )


@posix
async def test_follow_ups_survive_a_stop(tmp_path: Path) -> None:
    mark = f"mk-queue-{os.getpid()}"
    async with chat(sleeper(mark), tools=builtin_tools(tmp_path)) as c:
        await c.say("start")
        await c.until(lambda: processes(mark))
        await c.say("follow-up ONE", "alt+enter")
        await c.say("follow-up TWO", "alt+enter")

        await c.press("ctrl+c")
        await c.idle()

        assert c.queued == ["follow-up ONE", "follow-up TWO"]
        assert len(c.requests) == 1


@posix
async def test_steering_goes_behind_all_results_and_before_an_older_follow_up(
    tmp_path: Path,
) -> None:
    both = calls(
        call("bash", {"command": "sleep 1.5"}, id="c1"),
        call("bash", {"command": "echo second"}, id="c2"),
    )
    async with chat(both, text("steered"), text("ok"), tools=builtin_tools(tmp_path)) as c:
        await c.say("start")
        await c.until(lambda: c.session.agent.state.pending_tool_calls)
        await c.say("LATER write docs", "alt+enter")
        await c.say("NOW use tabs")
        await c.idle()

        roles = [message.role for message in c.requests[1].messages]
        assert roles == ["user", "assistant", "tool_result", "tool_result", "user"]
        assert c.request(1)[-1] == "NOW use tabs"
        assert c.request(2)[-1] == "LATER write docs"


async def test_calls_that_were_generated_are_not_thrown_away_by_steering(tmp_path: Path) -> None:
    both = calls(
        call("write", {"path": "a.txt", "content": "A"}, id="c1"),
        call("write", {"path": "b.txt", "content": "B"}, id="c2"),
    )
    script = ([text("Writing. "), pause(0.6), both], text("ok"))
    async with chat(*script, tools=builtin_tools(tmp_path), cwd=tmp_path) as c:
        await c.say("write both")
        await c.until(lambda: c.session.agent.state.streaming_message)
        await c.say("STEER then stop")
        await c.idle()

        assert (tmp_path / "a.txt").read_text() == "A"
        assert (tmp_path / "b.txt").read_text() == "B"
        assert c.request(1)[-1] == "STEER then stop"


@posix
async def test_the_viewer_shows_all_of_a_long_output_from_its_file(tmp_path: Path) -> None:
    long = calls(call("bash", {"command": "seq 1 20000"}))
    tools = builtin_tools(tmp_path, output_dir=tmp_path / "output")
    async with chat(long, text("ok"), tools=tools) as c:
        await c.say("go")
        await c.idle()

        await c.press("f6", "f6", "f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))
        await c.press("slash", *"20000", "enter")

        pages = c.app.screen.query_one(Pages)
        await c.until(lambda: pages.found == [19_999])
        assert pages.current == 19_999


async def test_an_unknown_tool_is_answered_and_the_loop_goes_on() -> None:
    async with chat(calls(call("no_such_tool", {"x": 1})), text("ok")) as c:
        await c.say("go")
        await c.idle()

        assert "no_such_tool" in c.requests[1].messages[-1].text
        assert "assistant: ok" in c.shown


# -- the screen ----------------------------------------------------------------------------------


async def test_the_view_stays_where_it_was_scrolled_while_text_arrives() -> None:
    lines = "\n\n".join(f"earlier {n}" for n in range(100))
    later = "\n\n".join(f"later {n}" for n in range(40))
    gate = Gate()
    script = (text(lines), calls(call("bash", {"command": "x"})), text(later))
    async with chat(*script, tools=[gate.tool]) as c:
        await c.say("one")
        await c.idle()
        await c.say("two")
        await c.until(lambda: gate.running)
        await c.press("pageup", "pageup")
        top = c.app.transcript.scroll_offset.y

        gate.open.set()
        await c.idle()
        await c.until(lambda: c.app.transcript.unseen)

        assert c.app.transcript.scroll_offset.y == top
        assert "new output below (end)" in c.line("hint")
        await c.press("end")
        assert c.app.transcript.following


async def test_the_view_follows_when_the_strip_goes_while_blocks_arrive() -> None:
    gate = Gate()
    long = "\n\n".join(f"line {n}" for n in range(60))
    script = ([text(long), calls(call("bash", {"command": "x"}))], [text("more\n\n" * 5), hang()])
    async with chat(*script, tools=[gate.tool]) as c:
        await c.say("go")
        await c.until(lambda: gate.running)
        await c.say("steer one\nsteer two\nsteer three")
        await c.until(lambda: c.app.strip.display)
        await c.pilot.pause(0.3)
        assert c.app.transcript.following

        gate.open.set()
        await c.until(lambda: len(c.requests) == 2)
        await c.pilot.pause(0.3)

        assert c.app.transcript.following


async def test_a_resize_while_streaming_changes_nothing_but_the_width() -> None:
    paragraphs = [f"line {n} " + "word " * 20 for n in range(40)]
    response: list[Part] = []
    for start in range(0, 40, 5):
        response += [text("\n\n".join(paragraphs[start : start + 5])), pause(0.01)]
    async with chat(text("\n\n".join(paragraphs))) as plain, chat(response) as resized:
        await plain.say("go")
        await resized.say("go")
        for size in ((40, 12), (120, 40), (80, 24)):
            await resized.pilot.resize_terminal(*size)
            await resized.pilot.pause(0.05)
        await plain.idle()
        await resized.idle()
        await plain.pilot.pause(0.3)
        await resized.pilot.pause(0.3)

        assert screen(resized) == screen(plain)


def screen(c: Chat) -> list[str]:
    transcript = c.app.transcript
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


async def test_nothing_from_a_model_or_a_tool_reaches_the_terminal_as_a_command() -> None:
    gate = Gate()
    gate.open.set()
    evil = "a\x1b]52;c;AAAA\x07\x1b]0;owned title\x07\x1b[6n\x1bc\x1b[?2004lb"
    script = ([text(evil), calls(call("bash", {"command": evil}))], text("ok"))
    async with chat(*script, tools=[gate.tool], mode="ask") as c:
        await c.say("go")
        await c.until(lambda: c.app.card.display)
        await c.gets(b"steer me")
        await c.press("enter")
        await c.pilot.pause(0.2)

        drawn = c.app.export_screenshot()
        assert "owned title" not in drawn
        assert "\x1b" not in "\n".join(screen(c))
        assert c.app.chrome.window_title()[0] == "go"
