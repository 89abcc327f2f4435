"""Text as models write it, the same in every run."""

from __future__ import annotations

import random

SENTENCE = (
    "the agent reads each file then edits a function so that **tests** pass while keeping the"
    " `public_interface()` stable because callers depend on it"
)
WORDS = SENTENCE.split()
FRAME = 140
"""Bytes that arrive between two repaints, at some 400 tokens a second."""
CODE = """\
```python
def fetch(url: str) -> bytes:
    # The body at `url`.
    return get(url)
```"""


def prose(rng: random.Random, count: int) -> str:
    """So many words."""
    return " ".join(rng.choice(WORDS) for _ in range(count))


def mixed(size: int) -> str:
    """Headings, lists, tables, code and prose, in so many characters."""
    rng = random.Random(1)
    parts: list[str] = []
    length = 0
    while length < size:
        match rng.randrange(6):
            case 0:
                part = "## " + prose(rng, 5)
            case 1:
                part = "\n".join("- " + prose(rng, 10) for _ in range(5))
            case 2:
                rows = "\n".join(f"| {n} | {prose(rng, 4)} |" for n in range(6))
                part = f"| a | b |\n|--:|---|\n{rows}"
            case 3:
                part = CODE
            case _:
                part = prose(rng, 40)
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts)[:size]


def code(size: int) -> str:
    """One block of code."""
    lines = CODE.split("\n")[1:-1]
    return "```python\n" + "\n".join(lines * (size // 80 + 1))[: size - 10]
