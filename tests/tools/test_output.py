from __future__ import annotations

import random
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.tools.output import LIMIT_BYTES, Excerpt, OutputLog, for_model, head, tail

TEXTS = st.text(st.sampled_from("ab é漢🙂\n"), max_size=60)
LINES = st.integers(1, 8)
BYTES = st.integers(4, 40)
quick = settings(deadline=None, derandomize=True)


def test_a_newline_at_the_end_is_not_an_extra_line() -> None:
    """S37."""
    assert tail("a\nb\n", 2) == Excerpt("a\nb", 2, 0, False)
    assert head("a\nb\n", 2) == Excerpt("a\nb", 2, 0, False)


def test_the_tail_of_one_long_line_begins_with_a_whole_character() -> None:
    """S37."""
    assert tail("xé漢🙂", 10, 8) == Excerpt("漢🙂", 1, 0, True)
    assert tail("xé漢🙂", 10, 6) == Excerpt("🙂", 1, 0, True)


def test_the_head_of_one_long_line_ends_with_a_whole_character() -> None:
    assert head("xé漢🙂", 10, 8) == Excerpt("xé漢", 1, 0, True)


def test_only_the_outermost_line_may_be_cut() -> None:
    assert tail("long line\nshort\n", 10, 8) == Excerpt("short", 1, 1, False)
    assert head("short\nlong line", 10, 8) == Excerpt("short", 1, 1, False)


@pytest.mark.parametrize("text", ["", "\n"], ids=["nothing", "an empty line"])
def test_nothing_is_left_out_of_next_to_nothing(text: str) -> None:
    assert head(text).left_out == tail(text).left_out == 0


@quick
@given(TEXTS, LINES, BYTES)
def test_a_tail_is_the_largest_end_of_whole_lines(text: str, lines: int, size: int) -> None:
    part = tail(text, lines, size)

    whole = text.removesuffix("\n")
    assert whole.endswith(part.text)
    assert len(part.text.encode()) <= size
    assert part.lines <= lines
    assert part.lines + part.left_out == len(text.split("\n")) - (text.split("\n")[-1] == "")
    assert part.cut or whole == part.text or whole.endswith(f"\n{part.text}") or not part.lines
    assert (
        not part.left_out
        or part.cut
        or part.lines == lines
        or _next_does_not_fit(part, whole, size)
    )


def _next_does_not_fit(part: Excerpt, whole: str, size: int) -> bool:
    before = whole.removesuffix(part.text).removesuffix("\n").split("\n")[-1]
    return len(f"{before}\n{part.text}".encode()) > size


@quick
@given(TEXTS, LINES, BYTES)
def test_a_head_is_a_tail_read_backwards(text: str, lines: int, size: int) -> None:
    text = text.strip("\n")
    mirrored = tail(text[::-1], lines, size)

    part = head(text, lines, size)

    assert part.text == mirrored.text[::-1]
    assert part.lines == mirrored.lines


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (b"a\tb\n", "a\tb\n"),
        (b"10%\r50%\r100%\n", "100%\n"),
        (b"dos\r\nlines\r\n", "dos\nlines\n"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"80%\r100%\r\x1b[0m\n", "100%\n"),
        (b"-\b\\\b|\bdone\n", "done\n"),
        (b"N\bNA\bA", "NA"),
        (b"\x1b]0;title\x07shown", "shown"),
        (b"a\n\x1b]never closed\nb", "a\n\nb"),
        ("é\u009b31mx".encode(), "éx"),
        (b"\xff\n", "\ufffd\n"),
        (b"nul\0byte", "nulbyte"),
    ],
    ids=lambda value: repr(value) if isinstance(value, bytes) else "",
)
def test_output_becomes_text_that_a_model_can_use(printed: bytes, text: str) -> None:
    assert for_model(printed) == text


def test_a_line_of_a_million_backspaces_takes_no_time() -> None:
    assert for_model(b"a" * 500_000 + b"\b" * 500_000) == ""


@quick
@given(st.binary(max_size=200))
def test_cleaning_keeps_the_number_of_lines(printed: bytes) -> None:
    assert for_model(printed).count("\n") == printed.count(b"\n")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def pieces(data: bytes, seed: int) -> list[bytes]:
    """`data` cut at random places, into 1 to 2,000 pieces."""
    chance = random.Random(seed)
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice([0, 3, 50, 2000])))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def logged(parts: list[bytes], folder: Path) -> OutputLog:
    log = OutputLog(folder)
    for part in parts:
        log.add(part)
    log.close()
    return log


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "data",
    [
        "zeile é漢🙂\n".encode() * 20_000,
        "no newline é漢🙂 ".encode() * 20_000,
        b"a\nb\n",
        b"x" * LIMIT_BYTES + b"\n",
        b"\n" * 5000,
    ],
    ids=["many lines", "one long line", "short", "at the limit", "empty lines"],
)
def test_a_log_does_not_depend_on_how_its_bytes_came(data: bytes, seed: int, folder: Path) -> None:
    log = logged(pieces(data, seed), folder)

    part = tail(data.decode())
    assert log.result() == part
    assert log.lines == part.lines + part.left_out
    assert log.bytes == len(data)
    assert (log.path is not None) == bool(part.left_out or part.cut)
    assert log.path is None or log.path.read_bytes() == data


@quick
@given(st.text(st.sampled_from("aé漢🙂\n"), max_size=40), st.data())
def test_a_live_view_never_shows_half_a_character(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    log = OutputLog(None)

    log.add(encoded[: data.draw(st.integers(0, len(encoded)))])

    assert "\ufffd" not in log.live()
    assert text.startswith(log.live())


def test_a_saved_output_is_readable_by_its_owner_only(folder: Path) -> None:
    log = logged([b"line\n" * 3000], folder / "new")

    assert log.path is not None
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_saved_output_has_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_tui.tools.output.SAVED_BYTES", 2 * 1024**2)

    log = logged([b"x" * 1024**2] * 3, folder)

    assert log.path is not None
    assert log.path.stat().st_size == 2 * 1024**2
    assert log.trouble == "it ends after 2 MiB"
    assert log.bytes == 3 * 1024**2


def test_memory_does_not_grow_with_the_output(folder: Path) -> None:
    import tracemalloc

    log = OutputLog(folder)
    log.add(b"first\n" * 200_000)
    tracemalloc.start()
    for _ in range(40):
        log.add(b"again\n" * 200_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    log.close()

    assert log.bytes == 41 * 1_200_000
    assert peak < 8 * 1024**2
