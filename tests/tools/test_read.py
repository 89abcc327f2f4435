from __future__ import annotations

import base64
import os
import socket
import threading
from pathlib import Path

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.messages import ImageBlock
from agent_tui.core.tool import Tool, ToolContext
from tests.tools.calls import named, run


@pytest.fixture
def read(tmp_path: Path) -> Tool:
    return named("read", tmp_path)


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def test_a_short_file_is_shown_whole(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n  two\n")

    result = await run(read, path="a.txt")

    assert result.text == "one\n  two"
    assert result.details == {"path": "a.txt", "first_line": 1, "last_line": 2, "lines": 2}


async def test_a_long_file_says_where_to_go_on(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(numbered(5231))

    result = await run(read, path="a.txt")

    assert result.text.startswith("line 1\n")
    assert result.text.endswith("line 2000\n\n[Lines 1-2000 of 5231; go on with offset=2001]")
    assert result.details["last_line"] == 2000


async def test_the_byte_limit_keeps_lines_whole(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(("x" * 1000 + "\n") * 100)

    result = await run(read, path="a.txt")

    assert result.text.endswith("x\n\n[Lines 1-51 of 100; go on with offset=52]")


@pytest.mark.parametrize("lines", [300, 300_000], ids=["small", "larger than a chunk"])
async def test_a_window_begins_at_its_offset(read: Tool, tmp_path: Path, lines: int) -> None:
    (tmp_path / "a.txt").write_text(numbered(lines))

    result = await run(read, path="a.txt", offset=lines - 100, limit=2)

    assert result.text == (
        f"line {lines - 100}\nline {lines - 99}\n\n"
        f"[Lines {lines - 100}-{lines - 99} of {lines}; go on with offset={lines - 98}]"
    )


async def test_the_end_of_a_file_is_said_to_be_the_end(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\nc")

    result = await run(read, path="a.txt", offset=2)

    assert result.text == "b\nc\n\n[Lines 2-3 of 3]"


async def test_an_offset_past_the_end_is_an_error(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")

    result = await run(read, path="a.txt", offset=3)

    assert result.is_error
    assert result.text == "a.txt has only 2 lines; offset 3 is past it."


async def test_nulls_in_place_of_numbers_mean_nothing(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")

    result = await run(read, path="a.txt", offset=0, limit=0)

    assert result.text == "a"


async def test_a_line_longer_than_the_limit_is_cut_between_characters(
    read: Tool, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text("漢" * 40_000 + "\nnext\n")

    result = await run(read, path="a.json")

    shown, _, notice = result.text.partition("\n\n")
    assert shown == "漢" * (50 * 1024 // 3)
    assert notice == "[Only the first 50.0 KiB of line 1 of 2; use bash for more]"


async def test_an_empty_file_is_said_to_be_empty(read: Tool, tmp_path: Path) -> None:
    """Case read-empty."""
    (tmp_path / "empty.txt").touch()

    result = await run(read, path="empty.txt")

    assert not result.is_error
    assert result.text == "empty.txt is empty."


async def test_a_file_of_one_empty_line_is_not_empty_text(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n")

    result = await run(read, path="a.txt")

    assert result.text


async def test_a_binary_file_is_told_with_its_size(read: Tool, tmp_path: Path) -> None:
    """Case read-binary: begins like a picture and is none."""
    start = base64.b64decode("iVBORw0KGgo=")
    (tmp_path / "pic.bin").write_bytes(start + bytes(range(256)))

    result = await run(read, path="pic.bin")

    assert result.text == "pic.bin is a binary file (264 bytes)."


async def test_zeros_further_down_make_a_file_binary_too(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"text\n" * 3000 + b"\0\0")

    result = await run(read, path="a.bin", offset=2900)

    assert result.is_error
    assert "binary" in result.text


async def test_a_picture_is_returned_as_a_picture(read: Tool, tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(20)
    (tmp_path / "shot").write_bytes(png)

    result = await run(read, path="shot")

    assert result.text == "shot is a picture (image/png, 36 bytes)."
    picture = result.content[1]
    assert isinstance(picture, ImageBlock)
    assert picture.mime_type == "image/png"
    assert base64.b64decode(picture.data) == png


async def test_a_picture_too_large_to_send_is_a_binary_file(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "big.gif").write_bytes(b"GIF89a" + bytes(4_000_000))

    result = await run(read, path="big.gif")

    assert result.is_error
    assert result.text == "big.gif is a binary file (3.8 MiB)."


async def test_text_that_is_no_utf8_is_shown_and_said(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")

    result = await run(read, path="latin.txt")

    assert result.text == (
        "caf\ufffd\n\n[The file is not UTF-8; bytes that could not be read are shown as \ufffd]"
    )


async def test_a_replacement_mark_in_the_file_itself_is_no_complaint(
    read: Tool, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a \ufffd b\n")

    result = await run(read, path="a.txt")

    assert result.text == "a \ufffd b"


async def test_mark_and_line_ends_of_other_systems_are_not_in_the_text(
    read: Tool, tmp_path: Path
) -> None:
    (tmp_path / "w.txt").write_bytes(b"\xef\xbb\xbfalpha\r\nbeta\r\n")

    result = await run(read, path="w.txt")

    assert result.text.startswith("alpha\nbeta\n\n[Lines of this file end in CRLF;")


async def test_a_pipe_is_refused_at_once(read: Tool, tmp_path: Path) -> None:
    """Case read-fifo."""
    os.mkfifo(tmp_path / "live.pipe")

    result = await run(read, path="live.pipe")

    assert result.is_error
    assert result.text == "live.pipe is a named pipe, not a file."


async def test_a_socket_is_refused_by_what_it_is(
    read: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")

        result = await run(read, path="s")

    assert result.text == "s is a socket, not a file."


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/dev/null", "/dev/null is a device, not a file."),
        (".", ". is a directory; use ls to list it."),
        ("ap.py", "ap.py does not exist. There is app.py."),
        ("no/such.py", "no/such.py does not exist, and neither does its folder."),
        ("a\0b", "The path contains a NUL character."),
    ],
    ids=["device", "directory", "misspelled", "missing folder", "NUL"],
)
async def test_what_cannot_be_read_is_told_in_a_sentence(
    read: Tool, tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "app.py").touch()

    result = await run(read, path=path)

    assert result.is_error
    assert result.text == sentence


async def test_links_that_form_a_circle_are_told(read: Tool, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    result = await run(read, path="a")

    assert result.is_error
    assert result.text.startswith("a: ")


async def test_the_home_folder_has_its_short_name(
    read: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").write_text("mine\n")

    result = await run(read, path="~/notes")

    assert result.text == "mine"


async def test_reading_ends_when_the_call_should(read: Tool, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"text\n" * 4000)
        file.truncate(2**40)
    signal = AbortSignal()
    threading.Timer(0.1, signal.set).start()

    result = await run(read, ToolContext(signal=signal), path="huge")

    assert result.is_error
    assert result.text.startswith("Aborted")
