"""`agent-tui sessions`, `--continue`, `--resume`: sessions from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.cli import main
from agent_tui.config import find_folders
from agent_tui.session.journal.store import SessionStore
from tests.session.journal.kept import healthy
from tests.test_cli import AGENT

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """The program in this process, in a folder with an agent of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    (tmp_path / "mine.py").write_text(AGENT)

    def run(*arguments: str) -> tuple[int, str, str]:
        sys.modules.pop("mine", None)
        monkeypatch.setattr(sys, "argv", ["agent-tui", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


def ask(here: Here, *arguments: str) -> list[str]:
    """Run a prompt; the ids of all sessions afterwards, last used first."""
    code, _, err = here("run", "a question", "--agent", "mine:agent", *arguments)
    assert (code, err) == (0, "")
    return [json.loads(line)["id"] for line in here("sessions", "list", "--json")[1].splitlines()]


def test_a_prompt_without_a_screen_is_kept_too_and_can_be_gone_on_with(here: Here) -> None:
    (session,) = ask(here)

    assert ask(here, "--continue") == [session]
    assert ask(here, "--resume", session[:6]) == [session]
    _, out, _ = here("sessions", "show", session[:6])
    assert out.count("a question") == 4  # the title, and three times the prompt


def test_a_fork_leaves_the_original_alone(here: Here) -> None:
    (session,) = ask(here)

    fork, _ = ask(here, "--resume", session, "--fork")

    shown = [here("sessions", "show", one)[1].count("## You") for one in (session, fork)]
    assert shown == [1, 2]


def test_nothing_is_kept_when_nobody_wants_it(here: Here) -> None:
    assert ask(here, "--no-session") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "hi", "--agent", "mine:agent", "--continue"], "no session"),
        (["run", "hi", "--agent", "mine:agent", "--resume", "abc"], "no session 'abc'"),
        (["run", "hi", "--agent", "mine:agent", "--resume"], "needs an ID"),
        (["sessions", "show", "abc"], "no session 'abc'"),
        (["replay", "abc"], "no session 'abc'"),
        (["replay", "mine.py"], "no session file"),
        (["replay", "mine.py", "--speed", "0"], "--speed takes a number above 0"),
        (["replay", "mine.py", "--until", "0"], "--until takes the number of a step"),
        (["sessions", "delete", "abc", "--yes"], "no session 'abc'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_one_sentence(arguments: list[str], words: str, here: Here) -> None:
    code, out, err = here(*arguments)

    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


async def test_sessions_are_written_out_and_deleted(here: Here, tmp_path: Path) -> None:
    folders = find_folders({"AGENT_TUI_HOME": str(tmp_path / "home")})
    path = SessionStore(folders.sessions, tmp_path).new_path()
    await healthy(path)
    path.with_suffix(".draft").write_text("{}")

    code, out, _ = here("sessions", "export", path.stem, "talk.html")
    assert (code, out) == (0, "written to talk.html\n")
    assert "</html>" in (tmp_path / "talk.html").read_text()
    assert here("sessions", "export", path.stem, "talk.html")[0] == 2
    assert here("sessions", "export", path.stem, "--format", "docx")[0] == 2
    assert here("sessions", "export", path.stem, "--format", "jsonl")[1] == path.read_text()

    assert here("sessions", "delete", path.stem[:8], "--yes")[0] == 0
    assert [*path.parent.glob("*")] == []
    assert "there are none" in here("sessions", "list")[1]
