"""The hands: files and shell.

The tools do what was approved; who asks for approval finds here what a call would reach and change.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from agent_tui.core.tool import Tool
from agent_tui.tools import edit, write
from agent_tui.tools.bash import Ran, bash_tool, run_for_person
from agent_tui.tools.find import find_tool
from agent_tui.tools.grep import grep_tool
from agent_tui.tools.jobs import Job, Jobs, job_tool
from agent_tui.tools.ls import ls_tool
from agent_tui.tools.memory import FileMemory
from agent_tui.tools.paths import Places, Reach, Refused, judge, path_argument
from agent_tui.tools.read import read_tool
from agent_tui.tools.sandbox import Sandbox, find_sandbox
from agent_tui.tools.slots import Slots

__all__ = [
    "ACCESS",
    "FileMemory",
    "Job",
    "Jobs",
    "Places",
    "Ran",
    "Reach",
    "Refused",
    "Sandbox",
    "bash_tool",
    "builtin_tools",
    "find_sandbox",
    "judge",
    "path_argument",
    "preview",
    "run_for_person",
]

ACCESS: Mapping[str, Literal["read", "write", "shell"]] = {
    "read": "read",
    "grep": "read",
    "find": "read",
    "ls": "read",
    "write": "write",
    "edit": "write",
    "bash": "shell",
    "job": "read",
}
"""What a built-in tool may do, by its name."""


def builtin_tools(
    cwd: Path,
    *,
    output_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
    memory: FileMemory | None = None,
    jobs: Jobs | None = None,
    sandbox: Sandbox | None = None,
) -> list[Tool]:
    """All tools for a project in `cwd`, in the order in which models are told of them.

    Outputs that are too long to show are saved in `output_dir` (None: a temporary folder). Commands
    inherit `environ` (None: that of this process) without the keys that pay for the chat. `memory`
    is told what the tools read and change (None: one of their own). With `jobs` commands can go on
    in the background, and there is a tool that looks after them; `sandbox` shuts commands in.
    """
    slots = Slots()
    memory = memory or FileMemory()
    return [
        read_tool(cwd, slots, memory),
        bash_tool(cwd, output_dir=output_dir, environ=environ, jobs=jobs, sandbox=sandbox),
        edit.edit_tool(cwd, slots, memory),
        write.write_tool(cwd, slots, memory),
        grep_tool(cwd, slots),
        find_tool(cwd, slots),
        ls_tool(cwd, slots),
        *([job_tool(jobs)] if jobs is not None else ()),
    ]


def preview(tool_name: str, args: Mapping[str, Any], cwd: Path) -> str | None:
    """The unified diff that a call of `write` or `edit` would make, uncut.

    Empty for a call that would be refused or change nothing; None for other tools, and for
    arguments that make no sense.
    """
    previews = {"write": write.preview, "edit": edit.preview}
    try:
        return previews[tool_name](dict(args), cwd).text
    except (Refused, OSError):
        return ""
    except (KeyError, TypeError, AttributeError):
        # Arguments may be asked about before anything has checked them.
        return None
