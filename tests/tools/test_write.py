from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolContext
from tests.tools.calls import named, run

SOMEBODY = 65534
"""A user without rights, for tests that run as root."""


@pytest.fixture
def write(tmp_path: Path) -> Tool:
    return named("write", tmp_path)


async def test_a_new_file_gets_its_folders(write: Tool, tmp_path: Path) -> None:
    result = await run(write, path="a/b/c.txt", content="one\ntwo\n")

    assert (tmp_path / "a/b/c.txt").read_bytes() == b"one\ntwo\n"
    assert result.text == "Created a/b/c.txt (2 lines, 8 bytes)."
    assert result.details == {
        "path": "a/b/c.txt",
        "diff": "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        "added": 2,
        "removed": 0,
    }


async def test_a_new_file_gets_the_usual_permissions(write: Tool, tmp_path: Path) -> None:
    (tmp_path / "usual").touch()

    await run(write, path="a.txt", content="x")

    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "usual").stat().st_mode


async def test_an_existing_file_is_replaced_and_keeps_its_mode(write: Tool, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("old\n")
    (tmp_path / "run.sh").chmod(0o750)

    result = await run(write, path="run.sh", content="new\n")

    assert (tmp_path / "run.sh").read_text() == "new\n"
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o750
    assert result.text == "Wrote run.sh (1 line, 4 bytes)."
    assert result.details["diff"].endswith("@@ -1 +1 @@\n-old\n+new\n")


async def test_the_content_is_written_as_it_is(write: Tool, tmp_path: Path) -> None:
    await run(write, path="a.txt", content="dos\r\n\ufeffé\n no newline")

    assert (tmp_path / "a.txt").read_bytes() == "dos\r\n\ufeffé\n no newline".encode()


async def test_a_link_stays_and_its_target_is_written(write: Tool, tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")

    await run(write, path="link.txt", content="new")

    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


async def test_nothing_else_is_left_in_the_folder(write: Tool, tmp_path: Path) -> None:
    await run(write, path="a.txt", content="x")

    assert list(tmp_path.iterdir()) == [tmp_path / "a.txt"]


async def test_the_same_content_changes_nothing(write: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("same")
    before = (tmp_path / "a.txt").stat()

    result = await run(write, path="a.txt", content="same")

    assert result.text == "a.txt already has this content."
    assert (tmp_path / "a.txt").stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("folder", "folder is a directory; use ls to list it."),
        ("pipe", "pipe is a named pipe, not a file."),
        ("file/below", "{root}/file/below: Not a directory."),
    ],
    ids=["directory", "pipe", "below a file"],
)
async def test_what_is_no_file_is_not_replaced(
    write: Tool, tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()

    result = await run(write, path=path, content="x")

    assert result.is_error
    assert result.text == sentence.format(root=tmp_path)


async def test_an_aborted_call_writes_nothing(write: Tool, tmp_path: Path) -> None:
    signal = AbortSignal()
    signal.set()

    result = await run(write, ToolContext(signal=signal), path="new/a.txt", content="x")

    assert result.is_error
    assert not list(tmp_path.iterdir())


async def test_half_a_character_is_replaced(write: Tool, tmp_path: Path) -> None:
    await run(write, path="a.txt", content="a\ud800b")

    assert (tmp_path / "a.txt").read_text("utf-8") == "a\ufffdb"


@pytest.fixture
def own_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody who is not root, for whom everything can be written."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, SOMEBODY, SOMEBODY)
        os.setreuid(SOMEBODY, 0)
        os.seteuid(SOMEBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)
            os.setreuid(0, 0)


async def test_a_read_only_file_stays(own_folder: Path) -> None:
    (own_folder / "a.txt").write_text("old")
    (own_folder / "a.txt").chmod(0o444)

    result = await run(named("write", own_folder), path="a.txt", content="new")

    assert result.is_error
    assert result.text == "a.txt is read-only."


async def test_a_file_in_a_closed_folder_is_written_in_place(own_folder: Path) -> None:
    folder = own_folder / "closed"
    folder.mkdir()
    (folder / "a.txt").write_text("older text")
    folder.chmod(0o555)

    result = await run(named("write", own_folder), path="closed/a.txt", content="new")
    folder.chmod(0o755)

    assert not result.is_error
    assert (folder / "a.txt").read_text() == "new"
