"""The recorded streams of all kinds of servers, however the network cuts them."""

from __future__ import annotations

import asyncio

import pytest

from agent_tui.core.stream import StreamOptions
from tests.providers.loopback import Script, collect, plays, serving, stalls_after
from tests.providers.recordings import RECORDINGS, Recording, expected, outcome, parsed

ENDING = [case for case in RECORDINGS if not case.stalls]


def name_of(case: object) -> str | None:
    return f"{case.api}-{case.name}" if isinstance(case, Recording) else None


def script_for(case: Recording, cutting: str) -> Script:
    if case.stalls:
        return stalls_after(case.body, asyncio.Event(), case.headers)
    every = range(1, len(case.body)) if cutting == "one_byte_per_read" else []
    return plays(case.body, case.cuts if cutting == "listed" else every, headers=case.headers)


@pytest.mark.parametrize("case", ENDING, ids=name_of)
def test_a_recorded_stream_gives_what_was_meant(case: Recording) -> None:
    found = outcome(parsed(case.model, [case.body]))

    assert found == expected(case, found)
    assert len({call["id"] for call in found["tool_calls"]} | {""}) == len(found["tool_calls"]) + 1


@pytest.mark.parametrize("case", ENDING, ids=name_of)
def test_a_cut_at_any_byte_changes_nothing(case: Recording) -> None:
    for cut in range(1, len(case.body)):
        found = outcome(parsed(case.model, [case.body[:cut], case.body[cut:]]))

        assert found == expected(case, found), cut


@pytest.mark.parametrize("case", RECORDINGS, ids=name_of)
@pytest.mark.parametrize("cutting", ["whole", "listed", "one_byte_per_read"])
async def test_a_real_connection_gives_the_same(case: Recording, cutting: str) -> None:
    options = StreamOptions(timeout=0.1 if case.stalls else None)

    async with serving(script_for(case, cutting)) as lab:
        found = outcome(await collect(lab.model(api=case.api), options=options))

    assert found == expected(case, found)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("size", [1, 2, 7, 4096])
@pytest.mark.parametrize("case", ENDING, ids=name_of)
def test_every_line_end_and_size_of_read_gives_the_same(
    case: Recording, line_end: bytes, size: int
) -> None:
    body = case.body.replace(b"\r\n", b"\n").replace(b"\n", line_end)

    found = outcome(parsed(case.model, [body[at : at + size] for at in range(0, len(body), size)]))

    assert found == expected(case, found)
