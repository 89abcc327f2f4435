from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.core.tool import Tool
from agent_tui.tools.edit import edited
from agent_tui.tools.paths import Refused
from tests.tools.calls import named, run

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def edit(tmp_path: Path) -> Tool:
    return named("edit", tmp_path)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (
            b"alpha\r\nbeta\r\ngamma\r\n",
            "beta\ngamma",
            "BETA\nDELTA",
            b"alpha\r\nBETA\r\nDELTA\r\n",
        ),
        (
            b"alpha\r\nbeta\r\ngamma\r\n",
            "beta\r\n",
            "beta2\r\n",
            b"alpha\r\nbeta2\r\ngamma\r\n",
        ),
        (b"alpha\r\nbeta\r\n", "beta", "b1\nb2", b"alpha\r\nb1\r\nb2\r\n"),
        (b"alpha\r\nbeta", "beta", "b1\nb2", b"alpha\r\nb1\r\nb2"),
        (b"unix\ndos\r\nunix\n", "dos", "d1\nd2", b"unix\nd1\r\nd2\r\nunix\n"),
        (b"a\nbeta\n", "beta\r\n", "beta2\r\n", b"a\nbeta2\n"),
        (b"a\nb\n", "b", "b\\r\r\n", b"a\nb\\r\r\n\n"),
        (
            BOM + b"using System;\nclass A {}\n",
            "using System;",
            "using System.Text;",
            BOM + b"using System.Text;\nclass A {}\n",
        ),
        (BOM + b"a\n", "\ufeffa", "\ufeffb", BOM + b"b\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"price = old\n", "old", r"r'\1 $& $1 \g<0>'", b"price = r'\\1 $& $1 \\g<0>'\n"),
        (b"caf\xe9 old \xff\n", "old", "new", b"caf\xe9 new \xff\n"),
        (b"a.b\naxb\n", "a.b", "c", b"c\naxb\n"),
        (b"a\nb\nc\n", "b\n", "", b"a\nc\n"),
    ],
    ids=[
        "crlf",
        "crlf-given-crlf",
        "crlf-new-lines-inside-a-line",
        "crlf-last-line",
        "mixed-line-ends",
        "lf-given-crlf",
        "lf-literal-cr",
        "bom",
        "bom-given",
        "no-final-newline",
        "dollar-and-backslash",
        "bytes-that-are-no-utf8",
        "dot-is-a-dot",
        "a-line-goes",
    ],
)
async def test_only_the_text_that_was_meant_changes(
    edit: Tool, tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    """Cases edit-crlf, edit-crlf-given-crlf, edit-bom, edit-no-final-newline, edit-dollar-…"""
    (tmp_path / "f").write_bytes(before)

    result = await run(edit, path="f", old=old, new=new)

    assert not result.is_error
    assert (tmp_path / "f").read_bytes() == after


async def test_permissions_stay(edit: Tool, tmp_path: Path) -> None:
    """Case edit-keeps-mode."""
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho X\n")
    (tmp_path / "run.sh").chmod(0o755)

    await run(edit, path="run.sh", old="X", new="Y")

    assert (tmp_path / "run.sh").read_text() == "#!/bin/sh\necho Y\n"
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o755


async def test_a_text_that_occurs_twice_is_refused_with_its_places(
    edit: Tool, tmp_path: Path
) -> None:
    """Case edit-ambiguous."""
    (tmp_path / "t.txt").write_text("x = 1\ny\nx = 1\n")

    result = await run(edit, path="t.txt", old="x = 1", new="x = 2")

    assert result.is_error
    assert result.text == (
        "The text occurs 2 times in t.txt (lines 1, 3); nothing was changed. "
        "Give more of the lines around it, or set replace_all."
    )
    assert (tmp_path / "t.txt").read_text() == "x = 1\ny\nx = 1\n"


async def test_places_that_overlap_are_ambiguous_too(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("aaa\n")

    result = await run(edit, path="t.txt", old="aa", new="b")

    assert result.is_error
    assert "occurs 2 times" in result.text


async def test_all_occurrences_are_replaced_on_request(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("x\ny\nx x\n")

    result = await run(edit, path="t.txt", old="x", new="xx", replace_all=True)

    assert (tmp_path / "t.txt").read_text() == "xx\ny\nxx xx\n"
    assert result.text == "Replaced 3 occurrences in t.txt (lines 1, 3, 3)."
    assert (result.details["added"], result.details["removed"]) == (2, 2)


async def test_several_edits_build_on_each_other(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("one\ntwo\n")
    edits = [{"old": "one", "new": "1"}, {"old": "1\ntwo", "new": "1\n2"}]

    result = await run(edit, path="t.txt", edits=edits)

    assert (tmp_path / "t.txt").read_text() == "1\n2\n"
    assert result.text == "Replaced 2 occurrences in t.txt (lines 1, 1)."


async def test_one_edit_that_fails_undoes_the_others(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("one\ntwo\n")
    edits = [{"old": "one", "new": "1"}, {"old": "three", "new": "3"}]

    result = await run(edit, path="t.txt", edits=edits)

    assert result.is_error
    assert result.text.startswith("Edit 2 of 2: The text was not found in t.txt")
    assert (tmp_path / "t.txt").read_text() == "one\ntwo\n"


async def test_white_space_that_differs_is_pointed_out(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def f():\n\tif x:\n\t\treturn 1\n")

    result = await run(edit, path="t.py", old="    if x:\n        return 1", new="y")

    assert result.is_error
    assert result.text == (
        "The text was not found in t.py; nothing was changed. Line 2 differs only in white space. "
        "It reads:\n\tif x:\n\t\treturn 1"
    )


async def test_the_closest_line_is_shown(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("import os\n\ndef calculate_total(items):\n    pass\n")

    result = await run(edit, path="t.py", old="def calculate_totals(items):", new="y")

    assert result.is_error
    assert result.text.endswith("The closest line is 3:\ndef calculate_total(items):")


async def test_nothing_alike_is_no_guess(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("import os\n")

    result = await run(edit, path="t.py", old="zzzzzz", new="y")

    assert result.text.endswith("nothing was changed. Read the file again.")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({}, "Give either old and new, or edits."),
        ({"old": "a", "new": "b", "edits": [{"old": "a", "new": "b"}]}, "Give either"),
        ({"old": "", "new": "b"}, "The text to replace is empty; use write to fill a file."),
        ({"old": "a", "new": "a"}, "The replacement leaves f as it is."),
    ],
    ids=["nothing", "both", "empty", "the same"],
)
async def test_a_change_that_is_none_is_refused(
    edit: Tool, tmp_path: Path, args: dict[str, Any], sentence: str
) -> None:
    (tmp_path / "f").write_text("a\n")

    result = await run(edit, path="f", **args)

    assert result.is_error
    assert result.text.startswith(sentence)


async def test_a_missing_file_is_not_created(edit: Tool, tmp_path: Path) -> None:
    result = await run(edit, path="new.txt", old="a", new="b")

    assert result.is_error
    assert not list(tmp_path.iterdir())


async def test_a_binary_file_is_refused(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a\0b")

    result = await run(edit, path="a.bin", old="a", new="b")

    assert result.is_error
    assert "binary" in result.text


async def test_the_result_carries_the_diff(edit: Tool, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"{number}\n" for number in range(1, 10)))

    result = await run(edit, path="t.txt", old="5", new="five")

    assert result.text == "Replaced 1 occurrence in t.txt (line 5)."
    assert result.details["diff"] == (
        "--- a/t.txt\n+++ b/t.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


async def test_parallel_edits_of_one_file_all_take_effect(edit: Tool, tmp_path: Path) -> None:
    """Also through a link, which is another name of the same file."""
    (tmp_path / "f").write_text("".join(f"<{number}>\n" for number in range(40)))
    (tmp_path / "alias").symlink_to("f")

    results = await asyncio.gather(
        *(
            run(edit, path=("f", "alias")[number % 2], old=f"<{number}>", new=f"[{number}]")
            for number in range(40)
        )
    )

    assert not [result.text for result in results if result.is_error]
    assert (tmp_path / "f").read_text() == "".join(f"[{number}]\n" for number in range(40))
    assert (tmp_path / "alias").is_symlink()


WORDS = st.text(st.sampled_from("ab é漢$\\1"), max_size=6)
quick = settings(deadline=None, derandomize=True)


@quick
@given(st.data())
def test_lines_around_an_edit_keep_every_byte(data: st.DataObject) -> None:
    mark = data.draw(st.sampled_from([b"", BOM]))
    ends = data.draw(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=8))
    lines = [f"<{number}>{data.draw(WORDS)}" for number in range(len(ends))]
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    new = data.draw(st.lists(WORDS, min_size=1, max_size=3))
    whole = [f"{line}{end}" for line, end in zip(lines, ends, strict=True)]
    if data.draw(st.booleans()):
        whole[-1] = lines[-1]

    outcome = edited(
        mark + "".join(whole).encode(),
        {"path": "f", "old": "\n".join(lines[first : last + 1]), "new": "!" + "\n".join(new)},
    )

    above = mark + "".join(whole[:first]).encode()
    below = whole[last].removeprefix(lines[last]) + "".join(whole[last + 1 :])
    assert outcome.data.startswith(above)
    assert outcome.data.endswith(below.encode())
    middle = outcome.data[len(above) : len(outcome.data) - len(below.encode())]
    assert middle.replace(b"\r\n", b"\n") == ("!" + "\n".join(new)).encode()
    assert outcome.lines == [first + 1]


@quick
@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_keeps_its_one_kind_of_line_end(
    new: list[str], end: str, given_as_the_file_has_it: bool
) -> None:
    between = end if given_as_the_file_has_it else "\n"

    outcome = edited(
        f"a{end}<old>{end}b{end}".encode(),
        {"path": "f", "old": f"<old>{between}", "new": between.join([*new, "c", ""])},
    )

    assert outcome.data == f"a{end}{end.join(new)}{end}c{end}b{end}".encode()


@quick
@given(st.binary(max_size=40).filter(lambda data: b"\0" not in data))
def test_bytes_of_any_encoding_survive_an_edit(rest: bytes) -> None:
    outcome = edited(b"<old>" + rest, {"path": "f", "old": "<old>", "new": "<new>"})

    assert outcome.data == b"<new>" + rest


def test_an_edit_is_made_whole_or_refused() -> None:
    with pytest.raises(Refused, match="not found"):
        edited(b"text\n", {"path": "f", "old": "other", "new": ""})
