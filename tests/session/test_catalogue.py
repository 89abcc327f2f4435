"""Finding sessions by what was said in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_tui.session.catalogue import INDEX_NAME, SessionCatalogue
from agent_tui.session.journal.store import SessionStore
from agent_tui.testing import text
from tests.session.journal.kept import opened


async def talk(store: SessionStore, question: str, answer: str, name: str | None = None) -> Path:
    """A session in which this was said."""
    path = store.new_path()
    session, _ = opened(path, text(answer))
    await session.prompt(question)
    if name is not None:
        session.name = name
    session.close()
    return path


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions", tmp_path / "project")


async def test_sessions_are_found_by_the_words_that_were_said(store: SessionStore) -> None:
    first = await talk(store, "Why is the parser slow?", "It backtracks. 漢字")
    second = await talk(store, "Write a poem", "100% of roses_are red", name="Roses")
    catalogue = SessionCatalogue(store)

    def found(words: str) -> set[str]:
        return {item.id for item in catalogue.items(words)}

    assert found("") == {first.stem, second.stem}
    assert found("PARSER backtracks") == {first.stem}
    assert found("漢字") == {first.stem}
    assert found("100%") == found("roses_are") == found("Roses poem") == {second.stem}
    assert found("parser poem") == found("_") - {second.stem} == set()
    assert found(first.stem[:6]) == {first.stem}
    assert found("' OR 1=1 --") == set()


async def test_a_list_says_what_a_session_was_about(store: SessionStore) -> None:
    await talk(store, "Why is the\nparser slow?", "It backtracks.", name="Parser")

    (item,) = SessionCatalogue(store).items()

    assert (item.label, item.title) == ("Parser", "Why is the parser slow?")
    assert (item.messages, item.model, item.problem) == (2, "test/m", None)
    assert item.cwd


async def test_sessions_of_other_folders_are_found_only_when_asked_for(
    store: SessionStore, tmp_path: Path
) -> None:
    other = SessionStore(store.root, tmp_path / "other")
    await talk(store, "here", "yes")
    elsewhere = await talk(other, "there", "yes")

    assert [item.title for item in SessionCatalogue(store).items()] == ["here"]
    found = SessionCatalogue(store).items("there", everywhere=True)
    assert [item.path for item in found] == [elsewhere]


async def test_what_was_said_since_is_found_and_what_is_gone_is_not(store: SessionStore) -> None:
    path = await talk(store, "first", "one")
    gone = await talk(store, "second", "two")
    catalogue = SessionCatalogue(store)
    assert len(catalogue.items()) == 2

    session, _ = opened(path, text("three"))
    await session.prompt("zebra")
    session.close()
    kept = store.checkpoints_of(gone)
    (kept / "blobs").mkdir(parents=True)
    catalogue.forget(next(item for item in catalogue.items("second")))

    assert [item.id for item in catalogue.items("zebra")] == [path.stem]
    assert len(catalogue.items()) == 1
    assert not gone.exists()
    assert not kept.exists()


@pytest.mark.parametrize("broken", [b"no database at all", b""], ids=["broken", "empty"])
async def test_a_broken_index_is_made_anew(broken: bytes, store: SessionStore) -> None:
    await talk(store, "hello", "there")
    (store.root / INDEX_NAME).write_bytes(broken)

    assert len(SessionCatalogue(store).items("hello")) == 1


async def test_an_index_of_another_version_is_made_anew(store: SessionStore) -> None:
    await talk(store, "hello", "there")
    index = sqlite3.connect(store.root / INDEX_NAME)
    index.executescript("CREATE TABLE sessions (x); PRAGMA user_version = 99;")
    index.close()

    assert len(SessionCatalogue(store).items("hello")) == 1


async def test_a_damaged_session_is_listed_with_what_is_wrong(store: SessionStore) -> None:
    path = await talk(store, "hello", "there")
    path.write_bytes(path.read_bytes().replace(b'{"type":"run"', b"{{{{", 1))

    (item,) = SessionCatalogue(store).items()

    assert item.problem is not None
    assert "line" in item.problem


async def test_an_open_session_cannot_be_opened_twice(store: SessionStore) -> None:
    path = await talk(store, "hello", "there")
    catalogue = SessionCatalogue(store)
    assert catalogue.obstacle(path.stem[:8]) is None

    session, _ = opened(path)
    obstacle = catalogue.obstacle(path.stem)
    session.close()

    assert obstacle is not None
    assert "another program" in obstacle
    assert "no session" in (catalogue.obstacle("ffff") or "")


async def test_the_index_holds_the_words_of_each_session_once(store: SessionStore) -> None:
    kept, gone = await talk(store, "first", "one"), await talk(store, "second", "two")
    catalogue = SessionCatalogue(store)
    catalogue.items()
    session, _ = opened(kept, text("three"))
    await session.prompt("third")
    session.close()
    gone.unlink()

    assert [item.path for item in catalogue.items("three")] == [kept]
    with closing(sqlite3.connect(store.root / INDEX_NAME)) as index:
        numbers = index.execute("SELECT number FROM sessions").fetchall()
        assert index.execute("SELECT rowid FROM words").fetchall() == numbers
        assert len(numbers) == 1
