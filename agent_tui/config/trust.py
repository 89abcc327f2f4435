"""Folders that the person trusts: what a project brings along is not used before a yes.

An answer counts for the files as they were: when one of them changes, it is asked for again. The
answers are kept outside of the projects.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from agent_tui.config.folders import Folders
from agent_tui.config.keeping import write_private

PROJECT_FOLDER = ".agent-tui"
"""The folder inside a project that holds its settings, tools and hooks."""
NOT_TRUSTED = (
    ".agent-tui/ of this folder is not used, nobody has said that it may be: "
    "agent-tui run --trust for this once, agent-tui config trust for good"
)
_MANY_FILES, _MANY_BYTES = 500, 8_000_000
"""More than this is not looked through, and therefore never trusted."""
_LINES = 60

TrustAnswer = Literal["trusted", "refused"]


def project_file(cwd: Path) -> Path:
    """The settings that a project brings along."""
    return cwd / PROJECT_FOLDER / "config.toml"


class Trust:
    """The person's answers about folders, in one file for all of them."""

    def __init__(self, folders: Folders) -> None:
        self._file = folders.state / "trust.json"

    def is_trusted(self, cwd: Path) -> bool | None:
        """What the person said of this folder's files as they are now; None: nothing yet.

        A folder that brings nothing along needs no answer, and gets None.
        """
        if not brings_something(cwd):
            return None
        answer = self._answers().get(_name(cwd))
        if not isinstance(answer, dict) or answer.get("files") != _fingerprint(cwd):
            return None
        return answer.get("answer") == "trusted"

    def was_answered(self, cwd: Path) -> bool:
        """Whether the person has ever said anything about this folder, whatever it held then."""
        return _name(cwd) in self._answers()

    def trust(self, cwd: Path) -> bool:
        """Use what this folder brings along from now on; False if it is too much to look through.

        Raises:
            OSError: The answer cannot be kept.
        """
        return self._keep(cwd, "trusted")

    def refuse(self, cwd: Path) -> bool:
        """Do not use it, and do not ask again while it stays as it is.

        Raises:
            OSError: The answer cannot be kept.
        """
        return self._keep(cwd, "refused")

    def _keep(self, cwd: Path, answer: TrustAnswer) -> bool:
        import json

        files = _fingerprint(cwd)
        if files is None:
            return False
        answers = {**self._answers(), _name(cwd): {"answer": answer, "files": files}}
        write_private(self._file, json.dumps(answers, ensure_ascii=False, indent=1) + "\n")
        return True

    def _answers(self) -> dict[str, Any]:
        import json

        try:
            answers = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return answers if isinstance(answers, dict) else {}


def brings_something(cwd: Path) -> bool:
    """Whether this folder has anything that would change what the program does."""
    with suppress(OSError), os.scandir(cwd / PROJECT_FOLDER) as entries:
        return any(True for _ in entries)
    return False


def what_it_brings(cwd: Path) -> list[str]:
    """All that a yes would let in, a line each: every setting with its value, every other file.

    Commands stand first and are never left out; of very many other lines the last are only counted.
    """
    lines = [*_settings(cwd)]
    folder = cwd / PROJECT_FOLDER
    found = _files(folder) or []
    lines += [f"{PROJECT_FOLDER}/{name}" for name in found if name != "config.toml"]
    telling = [line for line in lines if _is_telling(line)]
    rest = [line for line in lines if line not in telling]
    room = max(0, _LINES - len(telling))
    cut = [f"… and {len(rest) - room} more lines"] if len(rest) > room else []
    return telling + rest[:room] + cut


def _is_telling(line: str) -> bool:
    """Whether the line is about a program, an address or what may run."""
    key = line.partition(" = ")[0]
    words = ("command", "hooks", "mcp", "rules", "mode", "url", "model", "key", ".py")
    return any(word in key for word in words)


def _settings(cwd: Path) -> Iterator[str]:
    file = project_file(cwd)
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        yield f"{PROJECT_FOLDER}/config.toml, which cannot be read"
        return
    yield from _leaves(data, "")


def _leaves(data: Mapping[str, Any], place: str) -> Iterator[str]:
    import json

    for key, value in data.items():
        name = f"{place}.{key}" if place else key
        if isinstance(value, dict):
            yield from _leaves(value, name)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value):
                yield from _leaves(item, f"{name}[{number}]")
        else:
            yield f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"


def _name(cwd: Path) -> str:
    return str(cwd.resolve())


def _files(folder: Path) -> list[str] | None:
    """Every file below, from `folder` on, sorted; None if they are too many."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*names, *links):
            found.append(Path(place, name).relative_to(folder).as_posix())
            if len(found) > _MANY_FILES:
                return None
    return sorted(found)


def _fingerprint(cwd: Path) -> str | None:
    """A number for all that the folder brings; None if it is too much or cannot be read."""
    import hashlib

    folder = cwd / PROJECT_FOLDER
    names = _files(folder)
    if names is None:
        return None
    total, left = hashlib.sha256(), _MANY_BYTES
    for name in names:
        path = folder / name
        try:
            if path.is_dir() or not path.resolve().is_file():
                content = b"link:" + os.fsencode(path.resolve())
            else:
                left -= path.stat().st_size
                if left < 0:
                    return None
                content = path.read_bytes()
        except OSError:
            return None
        for part in (name.encode("utf-8", "surrogateescape"), content):
            total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
