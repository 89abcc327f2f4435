"""A tool call on the screen: a header that is always there, and as much output as its state asks.

The panel exists from the first token of the call. Output is kept as the tool reported it; only the
rows that are drawn are decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from agent_tui.core.text import printable
from agent_tui.tui.ansi import carried_by, decode, plain_line
from agent_tui.tui.block import Block, toggle_on_click
from agent_tui.tui.canvas import Canvas, Line, Run, cells_of, clip_runs
from agent_tui.tui.diff import diff_lines
from agent_tui.tui.figures import clock, plural, span
from agent_tui.tui.panels import group_target
from agent_tui.tui.partial_json import GrowingText
from agent_tui.tui.wrap import clip_start, width_of

ToolStatus = Literal["pending", "running", "ok", "failed", "declined", "killed"]

LIVE_LINES = 5
"""Lines of output that are shown while a tool runs, when nobody says otherwise."""
FAILED_LINES = 15
EXPANDED_LINES = 200
"""Lines that an expanded panel shows; all of them are in the viewer."""
SILENCE_SECONDS = 5
"""How long a tool is silent before the header says so."""

_TAIL_BY_TOOL = {"read": 0, "ls": 0, "edit": 0, "write": 0}
_TAIL = 3
_PATH_TOOLS = frozenset(("read", "write", "edit", "ls"))
_WORDS: dict[ToolStatus, str] = {
    "pending": "preparing",
    "running": "running",
    "ok": "done",
    "failed": "failed",
    "declined": "declined",
    "killed": "killed",
}
_GLYPHS: dict[ToolStatus, str] = {
    "pending": "○",
    "running": "●",
    "ok": "✓",
    "failed": "✗",
    "declined": "⊘",
    "killed": "■",
}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SPINS_PER_SECOND = 4
_NAME_WIDTH = 6
_LEAST_TARGET = 16
"""Cells of the target that are shown before the facts move to a row of their own."""
_GAP = 2
_PREVIEW_CHARACTERS = 2_000
_WRITTEN_CHARACTERS = 1_000_000
_COLOURED = re.compile("[\x1b\r\b]")
"""What makes a text look different from what it is."""


class ToolBlock(Block):
    """The panel of one tool call."""

    def __init__(self, call_id: str, name: str, target: str = "") -> None:
        super().__init__()
        self.call_id = call_id
        """The id that the model gave the call."""
        self.status: ToolStatus = "pending"
        self.path = ""
        """The file that the call reads or changes, as given; empty if it is about none."""
        self.tail_lines = LIVE_LINES
        """Lines of output that are shown while the tool runs."""
        self._name = plain_line(name)
        self._target = plain_line(target)
        self._members: Sequence[ToolBlock] = ()
        self._has_leader = False
        self._is_repaired = False
        self._arguments = GrowingText()
        self._waits_for = ""
        self._began = 0.0
        self._has_begun = False
        self._now = 0.0
        self._last_output = 0.0
        self._seconds: float | None = None
        self._text = ""
        self._line_count = 0
        self._summary = ""
        self._diff = ""

    @property
    def name(self) -> str:
        """The tool."""
        return self._name

    @property
    def target(self) -> str:
        """What the call is about."""
        return self._target

    @property
    def title(self) -> str:
        """The tool and its target in one line; of a group its tools and targets."""
        return f"{self._name} {self._shown_target}".rstrip()

    @property
    def members(self) -> Sequence[ToolBlock]:
        """The panels that this one stands for, itself the first; empty for a panel by itself."""
        return self._members

    @property
    def is_running(self) -> bool:
        """Whether the tool is at work."""
        return self.status == "running"

    @property
    def is_expandable(self) -> bool:
        """Whether there is a diff, a group, or more output than is shown."""
        if self._has_leader:
            return False
        if self.status == "pending":
            return self._arguments.line_count > max(1, self.tail_lines)
        return bool(self._diff or self._members) or (
            self.status not in ("pending", "running") and self._shown_lines > self._tail_length
        )

    @property
    def is_folded(self) -> bool:
        """Whether the panel of a group stands for it."""
        return self._has_leader

    @property
    def joins(self) -> bool:
        """Panels stand below each other without blank rows."""
        return True

    # What happens to the call

    @property
    def output(self) -> str:
        """What the tool has reported so far, as it did."""
        return self._text

    @property
    def lines_so_far(self) -> int:
        """How many lines it has printed, those that are not kept included; 0 if nobody counted."""
        return self._line_count

    @property
    def written(self) -> str:
        """The end of the long argument, such as the content of a file, as far as it has come."""
        return printable(self._arguments.tail(_WRITTEN_CHARACTERS))

    @property
    def diff(self) -> str:
        """What the call changed, as a unified diff; empty if it changed nothing."""
        return self._diff

    def name_target(self, name: str, target: str, path: str = "") -> None:
        """Set what the header says, once the arguments are known; `path` is the file they name."""
        self._name, self._target = plain_line(name), plain_line(target)
        self.path = path or self.path
        self.version += 1

    def arguments(self, raw_text: str) -> None:
        """The argument text so far, while the model generates it; may be half a JSON object."""
        self._arguments.feed(raw_text)
        self.version += 1

    def wait(self, reason: str) -> None:
        """The call waits, e.g. for an answer of the person; `start` ends that."""
        self._waits_for = plain_line(reason)
        self.status = "pending"
        self.version += 1

    def start(self, now: float) -> None:
        """The tool runs since `now` (seconds of the pacer's clock)."""
        self.expanded = False
        self._began = self._now = self._last_output = now
        self._has_begun = True
        self._waits_for = ""
        self.status = "running"
        self.version += 1

    def update(self, text: str, *, lines: int | None = None, now: float) -> None:
        """The output so far, or its tail; `lines` counts all of it when `text` is a tail."""
        self._text = text
        self._line_count = _count_lines(text) if lines is None else lines
        self._now = self._last_output = now
        self.version += 1

    def finish(
        self,
        status: ToolStatus,
        *,
        summary: str = "",
        text: str = "",
        details: Mapping[str, Any] | None = None,
        now: float | None = None,
    ) -> None:
        """The call has its result. `summary` is the size in the header: "exit 1 · 8 lines".

        A unified diff in `details["diff"]` is drawn as a diff. `now` None: no duration is known.
        """
        self.status = status
        self._summary = plain_line(summary)
        self._text = text
        diff = (details or {}).get("diff")
        self._diff = diff if isinstance(diff, str) else ""
        self._seconds = now - self._began if now is not None and self._has_begun else None
        self.version += 1

    def lead(self, members: Sequence[ToolBlock]) -> None:
        """Stand for all these panels, this one the first of them, in one line that expands."""
        self._members = members
        self._has_leader = False
        self.version += 1

    def fold(self) -> None:
        """Another panel stands for this one: it takes no rows of its own."""
        self._members = ()
        self._has_leader = True
        self.version += 1

    def repaired(self) -> None:
        """The call failed, and a later one made it good: one quiet line is enough."""
        self._is_repaired = True
        self.version += 1

    def tick(self, now: float) -> None:
        """Turn the spinner and the seconds."""
        self._now = now
        self.version += 1

    def source(self) -> str:
        """The header and the output, without colours; the diff if there is one."""
        if self._members:
            return "\n\n".join(member.text() for member in self._members)
        return self.text()

    def text(self) -> str:
        """The same for this panel alone, where it stands for others."""
        body = self._diff or self._text
        if not self._diff and _COLOURED.search(body):
            body = "\n".join(
                "".join(run.text for run in decode(line).runs) for line in body.split("\n")
            )
        return f"{self._name} {self._target}\n{printable(body)}".strip()

    # How it looks

    def estimate(self, width: int) -> int:
        """About how many rows there are."""
        if self._has_leader:
            return 0
        if self._members:
            return 1 + self.expanded * len(self._members)
        if self.status == "pending":
            return 1 + min(self.tail_lines, self._arguments.line_count)
        if self.status == "running":
            return 1 + self.tail_lines
        return 1 + min(EXPANDED_LINES if self.expanded else self._tail_length, self._shown_lines)

    def lines(self, canvas: Canvas) -> list[Line]:
        """The header and what is shown of the output; nothing of a folded panel."""
        if self._has_leader:
            return []
        if self._members:
            return self._group(canvas)
        lead = [canvas.outside("  "), canvas.outside("│ ", "panel-bar")]
        return [*self._header(canvas), *self._body(canvas, lead)]

    def _group(self, canvas: Canvas) -> list[Line]:
        """One line for all members; expanded, their headers below it."""
        head = self._header(canvas)
        if not self.expanded:
            return head
        inner = canvas.indented(canvas.outside("  "), canvas.outside("│ ", "panel-bar"))
        return [*head, *(line for member in self._members for line in member._alone(inner))]

    def _alone(self, canvas: Canvas) -> list[Line]:
        """The header of a member of a group."""
        return self._header(canvas, is_member=True)

    @property
    def _shown_target(self) -> str:
        if not self._members:
            return self._target
        calls = ((tool.name, plain_line(tool.path) or tool.target) for tool in self._members)
        return group_target(calls)

    def _header(self, canvas: Canvas, *, is_member: bool = False) -> list[Line]:
        click = toggle_on_click(self)
        left = [
            Run(f"{self._glyph(canvas)} ", canvas.style(f"tool-{self.status}") + click),
            Run(f"{self._name.ljust(_NAME_WIDTH)} ", canvas.style("tool-name") + click),
        ]
        arrow = ""
        if self.is_expandable and not is_member:
            arrow = (" ▾" if self.expanded else " ▸") + (" diff" if self._diff else "")
        role = f"tool-{self.status}" if self.status in ("failed", "declined", "killed") else "quiet"
        if self._is_repaired:
            role = "quiet"
        facts = self._facts() if is_member or not self._members else self._group_facts()
        right = [
            Run(" · ".join(facts), canvas.style(role) + click),
            Run(arrow, canvas.style("quiet") + click),
        ]
        shown = self._target if is_member else self._shown_target
        target = Run(shown, canvas.style("tool-target") + click)
        room = canvas.room - cells_of(left) - cells_of(right) - _GAP
        if room >= min(width_of(shown), _LEAST_TARGET):
            return [canvas.row([*left, self._cut(target, room)], right, gutter=2)]
        cut = self._cut(target, canvas.room - cells_of(left))
        return [
            canvas.row([*left, cut], gutter=2),
            canvas.row([Run("  "), *clip_runs(right, max(1, canvas.room - 2))], gutter=2),
        ]

    def _cut(self, target: Run, room: int) -> Run:
        """Of a path the end is kept, of anything else the beginning."""
        if self._name in _PATH_TOOLS and not self._members:
            return Run(clip_start(target.text, max(0, room)), target.style)
        return (clip_runs([target], max(0, room)) or [Run("")])[0]

    def _glyph(self, canvas: Canvas) -> str:
        if self.status == "running" and canvas.motion:
            return _SPINNER[int(self._now * _SPINS_PER_SECOND) % len(_SPINNER)]
        return _GLYPHS[self.status]

    def _group_facts(self) -> Iterator[str]:
        """What the right end of a group's header says."""
        yield _WORDS["ok"]
        lines = sum(member.line_count for member in self._members)
        if lines:
            yield plural(lines, "line")
        yield span(sum(member._seconds or 0 for member in self._members))

    @property
    def line_count(self) -> int:
        """How many lines the result has."""
        return self._shown_lines

    def _facts(self) -> Iterator[str]:
        """What the right end of the header says."""
        word = _WORDS[self.status]
        match self.status:
            case "pending":
                yield self._waits_for or word
                if self._arguments.line_count > 1:
                    yield plural(self._arguments.line_count, "line")
            case "running":
                yield word
                yield clock(self._now - self._began)
                if self._line_count:
                    yield plural(self._line_count, "line")
                if (silence := self._now - self._last_output) >= SILENCE_SECONDS:
                    yield (
                        f"last output {clock(silence)} ago" if self._line_count else "no output yet"
                    )
            case "declined":
                yield f"{word}: {self._summary}" if self._summary else word
            case _:
                yield f"{word}, then repaired" if self._is_repaired else word
                if self._summary:
                    yield self._summary
                if self._seconds is not None:
                    yield span(self._seconds)

    def _body(self, canvas: Canvas, lead: Sequence[Run]) -> list[Line]:
        if self.status == "pending":
            return self._preview(canvas, lead)
        if self.status == "running":
            return self._output(canvas, lead, self.tail_lines, wrapped=False)
        if not self.expanded:
            return self._output(canvas, lead, self._tail_length, wrapped=self.status == "failed")
        if self._diff:
            return diff_lines(self._diff, canvas, lead=lead, limit=EXPANDED_LINES)
        return self._output(canvas, lead, EXPANDED_LINES, wrapped=True)

    def _preview(self, canvas: Canvas, lead: Sequence[Run]) -> list[Line]:
        """The end of a long argument, such as the content of a file, as it grows."""
        if self._arguments.line_count < 2:
            return []
        if self.expanded:
            return self._last_rows(self.written, canvas, lead, EXPANDED_LINES, wrapped=True)
        text = printable(self._arguments.tail(_PREVIEW_CHARACTERS))
        return self._last_rows(text, canvas, lead, max(1, self.tail_lines), wrapped=False)

    def _output(
        self, canvas: Canvas, lead: Sequence[Run], count: int, *, wrapped: bool
    ) -> list[Line]:
        out: list[Line] = []
        hidden = self._shown_lines - count
        if wrapped and count and hidden > 0:
            noun = "earlier line" if hidden == 1 else "earlier lines"
            earlier = canvas.run(f"… {hidden:,} {noun}", "quiet")
            out.append(canvas.decoration([*lead, earlier]))
        return out + self._last_rows(self._text, canvas, lead, count, wrapped=wrapped)

    def _last_rows(
        self, text: str, canvas: Canvas, lead: Sequence[Run], count: int, *, wrapped: bool
    ) -> list[Line]:
        if not count or not text:
            return []
        text = text.removesuffix("\n")
        rows = text.rsplit("\n", count)[-count:]
        style = carried_by(text[: len(text) - sum(map(len, rows)) - len(rows) + 1])
        out: list[Line] = []
        for row in rows:
            decoded = decode(row, style)
            style = decoded.carried
            if wrapped and canvas.wraps:
                out += canvas.lines(decoded.runs, "tool-output", lead=lead, rest=lead)
            else:
                runs = clip_runs(decoded.runs, max(1, canvas.room - cells_of(lead)))
                out += canvas.lines(runs, "tool-output", lead=lead)
        return out

    @property
    def _shown_lines(self) -> int:
        return _count_lines(self._text)

    @property
    def _tail_length(self) -> int:
        match self.status:
            case "ok":
                return 0 if self._diff else _TAIL_BY_TOOL.get(self._name, _TAIL)
            case "failed":
                return 0 if self._is_repaired else FAILED_LINES
            case "killed":
                return LIVE_LINES
            case _:
                return 0


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0
