"""What a server offers: tools, resources and prompts, within bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent_tui.core.schema import schema_problem
from agent_tui.core.text import printable
from agent_tui.tools.mcp.targets import Target

if TYPE_CHECKING:
    from mcp import Client

MOST = 300
"""Of each kind."""
MOST_PAGES = 50
DESCRIPTION_CHARACTERS = 4000
SCHEMA_CHARACTERS = 64_000


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """One tool, as the server describes it."""

    name: str
    description: str
    schema: dict[str, Any] = field(repr=False)
    says_reading: bool = False
    """The server claims that it changes nothing."""


@dataclass(frozen=True, slots=True)
class RemoteResource:
    """Something that can be read; `uri` may be a template with `{parts}`."""

    uri: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class RemotePrompt:
    """A prompt, with its arguments in their order."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything that a server offers."""

    tools: tuple[RemoteTool, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    prompts: tuple[RemotePrompt, ...] = ()
    notices: tuple[str, ...] = ()
    """What was left out and why, a sentence each."""


async def offer_of(client: Client, target: Target) -> Offer:
    """Ask for all lists that the server has."""
    can = client.server_capabilities
    notices: list[str] = []
    tools: list[RemoteTool | None] = []
    if can.tools is not None:
        listed = _all(client.list_tools, "tools", notices)
        tools = [_tool(each, notices) async for each in listed if target.wants(each.name)]
    resources: list[RemoteResource] = []
    if can.resources is not None:
        listed = _all(client.list_resources, "resources", notices)
        resources = [_resource(str(each.uri), each) async for each in listed]
        listed = _all(client.list_resource_templates, "resource_templates", notices)
        try:
            templates = [_resource(each.uri_template, each) async for each in listed]
        except Exception as error:  # many servers have resources and no answer to this
            notices.append(f"its resource templates cannot be listed: {error}"[:300])
        else:
            resources += templates
    prompts: list[RemotePrompt] = []
    if can.prompts is not None:
        prompts = [_prompt(each) async for each in _all(client.list_prompts, "prompts", notices)]
    usable = tuple(tool for tool in tools if tool is not None)
    return Offer(usable, tuple(resources), tuple(prompts), tuple(notices))


async def _all(ask: Callable[..., Any], field_name: str, notices: list[str]) -> AsyncIterator[Any]:
    """The entries of all pages, as far as they make sense."""
    cursor: str | None = None
    seen: set[str] = set()
    count = 0
    for _ in range(MOST_PAGES):
        page = await ask(cursor=cursor)
        for entry in getattr(page, field_name):
            count += 1
            if count > MOST:
                notices.append(f"it has more than {MOST} {field_name.replace('_', ' ')}")
                return
            yield entry
        cursor = page.next_cursor
        if cursor is None or cursor in seen:
            return
        seen.add(cursor)


def _tool(tool: Any, notices: list[str]) -> RemoteTool | None:
    name = _short(tool.name, 100)
    schema = tool.input_schema
    problem = schema_problem(schema)
    if problem is None and len(str(schema)) > SCHEMA_CHARACTERS:
        problem = "it is too long"
    if problem is not None:
        notices.append(f"{name} is left out, its schema cannot be used: {problem}")
        return None
    hints = tool.annotations
    return RemoteTool(
        tool.name,
        _short(tool.description or tool.title or name, DESCRIPTION_CHARACTERS, lines=True),
        {"type": "object", **schema},
        says_reading=hints is not None and hints.read_only_hint is True,
    )


def _resource(uri: str, entry: Any) -> RemoteResource:
    return RemoteResource(uri, _short(entry.name, 100), _short(entry.description or "", 300))


def _prompt(prompt: Any) -> RemotePrompt:
    arguments = [each for each in prompt.arguments or [] if each.name]
    return RemotePrompt(
        prompt.name,
        _short(prompt.description or prompt.title or prompt.name, 300),
        tuple(each.name for each in arguments),
        frozenset(each.name for each in arguments if each.required),
    )


def _short(text: str, characters: int, *, lines: bool = False) -> str:
    clean = printable(text).strip()
    if not lines:
        clean = " ".join(clean.split())
    return clean if len(clean) <= characters else f"{clean[: characters - 1]}…"
