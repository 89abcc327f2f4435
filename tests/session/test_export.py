"""What was spent, as a table in a file."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.core.model import ModelCost
from agent_tui.core.usage import Usage, add_usage, units_of
from agent_tui.session.export import COLUMNS, csv_of
from agent_tui.testing import call, calls, end, fail, text
from tests.session.rig import Rig, plain_tool


async def spent() -> Rig:
    """A session with a failed attempt, a tool and an answer that nobody counted."""
    rig = Rig(
        fail("overloaded"),
        [calls(call("look")), end(usage=Usage(input=1000, output=10, cache_read=500))],
        [text("one"), end(usage=Usage(input=2000, output=10, reasoning=4))],
        text("two"),
        tools=[plain_tool("look", "x" * 400)],
        prices=ModelCost(3.0, 15.0, 0.3),
    )
    await rig.session.prompt("go")
    await rig.session.prompt("again")
    return rig


def rows_of(rig: Rig) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_of(rig.session.usage_report()))))


async def test_there_is_a_row_for_every_call_and_every_tool() -> None:
    rows = rows_of(await spent())

    assert [(row["row"], row["turn"], row["step"], row["outcome"]) for row in rows] == [
        ("call", "1", "1", "failed"),
        ("call", "1", "1", "answered"),
        ("call", "1", "2", "answered"),
        ("call", "2", "1", "answered"),
        ("tool", "", "", ""),
    ]


async def test_the_rows_add_up_to_the_session() -> None:
    rig = await spent()

    rows = rows_of(rig)

    total = add_usage([Usage(cost_usd=float(row["cost_usd"])) for row in rows if row["cost_usd"]])
    assert units_of(total.cost_usd or 0) == units_of(rig.session.totals.cost_usd or 0)
    assert sum(int(row["input"] or 0) for row in rows) == rig.session.totals.input


async def test_what_nobody_counted_is_empty_and_not_zero() -> None:
    rows = rows_of(await spent())

    unknown = rows[3]
    assert (unknown["input"], unknown["output"], unknown["cost_usd"]) == ("", "", "")
    assert unknown["is_partial"] == "1"


async def test_small_amounts_are_written_without_an_exponent() -> None:
    rig = Rig([text("one"), end(usage=Usage(input=1))], prices=ModelCost(0.05, 0.0))
    await rig.session.prompt("go")

    assert rows_of(rig)[0]["cost_usd"] == "0.00000005"


async def test_no_name_is_taken_for_a_formula_or_breaks_a_row() -> None:
    rig = Rig(calls(call("=cmd|' /C calc'!A0"), call("a\x1b[2J\nb,c")), text("done"))
    await rig.session.prompt("go")

    names = [row["tool"] for row in rows_of(rig) if row["row"] == "tool"]
    assert sorted(names) == ["'=cmd|' /C calc'!A0", "a b,c"]


async def test_a_file_is_written_and_written_again(tmp_path: Path) -> None:
    rig, path = await spent(), tmp_path / "usage.csv"

    rig.session.export_usage(path)
    first = path.read_bytes()
    rig.session.export_usage(path)

    assert first.decode().splitlines()[0] == ",".join(COLUMNS)
    assert path.read_bytes() == first


async def test_a_file_that_is_no_export_is_left_alone(tmp_path: Path) -> None:
    rig, path = await spent(), tmp_path / "notes.csv"
    path.write_text("mine")

    with pytest.raises(InvalidInputError, match="choose another name"):
        rig.session.export_usage(path)

    assert path.read_text() == "mine"


async def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    rig, path = await spent(), tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(InvalidInputError, match="choose another name"):
        rig.session.export_usage(path)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    rig = await spent()

    with pytest.raises(InvalidInputError, match="cannot be written: No such file"):
        rig.session.export_usage(tmp_path / "none" / "usage.csv")
