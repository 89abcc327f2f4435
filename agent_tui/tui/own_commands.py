"""The person's own slash commands, templates and skills, and loading what they brought again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agent_tui.core.errors import AgentError
from agent_tui.core.text import one_line, printable
from agent_tui.tui.commands import find
from agent_tui.tui.complete import CommandHint
from agent_tui.tui.mcp_verbs import ServerPrompts

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.delivery import Lane

_SKILL = "/skill:"


def clashes(kit: Any) -> list[str]:
    """A sentence for each template whose name means something else."""
    return [
        f"{each.path} is not used: /{each.name.lower()} is a command of the chat."
        for each in kit.templates
        if find(each.name) is not None
    ]


class OwnCommands:
    """`/name arguments` for each template, `/skill:name …` for each skill, prompts, `/reload`."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._prompts = ServerPrompts(app)

    def knows(self, text: str) -> bool:
        """Whether the text is a template, a skill or a server's prompt with its arguments."""
        return self._message(text) is not None or self._prompts.knows(text)

    def takes(self, text: str, lane: Lane) -> bool:
        """Send what the text stands for, or queue it as it is; False if it is nothing of this."""
        app = self._app
        message = self._message(text)
        if message is None:
            return self._prompts.takes(text, lane)
        if lane == "follow_up" and app.is_busy:
            app.delivery.queue_command(text)
        else:
            app.send(message, lane)
        return True

    def unknown(self, text: str) -> str | None:
        """What to say to somebody who asked for a skill or a prompt that does not exist."""
        if not text.startswith(_SKILL) or self.knows(text):
            return self._prompts.unknown(text)
        names = [skill.name for skill in self._app.session.kit.skills]
        known = f"there is {', '.join(names)}." if names else "there are no skills."
        return f"Unknown skill {text.split()[0].removeprefix(_SKILL)!r}: {known}"

    def hints(self) -> list[CommandHint]:
        """They as the completion menu shows them."""
        return [
            CommandHint(name, one_line(printable(summary)), takes_argument=more)
            for name, _, summary, more in self._commands()
        ]

    def rows(self) -> list[tuple[str, str]]:
        """Usage and explanation of each, for the help."""
        return [
            (f"/{name} {one_line(printable(hint))}".rstrip(), one_line(printable(summary)))
            for name, hint, summary, _ in self._commands()
        ]

    def names(self) -> list[str]:
        """Their names, without the slash."""
        return [name for name, *_ in self._commands()]

    def reload(self, _: str) -> str | None:
        """Read instructions, skills, templates, tools and hooks again."""
        if self._app.session.outfit is None:
            return "This chat was opened without settings: there is nothing to read again."
        self._app.start(self._reload(self._app.session.outfit))
        return None

    def tools(self, _: str) -> str | None:
        """Show the tools, their parameters and where they come from, and the hooks."""
        from agent_tui.tui.screens.output import OutputScreen

        session = self._app.session
        found = session.agent.state.tools
        if not found:
            return "There are no tools in this chat."
        lines = [line for tool in found for line in _about(tool, session.outfit)]
        if session.kit.hooks:
            lines += ["Hooks", *(f"  {hook} · match {hook.match}" for hook in session.kit.hooks)]
        self._app.push_screen(OutputScreen("Tools", "\n".join(lines)))
        return None

    async def _reload(self, outfit: Any) -> None:
        app = self._app
        try:
            told = await outfit.reload()
        except AgentError as error:
            app.presenter.say(error.message, "error")
            app.redraw()
            return
        lines = ["Nothing has changed."]
        if told:
            when = "from the next step on" if app.is_busy else "from now on"
            lines = [f"Read again; {when}: {outfit.summary or 'nothing of your own'}.", *told]
        app.presenter.say("\n".join([*lines, *clashes(outfit.kit)]), "info")
        app.redraw()

    def _message(self, text: str) -> str | None:
        if not text.startswith("/"):
            return None
        name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
        if find(name) is not None:
            return None
        message: str | None = self._app.session.kit.expanded(text)
        return message

    def _commands(self) -> Iterator[tuple[str, str, str, bool]]:
        """Name, what may follow, what it is for, and whether something usually follows."""
        kit = self._app.session.kit
        for each in kit.templates:
            if find(each.name) is None:
                hint = each.argument_hint
                yield each.name, hint, each.description, bool(hint) or each.takes_arguments
        for skill in kit.skills:
            yield f"skill:{skill.name}", "", skill.description, True
        yield from self._prompts.commands()


def _about(tool: Any, outfit: Any) -> Iterator[str]:
    """A tool in some lines."""
    origin = outfit.origin_of(tool) if outfit is not None else "the agent's"
    schema = tool.schema
    needed = schema.get("required", [])
    names = [name if name in needed else f"{name}?" for name in schema.get("properties", {})]
    yield f"{tool.name}({', '.join(names)}) · {origin}"
    yield f"  {one_line(tool.description, 160)}"
    yield ""
