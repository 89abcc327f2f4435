"""MCP servers in the chat: how they are, starting them anew, logging in, and their prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentError
from agent_tui.core.text import one_line, printable
from agent_tui.tui.figures import clip, plural

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.delivery import Lane

LOG_LINES = 12
_STATES = {
    "starting": "is being started",
    "ready": "is there",
    "waiting": "was lost, and is started again soon",
    "failed": "is not there",
    "login": "wants a login",
    "off": "is switched off",
}
_NONE = "There are no MCP servers in the settings: docs/mcp.md says how to add one."


class McpVerbs:
    """`/mcp` and what may follow it."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def mcp(self, argument: str) -> str | None:
        """Show the servers, or start one anew, or log in to one."""
        servers = self._app.session.servers
        if servers is None or not servers.views():
            return _NONE
        word, _, name = argument.partition(" ")
        name = name.strip()
        if not word:
            self._show(servers.views())
            return None
        if word not in ("restart", "login") or not name:
            return "/mcp takes `restart NAME`, `login NAME` or nothing."
        try:
            if word == "restart":
                servers.restart(name)
                self._app.flash(f"{name} is being started anew.")
            else:
                servers.login(name, self._open_page)
                self._app.flash(f"Asking {name} for the page of the login…")
        except AgentError as error:
            return error.message
        return None

    def _show(self, views: Iterable[Any]) -> None:
        from agent_tui.tui.screens.output import OutputScreen

        text = "\n\n".join(servers_text(view) for view in views)
        self._app.push_screen(OutputScreen("MCP servers", text))

    def _open_page(self, page: str) -> None:
        """The person has asked for it: open the browser, and say where in case none opens."""
        self._app.presenter.say(f"Log in on this page: {printable(page)}", "info")
        self._app.open_url(page)
        self._app.redraw()


class ServerPrompts:
    """`/server:prompt arguments` for each prompt of a server."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def knows(self, text: str) -> bool:
        """Whether the text is one of them."""
        return self._name(text) in self._known()

    def takes(self, text: str, lane: Lane) -> bool:
        """Get the prompt and send it; False if it is none."""
        if not self.knows(text):
            return False
        if lane == "follow_up" and self._app.is_busy:
            self._app.delivery.queue_command(text)
        else:
            self._app.flash(f"Asking for /{self._name(text)}…")
            self._app.start(self._send(text, lane))
        return True

    def unknown(self, text: str) -> str | None:
        """What to say to somebody who named a prompt that a server does not have."""
        name = self._name(text)
        servers = self._app.session.servers
        server = name.partition(":")[0]
        if servers is None or ":" not in name or name in self._known():
            return None
        if server not in [view.name for view in servers.views()]:
            return None
        names = [known for known in self._known() if known.startswith(f"{server}:")]
        has = f"it has {', '.join(names)}" if names else "it has none, or is not there yet"
        return f"MCP server {server} has no such prompt: {has}."

    def commands(self) -> Iterator[tuple[str, str, str, bool]]:
        """Name, what may follow, what it is for, and whether something usually follows."""
        for name, (_, prompt) in self._known().items():
            arguments = " ".join(
                each if each in prompt.required else f"[{each}]" for each in prompt.arguments
            )
            yield name, arguments, prompt.description, bool(prompt.arguments)

    async def _send(self, text: str, lane: Lane) -> None:
        app = self._app
        name, _, words = text[1:].partition(" ")
        try:
            message = await app.session.servers.expanded(name, words)  # type: ignore[union-attr]
        except AgentError as error:
            app.prompt.put_back(text)
            app.flash(error.message, "warning")
            return
        app.send(message, lane)

    def _known(self) -> dict[str, tuple[str, Any]]:
        servers = self._app.session.servers
        return {} if servers is None else servers.prompts()

    @staticmethod
    def _name(text: str) -> str:
        return text[1:].split(maxsplit=1)[0] if text[:1] == "/" and text[1:].strip() else ""


def servers_text(view: Any) -> str:
    """All about one server, as lines; what it says itself is printed as text."""
    origin = " · from the project" if view.is_of_project else ""
    lines = [f"{view.name} {_STATES[view.state]}{origin}", f"  {view.place}"]
    if view.about:
        lines.append(f"  {view.about}")
    if view.problem:
        lines.append(f"  last problem: {view.problem}")
    if view.tools:
        lines.append(f"  {plural(len(view.tools), 'tool')}:")
        lines += [f"    {name}  {clip(one_line(about), 100)}" for name, about in view.tools]
    if view.prompts:
        names = ", ".join(f"/{command}" for command, _ in view.prompts)
        lines.append(f"  {plural(len(view.prompts), 'prompt')}: {names}")
    if view.resources:
        lines.append(f"  {plural(len(view.resources), 'resource')}:")
        lines += [f"    {uri}" for uri in view.resources[:50]]
    lines += [f"  {notice}" for notice in view.notices]
    if view.log:
        where = f" ({view.log_file})" if view.log_file else ""
        lines.append(f"  end of its log{where}:")
        lines += [f"    {line}" for line in view.log[-LOG_LINES:]]
    return printable("\n".join(lines))
