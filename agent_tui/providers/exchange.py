"""One request and its response, read by a task of its own.

The task alone owns the response and is cancelled at most once, by us: a second cancellation of the
consumer cannot interrupt its clean-up, which in httpx 0.28 would leak the connection for ever
(encode/httpx#3782). Once httpx cleans up, the task is left to end by itself. The consumer takes
everything that has arrived at once; when reads come thick, the task pauses between them, because
one wake-up costs more than reading thirty tokens.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from agent_tui.core.abort import AbortSignal
from agent_tui.core.errors import ProviderError
from agent_tui.providers.http import Connection, sent

PAUSE = 0.03
"""Seconds between two reads of a fast stream."""
_DENSE_READS = 16
_DENSE_SECONDS = 0.7
"""So many reads in so short a time make a fast stream: more than some twenty a second."""
_FLOOD_BYTES = 1 << 20
"""At so many bytes a second reads bring much anyway, and a pause would only slow them down."""
_AT_ONCE = 0.0001
"""Seconds within which a piece comes that was already in memory."""
_SOON = 0.002
_BUFFER_BYTES = 4 << 20
_INFLATED_BYTES = 256 << 10
_RELEASE_SECONDS = 1.0


class AbortedError(Exception):
    """The signal was set while we waited."""


class Exchange:
    """A request that is being sent, a GET without a body. Whoever made it awaits `close()`."""

    def __init__(
        self,
        connection: Connection,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        connect_limit: float,
        signal: AbortSignal,
    ) -> None:
        self._connection = connection
        self._request = (url, headers, body, connect_limit)
        self._signal = signal
        self.status = 0
        """HTTP status, known after `head()`."""
        self.headers: Mapping[str, str] = {}
        """Lower-case names, known after `head()`."""
        self._pieces: list[bytes] = []
        self._buffered = 0
        self._ended = False
        self._failure: Exception | None = None
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._hurry = asyncio.Event()
        self._is_released = self._is_closing = False
        loop = asyncio.get_running_loop()
        self._late_wake: asyncio.Handle = loop.call_soon(self._wake.set)
        self._task = loop.create_task(self._read(), name="provider-reader")
        connection.closing.add(self._task)
        self._task.add_done_callback(connection.closing.discard)
        self._forget = signal.on_set(lambda: loop.call_soon_threadsafe(self._wake.set))

    async def head(self, deadline: float) -> None:
        """Wait until `status` and `headers` are known.

        Raises:
            TimeoutError: Not by `deadline`, a time of the loop's clock.
            AbortedError: The signal was set.
            StaleConnectionError, AgentError: No answer.
        """
        await self._until(lambda: self.status > 0 or self._ended, deadline)
        if self.status == 0 and self._failure is not None:
            raise self._failure

    async def read(self, deadline: float) -> bytes:
        """All bytes that have arrived and were not yet read, at least one; empty at the end.

        Raises:
            TimeoutError: Nothing came by `deadline`, a time of the loop's clock.
            AbortedError: The signal was set.
            AgentError: The body broke off.
        """
        await self._until(lambda: bool(self._pieces) or self._ended, deadline)
        if self._pieces:
            data = b"".join(self._pieces)
            self._pieces.clear()
            self._buffered = 0
            self._room.set()
            return data
        if self._failure is not None:
            raise self._failure
        return b""

    async def read_all(self, deadline: float, limit_bytes: int) -> bytes:
        """The body as far as it comes by `deadline`, at most `limit_bytes` of it."""
        data = bytearray()
        try:
            while len(data) < limit_bytes and (piece := await self.read(deadline)):
                data += piece
        except (TimeoutError, ProviderError):
            pass
        return bytes(data[:limit_bytes])

    def hurry(self) -> None:
        """The answer is nearly over: do not pause any more."""
        self._hurry.set()

    def release(self) -> None:
        """All that matters has come: let the body end by itself, and keep the connection."""
        self._is_released = True
        self._hurry.set()
        self._room.set()

    async def close(self) -> None:
        """End the reader, and with it the socket, unless it was released. May be repeated."""
        self._forget()
        if self._task.done():
            return
        if self._is_released:
            late = asyncio.get_running_loop().call_later(_RELEASE_SECONDS, self._break_off)
            self._task.add_done_callback(lambda _: late.cancel())
            return
        self._break_off()
        await asyncio.wait([self._task])

    def _break_off(self) -> None:
        if not self._is_closing:
            self._task.cancel()

    def _closing(self) -> None:
        self._is_closing = True

    async def _until(self, is_ready: Callable[[], bool], deadline: float) -> None:
        while not self._signal.aborted:
            if is_ready():
                return
            self._wake.clear()
            async with asyncio.timeout_at(deadline):
                await self._wake.wait()
        raise AbortedError

    async def _read(self) -> None:
        try:
            async with sent(self._connection, *self._request, self._closing) as answer:
                inflate = _inflater(answer.headers.get("content-encoding", ""))
                self.status, self.headers = answer.status, answer.headers
                self._wake.set()
                pace = _Pace()
                async for raw in answer.pieces:
                    wants_a_pause = pace.wants_a_pause(len(raw)) and not self._hurry.is_set()
                    for piece in inflate(raw):
                        await self._keep(piece)
                    if wants_a_pause:
                        await self._pause()
                    else:
                        self._late_wake.cancel()
                        self._wake.set()
                    pace.wait_begins()
        except Exception as error:  # whatever it is, the consumer raises it
            self._failure = error
        finally:
            self._ended = True
            self._wake.set()

    async def _keep(self, piece: bytes) -> None:
        if self._is_released:
            return
        while self._buffered > _BUFFER_BYTES:
            self._room.clear()
            self._wake.set()
            await self._room.wait()
        self._pieces.append(piece)
        self._buffered += len(piece)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE):
                await self._hurry.wait()
        except TimeoutError:
            pass
        # What came meanwhile is read within the next turns of the loop, and wakes the consumer
        # together with this piece. If nothing came, the piece must not be forgotten.
        self._late_wake = asyncio.get_running_loop().call_later(_SOON, self._wake.set)


class _Pace:
    """Tells many small reads, between which a pause pays, from a trickle and from a flood."""

    def __init__(self) -> None:
        self._waits: deque[tuple[float, int]] = deque(maxlen=_DENSE_READS)
        self._total = 0
        self._just_paused = False
        self.wait_begins()

    def wait_begins(self) -> None:
        """The next piece is awaited from now on."""
        self._since = time.monotonic()

    def wants_a_pause(self, size: int) -> bool:
        """Whether to pause with this piece of `size` bytes in hand, before more is read.

        A piece that had to be waited for begins a read; those after it that come at once belong to
        the same read. The read right after a pause brings what came meanwhile.
        """
        now = time.monotonic()
        waited = now - self._since
        if waited > _AT_ONCE:
            self._waits.append((now, self._total))
            self._just_paused = not self._just_paused and waited < PAUSE and self._is_dense(now)
            self._total += size
            return self._just_paused
        self._total += size
        return False

    def _is_dense(self, now: float) -> bool:
        since, total = self._waits[0]
        seconds = now - since
        return (
            len(self._waits) == _DENSE_READS
            and seconds < _DENSE_SECONDS
            and self._total - total < _FLOOD_BYTES * seconds
        )


def _inflater(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """How to undo a content encoding, in pieces of bounded size however well it was compressed."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return lambda raw: iter((raw,))
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ProviderError(f"the server compressed its answer with {encoding!r}, unasked")
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def inflate(raw: bytes) -> Iterator[bytes]:
        while raw:
            try:
                piece = inflater.decompress(raw, _INFLATED_BYTES)
            except zlib.error as error:
                raise ProviderError(f"the server's compressed answer is damaged: {error}") from None
            raw = inflater.unconsumed_tail
            if piece:
                yield piece

    return inflate
