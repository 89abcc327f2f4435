"""What is connected to: a program or an address, with everything that was decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A server that is a program and speaks over its standard input and output."""

    command: tuple[str, ...]
    cwd: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All its variables."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that is reached by HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokens: Path | None = None
    """The file with what a login gave; None where no login is possible."""


@dataclass(frozen=True, slots=True)
class Target:
    """One server."""

    name: str
    place: Program | Endpoint
    project: Path
    """The folder that the server is told of."""
    start_seconds: float
    call_seconds: float
    """Of a call without any word from the server."""
    tools: tuple[str, ...] = ("*",)
    deny_tools: tuple[str, ...] = ()
    log: Path | None = None
    """The file for what the server says; None keeps only the end of it."""
    output: Path | None = None
    """The folder for results that are too long to show."""

    def wants(self, tool: str) -> bool:
        """Whether this tool of the server is used, by the patterns."""
        return any(fnmatchcase(tool, pattern) for pattern in self.tools) and not any(
            fnmatchcase(tool, pattern) for pattern in self.deny_tools
        )
