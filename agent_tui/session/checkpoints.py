"""What files held before the agent changed them, so that they can be put back to any message.

A line of time: every change by `edit` and `write`, in order, and where in that order each message
of the person stands. Putting files back is a change like any other, so it can be taken back too.
The contents lie in a folder, named by their hash; the line of time is a file beside them.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent_tui.core.abort import AbortSignal
from agent_tui.session.timeline import Change, Timeline, Version
from agent_tui.tools import Refused, judge
from agent_tui.tools.diff import Diff, unified
from agent_tui.tools.files import content_of
from agent_tui.tools.files import replace as put
from agent_tui.tools.memory import digest_of
from agent_tui.tools.paths import size_text

KEPT_BYTES = 16 * 1024 * 1024
"""A file that is larger is not kept."""
ALL_BYTES = 512 * 1024 * 1024
"""What the kept contents of a session may take together."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file since a message."""

    path: Path
    """Absolute, without links."""
    kind: str
    """`created`, `changed`, `deleted`; `same` if it holds again what it held."""
    diff: str
    """From then to now, as a unified diff; empty for a binary file."""
    undo: str
    """From now to then: what putting it back would do."""
    added: int
    """Lines that are new since then."""
    removed: int
    is_foreign: bool
    """Somebody else changed it too, after the agent: that would be lost."""
    problem: str | None
    """Why it cannot be put back, as a clause; None if it can."""


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was put back, and what was not."""

    restored: tuple[Path, ...]
    """Files that hold again what they held, those that were taken away included."""
    skipped: tuple[tuple[Path, str], ...]
    """Files that were left alone, each with the reason as a clause."""
    position: int
    """Where the line of time stood before; `redo` goes back there."""


class Checkpoints:
    """The kept contents of one session; safe to use from several threads."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is made when it is needed; None is a temporary one that goes with the object."""
        self._lock = threading.RLock()
        self._folder = folder
        self._forget: Callable[[], object] = lambda: None
        self._timeline = Timeline(folder)
        self._bytes: int | None = None
        self.on_restored: Callable[[Path], None] = lambda path: None
        """Told every file that is put back."""

    @property
    def folder(self) -> Path | None:
        """Where the contents lie; None until the first one does, without a folder of its own."""
        return self._folder

    def open(self, folder: Path, parent: Path | None = None) -> None:
        """Use this folder from now on, with what an earlier run left there; before any change.

        A session that was forked begins with what its parent kept, in the folder `parent`.
        """
        with self._lock:
            if parent is not None and parent.is_dir() and not folder.exists():
                with suppress(OSError, shutil.Error):
                    shutil.copytree(parent, folder, copy_function=_shared)
            messages = self._timeline.messages
            self._folder, self._timeline, self._bytes = folder, Timeline(folder), None
            for message_id in messages:
                self._timeline.begin(message_id)

    def close(self) -> None:
        """Take a temporary folder away; may be repeated."""
        self._forget()

    # -- recording ---------------------------------------------------------------------------

    def begin(self, message_id: str) -> None:
        """The person has sent this message: what changes from now on, changes after it."""
        with self._lock:
            self._timeline.begin(message_id)

    def before_change(
        self, path: Path, before: bytes | None, mode: int | None, after: bytes
    ) -> None:
        """Keep what `path` holds before it holds `after`; None if there is no file."""
        with self._lock:
            self._ready()
            then = self._kept(path, before, mode)
            self._timeline.add(Change(path, then, Version(digest_of(after), mode)))

    def _ready(self) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="agent-tui-"))
            self._forget = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._timeline.folder = self._folder

    def _kept(self, path: Path, content: bytes | None, mode: int | None) -> Version:
        """What `path` holds, kept as far as the rules say."""
        if content is None:
            return Version(None, None)
        version = Version(digest_of(content), mode)
        problem = self._not_kept(path, content)
        if problem is None:
            try:
                self._keep(version.digest or "", content)
            except OSError as error:
                problem = f"its old content could not be kept: {error.strerror or error}"
        return replace(version, problem=problem)

    def _not_kept(self, path: Path, content: bytes) -> str | None:
        if judge(str(path), path.parent).guarded == "credentials":
            return "files with credentials are not copied"
        if len(content) > KEPT_BYTES:
            return f"it had {size_text(len(content))}, more than is kept"
        if self._size() + len(content) > ALL_BYTES:
            return f"the kept files take {size_text(ALL_BYTES)} already"
        return None

    def _keep(self, digest: str, content: bytes) -> None:
        blob = self._blob(digest)
        if not blob.exists():
            blob.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = blob.with_suffix(".new")
            fresh.touch(0o600)
            fresh.write_bytes(content)
            fresh.replace(blob)
            self._bytes = self._size() + len(content)

    def _size(self) -> int:
        if self._bytes is None:
            blobs = (self._folder or Path()) / "blobs"
            self._bytes = sum(blob.stat().st_size for blob in blobs.glob("*"))
        return self._bytes

    def _blob(self, digest: str) -> Path:
        assert self._folder is not None
        return self._folder / "blobs" / digest

    # -- looking and putting back ------------------------------------------------------------

    def changed_since(self, message_id: str | None) -> list[FileChange]:
        """What the agent changed since this message was sent, None: in the session; by path.

        Reads the files: call it in a thread. A message that is not known has nothing after it.
        """
        with self._lock:
            changes = self._timeline.since(self._timeline.position_of(message_id))
        return [self._file_change(made) for made in changes.values()]

    def restore(
        self,
        message_id: str | None,
        *,
        overwrite: Collection[Path] = (),
        only: Collection[Path] | None = None,
    ) -> RestoreReport:
        """Put files back to what they held when this message was sent, None: at the beginning.

        A file that somebody else changed after the agent is left alone unless it is in `overwrite`;
        `only` limits it to some files. Reads and writes files: call it in a thread, between turns.
        """
        with self._lock:
            return self._go_to(self._timeline.position_of(message_id), overwrite, only)

    def redo(self, report: RestoreReport, *, overwrite: Collection[Path] = ()) -> RestoreReport:
        """Take a `restore` back: its files hold again what they held before it."""
        with self._lock:
            return self._go_to(report.position, overwrite, report.restored)

    def _go_to(
        self, position: int, overwrite: Collection[Path], only: Collection[Path] | None
    ) -> RestoreReport:
        before = self._timeline.length
        restored: list[Path] = []
        skipped: list[tuple[Path, str]] = []
        for path, made in self._timeline.since(position).items():
            if only is not None and path not in only:
                continue
            try:
                if self._put_back(path, made, path in overwrite):
                    restored.append(path)
            except Refused as refusal:
                skipped.append((path, str(refusal)))
            except OSError as error:
                skipped.append((path, error.strerror or str(error)))
        return RestoreReport(tuple(restored), tuple(skipped), before)

    def _put_back(self, path: Path, made: Sequence[Change], overwrite: bool) -> bool:
        """Whether the file had to be changed for it."""
        then = made[0].before
        content, mode = _now(path)
        if _is_same(then, content, mode):
            return False
        if then.problem is not None:
            raise Refused(then.problem)
        if not overwrite and _is_foreign(made[-1], content):
            raise Refused("somebody else changed it after the agent")
        old = self._blob(then.digest).read_bytes() if then.digest else None
        now = self._kept(path, content, mode)
        if now.problem is not None and not overwrite:
            raise Refused(f"what it holds now could not be brought back: {now.problem}")
        self._timeline.add(Change(path, now, then))
        if old is None:
            path.unlink()
        else:
            put(path, str(path), old, AbortSignal())
            if then.mode is not None:
                path.chmod(then.mode)
        self.on_restored(path)
        return True

    def _file_change(self, made: Sequence[Change]) -> FileChange:
        path, then = made[0].path, made[0].before
        problem = then.problem
        old = content = mode = None
        try:
            content, mode = _now(path)
            if then.digest and problem is None:
                old = self._blob(then.digest).read_bytes()
        except Refused as refusal:
            problem = str(refusal)
        except OSError as error:
            problem = error.strerror or str(error)
        forwards, backwards = Diff("", 0, 0), Diff("", 0, 0)
        if problem is None:
            forwards, backwards = _diff(old, content, path), _diff(content, old, path)
        return FileChange(
            path=path,
            kind=_kind(then, content, mode),
            diff=forwards.bounded(),
            undo=backwards.bounded(),
            added=forwards.added,
            removed=forwards.removed,
            is_foreign=problem is None and _is_foreign(made[-1], content),
            problem=problem,
        )


def _shared(source: str, target: str) -> None:
    """Contents never change: a fork has the same file. The line of time is a copy."""
    if Path(source).parent.name == "blobs":
        with suppress(OSError):
            Path(target).hardlink_to(source)
            return
    shutil.copy2(source, target)


def _now(path: Path) -> tuple[bytes | None, int | None]:
    """What the file holds now and its mode; None, None if there is none.

    Raises `Refused` if something else stands there, a link to elsewhere for example.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        if path.resolve() != path:
            raise Refused("a link stands in its way now")
        mode = stat.S_IMODE(path.stat().st_mode)
        return content_of(path, path.name, AbortSignal()), mode
    return None, None


def _is_same(then: Version, content: bytes | None, mode: int | None) -> bool:
    if content is None or then.digest is None:
        return content is None and then.digest is None
    return digest_of(content) == then.digest and then.mode in (None, mode)


def _is_foreign(last: Change, content: bytes | None) -> bool:
    """Whether the file is neither as this change made it nor, had it failed, as it was before."""
    digest = None if content is None else digest_of(content)
    return digest not in (last.after.digest, last.before.digest)


def _kind(then: Version, content: bytes | None, mode: int | None) -> str:
    if _is_same(then, content, mode):
        return "same"
    if then.digest is None:
        return "created"
    return "deleted" if content is None else "changed"


def _diff(old: bytes | None, new: bytes | None, path: Path) -> Diff:
    if any(content is not None and b"\0" in content for content in (old, new)):
        return Diff("", 0, 0)
    texts = [(content or b"").decode("utf-8", "replace") for content in (old, new)]
    return unified(texts[0], texts[1], path.name, is_new=old is None)
