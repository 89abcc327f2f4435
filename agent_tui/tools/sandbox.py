"""Shutting a command in: it may write in the project and in temporary folders, and nowhere else.

Done by what the system has: bubblewrap on Linux, sandbox-exec on macOS.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_tui.core.errors import ConfigError

TRIAL_SECONDS = 5.0
Kind = Literal["bwrap", "sandbox-exec"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How commands of one project are shut in."""

    kind: Kind
    program: str
    project: Path
    has_network: bool = False

    @property
    def writable(self) -> list[Path]:
        """Where a command may write: the project, temporary folders, the cache of the person."""
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        places = [self.project, Path(tempfile.gettempdir()), home]
        return [place for place in places if place.is_dir()]

    def shut_in(self, command: Sequence[str]) -> list[str]:
        """The command that runs `command` inside."""
        if self.kind == "bwrap":
            return [self.program, *self._bwrap_options(), "--", *command]
        return [self.program, "-p", self._profile(), *command]

    @property
    def sentence(self) -> str:
        """What is possible inside, for somebody whose command has failed there."""
        places = ", ".join(str(place) for place in self.writable)
        network = "" if self.has_network else ", without network"
        return f"The command ran in a sandbox: it may write only in {places}{network}."

    def _bwrap_options(self) -> list[str]:
        options = ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc"]
        options += [] if self.has_network else ["--unshare-net"]
        options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for place in self.writable:
            options += ["--bind", str(place), str(place)]
        return [*options, "--chdir", str(self.project)]

    def _profile(self) -> str:
        places = " ".join(f"(subpath {json.dumps(os.path.realpath(p))})" for p in self.writable)
        rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
        rules += [f'(allow file-write* {places} (subpath "/dev"))']
        rules += [] if self.has_network else ["(deny network*)"]
        return "\n".join(rules)


def find_sandbox(
    project: Path,
    *,
    has_network: bool = False,
    which: Callable[[str], str | None] = shutil.which,
    platform: str = sys.platform,
) -> Sandbox:
    """The sandbox of this system, tried out.

    Raises:
        ConfigError: There is none, or it does not work here.
    """
    kind: Kind = "sandbox-exec" if platform == "darwin" else "bwrap"
    program = which(kind)
    if program is None:
        hint = "" if kind == "sandbox-exec" else "; the package is called bubblewrap"
        raise ConfigError(f"--sandbox needs the program {kind}, which is not there{hint}")
    sandbox = Sandbox(kind, program, project, has_network)
    try:
        tried = subprocess.run(
            sandbox.shut_in(["true"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"--sandbox: {program} does not work here: {error}") from None
    if tried.returncode:
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"it ends with code {tried.returncode}"
        raise ConfigError(f"--sandbox: {program} does not work here: {reason}")
    return sandbox
