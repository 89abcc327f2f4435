"""Opening and replacing regular files: nothing that could block, nothing half written."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_tui.core.abort import AbortSignal
from agent_tui.tools.paths import Refused, kind_of, not_found, size_text
from agent_tui.tools.slots import check

CHUNK_BYTES = 1024 * 1024
EDITED_BYTES = 50 * 1024 * 1024
_CANNOT_RENAME = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS, errno.EXDEV}


@contextmanager
def opened(real: Path, name: str) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor of the regular file and what it is; `name` is how messages call it.

    Judges the open descriptor, so a pipe, socket or device is refused at once and never waited for.
    Raises `Refused` for anything but a regular file, `OSError` if it cannot be opened.
    """
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise not_found(name, real) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise Refused(f"{name} is a {kind_of(real.stat().st_mode)}, not a file.") from None
        raise
    try:
        info = os.fstat(descriptor)
        if stat.S_ISDIR(info.st_mode):
            raise Refused(f"{name} is a directory; use ls to list it.")
        if not stat.S_ISREG(info.st_mode):
            raise Refused(f"{name} is a {kind_of(info.st_mode)}, not a file.")
        yield descriptor, info
    finally:
        os.close(descriptor)


def chunks(descriptor: int, signal: AbortSignal) -> Iterator[bytes]:
    """The rest of the file in large pieces; raises `Refused` when the call should end."""
    while chunk := os.read(descriptor, CHUNK_BYTES):
        check(signal)
        yield chunk


def content_of(real: Path, name: str, signal: AbortSignal) -> bytes:
    """The whole file. Raises `Refused` if it is no regular file, or too large to edit."""
    with opened(real, name) as (descriptor, info):
        if info.st_size > EDITED_BYTES:
            raise Refused(
                f"{name} is {size_text(info.st_size)}, more than the {size_text(EDITED_BYTES)} "
                "that can be edited at once; use bash."
            )
        return b"".join(chunks(descriptor, signal))


def replace(real: Path, name: str, data: bytes, signal: AbortSignal) -> None:
    """Put `data` into the file in one step: other programs see the old content or the new.

    Keeps the permission bits of an existing file, makes missing folders for a new one. Where the
    folder takes no new file the old one is overwritten in place.
    """
    info = _replaceable(real, name)
    check(signal)
    real.parent.mkdir(parents=True, exist_ok=True)
    try:
        _swap_in(real, data, info)
    except OSError as error:
        if info is None or error.errno not in _CANNOT_RENAME:
            # The system speaks of the temporary file.
            raise Refused(f"{name}: {error.strerror or error}.") from None
        _overwrite(real, data)


def _replaceable(real: Path, name: str) -> os.stat_result | None:
    try:
        info = real.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise Refused(f"{name} is a {kind_of(info.st_mode)}, not a file.")
    if not os.access(real, os.W_OK):
        raise Refused(f"{name} is read-only.")
    return info


def _swap_in(real: Path, data: bytes, info: os.stat_result | None) -> None:
    temporary = real.parent / f".agent-tui-{secrets.token_hex(6)}.tmp"
    # A new file gets what the umask leaves; one that exists is private until it has its own mode.
    mode = 0o666 if info is None else 0o600
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if info is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, info.st_uid, info.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(info.st_mode))
        temporary.replace(real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _overwrite(real: Path, data: bytes) -> None:
    with real.open("r+b") as file:
        file.write(data)
        file.truncate()
