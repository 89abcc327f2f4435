"""The sent messages of a project."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path

from agent_tui.tui import history as history_module
from agent_tui.tui.history import History, history_path


def test_each_project_has_its_own_file_below_the_home(tmp_path: Path) -> None:
    here, there = tmp_path / "a" / "same", tmp_path / "b" / "same"

    assert history_path(tmp_path, here).parent == tmp_path / "history"
    assert history_path(tmp_path, here) != history_path(tmp_path, there)
    assert history_path(tmp_path, here) == history_path(tmp_path, here)


def test_entries_come_back_exactly_as_typed(tmp_path: Path) -> None:
    texts = ["!echo hi", "  two\nlines \n", "日本 👨‍👩‍👧", '"quoted" \\ back', "/model x"]
    history = History(tmp_path / "deep" / "h.jsonl")

    for text in texts:
        history.add(text)

    assert list(History(tmp_path / "deep" / "h.jsonl").entries) == texts


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "history" / "h.jsonl"

    History(path).add("secret")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_neighbours_are_kept_once_and_blanks_never(tmp_path: Path) -> None:
    history = History(tmp_path / "h.jsonl")

    for text in ["a", "a", " \n", "b", "a"]:
        history.add(text)

    assert list(history.entries) == ["a", "b", "a"]
    assert list(History(tmp_path / "h.jsonl").entries) == ["a", "b", "a"]


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    history = History(path, limit=10)

    for number in range(135):
        history.add(f"entry {number}")

    assert list(history.entries) == [f"entry {number}" for number in range(125, 135)]
    assert list(History(path, limit=10).entries) == list(history.entries)
    assert len(path.read_text().splitlines()) <= 30


def test_the_oldest_go_when_they_are_too_long() -> None:
    history = History()
    long = history_module.LIMIT_CHARACTERS // 2

    for letter in "abc":
        history.add(letter * long)

    assert [entry[0] for entry in history.entries] == ["b", "c"]


def test_a_huge_entry_is_remembered_but_not_written(tmp_path: Path) -> None:
    history = History(tmp_path / "h.jsonl")

    history.add("x" * (history_module.ENTRY_CHARACTERS + 1))
    history.add("small")

    assert len(history.entries) == 2
    assert list(History(tmp_path / "h.jsonl").entries) == ["small"]


def test_two_programs_see_what_the_other_adds(tmp_path: Path) -> None:
    one, other = History(tmp_path / "h.jsonl"), History(tmp_path / "h.jsonl")

    one.add("from one")
    other.add("from the other")
    one.add("one again")

    assert list(one.entries) == list(other.entries) == ["from one", "from the other", "one again"]


def add_many(path: Path, name: str) -> None:
    history = History(path, limit=40)
    for number in range(100):
        history.add(f"{name} {number}")


def test_two_programs_writing_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    context = multiprocessing.get_context("spawn")
    programs = [context.Process(target=add_many, args=(path, name)) for name in ("a", "b")]

    for program in programs:
        program.start()
    for program in programs:
        program.join()

    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [entry for entry in kept if entry[0] == "a"][-1] == "a 99"
    assert [entry for entry in kept if entry[0] == "b"][-1] == "b 99"
    assert len(kept) < 200


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(b'"good"\n{"not": "text"}\n"half\n\xff\xfe\n"lone \\ud83d"\n"last"\n')

    assert list(History(path).entries) == ["good", "lone \ufffd", "last"]


def test_an_unwritable_folder_is_named_and_history_goes_on_in_memory(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file where the folder should be")
    history = History(tmp_path / "history" / "h.jsonl")

    history.add("kept")

    assert list(history.entries) == ["kept"]
    assert history.problem is not None
    assert "history" in history.problem


def test_a_search_finds_all_words_newest_first_each_once() -> None:
    history = History()
    for text in ["fix the Parser", "run tests", "parser: fix it", "run tests", "fix the Parser"]:
        history.add(text)

    assert history.search("fix parser") == ["fix the Parser", "parser: fix it"]
    assert history.search("nothing like it") == []
