"""The processes that a command has started: who they are, and how they are ended.

Found by their process group, by descent, and by a mark in their environment (Linux). SIGTERM comes
at once, SIGKILL half a second later; a process that detached itself is named and left alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from agent_tui.core.text import printable

GRACE_SECONDS = 0.5
DEATH_SECONDS = 1.0
"""How long killed processes may take to disappear before they are named as survivors."""
MARK = "AGENT_TUI_COMMAND"
"""Environment variable that every process of one command inherits."""
_POLL_SECONDS = 0.015


@dataclass(frozen=True, slots=True)
class Process:
    """One process as it was when the table was read."""

    pid: int
    parent: int
    group: int
    started: str
    """Together with `pid` an identity: a number that is used again starts later."""
    command: str | None = None
    """Known already where reading it costs nothing extra."""

    @property
    def name(self) -> str:
        """Its command line as one printable line, shortened, with the pid."""
        words = self.command if self.command is not None else _command_line(self.pid)
        line = " ".join(printable(words).split()) or "a process"
        return f"{line[:79]}… (pid {self.pid})" if len(line) > 80 else f"{line} (pid {self.pid})"


@dataclass(slots=True)
class Ended:
    """What became of a command's processes."""

    ended: list[str] = field(default_factory=list)
    """Names of those that were ended, the shell first."""
    survivors: list[str] = field(default_factory=list)
    """Names of those that could not be ended."""
    detached: list[str] = field(default_factory=list)
    """Names of those that had left the command's tree before, and run on."""


def processes() -> list[Process]:
    """Every live process; a zombie is not one."""
    return list(_from_proc() if sys.platform == "linux" else _from_ps())


def tree(shell: int, table: Iterable[Process]) -> list[Process]:
    """Those of `shell`'s process group and its descendants, in the order of the table."""
    table = list(table)
    members = {shell} | {process.pid for process in table if process.group == shell}
    size = 0
    while size < len(members):
        size = len(members)
        members |= {process.pid for process in table if process.parent in members}
    return [process for process in table if process.pid in members]


def marked(mark: str, table: Iterable[Process]) -> list[Process]:
    """Those that carry the command's mark; needs Linux, elsewhere nobody."""
    wanted = f"{MARK}={mark}".encode()
    return [process for process in table if wanted in _environment(process.pid)]


def group_lives(group: int) -> bool:
    """Whether the process group has a member (perhaps only a zombie); cheap."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def left_behind(shell: int, mark: str) -> list[str]:
    """Names of what a command that has ended left running."""
    table = processes()
    known = {process.pid: process for process in tree(shell, table)}
    known |= {process.pid: process for process in marked(mark, table)}
    return [process.name for process in known.values() if process.pid != shell]


async def end_tree(shell: int, mark: str) -> Ended:
    """End a running command: the shell, its group, and all its descendants.

    Returns as soon as they are dead, at most about 1.5 seconds later; cancelling it kills them.
    """
    victims = tree(shell, processes())
    outcome = Ended([victim.name for victim in victims])
    _signal(shell, victims, signal.SIGTERM)
    try:
        await _gone(victims, GRACE_SECONDS)
        left = await _kill(shell, victims, outcome)
    except asyncio.CancelledError:
        _signal(shell, victims, signal.SIGKILL)
        raise
    outcome.survivors = [process.name for process in left]
    outcome.ended = [name for name in outcome.ended if name not in outcome.survivors]
    behind = left_behind(shell, mark)
    outcome.detached = [name for name in behind if name not in outcome.survivors]
    return outcome


async def _kill(shell: int, victims: list[Process], outcome: Ended) -> list[Process]:
    """Kill those who ignored SIGTERM or were started after the first look; returns who lives on."""
    deadline = time.monotonic() + DEATH_SECONDS
    left = _offspring(shell, victims)
    while left and time.monotonic() < deadline:
        late = [process for process in left if process not in victims]
        victims += late
        outcome.ended += [process.name for process in late]
        _signal(shell, left, signal.SIGKILL)
        await _gone(left, deadline - time.monotonic())
        left = _offspring(shell, victims)
    return left


def kill_tree_now(shell: int) -> None:
    """SIGKILL to the shell, its group and its descendants, without waiting for anything."""
    _signal(shell, tree(shell, processes()), signal.SIGKILL)


def _offspring(shell: int, victims: list[Process]) -> list[Process]:
    table = processes()
    found = {process.pid: process for victim in victims for process in tree(victim.pid, table)}
    found |= {process.pid: process for process in tree(shell, table)}
    return list(found.values())


def _signal(shell: int, victims: Iterable[Process], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(shell, number)
    for victim in victims:
        if victim.group != shell and _lives(victim):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(victim.pid, number)


async def _gone(victims: list[Process], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(_lives, victims)):
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _lives(process: Process) -> bool:
    if sys.platform != "linux":
        try:
            os.kill(process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    now = _stat(process.pid)
    return now is not None and now.started == process.started


def _from_proc() -> Iterator[Process]:
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            process = _stat(int(entry.name))
            if process is not None:
                yield process


def _stat(pid: int) -> Process | None:
    # The second field is the program's name in parentheses and may hold anything.
    fields = _entry(pid, "stat").rpartition(b")")[2].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[2]), fields[19].decode())


def _command_line(pid: int) -> str:
    return _entry(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace")


def _environment(pid: int) -> list[bytes]:
    return _entry(pid, "environ").split(b"\0")


def _entry(pid: int, name: str) -> bytes:
    """A file of /proc; empty if the process is gone or somebody else's."""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(descriptor, 65536), b""))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _from_ps() -> Iterator[Process]:
    """The table of `ps`, for systems without /proc."""
    columns = "pid=,ppid=,pgid=,stat=,command="
    listing = subprocess.run(
        ["ps", "-A", "-o", columns], capture_output=True, stdin=subprocess.DEVNULL, check=False
    ).stdout.decode("utf-8", "replace")
    for line in listing.splitlines():
        fields = line.split(maxsplit=4)
        if len(fields) == 5 and not fields[3].startswith("Z"):
            yield Process(int(fields[0]), int(fields[1]), int(fields[2]), "", fields[4])
