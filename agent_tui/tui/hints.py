"""The line that says what Enter, Alt+Enter, Ctrl+S and Esc do right now, and the header's text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_tui.config.keys import Place as KeyPlace
from agent_tui.core.figures import plural
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.status import Field, Span, fit

Place = Literal[
    "composer", "strip", "strip_on_hold", "editor", "cursor", "chord", "card", "held", "replay"
]

_PLACES: dict[str, KeyPlace] = {"strip": "strip", "strip_on_hold": "strip", "cursor": "blocks"}
MARK = "!"
"""What a shell command of the person's own begins with."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the hint line depends on."""

    running: bool = False
    stopping: bool = False
    has_draft: bool = False
    pending: int = 0
    can_continue: bool = False
    """Enter on the empty composer goes on with an interrupted turn."""
    stashed: bool = False
    unseen: bool = False
    """Something has arrived below the part of the transcript that is in view."""
    shell: str = ""
    """`!` or `!!`, if the draft is a shell command."""
    runs_command: bool = False
    """A shell command of the person's own is running."""
    vim: str = ""
    """NORMAL or INSERT, with Vim's keys."""
    found: str = ""
    """Which place of what was searched for is shown, in words; empty if nothing was."""
    on_failure: bool = False
    """The block cursor is on a turn that failed."""
    place: Place = "composer"


def mark_of(text: str) -> str:
    """How a command of one's own begins: `!`, `!!`; empty if the text is a message."""
    if not text.startswith(MARK):
        return ""
    return MARK * 2 if text.startswith(MARK * 2) else MARK


def hint_line(now: Situation, width: int, keymap: Keymap | None = None) -> list[Span]:
    """The hints that fit in `width` columns, the most useful ones kept longest."""
    keymap, place = keymap or Keymap(), _PLACES.get(now.place, "press")
    fields = [Field(keymap.shown(text, place), keep) for text, keep in _hints(now)]
    if now.vim and now.place in ("composer", "card", "held"):
        fields.insert(0, Field(now.vim, 92, "quiet"))
    if now.unseen and not now.found:
        key = "end" if not now.has_draft else "pgdn"
        fields.insert(0, Field(f"↓ new output below ({key})", 95, "activity"))
    return fit(fields, max(1, width - 2))


def all_hints(now: Situation, keymap: Keymap) -> list[str]:
    """What the keys do now, the most useful ones first."""
    place = _PLACES.get(now.place, "press")
    ordered = sorted(_hints(now), key=lambda hint: -hint[1])
    return [keymap.shown(text, place) for text, _ in ordered]


def _hints(now: Situation) -> list[tuple[str, int]]:
    match now.place:
        case "strip":
            return [
                ("alt+↑↓ select", 50),
                ("e edit", 80),
                ("d delete", 70),
                ("alt+shift+↑↓ move", 40),
                ("s lane", 60),
                ("ctrl+s now", 45),
                ("ctrl+z undo", 30),
                ("esc back", 90),
            ]
        case "replay":
            return [
                ("space pause", 80),
                ("→ next answer", 70),
                ("+ faster", 50),
                ("- slower", 50),
                ("/ search", 45),
                ("f6 blocks", 40),
                ("q leave", 90),
            ]
        case "strip_on_hold":
            return [
                ("enter sends all", 85),
                ("e all into one draft", 80),
                ("x discard all", 70),
                ("d delete", 60),
                ("ctrl+s this now", 45),
                ("ctrl+z undo", 30),
                ("esc back", 90),
            ]
        case "editor":
            return [("enter stores", 90), ("esc keeps the old text", 80), ("empty: deletes", 50)]
        case "cursor":
            return _cursor_hints(now)
        case "chord":
            return [("s stop after this step", 90), ("esc back", 80)]
        case "held" if not now.stopping:
            return [
                ("/yes", 78),
                ("/step", 76),
                ("/stop", 77),
                ("f2 loop", 50),
                ("enter steer", 80),
                ("esc stop", 90),
            ]
        case "card" if not now.stopping:
            return [
                ("/yes", 78),
                ("/always", 76),
                ("/no [comment]", 77),
                ("shift+tab mode", 50),
                ("alt+pgup/pgdn scroll", 40),
                ("enter steer", 80),
                ("esc stop", 90),
            ]
        case _:
            return _composer_hints(now)


def _cursor_hints(now: Situation) -> list[tuple[str, int]]:
    if now.found:
        return [
            (now.found, 96),
            ("n/N next", 92),
            ("enter view", 70),
            ("y copy", 60),
            ("/ search", 50),
            ("esc back", 90),
        ]
    if now.on_failure:
        return [
            ("r try again", 85),
            ("m another model", 80),
            ("enter details", 75),
            ("y copy", 60),
            ("esc back", 90),
        ]
    return [
        ("ctrl+↑↓ move", 60),
        ("space expand", 80),
        ("enter view", 70),
        ("y copy", 65),
        ("/ search", 55),
        ("r as written", 40),
        ("k kill this tool", 50),
        ("b to background", 35),
        ("o editor", 45),
        ("esc back", 90),
    ]


def _composer_hints(now: Situation) -> list[tuple[str, int]]:
    if now.stopping:
        return [("enter sends once stopped", 80), ("ctrl+c kill", 90)]
    if now.shell:
        seen = "the model does not see it" if now.shell == "!!" else "!! hides it from the model"
        return [("enter runs it in the shell", 90), (seen, 80), ("esc stops it", 60)]
    if now.runs_command and not now.running:
        return [("esc stops the command", 90), ("enter send", 80), ("f6 k stops one", 40)]
    if now.running:
        return [
            ("enter steer", 80),
            ("alt+enter follow up", 70),
            ("ctrl+s stop and send", 60),
            ("esc stop", 90),
            ("ctrl+j newline", 20),
            *((("alt+↑ pending", 40),) if now.pending else ()),
        ]
    hints = [("enter send", 90), ("ctrl+j newline", 50)]
    if not now.has_draft:
        if now.pending:
            hints = [("enter sends the pending", 90), ("alt+↑ select", 70)]
        elif now.can_continue:
            hints = [("enter goes on", 90)]
        else:
            hints += [
                ("/ commands", 60),
                ("! shell", 42),
                ("ctrl+p palette", 40),
                ("ctrl+d quit", 45),
            ]
    else:
        hints.append(("ctrl+s stash", 40))
    if now.stashed:
        hints.append(("ctrl+s brings the stash back", 55))
    return hints


@dataclass(frozen=True, slots=True)
class Heading:
    """What the header shows."""

    title: str
    folder: str
    branch: str | None
    model: str
    thinking: str
    mode: str
    unsaved: bool = False
    """Something is not on disk that should be."""
    is_shut_in: bool = False
    """Commands run in a sandbox."""
    holds: bool = False
    """Breakpoints are set."""
    jobs: int = 0
    """Commands that run in the background."""
    servers: str = ""
    """How many MCP servers are there; empty if all of them are."""
    has_broken_server: bool = False


def header_fields(heading: Heading) -> tuple[list[Field], list[Field]]:
    """The left and the right part of the header."""
    place = f"{heading.folder} ({heading.branch})" if heading.branch else heading.folder
    left = [Field(heading.title, 60, "title"), Field(place, 30, "quiet", Field(heading.folder, 31))]
    right = [Field(heading.model, 90, "model")]
    if heading.servers:
        role = "warning" if heading.has_broken_server else "quiet"
        right.insert(0, Field(heading.servers, 45, role))
    if heading.thinking != "off":
        right.append(Field(f"thinking {heading.thinking}", 40, "quiet"))
    if heading.is_shut_in:
        right.append(Field("sandbox", 45, "quiet"))
    if heading.holds:
        right.append(Field("breakpoint", 75, "activity"))
    if heading.jobs:
        right.append(Field(plural(heading.jobs, "job"), 70, "activity"))
    if heading.unsaved:
        right.append(Field("unsaved", 80, "warning"))
    right.append(Field(heading.mode, 50, "warning" if heading.mode == "full-auto" else "quiet"))
    return left, right


def header_line(heading: Heading, width: int) -> list[Span]:
    """One line of exactly `width` columns or fewer: left part, gap, right part."""
    left, right = header_fields(heading)
    room = max(1, width - 2)
    last = fit(right, room)
    taken = sum(len(text) for text, _ in last)
    if room - taken < 12:
        return last
    first = fit(left, room - taken - 2)
    gap = room - taken - sum(len(text) for text, _ in first)
    return [*first, (" " * gap, ""), *last]


def short_folder(path: Path, home: Path | None) -> str:
    """`path` with the home folder as `~` and all but the last two names left out."""
    if home is not None and path.is_relative_to(home):
        parts = path.relative_to(home).parts
        return (
            "~"
            if not parts
            else "/".join(("~", *(parts if len(parts) < 3 else ("…", *parts[-2:]))))
        )
    parts = path.parts
    return str(path) if len(parts) <= 3 else "/".join(("…", *parts[-2:]))


def git_branch(folder: Path) -> str | None:
    """The branch checked out at `folder` or above it; None outside git, a short id if detached."""
    for place in (folder, *folder.parents):
        dot_git = place / ".git"
        try:
            if dot_git.is_file():
                dot_git = place / dot_git.read_text("utf-8").removeprefix("gitdir:").strip()
            head = (dot_git / "HEAD").read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return None
