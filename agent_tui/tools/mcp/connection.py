"""One server: connected in the background, asked, and connected again when it is lost.

Everything here happens on the loop of the background thread, except `snapshot`, which is replaced
as a whole and may be read from anywhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from agent_tui.core.text import printable
from agent_tui.tools.mcp.journal import Journal
from agent_tui.tools.mcp.listing import Offer, offer_of
from agent_tui.tools.mcp.login import LoginFailed, LoginNeeded, new_login, stored_login
from agent_tui.tools.mcp.stdio import ServerProcess, started, streams_of
from agent_tui.tools.mcp.targets import Endpoint, Program, Target

if TYPE_CHECKING:
    import httpx2
    from mcp import Client

State = Literal["starting", "ready", "waiting", "failed", "login"]
DELAYS = (0.5, 2.0, 5.0, 15.0, 30.0)
"""Seconds before a lost server is connected again; after the last one it stays away."""
STEADY_SECONDS = 60.0
"""A server that was there so long may begin anew with the first delay."""
RENEW_SECONDS = 0.3
"""Lists are asked for no more often than this, however often they change."""
CANCEL_SECONDS = 1.0
WAKE_SECONDS = 10.0
"""How long a call waits for a server that is being connected again."""
_TRY_ANEW = (-32022, -32601, -32600)
"""What a server of a later protocol answers to the greeting of the present one."""


class ServerError(Exception):
    """Why something that was asked of a server did not come about, as a sentence."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a server is at one moment."""

    state: State = "starting"
    problem: str = ""
    """Why it is not there, or was not there last."""
    about: str = ""
    """What the server says it is: name and version."""
    offer: Offer = field(default_factory=Offer)


class Connection:
    """A server that is there, or on its way."""

    def __init__(self, target: Target, changed: Callable[[], None]) -> None:
        """`changed` is called, on the background loop, whenever `snapshot` is another one."""
        self.target = target
        self.journal = Journal(target.log)
        self.snapshot = Snapshot()
        self._changed = changed
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._status = 0
        """Of the last answer by HTTP."""
        self._show: Callable[[str], None] | None = None
        """Shows the page of a login that somebody asked for."""
        self._lost = asyncio.Event()
        self._wake = asyncio.Event()
        self._stale = asyncio.Event()
        self._settled = asyncio.Event()
        """It is ready, or will not be without a word from the person."""

    # -- life --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        quiet_logs()
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            self._set(state="starting")
            began = loop.time()
            try:
                await self._live()
            except asyncio.CancelledError:
                raise
            except Exception as error:  # the SDK, a server, the network: whatever it is, it is told
                problem = self._sentence(error)
            else:
                problem = self._ending()
            was_ready = self.snapshot.state == "ready"
            self._settled.clear()
            if self._wake.is_set():
                failures = 0
                continue
            self.journal.add(problem, "agent-tui")
            failures = failures + 1 if loop.time() - began < STEADY_SECONDS else 1
            if (was_ready or failures > 1) and failures <= len(DELAYS) and self._status != 401:
                self._set(state="waiting", problem=problem)
                await self._sleep(DELAYS[failures - 1])
                continue
            failures = 0
            self._set(state="login" if self._status == 401 else "failed", problem=problem)
            self._settled.set()
            await self._wake.wait()

    def restart(self, show: Callable[[str], None] | None = None) -> None:
        """Connect anew, at once; with `show`, by a new login."""
        self._show = show
        self._settled.clear()
        self._wake.set()
        self._lost.set()

    async def settled(self) -> None:
        """Return once it is ready, or has failed for good."""
        await self._settled.wait()

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)

    async def _live(self) -> None:
        """Be connected until the server is lost."""
        self._lost.clear()
        self._stale.clear()
        self._status = 0
        async with AsyncExitStack() as stack:
            show, self._show = self._show, None
            seconds = self.target.start_seconds + (300 if show else 0)
            try:
                async with asyncio.timeout(seconds):
                    client = await self._open(stack, show)
                    offer = await offer_of(client, self.target)
            except TimeoutError:
                raise ServerError(f"it was not ready within {seconds:g} s") from None
            self._client = client
            try:
                info = client.server_info
                about = f"{info.name} {info.version}" if info is not None else ""
                self._set(state="ready", problem="", about=printable(about)[:100], offer=offer)
                self._settled.set()
                renewing = asyncio.ensure_future(self._renew(client))
                try:
                    await self._lost.wait()
                finally:
                    renewing.cancel()
            finally:
                self._client = None
                self._settled.clear()

    async def _open(self, stack: AsyncExitStack, show: Callable[[str], None] | None) -> Client:
        from mcp import MCPError

        inner = AsyncExitStack()
        try:
            try:
                client = await self._connect(inner, "legacy", show)
            except MCPError as error:
                if error.error.code not in _TRY_ANEW or self._status == 401:
                    raise
                await inner.aclose()
                client = await self._connect(inner, "auto", None)
        except BaseException:
            await inner.aclose()
            raise
        stack.push_async_exit(inner)
        return client

    async def _connect(
        self, stack: AsyncExitStack, mode: str, show: Callable[[str], None] | None
    ) -> Client:
        from mcp import Client
        from mcp.types import Implementation

        place = self.target.place
        transport = (
            await self._transport_of_program(stack, place)
            if isinstance(place, Program)
            else await self._transport_of_address(stack, place, show)
        )
        client = Client(
            transport,
            mode=mode,
            list_roots_callback=self._roots,
            logging_callback=self._logged,
            message_handler=self._noticed,
            client_info=Implementation(name="agent-tui", version="1"),
            cache=None,
        )
        return await stack.enter_async_context(client)

    async def _transport_of_program(self, stack: AsyncExitStack, place: Program) -> Any:
        try:
            process = await stack.enter_async_context(started(place, self.journal))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ServerError(f"{place.command[0]} cannot be started: {reason}") from error
        self._process = process
        return streams_of(process, self._lost.set)

    async def _transport_of_address(
        self, stack: AsyncExitStack, place: Endpoint, show: Callable[[str], None] | None
    ) -> Any:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        self._process = None
        auth: httpx2.Auth | None = None
        if place.tokens is not None:
            auth = stored_login(place.url, place.tokens)
            if show is not None:
                auth = await stack.enter_async_context(new_login(place.url, place.tokens, show))

        async def answered(response: httpx2.Response) -> None:
            self._status = response.status_code

        client = httpx2.AsyncClient(
            headers=dict(place.headers),
            auth=auth,
            timeout=httpx2.Timeout(30.0, read=300.0),
            event_hooks={"response": [answered]},
        )
        await stack.enter_async_context(client)
        return streamable_http_client(place.url, http_client=client)

    # -- what is asked of it -----------------------------------------------------------------

    async def call(
        self, tool: str, args: dict[str, Any], tell: Callable[[float, float | None, str], None]
    ) -> Any:
        """Call one of its tools; being cancelled tells the server so.

        Raises:
            ServerError: There is no answer.
        """
        client = await self._ready()
        loop = asyncio.get_running_loop()
        heard = loop.time()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal heard
            heard = loop.time()
            tell(progress, total, message or "")

        work = asyncio.ensure_future(client.call_tool(tool, args, progress_callback=on_progress))
        try:
            while True:
                left = heard + self.target.call_seconds - loop.time()
                if left <= 0:
                    seconds = f"{self.target.call_seconds:g} s"
                    raise ServerError(f"{self.target.name} has not answered for {seconds}")
                await asyncio.wait([work], timeout=left)
                if work.done():
                    return await self._answer(work)
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work], timeout=CANCEL_SECONDS)

    async def read(self, uri: str) -> Any:
        """Read one of its resources.

        Raises:
            ServerError: It cannot be read.
        """
        client = await self._ready()
        return await self._bounded(client.read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        """Get one of its prompts.

        Raises:
            ServerError: There is no answer.
        """
        client = await self._ready()
        return await self._bounded(client.get_prompt(name, arguments))

    async def _bounded(self, work: Any) -> Any:
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task], timeout=self.target.call_seconds)
            if not task.done():
                raise ServerError(
                    f"{self.target.name} has not answered for {self.target.call_seconds:g} s"
                )
            return await self._answer(task)
        finally:
            task.cancel()

    async def _answer(self, task: asyncio.Future[Any]) -> Any:
        try:
            return task.result()
        except asyncio.CancelledError:
            raise ServerError(f"{self.target.name}: {self._ending()}") from None
        except Exception as error:  # whatever the SDK and the server made of the call
            if self._is_lost(error):
                self._lost.set()
            raise ServerError(f"{self.target.name}: {self._sentence(error)}") from error

    async def _ready(self) -> Client:
        if self._client is None and self.snapshot.state not in ("failed", "login"):
            if self.snapshot.state != "starting":
                self._wake.set()  # somebody wants it: no further delay
            with suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), WAKE_SECONDS)
        if self._client is None:
            problem = self.snapshot.problem or "it is not ready"
            raise ServerError(f"{self.target.name} is not there: {problem}")
        return self._client

    # -- what it says by itself --------------------------------------------------------------

    async def _roots(self, context: Any) -> Any:
        from mcp.types import ListRootsResult, Root

        folder = self.target.project
        return ListRootsResult.model_validate(
            {"roots": [Root.model_validate({"uri": folder.as_uri(), "name": folder.name})]}
        )

    async def _logged(self, params: Any) -> None:
        self.journal.add(str(params.data)[:2000], str(params.level))

    async def _noticed(self, message: Any) -> None:
        if getattr(message, "method", "").endswith("/list_changed"):
            self._stale.set()

    async def _renew(self, client: Client) -> None:
        """Ask for the lists again when they have changed."""
        while True:
            await self._stale.wait()
            await asyncio.sleep(RENEW_SECONDS)
            self._stale.clear()
            try:
                async with asyncio.timeout(self.target.start_seconds):
                    offer = await offer_of(client, self.target)
            except Exception as error:  # the lists stay as they were
                self.journal.add(f"its lists cannot be read: {error}", "agent-tui")
                continue
            self._set(offer=offer)

    # -- inside ------------------------------------------------------------------------------

    def _set(self, **values: Any) -> None:
        self.snapshot = replace(self.snapshot, **values)
        self._changed()

    def _ending(self) -> str:
        """How the server was lost, with its last words."""
        if self._process is None:
            return "the connection was lost"
        said = [line for line in self.journal.tail(20) if line.startswith("stderr: ")]
        words = " · ".join(line.removeprefix("stderr: ") for line in said[-3:])
        return f"{self._process.ending}{f'; its last words: {words}' if words else ''}"

    def _is_lost(self, error: Exception) -> bool:
        code = getattr(getattr(error, "error", None), "code", None)
        return code == -32000 or "Session terminated" in str(error) or self._status == 401

    def _sentence(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, LoginNeeded) or self._status == 401:
            self._status = 401
            is_possible = isinstance(self.target.place, Endpoint) and self.target.place.tokens
            return "it wants a login" if is_possible else "it refused the key (401)"
        if isinstance(error, ServerError | LoginFailed):
            return str(error)
        if self._process is not None and "Connection closed" in str(error):
            return self._ending()
        told = " ".join(printable(str(error)).split())[:300] or type(error).__name__
        status = f" (HTTP {self._status})" if self._status >= 400 else ""
        return f"{told}{status}"


def quiet_logs() -> None:
    """Keep what the libraries log off the screen."""
    for name in ("mcp", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
