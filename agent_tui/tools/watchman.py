"""Ending a job when the program dies without a word, e.g. by `kill -9`.

A shell waits at the end of a pipe that only the program holds. A line tells it that all is well; if
the pipe ends without one, the program is dead, and the shell kills the job's process group.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress

_SCRIPT = 'read -r word || kill -s KILL -- "-$1"'


class Watchman:
    """Watches over one process group until it is dismissed."""

    def __init__(self, group: int) -> None:
        """Where no further process can be started, nobody watches."""
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def dismiss(self) -> None:
        """The job has ended: its number may soon be somebody else's; may be repeated."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(b"well\n")
            process.stdin.flush()
        with suppress(OSError):
            process.stdin.close()
        process.wait()
