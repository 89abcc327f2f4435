"""The words of the demonstration, kept as Markdown in `texts.md` and `faq.md`.

In both files a line `@@ name` begins a text. A paragraph is one line, whatever its length. A word
in braces stands for a value.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from agent_tui.providers.demo.parts import BRISK, Say


def text(name: str, **values: str) -> str:
    """The text of that name with its values filled in."""
    found = _sections("texts.md")[name]
    for key, value in values.items():
        found = found.replace(f"{{{key}}}", value)
    return found


def lines(name: str) -> list[str]:
    """The text of that name as a list, one item a line."""
    return text(name).splitlines()


def say(name: str, words_per_second: float = BRISK, **values: str) -> Say:
    """The text of that name as a paragraph of its own."""
    return Say(f"{text(name, **values)}\n\n", words_per_second)


def say_next(done: int) -> Say:
    """How to go on after lesson `done`."""
    return Say(f"**Go on:** `next` — {lines('titles')[done]}.\n\n")


def answer_to(question: str) -> str | None:
    """What is known about a question; None if nothing is.

    Answers are named by the words that choose them, a regular expression; the first that occurs at
    the beginning of a word wins.
    """
    asked = question.lower()
    for words, answer in _sections("faq.md").items():
        if re.search(rf"\b(?:{words})", asked):
            return answer.replace("{connect}", text("connect"))
    return None


@cache
def _sections(file: str) -> dict[str, str]:
    source = Path(__file__).with_name(file).read_text("utf-8")
    parts = re.split(r"^@@ (.+)\n", source, flags=re.M)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
