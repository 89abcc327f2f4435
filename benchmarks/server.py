"""A model server on loopback that speaks as OpenAI does: `python -m benchmarks.server LOG`.

What it answers is said in the person's message:

    stream COUNT RATE #ID      COUNT tokens at RATE a second; 0 is as fast as they are read
    calls COUNT #ID COMMAND    COUNT calls of `bash`, one after the other, then a short text
    anything #ID               a short text

A token is four characters of markdown. A text begins with BEG<ID>X and ends with END<ID>X, which
are not in the question. One line of LOG for each request and for each end of an answer: the time on
the monotonic clock, `request` or `ended`, ID, step.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmarks.texts import mixed

_ASKED = re.compile(r"(?:(stream) (\d+) (\d+) |(calls) (\d+) )?#(\w+) ?(.*)", re.DOTALL)
_BURST = 16
"""Tokens in one write at full speed."""


@dataclass(frozen=True)
class Mark:
    """A line of the log."""

    at: float
    what: str
    id: str
    step: int


def first(id: str) -> str:
    return f"BEG{id}X"


def last(id: str) -> str:
    return f"END{id}X"


def tokens(count: int, id: str) -> list[str]:
    """An answer of `count` tokens."""
    head, tail = f"{first(id)}\n\n", f"\n\n{last(id)}"
    text = head + mixed(max(0, 4 * count - len(head) - len(tail))) + tail
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "b", "object": "chat.completion.chunk", "model": "bench", "choices": [choice]}
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


def _end(finish: str) -> bytes:
    usage = {"prompt_tokens": 1200, "completion_tokens": 300, "total_tokens": 1500}
    counted = json.dumps({"id": "b", "choices": [], "usage": usage}).encode()
    return _event({}, finish) + b"data: " + counted + b"\n\ndata: [DONE]\n\n"


async def _paced(pieces: list[str], rate: int) -> AsyncIterator[bytes]:
    """One event a token, `rate` a second."""
    began = time.monotonic()
    for number, piece in enumerate(pieces):
        wait = began + number / rate - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        yield _event({"content": piece})


async def _answer(asked: re.Match[str], step: int) -> AsyncIterator[bytes]:
    id, command = asked[6], asked[7]
    if asked[4] and step < int(asked[5]):
        # Each call differs, or the guard against identical calls would end the run.
        arguments = json.dumps({"command": f"{command.strip()} # {step}"})
        function = {"name": "bash", "arguments": arguments}
        call = {"index": 0, "id": f"c{id}-{step}", "type": "function", "function": function}
        yield _event({"role": "assistant", "tool_calls": [call]}) + _end("tool_calls")
        return
    pieces = tokens(int(asked[2]) if asked[1] else 12, id)
    if asked[1] and int(asked[3]):
        async for data in _paced(pieces, int(asked[3])):
            yield data
    else:
        events = [_event({"content": piece}) for piece in pieces]
        for start in range(0, len(events), _BURST):
            yield b"".join(events[start : start + _BURST])
    yield _end("stop")


def _question(request: dict[str, Any]) -> tuple[re.Match[str], int]:
    """What the person asked for last, and how many results have come since."""
    messages = request["messages"]
    place = max(n for n, message in enumerate(messages) if message["role"] == "user")
    content = messages[place]["content"]
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    asked = _ASKED.search(content)
    if asked is None:
        raise ValueError("no #ID in the question")
    return asked, sum(message["role"] == "tool" for message in messages[place:])


async def _serve(log: TextIO, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = re.search(rb"content-length: *(\d+)", head)
            body = await reader.readexactly(int(size[1]) if size else 0)
            if head.startswith(b"get"):  # what it serves, which the chat asks once
                writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                continue
            at = time.monotonic()
            asked, step = _question(json.loads(body))
            log.write(f"{at} request {asked[6]} {step}\n")
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            async for data in _answer(asked, step):
                writer.write(b"%x\r\n%b\r\n" % (len(data), data))
                await writer.drain()
            log.write(f"{time.monotonic()} ended {asked[6]} {step}\n")
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    writer.close()


async def _main(log: TextIO) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _serve(log, reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Server:
    """The server, seen from a measurement."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log = log

    def marks(self, id: str) -> list[Mark]:
        """What happened in the turn of this ID, in order."""
        words = map(str.split, self._log.read_text().splitlines())
        found = (Mark(float(at), what, of, int(step)) for at, what, of, step in words)
        return [mark for mark in found if mark.id == id]


@contextlib.contextmanager
def serving(place: Path) -> Iterator[Server]:
    """The server as a process of its own, which ends with the block."""
    log = place / "server.log"
    log.touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server", str(log)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", log)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a", buffering=1) as stream, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(stream))
