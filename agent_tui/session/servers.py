"""The MCP servers of a session: begun in the background, their tools given to the agent.

Nothing here waits for a server, except where somebody asks for that.
"""

from __future__ import annotations

import asyncio
import atexit
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agent_tui.config import ServerSettings, Settings
from agent_tui.core.errors import InvalidInputError
from agent_tui.core.tool import Tool
from agent_tui.session.child_environ import child_environ
from agent_tui.session.events import NoticeEvent, ServerEvent, SessionEvent
from agent_tui.session.hooking import SessionHooks
from agent_tui.session.judging import RemoteUse
from agent_tui.session.server_targets import (
    MISSING,
    arguments_of,
    has_sdk,
    place_of,
    target_of_server,
)
from agent_tui.tools.mcp import (
    Background,
    Endpoint,
    RemotePrompt,
    Server,
    ServerError,
    Snapshot,
)

CLOSE_SECONDS = 2.5
_BAD_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class ServerView:
    """One server, as a person sees it. Everything that it says itself is untrusted."""

    name: str
    place: str
    """Its command line or address."""
    state: str
    """`starting`, `ready`, `waiting`, `failed`, `login` or `off`."""
    problem: str
    about: str
    tools: tuple[tuple[str, str], ...]
    """Name for the model, and description, of each."""
    resources: tuple[str, ...]
    prompts: tuple[tuple[str, str], ...]
    """Command without its slash, and description, of each."""
    notices: tuple[str, ...]
    log: Sequence[str]
    log_file: str
    is_of_project: bool


class Servers:
    """All servers of the settings. Methods belong to the thread of the session's loop."""

    def __init__(self, settings: Settings) -> None:
        self.remote: dict[str, RemoteUse] = {}
        """The tools that are there, by their names; changes when they do."""
        self._settings = settings
        self._background = Background("mcp")
        # An agent of the person's own brings all its tools along.
        self._known = dict(settings.mcp_servers) if settings.agent is None else {}
        self._servers: dict[str, Server] = {}
        self._stuck: dict[str, str] = {}
        self._tools: list[Tool] = []
        self._seen: dict[str, Snapshot] = {}
        self._told: set[str] = set()
        self._hooks: SessionHooks | None = None
        self._post: Callable[[SessionEvent], None] = lambda event: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._will_look = False

    def belong_to(self, hooks: SessionHooks, post: Callable[[SessionEvent], None]) -> None:
        """Give the tools to the agent that has these hooks, and tell of what happens."""
        self._hooks, self._post = hooks, post

    # -- life --------------------------------------------------------------------------------

    def start(self) -> None:
        """Connect to all that are enabled; returns at once. The second call changes nothing."""
        if self._loop is not None:
            return
        self._loop = asyncio.get_running_loop()
        enabled = [server for server in self._known.values() if server.enabled]
        if not enabled:
            return
        is_there = has_sdk()
        environ = child_environ(self._settings)
        for server in enabled:
            try:
                target = target_of_server(server, self._settings, environ)
            except InvalidInputError as error:
                self._stuck[server.name] = error.message
                continue
            if not is_there:
                self._stuck[server.name] = MISSING
                continue
            self._servers[server.name] = Server(target, self._background, self._changed)
        atexit.register(self.close)
        for started in self._servers.values():
            started.start()
        self._look()

    async def ready(self, seconds: float) -> None:
        """Wait until every server is there or has failed, at most so long."""
        waiting = [server.settled() for server in self._servers.values()]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*waiting), seconds)
        self._look()

    def close(self) -> None:
        """End the servers and all that they have started; waits for that a little."""
        atexit.unregister(self.close)
        self._loop = None
        self._background.close(CLOSE_SECONDS)

    # -- what a person asks for ---------------------------------------------------------------

    def views(self) -> list[ServerView]:
        """All servers of the settings, in their order."""
        return [self._view(server) for server in self._known.values()]

    @property
    def mark(self) -> str:
        """`mcp 1/2` while not all that were started are there; else empty."""
        count = len(self._servers) + len(self._stuck)
        there = sum(found.state == "ready" for found in self._seen.values())
        return f"mcp {there}/{count}" if there < count else ""

    @property
    def has_broken(self) -> bool:
        """A server was lost, or could not be connected."""
        states = {found.state for found in self._seen.values()}
        return bool(self._stuck) or not states <= {"ready", "starting"}

    def restart(self, name: str) -> None:
        """Connect anew.

        Raises:
            InvalidInputError: There is no such server, or it cannot be started.
        """
        self._named(name).restart()

    def login(self, name: str, show: Callable[[str], None]) -> None:
        """Connect anew by a login; `show` is called, later, with the page to open.

        Raises:
            InvalidInputError: There is no such server, or it takes no login.
        """
        server = self._named(name)
        place = server.target.place
        if not isinstance(place, Endpoint) or place.tokens is None:
            raise InvalidInputError(f"{name} takes no login: it is a program, or has a key.")
        loop = asyncio.get_running_loop()
        server.restart(lambda page: _later(loop, show, page))

    def prompts(self) -> dict[str, tuple[str, RemotePrompt]]:
        """All prompts: `server:prompt`, without characters that a command cannot have."""
        found: dict[str, tuple[str, RemotePrompt]] = {}
        for server in self._servers.values():
            for prompt in server.snapshot.offer.prompts:
                name = f"{server.name}:{_BAD_CHARACTER.sub('-', prompt.name)[:60]}"
                found.setdefault(name, (server.name, prompt))
        return found

    async def expanded(self, name: str, words: str) -> str:
        """The message that the prompt `server:prompt` stands for.

        Raises:
            InvalidInputError: There is none; says why.
        """
        server, prompt = self.prompts()[name]
        try:
            return await self._servers[server].prompt(prompt.name, arguments_of(prompt, words))
        except ServerError as error:
            raise InvalidInputError(f"/{name}: {error}") from error

    def _named(self, name: str) -> Server:
        if name in self._servers:
            return self._servers[name]
        if name in self._stuck:
            raise InvalidInputError(f"{name} cannot be started: {self._stuck[name]}")
        if name in self._known:
            raise InvalidInputError(f"{name} is switched off in the settings.")
        known = ", ".join(self._known) or "none"
        raise InvalidInputError(f"There is no MCP server {name!r}; there is {known}.")

    # -- what servers do by themselves -------------------------------------------------------

    def _changed(self) -> None:
        """Called from the background thread."""
        loop = self._loop
        if loop is not None and not self._will_look:
            self._will_look = True
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        """Take over how the servers are now."""
        self._will_look = False
        if self._loop is None:
            return
        now = {name: server.snapshot for name, server in self._servers.items()}
        changed = [name for name, found in now.items() if self._seen.get(name) != found]
        if any(self._offers(now[name]) != self._offers(self._seen.get(name)) for name in changed):
            self._seen = now
            self._give_tools()
        self._seen = now
        for name in changed:
            found = now[name]
            count = sum(use.server == name for use in self.remote.values())
            self._post(ServerEvent(name, found.state, found.problem, count))
            self._tell(name, found.state, found.problem, found.offer.notices)
        for name, problem in self._stuck.items():
            self._tell(name, "failed", problem, ())

    def _offers(self, found: Snapshot | None) -> object:
        """What of a server the tools depend on: one that is lost for good has none."""
        if found is None or found.state in ("failed", "login"):
            return ()
        return (found.offer.tools, found.offer.resources)

    def _give_tools(self) -> None:
        hooks = self._hooks
        others = hooks.others(self._tools) if hooks is not None else []
        taken = {tool.name for tool in others}
        tools: list[Tool] = []
        self.remote.clear()
        for name, server in self._servers.items():
            if not self._offers(self._seen.get(name)):
                continue
            for tool, remote in server.tools(taken):
                taken.add(tool.name)
                tools.append(tool)
                self.remote[tool.name] = RemoteUse(name, remote.name, remote.says_reading)
        self._tools = tools
        if hooks is not None:
            hooks.use(None, [*others, *tools])

    def _tell(self, name: str, state: str, problem: str, notices: Sequence[str]) -> None:
        said = [f"MCP server {name}: {notice}." for notice in notices]
        if state == "login":
            said.append(f"MCP server {name} wants a login: /mcp login {name}")
        elif state == "failed":
            said.append(f"MCP server {name} is not there: {problem}. /mcp shows more.")
        elif state == "ready":
            self._told = {told for told in self._told if not told.startswith(f"MCP server {name} ")}
        for sentence in said:
            if sentence not in self._told:
                self._told.add(sentence)
                self._post(NoticeEvent(sentence))

    def _view(self, settings: ServerSettings) -> ServerView:
        name = settings.name
        server = self._servers.get(name)
        found = server.snapshot if server is not None else Snapshot()
        state: str = found.state
        if server is None:
            state = "failed" if name in self._stuck else "off"
        tools = [tool for tool in self._tools if self.remote[tool.name].server == name]
        log = server.target.log if server is not None else None
        return ServerView(
            name=name,
            place=place_of(settings),
            state=state,
            problem=self._stuck.get(name, found.problem),
            about=found.about,
            tools=tuple((tool.name, tool.description) for tool in tools),
            resources=tuple(each.uri for each in found.offer.resources),
            prompts=tuple(
                (command, prompt.description)
                for command, (owner, prompt) in self.prompts().items()
                if owner == name
            ),
            notices=found.offer.notices,
            log=server.log() if server is not None else (),
            log_file=str(log) if log is not None and log.exists() else "",
            is_of_project=settings.origin == "project",
        )


def _later(loop: asyncio.AbstractEventLoop, show: Callable[[str], None], page: str) -> None:
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(show, page)
