"""The `edit` tool: exact replacement of text in a file, everything else byte for byte as it was.

The byte order mark is no part of the text. Given with plain newlines, text is found in files whose
lines end in CRLF, and what replaces it ends its lines as the file does.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolResult
from agent_tui.tools.diff import Diff, unified
from agent_tui.tools.files import content_of
from agent_tui.tools.memory import FileMemory
from agent_tui.tools.paths import Refused, real_path, shown
from agent_tui.tools.read import BOM
from agent_tui.tools.slots import Slots

COMPARED_LINES = 20_000
COMPARED_CHARACTERS = 200
STALE = "The file was changed on disk since it was read: read it again before going on."
_ENCODING = ("utf-8", "surrogateescape")  # bytes that are no UTF-8 come out as they went in

DESCRIPTION = """Replace text in a file. `old` must match exactly, white space included, and \
occur once; add surrounding lines until it does, or set `replace_all`. Both texts are literal, no \
patterns. For several changes of one file give `edits`: they are made one after another, each in \
the result of the one before, and either all of them or none. Read the file first. Line ends, byte \
order mark and permissions are kept."""

_TEXT = {
    "old": {"type": "string", "description": "The exact text to replace"},
    "new": {"type": "string", "description": "What stands there instead; may be empty"},
}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory"},
        **_TEXT,
        "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
        "edits": {
            "type": "array",
            "description": "Several replacements, instead of old and new",
            "items": {
                "type": "object",
                "properties": _TEXT,
                "required": ["old", "new"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def edit_tool(cwd: Path, slots: Slots, memory: FileMemory) -> Tool:
    """The `edit` tool for a project in `cwd`."""

    def edit(call_id: str, args: dict[str, Any], signal: AbortSignal) -> ToolResult:
        name = args["path"]
        real = real_path(name, cwd)
        with slots.writing(real, signal):
            before = content_of(real, name, signal)
            stale = memory.is_stale(real, before)
            outcome = edited(before, args, is_stale=stale)
            change = outcome.diff(before, shown(real, cwd))
            memory.check_shown(call_id, name, change)
            memory.change(real, name, before, outcome.data, signal)
        count = len(outcome.lines)
        places = ", ".join(map(str, outcome.lines[:10])) + (", …" if count > 10 else "")
        return ToolResult(
            f"Replaced {count} occurrence{'' if count == 1 else 's'} in {name} "
            f"(line{'' if count == 1 else 's'} {places}).{f' {STALE}' if stale else ''}",
            details={
                "path": name,
                "diff": change.bounded(),
                "added": change.added,
                "removed": change.removed,
                "stale": stale,
            },
        )

    return Tool("edit", DESCRIPTION, PARAMETERS, slots.run_named(edit))


def preview(args: dict[str, Any], cwd: Path) -> Diff:
    """What the call would change. Raises `Refused` or `OSError` as the call would."""
    real = real_path(args["path"], cwd)
    before = content_of(real, args["path"], AbortSignal())
    return edited(before, args).diff(before, shown(real, cwd))


@dataclass(frozen=True, slots=True)
class Edited:
    """The outcome of all replacements."""

    data: bytes
    lines: list[int]
    """Where each replacement was made, counted from 1 when it was made."""

    def diff(self, before: bytes, name: str) -> Diff:
        """What changed."""
        return unified(before.decode(*_ENCODING), self.data.decode(*_ENCODING), name)


def edited(before: bytes, args: dict[str, Any], *, is_stale: bool = False) -> Edited:
    """`before` with the replacements that `args` ask for.

    Raises `Refused` if one of them cannot be made; then none is. It says so if `is_stale`: the file
    is not what it was when it was read.
    """
    try:
        return _edited(before, args)
    except Refused as refusal:
        raise Refused(f"{refusal} {STALE}" if is_stale else str(refusal)) from None


def _edited(before: bytes, args: dict[str, Any]) -> Edited:
    name = args["path"]
    if b"\0" in before:
        raise Refused(f"{name} is a binary file; edit changes text in UTF-8.")
    mark = BOM if before.startswith(BOM) else b""
    text = before[len(mark) :].decode(*_ENCODING)
    pairs = _pairs(args)
    lines: list[int] = []
    for number, (old, new) in enumerate(pairs, 1):
        where = f"Edit {number} of {len(pairs)}: " if len(pairs) > 1 else ""
        text, places = _replaced(text, old, new, bool(args.get("replace_all")), where, name)
        lines += places
    data = mark + text.encode(*_ENCODING)
    if data == before:
        raise Refused(f"The replacement leaves {name} as it is.")
    return Edited(data, lines)


def _pairs(args: dict[str, Any]) -> list[tuple[str, str]]:
    single = args.get("old") or args.get("new")
    edits = args.get("edits") or []
    if bool(single) == bool(edits):
        raise Refused("Give either old and new, or edits.")
    items = edits or [{"old": args.get("old") or "", "new": args.get("new") or ""}]
    pairs = [(_encodable(item["old"]), _encodable(item["new"])) for item in items]
    if not all(old for old, _ in pairs):
        raise Refused("The text to replace is empty; use write to fill a file.")
    return pairs


def _encodable(text: str) -> str:
    """`text` without a byte order mark at its start and without halves of characters."""
    return text.removeprefix("\ufeff").encode("utf-8", "replace").decode("utf-8")


def _replaced(
    text: str, old: str, new: str, everywhere: bool, where: str, name: str
) -> tuple[str, list[int]]:
    """The text after one replacement, and the lines where it was made."""
    any_line_end = "\r\n" in text or ("\r\n" in old and old not in text)
    find = _spans_any_line_end if any_line_end else _spans
    spans = list(find(text, old))
    if not spans:
        raise Refused(f"{where}{_not_found(text, old, name)}")
    lines = list(_line_numbers(text, spans))
    if len(spans) > 1 and not everywhere:
        places = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
        raise Refused(
            f"{where}The text occurs {len(spans)} times in {name} (lines {places}); nothing was "
            "changed. Give more of the lines around it, or set replace_all."
        )
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        if start < end:  # overlaps the one before
            continue
        fitted = new.replace("\r\n", "\n").replace("\n", _line_end(text, start, stop))
        parts += [text[end:start], fitted if any_line_end else new]
        end = stop
    return "".join([*parts, text[end:]]), lines


def _spans(text: str, old: str) -> Iterator[tuple[int, int]]:
    """Where `old` stands in `text`, overlapping places included."""
    start = text.find(old)
    while start >= 0:
        yield start, start + len(old)
        start = text.find(old, start + 1)


def _spans_any_line_end(text: str, old: str) -> Iterator[tuple[int, int]]:
    """The same, with CRLF and LF taken as equal; the places are those of `text` itself."""
    plain = text.replace("\r\n", "\n")
    shortened = [start - place for place, (start, _) in enumerate(_spans(text, "\r\n"))]
    for start, stop in _spans(plain, old.replace("\r\n", "\n")):
        yield start + bisect_left(shortened, start), stop + bisect_left(shortened, stop)


def _line_end(text: str, start: int, stop: int) -> str:
    """How the lines of a place end: in it, else next after it, else last before it."""
    newline = text.find("\n", start)
    if newline < 0:
        newline = text.rfind("\n", 0, stop)
    return "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"


def _line_numbers(text: str, spans: list[tuple[int, int]]) -> Iterator[int]:
    line, counted = 1, 0
    for start, _ in spans:
        line += text.count("\n", counted, start)
        counted = start
        yield line


def _not_found(text: str, old: str, name: str) -> str:
    """What to say when `old` is not there, with the place that was probably meant."""
    lines = text.replace("\r\n", "\n").split("\n")
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    sentence = f"The text was not found in {name}; nothing was changed."
    number = _place_but_for_white_space(lines, wanted)
    if number is not None:
        found = "\n".join(lines[number : number + len(wanted)])
        return f"{sentence} Line {number + 1} differs only in white space. It reads:\n{found}"
    number = _closest(lines, max(wanted, key=lambda line: len(line.strip())))
    if number is None:
        return f"{sentence} Read the file again."
    return f"{sentence} The closest line is {number + 1}:\n{lines[number]}"


def _place_but_for_white_space(lines: list[str], wanted: list[str]) -> int | None:
    have, want = [" ".join(line.split()) for line in lines], [" ".join(w.split()) for w in wanted]
    for start in range(len(have) - len(want) + 1):
        if have[start] == want[0] and have[start : start + len(want)] == want:
            return start
    return None


def _closest(lines: list[str], wanted: str) -> int | None:
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted.strip()[:COMPARED_CHARACTERS])
    best, best_ratio = None, 0.6
    for number, line in enumerate(lines[:COMPARED_LINES]):
        matcher.set_seq1(line.strip()[:COMPARED_CHARACTERS])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = number, ratio
    return best
