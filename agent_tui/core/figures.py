"""Numbers as a person reads them: tokens, money, time. Unknown is `?`, never 0."""

from __future__ import annotations


def count(number: int) -> str:
    """A token count, short: `340`, `2.1k`, `18.4k`, `412k`, `1.2M`."""
    if number < 1000:
        return str(number)
    value, unit = (number / 1e3, "k") if number < 999_500 else (number / 1e6, "M")
    text = f"{value:.1f}" if value < 19.95 else f"{value:.0f}"
    return text.removesuffix(".0") + unit


def money(usd: float | None, *, incomplete: bool = False) -> str:
    """Dollars: `$0.043`, `$0.87`, `$?` if unknown, `≥$0.043` if some of it is unknown."""
    if usd is None:
        return "$?"
    mark = "≥" if incomplete else ""
    if usd == 0:
        return f"{mark}$0"
    if usd < 0.0001:
        return "<$0.0001" if not mark else "≥$0.0000"
    places = 4 if usd < 0.01 else 3 if usd < 0.1 else 2
    return f"{mark}${usd:.{places}f}"


def span(seconds: float) -> str:
    """How long something took: `0.4 s`, `14 s`, `1m12s`."""
    return f"{seconds:.1f} s" if seconds < 9.95 else clock(seconds + 0.5)


def clock(seconds: float) -> str:
    """Running time in whole seconds: `0 s`, `14 s`, `1m12s`, `2h05m`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def countdown(seconds: float) -> str:
    """When something is due: `in 4 s`, `now`; rounded alike wherever it is shown."""
    return "now" if seconds < 0.5 else f"in {clock(seconds + 0.5)}"


def plural(number: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
