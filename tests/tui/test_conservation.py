"""G1: a text accepted by Enter is at every instant in exactly one place, whatever happens."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_tui.testing import Part, call, calls, fail, pause, text, think
from agent_tui.tui.blocks import UserBlock
from tests.tui.chat import Chat, Gate, chat

RESPONSES: dict[str, list[Part]] = {
    "answer": [text("an answer")],
    "slow": [think("hm"), pause(0.02), text("a slow answer", chunk=3)],
    "tool": [calls(call("bash", {"command": "x"}))],
    "silent": [pause(0.03), text("at last")],
    "fails": [text("half"), fail("auth", "refused")],
}
ACTS = st.sampled_from(
    [
        "enter",
        "alt+enter",
        "ctrl+s",
        "empty enter",
        "type",
        "escape",
        "ctrl+c",
        "gate",
        "wait",
        "alt+up",
        "d",
        "ctrl+z",
        "s",
        "e",
        "store",
        "alt+shift+up",
        "ctrl+x s",
    ]
)


def words(texts: list[str]) -> list[str]:
    return [word for item in texts for word in item.split() if word.startswith("w")]


def places(c: Chat) -> dict[str, list[str]]:
    """Where every word is, of those that were ever typed."""
    return {
        "composer": words([c.draft]),
        "strip": words(c.queued),
        "transcript": words(c.said),
        "stash": words(list(c.app.prompt.stashed)),
    }


class Typist:
    """Carries out acts; every text it sends has a word of its own."""

    def __init__(self, c: Chat, gate: Gate) -> None:
        self.c = c
        self.gate = gate
        self.typed: list[str] = []
        self.deleted: set[str] = set()

    async def act(self, name: str) -> None:
        c = self.c
        match name:
            case "enter" | "alt+enter" | "ctrl+s":
                if c.app.strip.editor is None and c.app.modes.mode == "none":
                    if c.app.prompt.is_blank:
                        self._type()
                    await c.press(name)
            case "empty enter":
                if c.app.strip.editor is None and c.app.prompt.is_blank:
                    await c.press("enter")
            case "type":
                if c.app.strip.editor is None and c.app.prompt.is_blank:
                    self._type()
            case "gate":
                self.gate.open.set()
                await c.pilot.pause()
                self.gate.open.clear()
            case "wait":
                await c.pilot.pause(0.02)
            case "store":
                if c.app.strip.editor is not None:
                    await c.press("enter")
            case "ctrl+x s":
                if c.app.strip.editor is None:
                    await c.press("ctrl+x", "s")
            case "d" | "s" | "e" | "ctrl+z":
                if c.app.modes.mode == "strip" and not (name == "e" and c.app.is_on_hold):
                    before = set(words(c.queued))
                    await c.press(name)
                    if name == "d":
                        self.deleted |= before - set(words(c.queued)) - set(words(c.said))
            case "alt+up" | "alt+shift+up":
                # Without pending messages these recall a copy of what was sent.
                if c.app.strip.editor is None and c.queued:
                    await c.press(name)
            case _:
                if c.app.strip.editor is None:
                    await c.press(name)

    def _type(self) -> None:
        word = f"w{len(self.typed)}"
        self.typed.append(word)
        self.c.app.prompt.set_text(word)

    def check(self) -> None:
        found = Counter(word for place in places(self.c).values() for word in place)
        lost = [word for word in self.typed if not found[word] and word not in self.deleted]
        doubled = [word for word, count in found.items() if count > 1]
        assert not lost, f"lost {lost}: {places(self.c)}"
        assert not doubled, f"doubled {doubled}: {places(self.c)}"


async def drive(acts: list[str], responses: list[str]) -> None:
    gate = Gate()
    script = [RESPONSES[name] for name in responses] + [[text("end")]] * 60
    async with chat(*script, tools=[gate.tool], size=(80, 30)) as c:
        typist = Typist(c, gate)
        for name in acts:
            await typist.act(name)
            typist.check()
        gate.open.set()
        if c.app.strip.editor is not None:
            await c.press("escape")
        c.session.abort()
        await c.idle()
        await c.pilot.pause()
        typist.check()
        shown = [b.source() for b in c.app.transcript.blocks if isinstance(b, UserBlock)]
        assert shown == c.said


@pytest.mark.parametrize(
    "acts",
    [
        pytest.param(["enter", "escape", "wait", "wait", "enter"], id="stopped-before-output"),
        pytest.param(["enter", "enter", "ctrl+s", "alt+enter", "gate", "wait"], id="send-now"),
        pytest.param(["enter", "alt+enter", "alt+up", "e", "gate", "store"], id="edit-past-end"),
        pytest.param(["enter", "enter", "alt+up", "d", "gate", "ctrl+z"], id="undo-after-end"),
        pytest.param(["enter", "ctrl+c", "enter", "ctrl+s", "wait"], id="sent-while-stopping"),
    ],
)
async def test_known_difficult_moments_lose_nothing(acts: list[str]) -> None:
    await drive(acts, ["tool", "silent", "tool"])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(
    acts=st.lists(ACTS, min_size=3, max_size=16),
    responses=st.lists(st.sampled_from(sorted(RESPONSES)), max_size=6),
)
def test_no_interleaving_of_keys_and_endings_loses_or_doubles_a_text(
    acts: list[str], responses: list[str]
) -> None:
    asyncio.run(drive(acts, responses))
