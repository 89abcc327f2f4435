"""Sessions on disk: opening a long one, adding to one, and finding one among very many.

The baseline of opening is a start that opens the session of a single question, in the same run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from agent_tui import AssistantMessage, TextBlock, UserMessage
from agent_tui.config import find_folders
from agent_tui.core.messages import AgentMessage
from agent_tui.session.catalogue import SessionCatalogue
from agent_tui.session.journal.entries import Entry, Header
from agent_tui.session.journal.journal import Journal
from agent_tui.session.journal.repair import write_session
from agent_tui.session.journal.store import SessionStore
from benchmarks.memory import messages
from benchmarks.report import Report, Table, Target, median, percentile, ratio, spread
from benchmarks.terminal import READY, environment, folder, running
from benchmarks.texts import mixed

LENGTH = 10_000
SESSIONS = 10_000
LAST_WORDS = "Theverylastwordsofall"
"""One word: the terminal paints what stands between words as it likes."""
RARE = "zyzzyva"
SPREAD_FOLDERS = 20


def store_of(place: Path) -> SessionStore:
    """Where the chat that runs in `place` keeps its sessions."""
    return SessionStore(find_folders(environment(place)).sessions, place / "project")


def write(path: Path, said: Iterable[AgentMessage], cwd: Path) -> None:
    """A session file with these messages in a row."""
    entries: list[Entry] = []
    for message in said:
        parent = entries[-1].id if entries else None
        entries.append(Entry("message", {}, parent, message.id, message.timestamp, message))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_session(path, Header(path.stem, str(cwd), 0), entries)


def opening(place: Path, session_id: str) -> tuple[float, float, float, float]:
    """Milliseconds until the composer and until the transcript is painted: wall, CPU of each."""
    began = time.monotonic()
    with running(place, "-m", "agent_tui", "chat", "--resume", session_id) as terminal:
        ready = terminal.see(READY) - began
        used = terminal.cpu()
        shown = terminal.see(LAST_WORDS) - began
        return ready * 1000, used * 1000, shown * 1000, terminal.cpu() * 1000


def measure_opening(place: Path, repeats: int) -> tuple[Table, Target]:
    store = store_of(place)
    last = AssistantMessage(content=[TextBlock(text=LAST_WORDS)])
    lengths = {"short": 0, "long": LENGTH - 2}
    for name, count in lengths.items():
        said = [*messages(count), UserMessage(content="And?"), last]
        write(store.folder / f"{name}.jsonl", said, store.cwd)
    runs: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in lengths}
    for turn in range(repeats + 1):  # in turns, so that they share the weather
        for name, found in runs.items():
            figures = opening(place, name)
            if turn:  # the first one compiles modules
                found.append(figures)
    columns = {name: [*zip(*found, strict=True)] for name, found in runs.items()}
    rows = [
        (f"{lengths[name] + 2:,} messages", *(spread(values) for values in found))
        for name, found in columns.items()
    ]
    extra = (median(columns["long"][0]) - median(columns["short"][0])) / 1000
    size = (store.folder / "long.jsonl").stat().st_size / 2**20
    head = ("", "composer, ms", "CPU ms", "transcript, ms", "CPU ms")
    title = f"Opening a session of {size:.1f} MB (median of {repeats}, least–greatest)"
    return Table(title, head, rows), Target("first paint, long − short session", extra, 0.5, " s")


def measure_adding(place: Path, count: int) -> tuple[Table, Target]:
    """What an entry costs, against the bare writing of its line."""
    journal = Journal.new(place / "adding" / "s.jsonl", place, durable=False)
    journal.add_message(UserMessage(content="Begin"))
    costs: list[float] = []
    for message in messages(count):
        began = time.perf_counter()
        journal.add_message(message)
        costs.append((time.perf_counter() - began) * 1000)
    journal.close()
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    bare: list[float] = []
    with (place / "adding" / "bare").open("ab", buffering=0) as file:
        for line in lines:
            began = time.perf_counter()
            file.write(line)
            bare.append((time.perf_counter() - began) * 1000)
    rows = [
        (name, f"{median(found):.3f}", f"{percentile(found, 0.95):.3f}", ratio(median(found), base))
        for base in [median(bare)]
        for name, found in (("a bare write()", bare), ("an entry", costs))
    ]
    table = Table(f"Adding {count:,} entries, no fsync", ("", "p50 ms", "p95 ms", "÷ bare"), rows)
    return table, Target("adding an entry, p50", median(costs), 0.2, " ms")


def measure_finding(place: Path, count: int, repeats: int) -> tuple[Table, Target]:
    """Building the index over so many sessions, and searching with it."""
    store = SessionStore(place / "many", place / "project")
    for number in range(count):
        said = f"{mixed(300)} {RARE if number == count // 2 else ''} number{number}"
        answer = AssistantMessage(content=[TextBlock(text=mixed(700))])
        cwd = place / f"project{number % SPREAD_FOLDERS}"
        path = store.root / f"{number % SPREAD_FOLDERS:016x}" / f"s{number:07}.jsonl"
        write(path, [UserMessage(content=said), answer], cwd)
    catalogue = SessionCatalogue(store)
    began = time.perf_counter()
    catalogue.items("x", everywhere=True)
    built = time.perf_counter() - began
    rows = [("index missing", f"{built:.2f}", "")]
    slowest = 0.0
    for name, words in (
        ("nothing", ""),
        ("a rare word", RARE),
        ("two letters", "nu"),
        ("two words", "the number7"),
    ):
        found, costs = 0, []
        for _ in range(repeats):
            began = time.perf_counter()
            found = len(catalogue.items(words, everywhere=True))
            costs.append(time.perf_counter() - began)
        rows.append((name, spread(costs, 2), f"{found:,}"))
        slowest = max(slowest, median(costs))
    title = f"Searching {count:,} sessions (median of {repeats})"
    return Table(title, ("", "s", "found"), rows), Target("search, index there", slowest, 1, " s")


def measure(quick: bool) -> Report:
    repeats = 3 if quick else 7
    with folder() as place, tempfile.TemporaryDirectory(prefix="agent-tui-bench-") as other:
        parts = [
            measure_opening(place, repeats),
            measure_adding(Path(other), 3_000 if quick else 10_000),
            measure_finding(Path(other), SESSIONS, repeats),
        ]
    return Report([table for table, _ in parts], [target for _, target in parts])
