"""A command taken apart: every program in it is found, and what is not sure is said."""

from __future__ import annotations

import pytest

from agent_tui.session.shell_parts import shell_parts


def programs(command: str) -> list[str]:
    return [part.text for part in shell_parts(command).parts]


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("git log && touch a", ["git log", "touch a"]),
        ("git status; touch b", ["git status", "touch b"]),
        ("git log\ntouch d", ["git log", "touch d"]),
        ("a | b |& c & d", ["a", "b", "c", "d"]),
        ("(cd sub && ls)", ["cd sub", "ls"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done", ["a", "b"]),
        ("! a", ["a"]),
        ("{ a; b; }", ["a", "b"]),
        ("ls # rm x", ["ls"]),
    ],
)
def test_lists_pipes_and_blocks_are_taken_apart_without_a_doubt(
    command: str, parts: list[str]
) -> None:
    assert programs(command) == parts
    assert shell_parts(command).doubts == []


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        ("git log $(touch c)", "touch c"),
        ("git log `touch c`", "touch c"),
        ('echo "$(touch c)"', "touch c"),
        ("X=$(touch c)", "touch c"),
        ("X=$(touch c) ls", "touch c"),
        ("export X=$(touch c)", "touch c"),
        ("echo ${x:-$(touch c)}", "touch c"),
        ("echo $((1 + $(touch c)))", "touch c"),
        ("diff <(touch c) a", "touch c"),
        ("cat <<E\n$(touch c)\nE", "touch c"),
        ("cat <<< $(touch c)", "touch c"),
        ("ls > $(touch c)", "touch c"),
        ("f() { touch c; }; f", "touch c"),
        ("for i in a b; do touch c; done", "touch c"),
        ("case a in a) touch c;; esac", "touch c"),
        ("[[ -n $(touch c) ]]", "touch c"),
        ("sh -c 'touch c'", "touch c"),
        ("bash -lc 'touch c'", "touch c"),
        ("bash -c \"bash -c 'touch c'\"", "touch c"),
        ("eval touch c", "touch c"),
        ("eval 'ls; touch c'", "touch c"),
        ("sudo -u bob touch c", "touch c"),
        ("env -i X=1 touch c", "X=1 touch c"),
        ("timeout -k 1 5 touch c", "touch c"),
        ("nice -n 5 touch c", "touch c"),
        ("time touch c", "touch c"),
        ("nohup touch c &", "touch c"),
        ("command touch c", "touch c"),
        ("xargs -n 1 touch c < a", "touch c"),
        ("find . -exec touch {} \\;", "touch {}"),
        ("sudo env X=1 sh -c 'touch c'", "touch c"),
        ("! ! touch c", "touch c"),
    ],
)
def test_no_program_hides(command: str, hidden: str) -> None:
    assert hidden in programs(command)


@pytest.mark.parametrize(
    ("command", "doubt"),
    [
        ("git log $(touch c)", "it uses the output of a command as text"),
        ("$X y", "the name of a command in it is only known when it runs"),
        ("f() { a; }; f", "it defines a function"),
        ("cat <<E\nx\nE", "it holds a here-document"),
        ("X=1", "it sets a variable"),
        ("sh script.sh", "it runs a script"),
        ('sh -c "$X"', "it gives a shell text that is only known when it runs"),
        ("eval $X", "it evaluates text that is only known when it runs"),
        ("env -S 'a b'", "env has an option that is not known"),
        ("\\time -o x ls", "time has an option that is not known"),
        ("ssh host ls", "ssh runs commands that are not looked into"),
        ("ls\rrm x", "it holds characters that a shell and a screen may read differently"),
        ("cat 0<&3", "it is written in a way that is not sure to be understood"),
        ("echo $((x))", "it is written in a way that is not sure to be understood"),
    ],
)
def test_what_is_not_sure_is_a_doubt(command: str, doubt: str) -> None:
    assert doubt in shell_parts(command).doubts


@pytest.mark.parametrize(
    "command", ["ls 'open", "ls ?(a)", "ls <> a", "if a; then b", "", "  ", "x" * 20_001]
)
def test_what_cannot_be_taken_apart_is_said(command: str) -> None:
    assert shell_parts(command).unreadable is not None


@pytest.mark.parametrize(
    ("command", "targets"),
    [
        ("ls > a", [("a", True)]),
        ("ls >> a 2> b", [("a", True), ("b", True)]),
        ("ls &> a", [("a", True)]),
        ("ls >& a", [("a", True)]),
        ("ls >| a", [("a", True)]),
        ("ls < a", [("a", False)]),
        ("ls 2>&1", []),
        ("{ ls; pwd; } > a", [("a", True)]),
        ("> a", [("a", True)]),
    ],
)
def test_files_that_the_shell_opens_are_found(
    command: str, targets: list[tuple[str, bool]]
) -> None:
    found = shell_parts(command)

    assert [(one.target.literal, one.writes) for one in found.redirects] == targets
    assert found.doubts == []


@pytest.mark.parametrize("opening", ["(", "$(", "{ "])
def test_deep_nesting_is_said_and_ends(opening: str) -> None:
    ends = {"(": ")", "$(": ")", "{ ": "; }"}
    command = opening * 2000 + "ls" + ends.get(opening, "") * 2000

    assert shell_parts(command).unreadable is not None


def test_nested_shells_end_somewhere() -> None:
    command = "touch c"
    for _ in range(9):
        command = f"eval {command!r}"

    assert shell_parts(command).unreadable is not None
