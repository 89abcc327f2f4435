"""A person who types lines and reads lines."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from agent_tui import Agent, ToolContext, tool
from agent_tui.config import Flags, load_settings
from agent_tui.linear.chat import run_linear
from agent_tui.session.outfit import Outfit
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, hang, text

PATIENCE_SECONDS = 20
Deed = str | Callable[[], None]
"""A line, or something else that a person does."""


class Paper(io.StringIO):
    """What was printed; somebody may wait for words on it."""

    def __init__(self) -> None:
        super().__init__()
        self._news = threading.Condition()
        self._is_full = False

    def write(self, words: str) -> int:
        with self._news:
            self._news.notify_all()
            return super().write(words)

    def wait_for(self, words: str) -> bool:
        """True once they are there, False if nothing will be printed any more."""
        with self._news:
            came = self._news.wait_for(
                lambda: words in self.getvalue() or self._is_full, PATIENCE_SECONDS
            )
        assert came, f"no {words!r} in:\n{self.getvalue()}"
        return words in self.getvalue()

    def end(self) -> None:
        """Nothing will be printed any more."""
        with self._news:
            self._is_full = True
            self._news.notify_all()


class Typist(io.StringIO):
    """Types each line once certain words stand on the paper; may press Ctrl+C instead."""

    def __init__(self, paper: Paper, script: Sequence[tuple[str, Deed]]) -> None:
        super().__init__()
        self._paper = paper
        self._script = script

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        for words, act in self._script:
            if not self._paper.wait_for(words):
                return
            if isinstance(act, str):
                yield f"{act}\n"
            else:
                act()


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@tool(name="bash")
async def bash(command: str, ctx: ToolContext) -> str:
    """Run until it is stopped, or say what was run."""
    if command == "wait":
        await ctx.signal.wait()
    return f"ran {command}\nend"


def chat(script: list[Part | list[Part]], *typed: tuple[str, Deed]) -> str:
    """What is printed while a model plays `script` and a person types."""
    paper = Paper()
    agent = Agent("test/m", tools=[bash], stream_fn=ScriptedModel(script))
    code = run_linear(Session.open(agent), ["ready"], Typist(paper, typed), paper)
    paper.end()
    assert code == 0
    return paper.getvalue()


def test_an_answer_comes_by_whole_lines_without_any_sequence() -> None:
    printed = chat([text("one \x1b[31mred\x1b[0m\ntwo", chunk=3)], ("ready", "hello"))

    assert "\none red\ntwo\n" in printed
    assert "[turn] 1 step" in printed
    assert "\x1b" not in printed


def test_a_line_that_is_typed_while_a_turn_runs_steers_it() -> None:
    printed = chat(
        [calls(call("bash", {"command": "ls"})), text("understood")],
        ("ready", "go"),
        ("[approval]", "use make"),
        ("[pending]", "/yes"),
    )

    assert "[pending] before the next step: use make" in printed
    assert printed.index("[delivered] before step 2: use make") < printed.index("understood")


def test_a_question_is_answered_by_a_line() -> None:
    printed = chat(
        [calls(call("bash", {"command": "rm -rf build"})), text("fine")],
        ("ready", "go"),
        ("[approval]", "/no use make clean"),
    )

    assert "bash asks, because" in printed
    assert "rm -rf build" in printed
    assert "use make clean" in printed
    assert "fine" in printed


def test_always_keeps_the_rule_that_was_shown_and_rules_lists_it() -> None:
    printed = chat(
        [*(calls(call("bash", {"command": "make"})) for _ in range(2)), text("ok")],
        ("ready", "go"),
        ("[approval]", "/always nowhere"),
        ("/always takes", "/always session"),
        ("[turn]", "/rules"),
        ("[allow]", "/quit"),
    )

    assert "/always would allow, in this session: bash: make" in printed
    assert "[allow] bash: make (session)" in printed
    assert printed.count("bash asks") == 1


def test_without_a_sure_rule_always_says_so() -> None:
    printed = chat(
        [calls(call("bash", {"command": "make $X"})), text("ok")],
        ("ready", "go"),
        ("[approval]", "/always"),
        ("no rule is sure enough", "/yes"),
    )

    assert "ran make $X" in printed


def test_the_end_of_the_input_lets_the_turn_end_but_answers_no_question() -> None:
    printed = chat([calls(call("bash", {"command": "ls"})), text("never")], ("ready", "go"))

    assert "nobody can answer" in printed
    assert "never" not in printed


def test_ctrl_c_stops_the_turn_and_what_is_pending_is_on_hold_until_an_empty_line() -> None:
    printed = chat(
        [hang(), text("second answer")],
        ("ready", "go"),
        ("[step] 1", "/follow-up and then this"),
        ("[pending]", press_ctrl_c),
        ("[turn]", ""),
    )

    assert "[hold] 1 pending message on hold" in printed
    assert "[delivered]" in printed
    assert "second answer" in printed


def test_ctrl_c_twice_leaves_an_idle_chat() -> None:
    printed = chat([], ("ready", press_ctrl_c), ("again leaves", press_ctrl_c), ("never", ""))

    assert printed.endswith("[quit?] Ctrl+C again leaves\n")


def test_a_pending_message_can_be_dropped() -> None:
    printed = chat(
        [calls(call("bash", {"command": "wait"})), text("never")],
        ("ready", "go"),
        ("[approval]", "/yes"),
        ("running", "not this"),
        ("[pending]", "/drop 2"),
        ("[drop]", "/drop 1"),
        ("[dropped] not this", "/queue"),
        ("nothing is pending", "/stop now"),
        ("[turn]", "/quit"),
    )

    assert "not this" not in printed[printed.index("[dropped]") + 20 :]


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("/frobnicate", "there is no command /frobnicate"),
        ("/model nowhere/none", "[error]"),
        ("/mode quickly", "modes: ask, auto-edit"),
        ("/mode read-only", "[mode] read-only"),
        ("/thinking high", "[thinking] high"),
        ("/why", "[waiting for] idle"),
        ("/usage", "[session] 0 tokens in"),
        ("/compact", "not summarised: There is nothing to summarise"),
        ("/compact undo", "no summary to take back"),
        ("/yes", "nothing asks"),
        ("/always", "nothing asks"),
        ("/rules", "there are none"),
        ("/extend 5", "no budget asks"),
        ("/stop", "nothing is running"),
        ("/help", "/follow-up TEXT"),
    ],
)
def test_every_command_has_its_reply(line: str, reply: str) -> None:
    assert reply in chat([], ("ready", line), (reply, "/quit"))


def test_the_context_is_told_part_by_part_and_summarised_on_demand() -> None:
    printed = chat(
        [text("a" * 4000), text("b" * 400), text("SUMMARY")],
        ("ready", "first \x1b[31mquestion"),
        ("[turn]", "second"),
        ("bbbb", "/context"),
        ("[context] about", "/compact the colours"),
        ("messages summarised", "/compact undo"),
        ("the summary was taken back", "/quit"),
    )

    assert "\n    history: 1" in printed
    assert "\n    1k in history: " in printed
    assert "[context] older messages are being summarised" in printed
    assert "\x1b" not in printed


def test_the_last_line_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "abcd.jsonl"
    paper = Paper()
    session = Session.open(Agent("test/m", stream_fn=ScriptedModel([text("ok")])), path)

    run_linear(session, ["ready"], Typist(paper, [("ready", "hi"), ("[turn]", "/quit")]), paper)

    last = paper.getvalue().splitlines()[-1]
    assert last == f"[agent-tui] to go on: agent-tui chat --linear --resume {session.id}"


def test_a_message_that_begins_with_a_path_is_a_message() -> None:
    assert "[turn]" in chat([text("ok")], ("ready", "/usr/bin is missing"))


def test_templates_are_sent_and_everything_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "review.md").write_text("Review $1.")
    model = ScriptedModel([text("ok")])
    session = Session.open(Agent("test/m", stream_fn=model))
    session.wear(Outfit(load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path), []))
    paper = Paper()
    deeds = [("/help", "/review a.py"), ("[turn]", "/reload"), ("nothing has changed", "/quit")]

    run_linear(session, [], Typist(paper, deeds), paper)

    assert model.requests[0].messages[-1].text == "Review a.py."
