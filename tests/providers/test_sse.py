"""Bytes → frames, wherever they are cut."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.errors import ProviderError
from agent_tui.providers.sse import MAX_LINE_BYTES, Frame, LineBuffer, NdjsonDecoder, SseDecoder

BODY = (
    "\ufeff: hello\n\nevent: ping\ndata: {}\n\n"
    'data:{"a": "one\u2028two\u0085three\u000bfour 👩‍💻"}\n\n'
    "data: first\ndata: second\n\n:\nid: 7\nretry: 10\ndata:\n\ndata: last"
).encode()
FRAMES = [
    ("ping", "{}"),
    ("", '{"a": "one\u2028two\u0085three\u000bfour 👩‍💻"}'),
    ("", "first\nsecond"),
    ("", "last"),
]


def decoded(pieces: Iterable[bytes]) -> list[Frame]:
    decoder = SseDecoder()
    frames = [frame for piece in pieces for frame in decoder.feed(piece)]
    return frames + decoder.close()


def pieces_of(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = [0, *sorted(cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_comments_fields_and_line_ends_are_read_as_the_standard_says(line_end: bytes) -> None:
    assert decoded([BODY.replace(b"\n", line_end)]) == FRAMES


@given(
    cuts=st.lists(st.integers(0, len(BODY))),
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_the_network_cuts_makes_no_difference(cuts: list[int], line_end: bytes) -> None:
    body = BODY.replace(b"\n", line_end)

    assert decoded(pieces_of(body, (min(cut, len(body)) for cut in cuts))) == FRAMES


def test_an_event_comes_out_with_its_blank_line_and_not_later() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b"data: x\r\n\r") == [("", "x")]
    assert decoder.feed(b"\ndata: y\n") == []
    assert decoder.close() == [("", "y")]


def test_a_json_object_without_a_field_name_is_a_frame() -> None:
    assert decoded([b'data: a\n\n{"error": "out of memory"}\n']) == [
        ("", "a"),
        ("", '{"error": "out of memory"}'),
    ]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert decoded([b"data: \xff!\n\n"]) == [("", "\ufffd!")]


def test_a_line_of_megabytes_in_small_reads_stays_whole() -> None:
    buffer = LineBuffer()
    line = b"x" * (3 << 20)

    lines = [
        line
        for piece in pieces_of(line, range(1024, len(line), 1024))
        for line in buffer.feed(piece)
    ]

    assert lines == []
    assert buffer.feed(b"\n") == [line]


def test_a_line_without_end_is_refused() -> None:
    buffer = LineBuffer()

    buffer.feed(b"x" * MAX_LINE_BYTES)

    with pytest.raises(ProviderError, match="32 MiB"):
        buffer.feed(b"x")


@given(cuts=st.lists(st.integers(0, 30)))
def test_json_lines_need_no_last_newline(cuts: list[int]) -> None:
    body = b'{"a": 1}\r\n\n{"b": "\xe2\x82\xac"}\n{"c": 3}'
    decoder = NdjsonDecoder()

    frames = [frame for piece in pieces_of(body, cuts) for frame in decoder.feed(piece)]

    assert frames + decoder.close() == [("", '{"a": 1}'), ("", '{"b": "€"}'), ("", '{"c": 3}')]
