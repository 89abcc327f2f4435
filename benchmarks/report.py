"""What a measurement gives: small tables, and how far the targets are met."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of text below a head; the first column is what was measured."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        lines = [list(self.head), *map(list, self.rows)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.head))]
        drawn = [
            "  ".join(
                cell.rjust(width) if place else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "─" * max(map(len, drawn))
        parts = [self.title, rule, drawn[0], rule, *drawn[1:]]
        return "\n".join([*parts, self.note] if self.note else parts)


@dataclass(frozen=True)
class Target:
    """A bound, and what was measured."""

    what: str
    value: float
    bound: float
    unit: str = ""

    @property
    def is_met(self) -> bool:
        return self.value <= self.bound


@dataclass(frozen=True)
class Report:
    """The tables of one measurement, and its targets."""

    tables: Sequence[Table]
    targets: Sequence[Target] = field(default_factory=tuple)


Measure = Callable[[bool], Report]
"""Takes whether to be quick; `Report` is the result."""


def targets_table(targets: Sequence[Target]) -> Table:
    rows = [
        (
            target.what,
            f"{target.value:.3g}{target.unit}",
            f"≤ {target.bound:g}{target.unit}",
            "pass" if target.is_met else "FAIL",
        )
        for target in targets
    ]
    return Table("Targets", ("", "measured", "target", ""), rows)


def calibration() -> float:
    """CPU seconds of an empty loop of 10 million additions: how fast this machine is now."""
    began, number = time.process_time(), 0
    for _ in range(10_000_000):
        number += 1  # noqa: SIM113 - the addition is what is timed
    return time.process_time() - began


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median, with the least and the greatest value."""
    low, middle, high = (
        f"{value:.{digits}f}" for value in (min(values), median(values), max(values))
    )
    return f"{middle} ({low}–{high})"


def ratio(value: float, baseline: float) -> str:
    return f"{value / baseline:.2f}" if baseline else "–"
