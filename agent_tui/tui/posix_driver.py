"""The terminal as the program drives it: keys at once, pastes whole, everything put back.

Textual's driver looks for a lone Esc every 100 ms, stops on input that is no UTF-8, spins when the
terminal goes away and blocks when something paints while the screen is lent to an editor. This one
keeps its set-up and its writer and replaces the input loop.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from agent_tui.core.descriptors import copy_of
from agent_tui.tui import terminal
from agent_tui.tui.keys import InputReader

_READ_BYTES = 65_536
_TITLE = "\x1b]0;"
SMALLEST = (20, 6)
"""Columns and rows that are always drawn; a smaller terminal shows their upper left part.

Textual's widgets fail when nothing is left of their width.
"""


class PosixDriver(LinuxDriver):
    """Textual's driver for Linux and macOS with an input loop of its own."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        # Ways of its own to the terminal: the standard ones are put aside while it draws.
        self.fileno = copy_of(self.fileno)
        self._file = open(  # noqa: SIM115 - for as long as the program lives
            copy_of(self._output()), "w", encoding="utf-8", errors="replace", closefd=False
        )
        self._is_on = False
        self._title = ""
        self._stop_reader: socket.socket | None = None
        self._stop_writer: socket.socket | None = None

    def write(self, data: str) -> None:
        """Write to the terminal; nothing happens while it belongs to somebody else."""
        if data.startswith(_TITLE):
            self._title = data
        if self._is_on and self._writer_thread is not None:
            self._writer_thread.write(data)

    def process_message(self, message: Message) -> None:
        """Hand on what came in."""
        if isinstance(message, events.Resize):
            message = events.Resize(_drawn(message.size), _drawn(message.virtual_size))
        super().process_message(message)

    def start_application_mode(self) -> None:
        """Take the terminal: keys come in from here on."""
        terminal.hold(self.fileno, self._output())
        self._stop_reader, self._stop_writer = socket.socketpair()
        self._is_on = True
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(terminal.SAVE_TITLE)
        self.write(self._title)

    def resume_application_mode(self) -> None:
        """Take the terminal again, also after a stop signal that gave no time to let go of it."""
        if self._is_on:
            self.suspend_application_mode()
        super().resume_application_mode()
        repaint = partial(self._app.refresh, layout=True)
        self._loop.call_soon_threadsafe(self._app.call_later, repaint)

    def disable_input(self) -> None:
        """Take no more keys; returns when the input thread has ended."""
        if self._stop_writer is not None:
            self._stop_writer.close()
        super().disable_input()
        if self._stop_reader is not None:
            self._stop_reader.close()

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was, also those modes that Textual forgets."""
        if not self._is_on:
            return
        self.write(terminal.INPUT_MODES_OFF)
        super().stop_application_mode()
        self.write(terminal.RESTORE_TITLE)
        self._is_on = False
        terminal.release()

    def run_input_thread(self) -> None:
        """Hand on what the terminal sends until `disable_input`."""
        reader, stop = InputReader(), self._stop_reader
        assert stop is not None
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(stop, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select(reader.wait_seconds)]
                if stop in ready:
                    return
                if not ready:
                    found = reader.expire()
                elif data := self._read():
                    found = reader.feed(data)
                else:
                    self._hang_up()
                    return
                for message in found:
                    self.process_message(message)

    def _output(self) -> int:
        assert self._file is not None
        return self._file.fileno()

    def _read(self) -> bytes:
        """What the terminal has sent; empty when it is gone."""
        try:
            return os.read(self.fileno, _READ_BYTES)
        except OSError:
            return b""

    def _hang_up(self) -> None:
        """End the program as a hang-up signal does; one may not come when input is redirected."""
        if signal.getsignal(signal.SIGHUP) in (signal.SIG_DFL, signal.SIG_IGN, None):
            self._app.call_later(self._app.exit, return_code=128 + signal.SIGHUP)
        else:
            os.kill(os.getpid(), signal.SIGHUP)

    def _get_terminal_size(self) -> tuple[int, int]:
        """The size of what is drawn on; standard output and COLUMNS may speak of something else."""
        try:
            columns, rows = os.get_terminal_size(self._output())
        except OSError:
            columns, rows = 0, 0
        if not columns or not rows:
            columns, rows = super()._get_terminal_size()
        return _drawn(Size(columns, rows))


def _drawn(size: Size) -> Size:
    return Size(max(SMALLEST[0], size.width), max(SMALLEST[1], size.height))
