"""What the person brought along, put to use: the prompt, the tools, and loading it all again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from agent_tui.config import PROJECT_FOLDER, UNREADABLE, Settings, load_again
from agent_tui.core.tool import Tool
from agent_tui.session.child_environ import child_environ
from agent_tui.session.events import NoticeEvent
from agent_tui.session.hooking import SessionHooks
from agent_tui.session.instructions import repository_root
from agent_tui.session.kit import Kit, changes, load_kit, summary
from agent_tui.session.prompts import instructions_text, skills_text, system_prompt
from agent_tui.session.usercode import chosen_tools
from agent_tui.tools import ACCESS


class Outfit:
    """The person's own things in one session.

    `tools` and `prompt` are what the agent should have; an agent of the person's own keeps its
    prompt (`prompt` is None), and only gets the tools that a flag names.
    """

    def __init__(
        self, settings: Settings, agent_tools: Sequence[Tool], kit: Kit | None = None
    ) -> None:
        """`agent_tools` are there without any file: the built-in ones, or those of an own agent.

        `kit` is what `load_kit` gave for these settings, if it was called already.

        Raises:
            ConfigError: A file of tools that a flag names cannot be used.
        """
        self._settings = settings
        self._agent_tools = list(agent_tools)
        self.access: dict[str, str] = {}
        """What the built-in tools that are left may do; changes when tools do."""
        self.readable: list[Path] = []
        """The folders of the skills; changes when they do."""
        self._today = date.today()
        self._told: set[Path] = set()
        self._hooks: SessionHooks | None = None
        self._put_on(load_kit(settings) if kit is None else kit)

    @property
    def summary(self) -> str:
        """What there is, in a few words."""
        return summary(self.kit)

    def belong_to(self, hooks: SessionHooks) -> None:
        """Be the outfit of the session that has these."""
        self._hooks = hooks
        hooks.user.hooks = self.kit.hooks
        hooks.user.environ = child_environ(self._settings)

    async def reload(self) -> list[str]:
        """Read everything again, for the next step on; what is different and what is wrong.

        Raises:
            ConfigError: A flag of the start makes no sense any more.
        """
        before = self.kit
        again = await asyncio.to_thread(load_again, self._settings)
        told = [] if again.is_trusted or not self._settings.is_trusted else [_UNTRUSTED]
        told += [problem for problem in again.problems if problem not in self._settings.problems]
        hooks = again.hooks
        if any(UNREADABLE in problem for problem in again.problems):
            hooks = self._settings.hooks  # a guard must not vanish with a comma
            told.append("The hooks stay as they were.")
        settings = replace(self._settings, hooks=hooks, is_trusted=again.is_trusted)
        kit = await asyncio.to_thread(load_kit, settings, before=before)
        self._settings, worn = settings, self.tools
        self._put_on(kit)
        if self._hooks is not None:
            names = {tool.name for tool in self.tools}
            others = [tool for tool in self._hooks.others(worn) if tool.name not in names]
            self._hooks.use(self.prompt, [*self.tools, *others])
            self._hooks.user.hooks = kit.hooks
        return [*told, *changes(before, kit), *kit.notices]

    def origin_of(self, tool: Tool) -> str:
        """Where a tool comes from: `built in`, a file, a server, or `added` by somebody else."""
        for file in self.kit.tool_files:
            if tool in file.tools:
                return str(file.path)
        if tool in self._agent_tools:
            return (
                "built in" if self._settings.agent is None else f"the agent {self._settings.agent}"
            )
        return "an MCP server" if tool.name.startswith("mcp__") else "added"

    def news(self) -> list[NoticeEvent]:
        """What to say about files of the prompt that were changed since; each is told once."""
        fresh = [path for path in self.kit.changed_files() if path not in self._told]
        self._told.update(fresh)
        return [NoticeEvent(f"{path} has changed; /reload uses it.") for path in fresh]

    def _put_on(self, kit: Kit) -> None:
        self.kit = kit
        self._told.clear()
        if self._settings.agent is None:
            self.tools = chosen_tools(self._agent_tools, kit.tool_files, kit.notices)
        else:
            own = [tool for file in kit.tool_files for tool in file.tools]
            self.tools = [*self._agent_tools, *own]
        own_names = {tool.name for file in kit.tool_files for tool in file.tools}
        self.readable[:] = [
            skill.path.parent for skill in kit.skills if self._is_where_it_seems(skill.path)
        ]
        self.access.clear()
        self.access.update((name, may) for name, may in ACCESS.items() if name not in own_names)
        self.prompt = self._prompt() if self._settings.agent is None else None

    def _is_where_it_seems(self, skill: Path) -> bool:
        """A project's skill folder that is a link to elsewhere opens nothing there."""
        folder = self._settings.cwd / PROJECT_FOLDER
        return not skill.is_relative_to(folder) or skill.resolve().is_relative_to(folder.resolve())

    def _prompt(self) -> str:
        settings, kit = self._settings, self.kit
        can_read = any(tool.name == "read" for tool in self.tools)
        own = (
            instructions_text(kit.instruction_files),
            skills_text(kit.skills) if can_read else "",
            (settings.append_system_prompt or "").strip(),
        )
        head = settings.system_prompt
        if head is None:
            is_repository = repository_root(settings.cwd) is not None
            head = system_prompt(
                settings.cwd, self.tools, today=self._today, is_repository=is_repository
            )
        return "\n\n".join(part for part in (head, *own) if part)


_UNTRUSTED = (
    "What the project brings along has changed since you said yes to it: its tools, hooks, skills "
    "and templates are out of use until you say yes again."
)
