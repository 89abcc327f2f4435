"""Key echo: how long after a key press its letter is painted, at rest and while things stream.

The baseline is the chat at rest, in the same terminal.
"""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

from benchmarks.report import Report, Table, Target, percentile, ratio
from benchmarks.server import Server, first, last, serving
from benchmarks.terminal import READY, NotSeenError, Terminal, chat, folder, running

LETTERS = "zqxjvkwy"
"""Rare ones, so that a run of them is nobody else's text."""
RUN = 5
GAP_SECONDS = 0.15
STREAM_RATE = 100
FLOOD_RATE = 300
FLOOD = (
    "i=0; while [ $i -lt {bursts} ]; do seq -f '%g lines of output, as a build prints them' 1 1000;"
    " sleep 0.09; i=$((i+1)); done"
)
"""A thousand lines about ten times a second."""
_ids = itertools.count(100)


def keys(terminal: Terminal, seconds: float) -> list[float]:
    """Press a key every 150 ms for so long; milliseconds from each press to its letter."""
    chance = random.Random(7)
    until = time.monotonic() + seconds
    typed, echoes = "", []
    while time.monotonic() < until:
        if len(typed) >= 60:
            terminal.type("\x15")
            terminal.rest(0.3)
            typed = ""
        typed += chance.choice([letter for letter in LETTERS if letter != typed[-1:]])
        before, began = terminal.position, time.monotonic()
        terminal.type(typed[-1])
        try:
            seen = terminal.see(typed[-RUN:], after=before, seconds=3)
        except NotSeenError:
            echoes.append(3000.0)
        else:
            if len(typed) >= RUN:
                echoes.append((seen - began) * 1000)
        terminal.rest(began + GAP_SECONDS * chance.uniform(0.8, 1.2) - time.monotonic())
    terminal.type("\x15")
    terminal.rest(0.3)
    return echoes


Echoes = tuple[list[float], float]
"""Milliseconds of each key, and the CPU percent of the chat meanwhile."""


def measured(terminal: Terminal, seconds: float) -> Echoes:
    used, began = terminal.cpu(), time.monotonic()
    echoes = keys(terminal, seconds)
    return echoes, (terminal.cpu() - used) / (time.monotonic() - began) * 100


def at_rest_and_streaming(place: Path, server: Server, seconds: float) -> tuple[Echoes, Echoes]:
    id = str(next(_ids))
    with chat(place, server.url) as terminal:
        terminal.rest(2.0)
        at_rest = measured(terminal, seconds)
        terminal.ask(f"stream {int((seconds + 5) * STREAM_RATE)} {STREAM_RATE} #{id}")
        terminal.see(first(id))
        terminal.rest(1.0)
        return at_rest, measured(terminal, seconds)


def in_the_flood(place: Path, server: Server, seconds: float) -> tuple[Echoes, float, float]:
    """The echoes, by how many MB the memory has grown, and the lines a second that came."""
    id, other = str(next(_ids)), str(next(_ids))
    second = ("stream", str(int((seconds + 5) * FLOOD_RATE)), str(FLOOD_RATE), f"#{other}")
    with running(place, "-m", "benchmarks.flooded", server.url, *second) as terminal:
        terminal.see(READY)
        terminal.settle()
        terminal.rest(2.0)
        memory = terminal.memory()
        bursts = int((seconds + 3) * 10)
        terminal.ask(f"calls 1 #{id} {FLOOD.format(bursts=bursts)}")
        terminal.see(first(other))
        terminal.rest(1.0)
        echoes = measured(terminal, seconds)
        grown = terminal.memory() - memory
        terminal.see(last(id))
        called, answered = (mark.at for mark in server.marks(id)[1:3])
        return echoes, grown, bursts * 1000 / (answered - called)


def measure(quick: bool) -> Report:
    seconds = 4.0 if quick else 15.0
    with folder() as place, serving(place) as server:
        at_rest, streaming = at_rest_and_streaming(place, server, seconds)
        flooded, grown, lines = in_the_flood(place, server, seconds)
    base = percentile(at_rest[0], 0.5), percentile(at_rest[0], 0.95)
    rows = []
    for what, (echoes, cpu) in {
        "at rest": at_rest,
        f"{STREAM_RATE} tokens/s": streaming,
        f"{FLOOD_RATE} tokens/s + 10,000 lines/s": flooded,
    }.items():
        middle, high = percentile(echoes, 0.5), percentile(echoes, 0.95)
        rows.append(
            (
                what,
                f"{middle:.1f}",
                ratio(middle, base[0]),
                f"{high:.1f}",
                ratio(high, base[1]),
                f"{max(echoes):.1f}",
                str(len(echoes)),
                f"{cpu:.0f}",
            )
        )
    head = ("", "p50 ms", "÷ rest", "p95 ms", "÷ rest", "max ms", "keys", "CPU %")
    note = f"The flood had {lines:,.0f} lines/s; memory grew by {grown:.1f} MB"
    table = Table("Key echo: from the press to the painted letter", head, rows, note)
    high = percentile(flooded[0], 0.95)
    return Report([table], [Target("key echo p95 in the flood", high, 30, " ms")])
