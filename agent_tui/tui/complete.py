"""What could stand at the cursor: slash commands, and files that git does not ignore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Completion:
    """One entry of the menu: put `insert` in place of the text from `start` to `end` (offsets)."""

    start: int
    end: int
    insert: str
    label: str
    detail: str = ""
    sends: bool = False
    """True when Enter on the entry also sends the text (a command that needs no argument)."""


@dataclass(frozen=True, slots=True)
class CommandHint:
    """A slash command as the menu shows it."""

    name: str
    """Without the slash."""
    summary: str
    takes_argument: bool = False
    choices: Callable[[], Sequence[str]] | None = None
    """The values its argument may have, if they can be listed."""


class Completer:
    """The hook for `Prompt.completions`: `prompt.completions = Completer(cwd, hints)`."""

    def __init__(self, cwd: Path, commands: Callable[[], Sequence[CommandHint]]) -> None:
        raise NotImplementedError

    async def __call__(self, text: str, cursor: int) -> Sequence[Completion]:
        """What could stand at `cursor`, best first, at most 50; never blocks the loop."""
        raise NotImplementedError
