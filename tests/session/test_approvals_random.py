"""Random commands and paths through the approvals; what passes is run for real and looked at.

The claim: in `ask` and `auto-edit` nothing that writes outside the project, or runs a program that
is on no list, passes without a question.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.config import Mode, Rule
from agent_tui.session.judging import judge_for
from tests.session.random_commands import PROGRAMS, Ran, Yard, random_command

RULES = [Rule("bash", "git log *"), Rule("bash", "pytest *"), Rule("bash", "make")]
READERS = frozenset(PROGRAMS[:18]) - {"pytest", "make"}
RISKY = {
    "find": ("-delete", "-exec", "-fprint"),
    "sort": ("--output", "--compress-program"),
    "git": ("--output", "--ext-diff"),
}
COMMANDS = 1500


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    made = Yard(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    return made


def is_risky(word: str, options: tuple[str, ...]) -> bool:
    """Whether programs take the word for one of these options, shortened or not."""
    option = word.partition("=")[0]
    if not word.startswith("--"):
        return bool(options) and word.startswith(options)
    return len(option) > 2 and any(known.startswith(option) for known in options)


def complaint(yard: Yard, ran: Ran) -> str | None:
    """What is wrong with a program that ran without a question; None if nothing is."""
    if ran.name == "echo":
        return None
    if ran.name not in READERS | {"pytest", "make", "time"}:
        return "it is on no list"
    if ran.name == "time" and ran.words[:1] and ran.words[0][:1] == "-" and ran.words[0] != "-p":
        return "it may write a file"
    if ran.name == "make" and ran.words:
        return "only make without words was allowed"
    if any(is_risky(word, RISKY.get(ran.name, ())) for word in ran.words):
        return "it may do more than read"
    if ran.name == "sort" and any(w[:1] == "-" and w[:2] != "--" and "o" in w for w in ran.words):
        return "it writes a file"
    if ran.name == "git" and ran.words[:1] not in {(s,) for s in ("log", "status", "diff", "show")}:
        return "it is another subcommand"
    root = str(yard.project)
    for word in (ran.input, *ran.words, *(part for w in ran.words for part in w.split("="))):
        if word.startswith(("pipe:", "/dev/", "/proc/")) or not word:
            continue
        real = os.path.realpath(f"{ran.folder}/{word}" if word[0] != "/" else word)
        if real != root and not real.startswith(root + "/"):
            return f"{word} is outside"
        if "/.git/" in f"{real}/" or Path(real).name == ".env":
            return f"{word} is guarded"
    return None


@pytest.mark.parametrize("mode", ["ask", "auto-edit"])
@pytest.mark.parametrize("reading", ["ask", "free"])
def test_no_random_command_does_harm_without_a_question(
    yard: Yard, mode: Mode, reading: str
) -> None:
    judge = judge_for(yard.project, reading=reading)  # type: ignore[arg-type]
    dice = random.Random(f"{mode} {reading} {os.environ.get('AGENT_TUI_DICE', '')}")
    passed = 0
    for _ in range(int(os.environ.get("AGENT_TUI_COMMANDS", COMMANDS))):
        command = random_command(dice)
        if judge.judge(mode, RULES, "bash", {"command": command}) is not None:
            continue
        passed += 1
        if passed > 40 and "AGENT_TUI_COMMANDS" not in os.environ:
            break
        outside = [one for one in yard.root.iterdir() if one.name not in ("project", "bin")]
        before = [yard.state(folder) for folder in outside if folder.is_dir()]
        inside = yard.state(yard.project)

        ran = yard.run(command)

        after = [yard.state(folder) for folder in outside if folder.is_dir()]
        assert after == before, f"{command!r} wrote outside"
        changed = {p for p, v in yard.state(yard.project).items() if inside.get(p) != v}
        allowed = mode == "auto-edit" and not any("/.git/" in p or ".env" in p for p in changed)
        assert not changed or allowed, f"{command!r} wrote {changed}"
        complaints = {f"{one.name} {one.words}: {c}" for one in ran if (c := complaint(yard, one))}
        assert not complaints, f"{command!r}: {complaints}"
    assert passed > 10, "the generator makes nothing that may run"


NAMES = ["..", ".", "sub", "link", "short", "a.txt", ".env", ".ENV", ".git", ".Git", "~", "x y", ""]
ROOTS = ["", "/", "~/", "./", "//", "{root}/", "{root}-evil/", "{out}/", "sub/../"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ROOTS), st.lists(st.sampled_from(NAMES), max_size=6), st.data())
def test_no_random_path_is_written_outside_or_guarded_without_a_question(
    tmp_path_factory: pytest.TempPathFactory, root: str, names: list[str], data: st.DataObject
) -> None:
    base = tmp_path_factory.getbasetemp() / "paths"
    project, out = base / "project", base / "out"
    if not base.exists():
        (project / "sub").mkdir(parents=True)
        out.mkdir()
        (project / "link").symlink_to(out)
        (project / "short").symlink_to(project / "sub")
    path = root.format(root=project, out=out) + "/".join(names)
    extra = data.draw(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3))
    args = {"path": path + extra, "content": "x"}

    for mode in ("ask", "auto-edit", "full-auto"):
        verdict = judge_for(project).judge(mode, [Rule("write", path="**")], "write", args)
        if verdict is None:
            real = str((project / os.path.expanduser(path + extra)).resolve())  # noqa: PTH111
            assert real == str(project) or real.startswith(f"{project}/")
            assert ".git" not in {part.lower() for part in Path(real).parts}
            assert Path(real).name.lower() != ".env"
