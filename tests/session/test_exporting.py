"""Sessions for people and other programs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent_tui.core.errors import InvalidInputError
from agent_tui.session.exporting import exported, write_export
from agent_tui.testing import call, calls, text, think
from tests.session.journal.kept import healthy, opened, records

NASTY = '<script>alert(1)</script> ``` & "quoted" </section>'


async def nasty(path: Path) -> None:
    """A session in which everything contains markup."""
    session, _ = opened(
        path,
        [think(NASTY), text(NASTY), calls(call("shell", {"command": NASTY}))],
        text("done"),
    )
    await session.prompt(NASTY)
    session.name = NASTY
    session.close()


class Reader(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words += data


async def test_html_is_one_file_in_which_everything_is_text(tmp_path: Path) -> None:
    await nasty(tmp_path / "s.jsonl")

    page = exported(tmp_path / "s.jsonl", "html")
    reader = Reader()
    reader.feed(page)

    assert reader.tags.count("script") == 1
    assert reader.tags.count("section") == 5
    assert reader.loads == []
    assert reader.words.count("alert(1)") == 7
    assert 'type="search"' in page


async def test_markdown_has_all_that_was_said_and_fences_hold(tmp_path: Path) -> None:
    await nasty(tmp_path / "s.jsonl")

    page = exported(tmp_path / "s.jsonl", "md")

    assert page.count(NASTY) >= 3
    fences = re.findall(r"^(`{3,})$", page, re.MULTILINE)
    assert len(fences) == 2
    assert len(fences[0]) > 3


async def test_results_stand_behind_their_calls(tmp_path: Path) -> None:
    await healthy(tmp_path / "s.jsonl")

    page = exported(tmp_path / "s.jsonl", "md")

    places = [
        page.index(words) for words in ("`shell ls`", "`read a.txt`", "hello", "`read b.txt`")
    ]
    assert places == sorted(places)


async def test_json_lines_are_the_session_itself(tmp_path: Path) -> None:
    await healthy(tmp_path / "s.jsonl")

    write_export(tmp_path / "s.jsonl", tmp_path / "copy.jsonl", "jsonl")
    again, _ = opened(tmp_path / "copy.jsonl")
    again.close()

    assert records(tmp_path / "copy.jsonl") == records(tmp_path / "s.jsonl")


async def test_only_the_branch_at_the_leaf_is_told(tmp_path: Path) -> None:
    session, _ = opened(tmp_path / "s.jsonl", text("one"), text("two"), text("three"))
    await session.prompt("first")
    place = session.tree.leaf
    await session.prompt("left behind")
    session.journal.move(place, "rewind")
    session.agent.state.messages = session.tree.context()
    await session.prompt("the other way")
    session.close()

    page = exported(tmp_path / "s.jsonl", "md")

    assert "the other way" in page
    assert "left behind" not in page


async def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    await healthy(tmp_path / "s.jsonl")
    (tmp_path / "mine.md").write_text("precious")

    with pytest.raises(InvalidInputError, match="is there"):
        write_export(tmp_path / "s.jsonl", tmp_path / "mine.md", "md")

    assert (tmp_path / "mine.md").read_text() == "precious"


@pytest.mark.parametrize("name", ["talk.docx", "talk"])
async def test_an_unknown_form_is_said(name: str, tmp_path: Path) -> None:
    session, _ = opened(tmp_path / "s.jsonl", text("one"))
    await session.prompt("hi")

    with pytest.raises(InvalidInputError, match=r"\.md, \.html or \.jsonl"):
        session.export(tmp_path / name)
    session.close()
