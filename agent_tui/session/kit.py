"""What the person brought along: instructions, skills, templates, tools and hooks.

All of it can be loaded again in a running session. A file of tools that does not load any more
keeps the tools that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_tui.config import PROJECT_FOLDER, HookSettings, Settings
from agent_tui.core.errors import ConfigError
from agent_tui.core.tool import Tool
from agent_tui.session.instructions import InstructionFile, find_instructions
from agent_tui.session.skills import Skill, find_skills
from agent_tui.session.templates import Template, find_templates
from agent_tui.session.texts import stamp_of
from agent_tui.session.usercode import ToolFile, load_tool_file, load_tools, tool_files_in

Stamp = tuple[int, int] | None


@dataclass(slots=True)
class Kit:
    """Everything that was found, each kind in its order."""

    instruction_files: list[InstructionFile] = field(default_factory=list)
    skills: list[Skill] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    tool_files: list[ToolFile] = field(default_factory=list)
    hooks: tuple[HookSettings, ...] = ()
    notices: list[str] = field(default_factory=list)
    """What a person should know about them, a sentence each."""
    stamps: dict[Path, Stamp] = field(default_factory=dict)
    """The files that the prompt was made of, and those that were not there."""

    def changed_files(self) -> list[Path]:
        """Files of the prompt that are not any more what they were when they were read."""
        return [path for path, stamp in self.stamps.items() if stamp_of(path) != stamp]

    def expanded(self, text: str) -> str | None:
        """The message that `/name arguments` or `/skill:name arguments` stands for, if it does."""
        if not text.startswith("/") or not text[1:2].strip():
            return None
        name, *rest = text[1:].split(maxsplit=1)
        arguments = rest[0].strip() if rest else ""
        if name.startswith("skill:"):
            wanted = name.removeprefix("skill:")
            skill = next((skill for skill in self.skills if skill.name == wanted), None)
            return skill.called(arguments) if skill else None
        template = next((each for each in self.templates if each.name == name), None)
        return template.expanded(arguments) if template else None


def load_kit(settings: Settings, *, before: Kit | None = None) -> Kit:
    """What there is for a session by these settings; with `before`, what loads no more is kept.

    An agent of the person's own brings its own instructions: it gets templates, hooks, and the
    tools that flags name.

    Raises:
        ConfigError: A file of tools that a flag names cannot be used.
    """
    kit = Kit(hooks=settings.hooks)
    kit.tool_files = _tool_files(settings, before, kit.notices)
    kit.templates = find_templates(_places(settings, "prompts"), kit.notices)
    if settings.agent is not None:
        return kit
    found = find_instructions(settings.cwd, settings.folders.config, _home(settings))
    kit.instruction_files = found.files
    kit.notices += found.notices
    kit.skills = find_skills(_places(settings, "skills"), kit.notices)
    paths = [*found.looked_at, *(skill.path for skill in kit.skills)]
    kit.stamps = {path: stamp_of(path) for path in paths}
    return kit


def has_own_code(settings: Settings) -> bool:
    """Whether loading runs Python of the person's own, which may take its time."""
    if settings.tools_files:
        return True
    folders = _places(settings, "tools") if settings.agent is None else []
    return any(tool_files_in(folder) for folder in folders)


def changes(before: Kit, now: Kit) -> list[str]:
    """What is different, a sentence each; empty if nothing is."""
    old_tools, new_tools = _tool_names(before), _tool_names(now)
    pairs: list[tuple[str, dict[str, object], dict[str, object]]] = [
        (
            "instructions",
            {str(file.path): file.text for file in before.instruction_files},
            {str(file.path): file.text for file in now.instruction_files},
        ),
        (
            "skills",
            {skill.name: skill for skill in before.skills},
            {skill.name: skill for skill in now.skills},
        ),
        (
            "templates",
            {f"/{each.name}": each for each in before.templates},
            {f"/{each.name}": each for each in now.templates},
        ),
        ("tools", dict.fromkeys(old_tools), dict.fromkeys(new_tools)),
        (
            "hooks",
            {str(hook): hook for hook in before.hooks},
            {str(hook): hook for hook in now.hooks},
        ),
    ]
    return [sentence for kind, old, new in pairs for sentence in _difference(kind, old, new)]


def summary(kit: Kit) -> str:
    """What there is: `2 instruction files · 1 skill`; empty if there is nothing."""
    counts = (
        (len(kit.instruction_files), "instruction file"),
        (len(kit.skills), "skill"),
        (len(kit.templates), "template"),
        (len(_tool_names(kit)), "tool of your own"),
        (len(kit.hooks), "hook"),
    )
    parts = [f"{n} {_plural(word) if n != 1 else word}" for n, word in counts if n]
    return " · ".join(parts)


def _plural(word: str) -> str:
    head, of, rest = word.partition(" of ")
    return f"{head}s{of}{rest}"


def _tool_names(kit: Kit) -> list[str]:
    return [tool.name for file in kit.tool_files for tool in file.tools]


def _difference(kind: str, old: dict[str, object], new: dict[str, object]) -> Iterable[str]:
    for verb, names in (
        ("new", [name for name in new if name not in old]),
        ("gone", [name for name in old if name not in new]),
        ("changed", [name for name in new if name in old and new[name] != old[name]]),
    ):
        if names:
            yield f"{kind} {verb}: {', '.join(names)}"


def _home(settings: Settings) -> Path | None:
    home = settings.environ.get("HOME", "").strip()
    return Path(home).resolve() if home else None


def _places(settings: Settings, name: str) -> list[Path]:
    """The user's folder, then that of a project that is trusted."""
    places = [settings.folders.config / name]
    if settings.is_trusted:
        places.append(settings.cwd / PROJECT_FOLDER / name)
    return places


def _tool_files(settings: Settings, before: Kit | None, notices: list[str]) -> list[ToolFile]:
    folders = _places(settings, "tools") if settings.agent is None else []
    found = [path for folder in folders for path in tool_files_in(folder)]
    files = [_kept(load_tool_file(path), before, notices) for path in found]
    for path in settings.tools_files:
        if before is None:
            files.append(ToolFile(path, tuple(_named(path))))
        else:
            files.append(_kept(load_tool_file(path), before, notices))
    return files


def _named(path: Path) -> Sequence[Tool]:
    try:
        return load_tools(path)
    except ConfigError as error:
        raise ConfigError(f"--tools {error.message}", path=str(path)) from error


def _kept(file: ToolFile, before: Kit | None, notices: list[str]) -> ToolFile:
    """The file, or what it was before it stopped to load."""
    if file.problem is None:
        return file
    known = before.tool_files if before is not None else []
    old = next((each for each in known if each.path == file.path), None)
    if old is not None and old.tools:
        notices.append(f"{file.problem}. Its tools stay as they were.")
        return old
    notices.append(f"{file.problem}. Its tools are not there.")
    return file
