"""A server as the session has it: its tools as tools of the agent, everything else on request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Iterator
from typing import Any

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import TextBlock
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools.mcp.background import Background
from agent_tui.tools.mcp.connection import Connection, ServerError, Snapshot
from agent_tui.tools.mcp.content import resource_of, result_of, text_of_prompt
from agent_tui.tools.mcp.listing import RemoteTool
from agent_tui.tools.mcp.names import wire_name
from agent_tui.tools.mcp.targets import Target

UPDATE_SECONDS = 0.1
"""Progress is shown no more often."""
RESOURCES_NAMED = 30


class Server:
    """One server. Its methods belong to the thread of the session."""

    def __init__(self, target: Target, background: Background, changed: Callable[[], None]) -> None:
        """`changed` is called from the background thread when `snapshot` is another one."""
        self.target = target
        self._background = background
        self._connection = Connection(target, changed)

    @property
    def name(self) -> str:
        """As in the settings."""
        return self.target.name

    @property
    def snapshot(self) -> Snapshot:
        """How it is at this moment."""
        return self._connection.snapshot

    def log(self, count: int = 40) -> list[str]:
        """The last lines of its log, oldest first."""
        return self._connection.journal.tail(count)

    def start(self) -> None:
        """Connect, in the background, and stay connected."""
        self._background.submit(self._connection.run())

    def restart(self, show: Callable[[str], None] | None = None) -> None:
        """Connect anew; with `show`, by a login on a page that it is given."""

        async def restart() -> None:
            self._connection.restart(show)

        self._background.submit(restart())

    async def settled(self) -> None:
        """Return once it is ready, or has failed for good."""
        await self._background.ask(self._connection.settled())

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """The text that one of its prompts stands for.

        Raises:
            ServerError: There is none.
        """
        return text_of_prompt(await self._background.ask(self._connection.prompt(name, arguments)))

    def tools(self, taken: Collection[str]) -> Iterator[tuple[Tool, RemoteTool]]:
        """Its tools with names that are not in `taken`, each with what the server says of it."""
        names = {*taken}
        offer = self.snapshot.offer
        for remote in offer.tools:
            name = wire_name(self.name, remote.name, names)
            names.add(name)
            yield self._tool(name, remote), remote
        if offer.resources:
            remote = self._reader()
            yield self._read_tool(wire_name(self.name, remote.name, names), remote), remote

    def _tool(self, name: str, remote: RemoteTool) -> Tool:
        async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
            progress = _Progress(ctx)
            work = self._connection.call(remote.name, args, progress.tell)
            answer = await self._until_stopped(work, ctx.signal, remote.name)
            if isinstance(answer, ToolResult):
                return answer
            return await asyncio.to_thread(result_of, answer, self.target.output)

        return Tool(name, remote.description, remote.schema, execute)

    def _reader(self) -> RemoteTool:
        known = self.snapshot.offer.resources
        lines = [f"- {each.uri} ({each.name})" for each in known[:RESOURCES_NAMED]]
        if len(known) > RESOURCES_NAMED:
            lines.append(f"- and {len(known) - RESOURCES_NAMED} more")
        listed = "\n".join(lines)
        return RemoteTool(
            "read_resource",
            f"Read a resource of the MCP server {self.name} by its URI. There are:\n{listed}",
            {
                "type": "object",
                "properties": {"uri": {"type": "string", "description": "Which one."}},
                "required": ["uri"],
            },
            says_reading=True,
        )

    def _read_tool(self, name: str, remote: RemoteTool) -> Tool:
        async def execute(call_id: str, args: dict[str, Any], ctx: ToolContext) -> ToolResult:
            uri = str(args["uri"])
            answer = await self._until_stopped(self._connection.read(uri), ctx.signal, uri)
            if isinstance(answer, ToolResult):
                return answer
            return await asyncio.to_thread(resource_of, answer, self.target.output)

        return Tool(name, remote.description, remote.schema, execute)

    async def _until_stopped(
        self, work: Coroutine[Any, Any, Any], signal: AbortSignal, what: str
    ) -> Any:
        """What `work` gives; the result of the call if it fails, or is stopped by the person."""
        asked = self._background.submit(work)
        waiting = asyncio.ensure_future(asyncio.wrap_future(asked))
        stopped = asyncio.ensure_future(signal.wait())
        try:
            await asyncio.wait([waiting, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                asked.cancel()
                return _error(f"{what} was stopped; {self.name} has been told to cancel it.")
            return waiting.result()
        except ServerError as error:
            return _error(str(error))
        finally:
            stopped.cancel()
            waiting.cancel()


class _Progress:
    """Shows how far a call is, not too often."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._next = 0.0

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Take one notification of the server."""
        now = time.monotonic()
        is_last = total is not None and done >= total
        if now < self._next and not is_last:
            return
        self._next = now + UPDATE_SECONDS
        of = f"{done:g} of {total:g}" if total else f"{done:g}"
        self._ctx.on_update(f"{of} · {message[:500]}" if message else of)


def _error(sentence: str) -> ToolResult:
    return ToolResult([TextBlock(text=sentence)], is_error=True)
