"""A server that is a program: its lines as messages, within bounds, and its certain end.

What is no message is logged and skipped. A line that is too long, or more rubbish than a mistake
explains, ends the connection; too many messages a second are read later.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from agent_tui.core.last_acts import at_last
from agent_tui.tools.mcp.journal import Journal
from agent_tui.tools.mcp.targets import Program
from agent_tui.tools.process import MARK, Process, marked, processes, tree

if TYPE_CHECKING:
    pass

LINE_BYTES = 32 * 1024 * 1024
RUBBISH_BYTES = 4 * 1024 * 1024
BYTES_A_SECOND = 32 * 1024 * 1024
MESSAGES_A_SECOND = 2000
LEAVE_SECONDS = 0.4
"""How long a server may take to end by itself once its input has ended; and then after SIGTERM."""
LAST_WORDS_SECONDS = 0.3
_CHUNK = 256 * 1024


class Pace:
    """So much a second, and then a pause."""

    def __init__(self, bytes_a_second: int, messages_a_second: int) -> None:
        self._limits = (bytes_a_second, messages_a_second)
        self._spent = [0, 0]
        self._since = 0.0

    async def keep(self, size: int, messages: int) -> None:
        """Count these, and wait for the next second if that was too much."""
        now = asyncio.get_running_loop().time()
        if now - self._since >= 1:
            self._since, self._spent = now, [0, 0]
        self._spent[0] += size
        self._spent[1] += messages
        if any(spent > limit for spent, limit in zip(self._spent, self._limits, strict=True)):
            await asyncio.sleep(self._since + 1 - now)


class ServerProcess:
    """One run of a server's program."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str, journal: Journal) -> None:
        self._process = process
        self._mark = mark
        self._journal = journal
        self.problem = ""
        """Why the connection was given up, if the server's own end is not the reason."""

    @property
    def pid(self) -> int:
        """Of the server's first process, which leads its group."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """How it ended, as a clause."""
        code = self._process.returncode
        if self.problem:
            return self.problem
        if code is None:
            return "it closed its output"
        return f"it ended with {f'exit code {code}' if code >= 0 else f'signal {-code}'}"

    async def messages(self) -> AsyncIterator[Any]:
        """Every message that it sends, until its output ends or makes no sense."""
        from mcp.types import jsonrpc_message_adapter

        rubbish = 0
        async for line in self._lines():
            text = line.strip()
            if not text:
                continue
            try:
                # Whatever begins otherwise cannot be a message: most rubbish costs no parsing.
                message = jsonrpc_message_adapter.validate_json(text) if text[:1] == b"{" else None
            except ValueError:
                message = None
            if message is not None:
                rubbish = 0
                yield message
                continue
            rubbish += len(line)
            self._journal.add(text[:1000].decode("utf-8", "replace"), "stdout, no message")
            if rubbish > RUBBISH_BYTES:
                self.problem = f"it printed {rubbish // 1024**2} MiB that are no messages"
                return

    async def _lines(self) -> AsyncIterator[bytes]:
        out = self._process.stdout
        assert out is not None
        pace = Pace(BYTES_A_SECOND, MESSAGES_A_SECOND)
        rest: list[bytes] = []
        size = 0
        while chunk := await out.read(_CHUNK):
            *whole, last = chunk.split(b"\n")
            for line in whole:
                yield b"".join([*rest, line])
                rest, size = [], 0
            rest.append(last)
            size += len(last)
            if size > LINE_BYTES:
                self.problem = f"it sent a line of more than {LINE_BYTES // 1024**2} MiB"
                return
            await pace.keep(len(chunk), len(whole))

    async def log_errors(self) -> None:
        """Log what it prints on stderr, to its end."""
        errors = self._process.stderr
        assert errors is not None
        pace = Pace(BYTES_A_SECOND // 8, MESSAGES_A_SECOND)
        rest = b""
        while chunk := await errors.read(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            rest = rest[:_CHUNK]
            for line in whole[-1000:]:
                self._journal.add(line[:2000].decode("utf-8", "replace"), "stderr")
            await pace.keep(len(chunk), len(whole))
        self._journal.add(rest[:2000].decode("utf-8", "replace"), "stderr")

    async def send(self, message: Any) -> None:
        """Write one message.

        Raises:
            OSError: It does not read any more.
        """
        into = self._process.stdin
        assert into is not None
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        into.write(text.encode("utf-8", "replace") + b"\n")
        await into.drain()

    async def ended(self) -> None:
        """Return once its first process has ended, whoever still holds its output."""
        # `Process.wait` would also wait for children that hold the output open.
        while self._process.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.2)

    async def end(self) -> None:
        """Let it leave, then end it and all that it has started."""
        with suppress(OSError, RuntimeError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            if await self._left(LEAVE_SECONDS):
                return
            self._signal(signal.SIGTERM)
            await self._left(LEAVE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            await self._left(LEAVE_SECONDS)  # until it is known to be dead
            transport = getattr(self._process, "_transport", None)
            if transport is not None:
                transport.close()

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        self._signal(signal.SIGKILL)

    async def _left(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self._process.returncode is None:
            if loop.time() > deadline:
                return False
            await asyncio.sleep(0.01)
        return not self._members()

    def _members(self) -> list[Process]:
        table = processes()
        found = {process.pid: process for process in table if process.group == self.pid}
        if self._process.returncode is None:
            found |= {process.pid: process for process in tree(self.pid, table)}
        return [*(found | {process.pid: process for process in marked(self._mark, table)}).values()]

    def _signal(self, number: signal.Signals) -> None:
        for process in self._members():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)


@asynccontextmanager
async def started(program: Program, journal: Journal) -> AsyncIterator[ServerProcess]:
    """Start the program; it and its children have ended when the block is left.

    Raises:
        OSError: It cannot be started.
    """
    mark = secrets.token_hex(12)
    process = await asyncio.create_subprocess_exec(
        *program.command,
        cwd=program.cwd,
        env={**program.environ, MARK: mark},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    server = ServerProcess(process, mark, journal)
    forget = at_last(server.kill)
    try:
        yield server
    finally:
        ending = asyncio.ensure_future(server.end())
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait([ending])
            raise
        finally:
            forget()


@asynccontextmanager
async def streams_of(
    server: ServerProcess, on_end: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The server's messages as the two streams that the SDK works with.

    `on_end` is called when no further message will come.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    into, received = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    to_send, outgoing = anyio.create_memory_object_stream["SessionMessage"](0)

    async def receive() -> None:
        async with into:
            async for message in server.messages():
                await into.send(SessionMessage(message))
            # Its last words come over another pipe, and belong to what is said about its end.
            await asyncio.wait([errors, ends], timeout=LAST_WORDS_SECONDS)

    async def transmit() -> None:
        async with outgoing:
            async for item in outgoing:
                await server.send(item.message)

    errors = asyncio.ensure_future(server.log_errors())
    ends = asyncio.ensure_future(server.ended())
    receiving = asyncio.ensure_future(receive())
    sending = asyncio.ensure_future(transmit())

    async def watch() -> None:
        await asyncio.wait([sending, ends, receiving], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait([receiving], timeout=2 * LAST_WORDS_SECONDS)
        receiving.cancel()
        on_end()

    watching = asyncio.ensure_future(watch())
    tasks = [watching, errors, ends, receiving, sending]
    try:
        yield received, to_send
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (into, received, to_send, outgoing):
            stream.close()
