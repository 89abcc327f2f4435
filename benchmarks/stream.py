"""Streaming: CPU time per token through the whole program, at full speed and at a reading pace.

The baseline is the bare wire: the same tokens, taken from the same server by the same provider,
and dropped.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

from agent_tui import Model
from agent_tui.core.messages import UserMessage
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import LlmContext, StreamError, StreamOptions
from benchmarks.report import Report, Table, Target, median, percentile, ratio
from benchmarks.server import Server, last, serving
from benchmarks.terminal import Terminal, chat, folder

COUNTS = (5_000, 20_000, 60_000)
RATE = 1_000
_ids = itertools.count(100)


async def wire(url: str, count: int, rate: int) -> float:
    """CPU seconds of this process for an answer that nobody looks at."""
    model = Model("bench", "bench", api="openai-chat", base_url=url)
    question = UserMessage(content=f"stream {count} {rate} #{next(_ids)}")
    began = time.process_time()
    async for event in stream_fn_for(model)(
        model, LlmContext(messages=[question]), StreamOptions()
    ):
        if isinstance(event, StreamError):
            raise RuntimeError(f"the wire failed: {event.message.error}")
    return time.process_time() - began


def burst(place: Path, server: Server, count: int) -> tuple[float, float, float]:
    """CPU seconds, wall seconds, and bytes painted for an answer at full speed."""
    id = str(next(_ids))
    with chat(place, server.url) as terminal:
        warm_up(terminal)
        before = terminal.written
        began, used = terminal.ask(f"stream {count} 0 #{id}")
        seen = terminal.see(last(id))
        terminal.settle()
        return terminal.cpu() - used, seen - began, float(terminal.written - before)


def warm_up(terminal: Terminal) -> None:
    """One short turn, after which everything is loaded."""
    id = str(next(_ids))
    terminal.ask(f"#{id}")
    terminal.see(last(id))
    terminal.rest(1.0)


def paced(place: Path, server: Server, seconds: float) -> tuple[list[float], float, float, float]:
    """CPU seconds by quarter and in all; lag of the end in ms; bytes painted; MB more."""
    id, count = str(next(_ids)), int(RATE * seconds)
    with chat(place, server.url) as terminal:
        warm_up(terminal)
        before, memory = terminal.written, terminal.memory()
        began, used = terminal.ask(f"stream {count} {RATE} #{id}")
        quarters = []
        for quarter in range(1, 5):
            terminal.rest(began + seconds * quarter / 4 - time.monotonic())
            now = terminal.cpu()
            quarters.append(now - used)
            used = now
        seen = terminal.see(last(id))
        terminal.settle()
        quarters.append(terminal.cpu() - used)
        ended = server.marks(id)[-1].at
        more = terminal.memory() - memory
        return quarters, (seen - ended) * 1000, float(terminal.written - before), more


def at_full_speed(place: Path, server: Server, repeats: int) -> tuple[Table, list[Target]]:
    rows, per_token = [], {}
    for count in COUNTS:
        runs = [burst(place, server, count) for _ in range(repeats)]
        cpu, wall, painted = (median(values) for values in zip(*runs, strict=True))
        bare = median([asyncio.run(wire(server.url, count, 0)) for _ in range(repeats)])
        per_token[count] = cpu / count
        rows.append(
            (
                f"{count:,} tokens",
                f"{cpu:.2f}",
                f"{cpu / count * 1e6:.1f}",
                f"{bare / count * 1e6:.1f}",
                ratio(cpu, bare),
                f"{wall:.2f}",
                f"{painted / count:.1f}",
            )
        )
    growth = per_token[COUNTS[-1]] / per_token[COUNTS[0]]
    head = ("", "CPU s", "µs/token", "wire µs", "÷ wire", "wall s", "bytes/token")
    title = f"Streaming at full speed (median of {repeats})"
    note = f"CPU per token at {COUNTS[-1]:,} ÷ at {COUNTS[0]:,}: {growth:.2f}; each further token: "
    note += ", ".join(
        f"{(per_token[b] * b - per_token[a] * a) / (b - a) * 1e6:.1f} µs ({a:,} → {b:,})"
        for a, b in itertools.pairwise(COUNTS)
    )
    return Table(title, head, rows, note), [
        Target("CPU per token, 60k ÷ 5k at full speed", growth, 1.3)
    ]


def at_a_pace(place: Path, server: Server, seconds: float, repeats: int) -> tuple[Table, Target]:
    runs = [paced(place, server, seconds) for _ in range(repeats)]
    bare = median(
        [asyncio.run(wire(server.url, int(RATE * seconds), RATE)) for _ in range(min(repeats, 2))]
    )
    quarters = [median(values) for values in zip(*(run[0] for run in runs), strict=True)]
    total = median([sum(run[0]) for run in runs])
    growth = quarters[3] / quarters[0]
    percent = " ".join(f"{cpu / seconds * 400:.1f}" for cpu in quarters[:4])
    lags = [run[1] for run in runs]
    rows = [
        ("chat: CPU s", f"{total:.2f}", ratio(total, bare)),
        ("wire: CPU s", f"{bare:.2f}", "1"),
        ("chat: CPU µs/token", f"{total / seconds / RATE * 1e6:.0f}", ""),
        ("chat: CPU % by quarter", percent, ""),
        ("4th ÷ 1st quarter", f"{growth:.2f}", ""),
        ("last token → screen, ms", f"{median(lags):.0f} (max {percentile(lags, 1):.0f})", ""),
        ("bytes painted/token", f"{median([run[2] for run in runs]) / seconds / RATE:.0f}", ""),
        ("memory grown, MB", f"{median([run[3] for run in runs]):.1f}", ""),
    ]
    title = f"Streaming at {RATE:,} tokens/s for {seconds:g} s (median of {repeats})"
    table = Table(title, ("", "", "÷ wire"), rows)
    return table, Target("CPU, 4th ÷ 1st quarter at 1,000 tokens/s", growth, 1.3)


def measure(quick: bool) -> Report:
    with folder() as place, serving(place) as server:
        asyncio.run(wire(server.url, 1_000, 0))  # loads what the wire needs
        fast, targets = at_full_speed(place, server, 1 if quick else 5)
        slow, target = at_a_pace(place, server, 10 if quick else 20, 1 if quick else 3)
    return Report([fast, slow], [*targets, target])
