"""What a shell makes of a word, and a strict reading of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.session.shell_words import has_odd_characters, read_line, read_word


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("ls", "ls"),
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        (r"a\ b", "a b"),
        (r'"a\"b\n"', r"a\"b\n".replace('\\"', '"')),
        ("a'b'\"c\"d", "abcd"),
        ("'$X'", "$X"),
        ("'*'", "*"),
        (r"\*", "*"),
        (r"r\m", "rm"),
        ("{}", "{}"),
        ("HEAD@{1}", "HEAD@{1}"),
        ("HEAD~3", "HEAD~3"),
        ("'~'", "~"),
        (r"\~/x", "~/x"),
        ('""', ""),
        ("a\\\nb", "ab"),
    ],
)
def test_quotes_and_escapes_are_taken_off(text: str, literal: str) -> None:
    assert read_word(text).literal == literal


@pytest.mark.parametrize(
    "text",
    [
        *("$X", '"$X"', "${X}", "`ls`", '"`ls`"', "$(ls)", "*.py", "a?", "[ab]", "{a,b}", "{1..3}"),
        *("~root", "~+", "a=~/x", "$'x'", "'open", '"open', "end\\"),
    ],
)
def test_what_depends_on_more_than_the_text_is_not_sure(text: str) -> None:
    assert read_word(text).literal is None


def test_the_home_folder_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert read_word("~/x").literal == f"{tmp_path}/x"


def segments(command: str) -> list[list[str]] | None:
    found = read_line(command)
    return None if found is None else [[command[a:b] for a, b in one.words] for one in found]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls -l | wc", [["ls", "-l"], ["wc"]]),
        ("a&&b||c;d&e\nf|&g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("ls 2>&1 >x", [["ls"]]),
        ("ls2>x", [["ls2"]]),
        ("(ls; pwd)", [["ls"], ["pwd"]]),
        ("ls # ; rm x", [["ls"]]),
        ("ls a#b", [["ls", "a#b"]]),
        ("echo 'a;b' \"c|d\" e\\;f", [["echo", "'a;b'", '"c|d"', "e\\;f"]]),
        ("ls \\\n -l", [["ls", "-l"]]),
    ],
)
def test_a_line_is_read_word_by_word(command: str, words: list[list[str]]) -> None:
    assert segments(command) == words


@pytest.mark.parametrize(
    "command",
    [
        *("a $(b)", "a `b`", "a <<E\nE", "a <<< b", "a <(b)", "((a))", "[[ a ]]", "f() { a; }"),
        *("a=(b)", "a ${b}", "a $'b'", 'a "$(b)"', "a 'b", 'a "b', "a >", "a > ; b", "a \\"),
    ],
)
def test_a_line_with_more_in_it_is_not_read(command: str) -> None:
    assert read_line(command) is None


@pytest.mark.parametrize("sign", ["\r", "\x1b", "\x00", "\u00a0", "\u2028", "\u200b", "\u202e"])
def test_signs_that_are_read_in_different_ways_are_odd(sign: str) -> None:
    assert has_odd_characters(f"ls{sign}x")


def test_letters_of_any_language_are_not_odd() -> None:
    assert not has_odd_characters("echo 'Grüße, 世界'\n\tls")
