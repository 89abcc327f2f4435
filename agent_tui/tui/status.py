"""The two status lines: what they know (`Status`) and how they fit a width. Plain data, no widget.

Fields leave a narrow line in a fixed order, first to go first. Line of the turn: the activity,
tokens per second, the cached share, the tokens, the time, the try, the budget behind the cost, the
limit behind the step. Line of the session: its tokens, the bar, its budget, its cost, the window
behind the context. The turn's step and cost and the share of the context stay longest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from agent_tui.core.limits import Limits
from agent_tui.tui.figures import clip, clock, count, money, plural

State = Literal["idle", "running", "stopping", "retrying"]
Span = tuple[str, str]
"""Text and the theme role it is drawn in; an empty role is plain text."""

BAR_CELLS = 6
WARN_SHARE = 0.8


if TYPE_CHECKING:
    from agent_tui.core.spending import Spent
    from agent_tui.core.usage import Usage


def _nothing() -> Spent:
    # Imported when the first session is there: the first paint does without token counts.
    from agent_tui.core.spending import Spent

    return Spent()


@dataclass(slots=True)
class Counters:
    """What one turn, or the session, has used so far."""

    spent: Spent = field(default_factory=_nothing)
    """Sum over the finished model calls; before the first there is nothing to count."""
    steps: int = 0
    """Steps begun; a failed request and its repetitions are one."""
    arriving: int = 0
    """Estimated output tokens of the answer that is streaming."""
    limits: Limits = field(default_factory=Limits)
    """The budget; its cost is shown behind what was spent."""
    failures: int = 0
    """Requests that failed."""
    attempt: int = 1
    """Which try at the present step is going on, or was the last."""


@dataclass(slots=True)
class Status:
    """Everything the status lines show."""

    state: State = "idle"
    activity: str = ""
    """What is going on, in a few words: `thinking`, `bash`."""
    notice: str = ""
    """Stands first while it matters: `stopping… 1 s (ctrl+c: kill)`."""
    turn: Counters = field(default_factory=Counters)
    session: Counters = field(default_factory=Counters)
    max_steps: int | None = None
    seconds: float = 0.0
    """How long the turn has been running, or took."""
    tokens_per_second: float | None = None
    rate_is_estimate: bool = False
    context_tokens: int | None = None
    context_is_estimate: bool = False
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A piece of a line. The smaller `keep`, the earlier it gives way to `short` or to nothing."""

    text: str
    keep: int
    role: str = ""
    short: Field | None = None


def turn_fields(status: Status) -> list[Field]:
    """The fields of the first line, left to right."""
    turn = status.turn
    fields: list[Field] = []
    if status.notice:
        fields.append(Field(status.notice, 99, "stopping"))
    if turn.steps:
        limit = f"/{status.max_steps}" if status.max_steps else ""
        role = _step_role(status)
        plain = Field(f"step {turn.steps}", 92, role)
        fields.append(Field(f"{plain.text}{limit}", 88, role, plain) if limit else plain)
        if turn.attempt > 1 and status.state == "running":
            fields.append(Field(f"try {turn.attempt}", 60))
        fields.append(Field(clock(status.seconds), 50))
        share = _cached_share(turn.spent.usage)
        fields += _token_fields(turn, share)
        if status.tokens_per_second is not None:
            mark = "~" if status.rate_is_estimate else ""
            fields.append(Field(f"{mark}{status.tokens_per_second:.0f} tok/s", 20))
        if turn.spent.requests:
            fields.append(_cost_field("", turn, 90))
    elif status.state == "idle" and not status.notice:
        fields.append(Field("ready", 90, "quiet"))
    if status.activity:
        fields.append(Field(status.activity, 10, "activity"))
    return fields


def session_fields(status: Status) -> list[Field]:
    """The fields of the second line, left to right."""
    session = status.session
    started = session.spent.requests or not session.steps
    fields = [_cost_field("session ", session, 70) if started else Field("session", 70)]
    if session.spent.requests:
        fields.append(Field(f"{tokens_in(session)} {tokens_out(session)}", 40))
    fields.append(_context_field(status))
    return fields


def fit(fields: list[Field], width: int, label: str = "") -> list[Span]:
    """The fields joined by ` · `, as many as fit in `width` characters; the text is cut if none do.

    Fields give way in the order of their `keep`.
    """
    chosen = list(fields)
    while _length(chosen, label) > width:
        place = min(range(len(chosen)), key=lambda index: chosen[index].keep)
        shorter = chosen[place].short
        if shorter is None and len(chosen) == 1:
            break
        chosen[place : place + 1] = [shorter] if shorter else []
    spans: list[Span] = [(label, "quiet")] if label else []
    for place, item in enumerate(chosen):
        if place:
            spans.append((" · ", "quiet"))
        spans.append((item.text, item.role))
    return cut(spans, width)


def status_lines(status: Status, width: int) -> tuple[list[Span], list[Span]]:
    """Both lines for a terminal of `width` columns, one column free on each side."""
    room = max(1, width - 2)
    label = "turn  " if status.turn.steps and width >= 60 else ""
    return (
        fit(turn_fields(status), room, label),
        fit(session_fields(status), room),
    )


def summary_line(turn: Counters, seconds: float) -> str:
    """The dim line after a turn: `7 steps · 1m12s · ↑18.4k (91% cached) ↓2.1k · $0.043`."""
    spent = turn.spent
    tokens = f"{tokens_in(turn)}{_cached_share(spent.usage)} {tokens_out(turn)}"
    steps = plural(turn.steps, "step")
    if turn.failures:
        steps += f" ({plural(turn.failures, 'failed request')})"
    return " · ".join((steps, clock(seconds), tokens, cost_of(spent)))


def tokens_in(counters: Counters) -> str:
    """Tokens sent, cached ones included, with `?` or `≥` where they are not known."""
    return "↑" + _tokens(counters.spent.usage.prompt_tokens, counters, arriving=0)


def tokens_out(counters: Counters) -> str:
    """Tokens received; `~` while an answer is arriving, whose part is an estimate."""
    return "↓" + _tokens(counters.spent.usage.output, counters, arriving=counters.arriving)


def cost_of(spent: Spent) -> str:
    """The money; `$?` where nothing is known although tokens flowed, `*` for a price of one's own.

    What was cut short costs nothing for certain where the model is free.
    """
    if not spent.requests and spent.usage.is_empty:
        return "$0"
    usd = spent.usage.cost_usd
    mark = "*" if spent.has_own_price and usd is not None else ""
    return money(usd, incomplete=spent.cost_is_partial) + mark


def _token_fields(turn: Counters, share: str) -> list[Field]:
    """Tokens in and out; what has not been counted yet is left out."""
    if not turn.spent.requests:
        return [Field(tokens_out(turn), 45)] if turn.arriving else []
    up, down = tokens_in(turn), tokens_out(turn)
    plain = Field(f"{up} {down}", 45)
    return [Field(f"{up}{share} {down}", 40, "", plain) if share else plain]


def _cost_field(label: str, counters: Counters, keep: int) -> Field:
    """What was spent, of how much if there is a budget; a warning when that is nearly used up."""
    text, limit = f"{label}{cost_of(counters.spent)}", counters.limits.cost
    if limit is None:
        return Field(text, keep)
    is_near = (counters.spent.usage.cost_usd or 0.0) >= WARN_SHARE * limit
    role = "warning" if is_near else ""
    return Field(f"{text}/{money(limit)}", keep - 1, role, Field(text, keep, role))


def _tokens(known: int, counters: Counters, *, arriving: int) -> str:
    if arriving:
        return f"~{count(known + arriving)}"
    spent = counters.spent
    missing = spent.tokens_are_partial
    if not known and (missing or spent.requests):
        return "?"
    return f"≥{count(known)}" if missing else count(known)


def _cached_share(usage: Usage) -> str:
    if not usage.cache_read or not usage.prompt_tokens:
        return ""
    return f" ({usage.cache_read * 100 // usage.prompt_tokens}% cached)"


def _step_role(status: Status) -> str:
    if status.max_steps and status.turn.steps >= WARN_SHARE * status.max_steps:
        return "warning"
    return ""


def _context_field(status: Status) -> Field:
    used, window = status.context_tokens, status.context_window
    if used is None:
        return Field(f"context ?/{count(window)}" if window else "context ?", 95)
    mark = "~" if status.context_is_estimate else ""
    if not window:
        return Field(f"context {mark}{count(used)}/?", 95)
    share = used / window
    filled = min(BAR_CELLS, round(share * BAR_CELLS) or (1 if used else 0))
    bar = "▓" * filled + "░" * (BAR_CELLS - filled)
    figures = f"{mark}{count(used)}/{count(window)} {share:.0%}"
    role = "warning" if share >= WARN_SHARE else ""
    least = Field(f"context {mark}{share:.0%}", 95, role)
    plain = Field(f"context {figures}", 80, role, least)
    return Field(f"context {bar} {figures}", 60, role, plain)


def cut(spans: list[Span], width: int) -> list[Span]:
    """The spans up to `width` cells, the last one ending in `…` if something is left out."""
    kept: list[Span] = []
    room = width
    for text, role in spans:
        cells = cell_len(text)
        if cells > room:
            if room > 0:
                kept.append((clip(text, room), role))
            break
        kept.append((text, role))
        room -= cells
    return kept


def _length(fields: list[Field], label: str) -> int:
    return len(label) + sum(cell_len(item.text) for item in fields) + 3 * (len(fields) - 1)
