"""Where a path really leads, and whether that is inside the project.

Links are resolved before anything is judged; a file that does not exist yet is judged by its
nearest existing parent. The judgement is for whoever asks the person; the tools do what was
approved.
"""

from __future__ import annotations

import difflib
import os
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

VERSION_CONTROL = frozenset({".git", "git~1", ".hg", ".svn", ".jj", ".bzr", "_darcs", "cvs"})
CREDENTIAL_FOLDERS = frozenset(
    {
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".docker",
        "gcloud",
        "keyrings",
        "keychains",
        ".password-store",
    }
)
CREDENTIAL_FILES = (
    ".env",
    ".env.*",
    "*.env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".git-credentials",
    ".htpasswd",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.keychain",
    "*.keychain-db",
)
HARMLESS_FILES = frozenset({".env.example", ".env.sample", ".env.template", ".env.dist"})
START_UP_FILES = frozenset(
    {
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".login",
        ".logout",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".cshrc",
        ".tcshrc",
        ".kshrc",
        ".inputrc",
        ".envrc",
        ".xprofile",
        ".xinitrc",
        ".xsession",
        ".pam_environment",
        ".gitconfig",
        ".hgrc",
        "config.fish",
    }
)
OWN_FOLDER = ".agent-tui"
"""What a project says to this program."""


class Refused(Exception):
    """What was asked cannot be done; the text is one sentence that a model can act on."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a path argument reaches."""

    path: Path
    """Absolute, every link resolved."""
    inside: bool
    """True inside the project (or a folder named as free)."""
    guarded: str | None
    """Why this place always deserves a question, e.g. "credentials"; None for ordinary files."""


def real_path(path: str, cwd: Path) -> Path:
    """The absolute path without links that `path` means; relative ones start at `cwd`.

    `~` is the home folder. Raises `Refused` for a path that no file can have.
    """
    if "\0" in path:
        raise Refused("The path contains a NUL character.")
    try:
        return (cwd / os.path.expanduser(path)).resolve()  # noqa: PTH111 - Path's may raise
    except (RuntimeError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the links form a circle"
        raise Refused(f"{path}: {reason or 'not a usable path'}.") from None


def shown(path: Path, cwd: Path) -> str:
    """`path` as a person would write it: relative inside the project, else absolute."""
    root = cwd.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


@dataclass(frozen=True, slots=True)
class Places:
    """Which places are the project's, and which are nobody's business."""

    project: Path
    free: tuple[Path, ...] = ()
    """Folders besides the project that count as inside."""
    own: tuple[Path, ...] = ()
    """Files and folders that decide what this program does."""

    def reach(self, path: str, base: Path | None = None) -> Reach:
        """Where `path` leads; a relative one starts at `base` (None: the project).

        Raises `Refused` for a path that no file can have.
        """
        real = real_path(path, base or self.project)
        root = self.project.resolve()
        is_free = any(real.is_relative_to(place.resolve()) for place in self.free)
        inside = is_free or real.is_relative_to(root)
        guarded = _guarded(real) or _guarded(Path(path))
        if guarded is None and not is_free and self._is_own(real, root):
            guarded = "the program's own configuration"
        return Reach(real, inside, guarded)

    def _is_own(self, real: Path, root: Path) -> bool:
        below = real.relative_to(root) if real.is_relative_to(root) else real
        if OWN_FOLDER in map(_plain, below.parts):
            return True
        return any(real.is_relative_to(place.resolve()) for place in self.own)


def judge(path: str, cwd: Path, *, free: Iterable[Path] = ()) -> Reach:
    """Where `path` leads. `free` are folders besides the project that count as inside.

    Raises `Refused` for a path that no file can have.
    """
    return Places(cwd, tuple(free)).reach(path)


def holds_credentials(path: str) -> bool:
    """Whether a file of this name is one that asks before it is read."""
    return _guarded(Path(path)) == "credentials"


def path_argument(tool_name: str, args: Mapping[str, Any]) -> str | None:
    """The path that a call of a built-in tool reaches, as given; None if the tool takes none."""
    match tool_name:
        case "read" | "write" | "edit":
            return str(args.get("path") or "")
        case "grep" | "find" | "ls":
            return str(args.get("path") or ".")
    return None


def kind_of(mode: int) -> str:
    """What an `st_mode` is, in words: a file, a directory, a named pipe, a device."""
    for test, name in (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISLNK, "link"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
    ):
        if test(mode):
            return name
    return "device"


def not_found(path: str, real: Path) -> Refused:
    """The refusal for a missing file, with names beside it that are spelled alike."""
    try:
        names = [entry.name for entry in os.scandir(real.parent)]
    except OSError:
        return Refused(f"{path} does not exist, and neither does its folder.")
    alike = difflib.get_close_matches(real.name, names[:2000], n=3, cutoff=0.6)
    hint = f" There is {', '.join(str(Path(path).parent / name) for name in alike)}."
    return Refused(f"{path} does not exist.{hint if alike else ''}")


def size_text(size: int) -> str:
    """A size in bytes for a person: "812 bytes", "3.4 KiB", "1.2 MiB"."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    power = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 1024**power:.1f} {'KMGT'[power - 1]}iB"


def _guarded(path: Path) -> str | None:
    parts = [_plain(part) for part in path.parts]
    name = parts[-1] if parts else ""
    if VERSION_CONTROL.intersection(parts):
        return "version control internals"
    if CREDENTIAL_FOLDERS.intersection(parts):
        return "credentials"
    if name not in HARMLESS_FILES and any(fnmatchcase(name, mask) for mask in CREDENTIAL_FILES):
        return "credentials"
    return "shell start-up file" if name in START_UP_FILES else None


def _plain(part: str) -> str:
    """A name as file systems that care least for spelling see it."""
    if part.isascii():
        return part.casefold().rstrip(". ") or part
    seen = unicodedata.normalize("NFKC", part)
    return "".join(c for c in seen if unicodedata.category(c) != "Cf").casefold().rstrip(". ")
