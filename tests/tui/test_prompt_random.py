"""Any keys in any order leave a sane editor."""

from __future__ import annotations

import random

import pytest

from agent_tui.tui.history import History
from tests.tui.composer import Composer, composer

PIECES = [
    "a", "word ", "日本", "👨‍👩‍👧", "🇩🇪", "e\u0301", "\u200d", "\ufe0f", "(", "\t", "\\\r",
    "\n", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[1;2D", "\x1b[1;2C", "\x1b[1;2A",
    "\x1b[1;5D", "\x1b[1;5C", "\x1b[H", "\x1b[F", "\x1b[1;2H", "\x7f", "\x1b[3~", "\x17", "\x15",
    "\x0b", "\x1bd", "\x1a", "\x19", "\x18", "\x16", "\x12", "\x1b[27u", "\x13", "\x1bv", "\r",
    "\x1b[200~short\x1b[201~", "\x1b[200~" + "x\r" * 12 + "\x1b[201~",
    "\x1b[200~" + "long " * 500 + "\x1b[201~",
]  # fmt: skip


def assert_sane(it: Composer) -> None:
    prompt = it.prompt
    for row, column in prompt.selection:
        assert 0 <= row < prompt.document.line_count
        assert column in prompt.stops(row)
    for line in prompt.document.lines:
        assert line.count("[paste #") == len(prompt.chips.spans(line))
    assert prompt.expanded_text.encode().decode() == prompt.expanded_text


@pytest.mark.parametrize("size", [(80, 24), (12, 9)], ids=str)
@pytest.mark.parametrize("seed", range(3))
async def test_any_keys_in_any_order_leave_a_sane_editor(seed: int, size: tuple[int, int]) -> None:
    chooser = random.Random(seed)
    history = History()
    history.add("an old message")
    history.add("an old\nmessage 👨‍👩‍👧 of\nthree lines")

    async with composer(history, size) as it:
        for _ in range(25):
            burst = "".join(chooser.choices(PIECES, k=chooser.randint(1, 8)))
            await it.gets(burst)
            assert_sane(it)
