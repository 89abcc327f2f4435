"""Rules that answers have made: kept outside of the project, taken back, edited by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import Rule
from agent_tui.session.rule_book import RuleBook


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "rules.toml"


def book(file: Path, name: str = "project") -> RuleBook:
    return RuleBook(file, file.parent.parent / name)


def test_a_rule_counts_at_the_next_start_in_its_project_only(file: Path) -> None:
    kept = book(file).add(Rule("bash", "pytest *"), "project")

    assert kept == Rule("bash", "pytest *", origin="project")
    assert book(file).rules() == [kept]
    assert book(file, "other").rules() == []


def test_a_rule_for_everywhere_counts_in_every_project(file: Path) -> None:
    kept = book(file).add(Rule("bash", "git log *"), "everywhere")

    assert book(file, "other").rules() == [kept]


def test_the_file_is_for_the_person_alone(file: Path) -> None:
    book(file).add(Rule("own"), "project")

    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    "rule",
    [
        Rule("bash", "echo 'a \"b\" \\ c'"),
        Rule("bash", "echo 'two\nlines\x7f\x1b'"),
        Rule("write", path="docs/**"),
        Rule("mcp_*"),
        Rule("bash", "grüße *"),
    ],
)
def test_every_rule_comes_back_as_it_was(file: Path, rule: Rule) -> None:
    kept = book(file).add(rule, "project")

    assert book(file).rules() == [kept]


def test_the_same_rule_is_kept_once(file: Path) -> None:
    book(file).add(Rule("own"), "project")
    book(file).add(Rule("own"), "project")

    assert len(book(file).rules()) == 1


def test_what_was_written_by_hand_stays_as_it_is(file: Path) -> None:
    file.parent.mkdir()
    by_hand = '# mine\n[[allow]]   # for all\ncommand = "make *"\n\n'
    by_hand += '[[deny]]\ncommand = "git push *"\n'
    file.write_text(by_hand)

    kept = book(file).add(Rule("bash", "pytest *"), "project")
    with_it = file.read_text()
    gone = book(file).remove(kept)

    assert with_it.startswith(by_hand)
    assert gone
    assert file.read_text().rstrip("\n") == by_hand.rstrip("\n")
    assert [str(rule) for rule in book(file).rules()] == ["bash: make *", "bash: git push *"]


def test_a_rule_of_another_project_is_not_taken_back(file: Path) -> None:
    book(file, "other").add(Rule("own"), "project")

    assert not book(file).remove(Rule("own", origin="project"))
    assert len(book(file, "other").rules()) == 1


def test_a_damaged_file_is_not_written_over(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[[allow")
    broken = book(file)

    assert broken.rules() == []
    assert broken.problem is not None
    assert "is no valid TOML and is not used" in broken.problem
    with pytest.raises(OSError, match="no valid TOML"):
        broken.add(Rule("own"), "project")
    assert file.read_text() == "[[allow"


def test_entries_that_make_no_sense_are_passed_over(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("allow = [{ tool = 3 }, { path = 'x' }, 7, { command = \"a 'b\" }]\ndeny = 1\n")

    assert book(file).rules() == []
