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


def add_many(path: Path, name: str, limit: int) -> None:
    history = History(path, limit=limit)
    for number in range(100):
        history.add(f"{name} {number}")


def written_by_two_programs(path: Path, limit: int) -> list[str]:
    context = multiprocessing.get_context("spawn")
    programs = [context.Process(target=add_many, args=(path, name, limit)) for name in ("a", "b")]
    for program in programs:
        program.start()
    for program in programs:
        program.join()
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_two_programs_writing_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    kept = written_by_two_programs(tmp_path / "h.jsonl", limit=1000)

    assert [entry for entry in kept if entry[0] == "a"] == [f"a {n}" for n in range(100)]
    assert [entry for entry in kept if entry[0] == "b"] == [f"b {n}" for n in range(100)]


def test_two_programs_may_trim_while_the_other_writes(tmp_path: Path) -> None:
    kept = written_by_two_programs(tmp_path / "h.jsonl", limit=10)

    assert kept[-1] in ("a 99", "b 99")
    assert len(kept) < 60


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
