"""The terminal around the screen: whether it is fit, its title, and how it is put back.

Loads no Textual: `agent-tui reset` and the check before the start need none. The process has one
terminal, so what is known about it is kept once, here.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Literal, TextIO

from agent_tui.core.descriptors import copy_of, lead_nowhere
from agent_tui.core.last_acts import do_last_acts
from agent_tui.core.text import printable

try:
    import termios
except ImportError:  # Windows: its console is restored by Textual's own driver.
    termios = None  # type: ignore[assignment]

MINIMUM_COLUMNS = 30
MINIMUM_ROWS = 8

SAVE_TITLE = "\x1b[22;0t"
RESTORE_TITLE = "\x1b[23;0t"

INPUT_MODES_OFF = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l"  # focus, bracketed paste, resize reports
)
"""Stops everything that makes a terminal send more than keys."""

RESET = (
    INPUT_MODES_OFF
    + "\x1b[<u\x1b[>4;0m"  # kitty keyboard (kept per screen: before the screen is left), xterm's
    + "\x1b[?2026l\x1b[?1049l"  # synchronised output, alternate screen
    + "\x1b[?7h\x1b[?25h\x1b[0m"  # wrapping, cursor, colours
    + RESTORE_TITLE
)
"""Switches off every mode the program can have switched on, and shows the cursor."""

State = Literal["idle", "working", "needs you", "failed"]
_MARK_BY_STATE: Mapping[State, str] = {
    "idle": "",
    "working": "● ",
    "needs you": "? ",
    "failed": "✗ ",
}


def unfit_reason(
    stdin: TextIO | None, stdout: TextIO | None, stderr: TextIO | None, environ: Mapping[str, str]
) -> str | None:
    """Why the chat cannot run on these streams, as a sentence with a way out; None when it can.

    Standard output may go anywhere: the screen is drawn on standard error.
    """
    way_out = 'For one prompt without a screen: agent-tui run "…"'
    if not _is_terminal(stdin):
        return f"The chat reads keys from a terminal, but standard input is none. {way_out}"
    if not _is_terminal(stderr):
        return f"The chat draws on standard error, but that goes to no terminal. {way_out}"
    if (name := environ.get("TERM", "")) in ("dumb", "unknown"):
        return f"TERM={name} names a terminal that cannot show a screen. Lines: --linear. {way_out}"
    return None


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def size_reason(columns: int, rows: int) -> str | None:
    """Why a window of this size is too small, as a sentence; None when it is large enough."""
    if columns >= MINIMUM_COLUMNS and rows >= MINIMUM_ROWS:
        return None
    return (
        f"This window has {columns}×{rows} characters, the chat needs "
        f"{MINIMUM_COLUMNS}×{MINIMUM_ROWS}. Make it larger."
    )


def title_sequence(title: str, state: State = "idle") -> str:
    """The control sequence that sets the window's title, `state` as a mark in front of it.

    Anything unprintable is left out; at most 100 characters are shown.
    """
    words = " ".join(printable(title).split())
    return f"\x1b]0;{_MARK_BY_STATE[state]}{words[:100]}\x07"


@dataclass(slots=True)
class _Held:
    """A terminal that the program has changed, and how it was before."""

    output: int
    input: int
    settings: list[Any] | None
    excepthook: Callable[[type[BaseException], BaseException, TracebackType | None], Any]
    standard: dict[int, int]
    """Copies of the descriptors 0, 1 and 2, by their numbers."""


_held: _Held | None = None


def hold(input_fd: int, output_fd: int) -> None:
    """Remember how the terminal is, before it is changed, so that every way out puts it back.

    From now on the end of the interpreter and an uncaught exception do so, the exception before it
    is printed. `release` ends this. Until then the descriptors 0, 1 and 2 lead nowhere, so that a
    program that somebody starts without a thought for them neither writes into the screen nor takes
    keys away; `input_fd` and `output_fd` must be others.
    """
    global _held
    if _held is not None:
        return
    settings = None
    if termios is not None:
        try:
            settings = termios.tcgetattr(input_fd)
        except termios.error:  # not a terminal: nothing to remember
            settings = None
    _held = _Held(output_fd, input_fd, settings, sys.excepthook, _put_aside())
    sys.excepthook = _put_back_and_report
    atexit.register(put_back)


def release() -> None:
    """The terminal has been put back by its driver."""
    global _held
    if _held is None:
        return
    if sys.excepthook is _put_back_and_report:
        sys.excepthook = _held.excepthook
    atexit.unregister(put_back)
    for number, copy in _held.standard.items():
        os.dup2(copy, number)
        os.close(copy)
    _held = None


def _put_aside() -> dict[int, int]:
    """Point the standard descriptors to nowhere; returns copies of what they were."""
    copies: dict[int, int] = {}
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):  # one that was closed has no copy
            copies[number] = copy_of(number)
        lead_nowhere(number)
    return copies


def put_back() -> None:
    """Put the terminal back now, if the program holds it; safe at any time, any number of times."""
    held = _held
    if held is None:
        return
    release()
    _restore(held.input, held.output, held.settings)


def _put_back_and_report(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    report = _held.excepthook if _held is not None else sys.__excepthook__
    put_back()
    report(kind, error, trace)


def _restore(input_fd: int, output_fd: int, settings: list[Any] | None) -> None:
    try:
        os.write(output_fd, RESET.encode())
    except OSError:  # the terminal is gone
        return
    if termios is not None and settings is not None:
        try:
            termios.tcsetattr(input_fd, termios.TCSANOW, settings)
        except termios.error:  # the terminal is gone
            return


def reset() -> None:
    """Write RESET and give the controlling terminal sane line settings: `agent-tui reset`."""
    try:
        file = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:  # no controlling terminal: what can be written may still reach one
        sys.stderr.write(RESET)
        return
    try:
        settings = None
        if termios is not None:
            settings = termios.tcgetattr(file)
            settings[0] |= termios.BRKINT | termios.ICRNL | termios.IXON
            settings[1] |= termios.OPOST | termios.ONLCR
            settings[3] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
        _restore(file, file, settings)
    finally:
        os.close(file)


def on_signals(call: Callable[[int], None], *, grace_seconds: float = 5.0) -> Callable[[], None]:
    """Call `call(number)` on the running loop at SIGTERM, SIGHUP or SIGINT; the result undoes it.

    The first signal asks for an orderly end (exit code 128 + number). A second one, or
    `grace_seconds` without an end, puts the terminal back and leaves at once. Must be called in the
    main thread.
    """
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def leave_at_once(number: int) -> None:
        put_back()
        do_last_acts()
        os._exit(128 + number)

    # A plain handler rather than the loop's own: it runs even while the loop is busy.
    def handle(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            leave_at_once(received[0])
        timer = threading.Timer(grace_seconds, leave_at_once, [number])
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(call, number)

    numbers = [
        getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)
    ]
    earlier = {number: signal.signal(number, handle) for number in numbers}

    def undo() -> None:
        for number, handler in earlier.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)

    return undo
