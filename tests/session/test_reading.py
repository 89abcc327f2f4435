"""Commands that only read, and what makes more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.session.reading import only_reads
from agent_tui.session.shell_words import read_word


def reads(command: str, project: Path) -> bool:
    return only_reads([read_word(word) for word in command.split(" ")], project)


@pytest.mark.parametrize(
    "command",
    [
        *("ls -la", "cat a.txt", "head -n 3 a", "grep -n x a", "sort -rn a", "find . -name x"),
        *("git status", "git log --oneline -3", "git diff HEAD~1", "wc -l", "date +%F", "echo a"),
        *("uniq -c a", "true", "pwd"),
    ],
)
def test_programs_that_read(command: str, tmp_path: Path) -> None:
    assert reads(command, tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        *("rm a", "python3 a.py", "sed -i s/a/b/ a", "sed -n 1p a", "awk 1 a", "tee a", "less a"),
        *(
            "find . -delete",
            "find . -exec rm {} +",
            "find . -fprint x",
            "find . -okdir a",
            "find -L .",
        ),
        *("sort -o a b", "sort -ro a b", "sort --output=a b", "sort --outp a", "sort --comp=x a"),
        *("sort -T.. a", "uniq a b", "date 010100", "date -s x", "grep -r x", "grep -nR x"),
        *("git -c a.b=c log", "git -C .. log", "git push", "git", "git log --output=x"),
        *("git diff --ext-diff", "git log --outpu=x", "git branch x", "git config a b"),
        *("./ls", "/bin/ls", "sub/git log", "ls $X", "cat *.txt", "env", "printenv", "xargs cat"),
        *("curl http://x", "ls.exe", "no-such-program", "diff a b"),
    ],
)
def test_everything_else_is_more_than_reading(command: str, tmp_path: Path) -> None:
    assert not reads(command, tmp_path)


def test_a_program_of_the_project_is_not_the_one_on_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "bin" / "cat"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{own.parent}:/usr/bin:/bin")

    assert not reads("cat a", tmp_path)
    assert reads("ls", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "[core]\n\tfsmonitor = evil",
        "[diff]\n\texternal = evil",
        "[include]\n\tpath = x",
        "[gpg]\n\tprogram = x",
    ],
)
def test_git_asks_where_the_repository_names_programs(tmp_path: Path, line: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(line)

    assert not reads("git status", tmp_path)


def test_git_asks_where_somebody_may_have_made_a_repository_out_of_files(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main")

    assert not reads("git status", tmp_path)
