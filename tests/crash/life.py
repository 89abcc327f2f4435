"""One session that dies again and again, and what must be true after each death."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.messages import AgentMessage, UserMessage, parse_message
from agent_tui.session.journal.reading import read_session
from agent_tui.session.journal.recorder import PENDING
from agent_tui.session.journal.tree import SessionTree
from tests.tui.pty_program import ROOT, PtyProgram

LONGEST_LIFE = 1.6
"""Seconds; a turn takes about half of that."""


@dataclass
class Life:
    """A session in a folder, and how it fared."""

    home: Path
    dice: random.Random
    lives: int = 0
    kills: int = 0
    """Lives that the signal ended, and not the program itself."""
    requests: int = 0
    """Model calls that were begun."""
    summaries: int = 0
    """How often the conversation was summarised."""
    losses: list[str] = field(default_factory=list)
    _seen: dict[str, str] = field(default_factory=dict)
    """Id → text of everything of the person's that was ever in the file."""

    @property
    def _environ(self) -> dict[str, str]:
        return {
            "AGENT_TUI_HOME": str(self.home),
            "CRASH_DIARY": str(self.home / "diary.jsonl"),
            "PYTHONPATH": str(ROOT),
        }

    @property
    def _file(self) -> Path | None:
        return next((self.home / "sessions").glob("*/*.jsonl"), None)

    def die_in_the_chat(self, number: int = signal.SIGKILL) -> None:
        """Go on in the chat, type, and be killed at a random moment."""
        arguments = ["-m", "agent_tui", "chat", "--agent", "tests.crash.agent:agent"]
        arguments += ["--mode", "full-auto", *self._goes_on()]
        program = PtyProgram(*arguments, environ=self._environ)
        try:
            program.wait_for(b"enter send" if self._file is None else b"enter")
            until = time.monotonic() + self.dice.uniform(0, LONGEST_LIFE)
            while (rest := until - time.monotonic()) > 0:
                program.send(self._typing())
                program._read(min(rest, self.dice.uniform(0, 0.4)))
            self.kills += program.is_running
            program.signal(number)
            program.wait()
        finally:
            program.close()
        self.lives += 1
        self.check(f"life {self.lives}, in the chat")

    def die_without_a_screen(self) -> None:
        """The same with a prompt of its own."""
        arguments = [sys.executable, "-m", "agent_tui", "run", f"prompt {self.lives}"]
        arguments += ["--agent", "tests.crash.agent:agent", "--mode", "full-auto", *self._goes_on()]
        environ = {**os.environ, **self._environ}
        with subprocess.Popen(
            arguments,
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            time.sleep(self.dice.uniform(0.3, 0.3 + LONGEST_LIFE))
            process.kill()
        self.kills += process.returncode == -signal.SIGKILL
        self.lives += 1
        self.check(f"life {self.lives}, in a run")

    def finish(self) -> None:
        """Go on once more and let the turn end."""
        done = subprocess.run(
            [
                sys.executable,
                *("-m", "agent_tui", "run", "the last prompt"),
                *("--agent", "tests.crash.agent:agent", "--mode", "full-auto", *self._goes_on()),
                *("--max-iterations", "1000"),
            ],
            cwd=ROOT,
            env={**os.environ, **self._environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        if done.returncode or b"Done with" not in done.stdout:
            self.losses.append(f"the end: {done.returncode} {done.stderr.decode()[-300:]}")
        self.check("the end")

    def check(self, when: str) -> None:
        """Whether everything is there that must be."""
        path = self._file
        if path is None:
            return
        found = read_session(path)
        if found is None:
            self.losses.append(f"{when}: the file is empty")
            return
        tree = SessionTree(found.entries)
        messages = [entry.message for entry in tree if entry.message is not None]
        summaries = {entry.id for entry in tree if entry.type == "compaction"}
        self.summaries = len(summaries)
        self._check_diary(when, {message.id for message in messages} | summaries)
        self._check_texts(when, tree, messages)

    def _check_diary(self, when: str, ids: set[str]) -> None:
        diary = self.home / "diary.jsonl"
        lines: list[dict[str, Any]] = []
        if diary.exists():
            lines = [json.loads(line) for line in diary.read_text().splitlines()]
        self.requests = sum("request" in line for line in lines)
        for line in lines:
            missing = [one for one in line.get("request", ()) if one not in ids]
            if missing:
                self.losses.append(f"{when}: asked for with messages that are gone: {missing}")
            if line.get("problems"):
                self.losses.append(f"{when}: a bad request: {line['problems']}")
        ran = Counter(line["ran"] for line in lines if "ran" in line)
        self.losses += [f"{when}: ran {n} times: {what}" for what, n in ran.items() if n > 1]

    def _check_texts(self, when: str, tree: SessionTree, messages: list[AgentMessage]) -> None:
        said = {message.id for message in messages if isinstance(message, UserMessage)}
        data = tree.newest(PENDING) or {"items": []}
        queued = [parse_message(item["message"]) for item in data["items"]]
        pending = {message.id for message in queued} - said
        self.losses += [
            f"{when}: gone: {text}"
            for one, text in self._seen.items()
            if one not in said and one not in pending
        ]
        for message in (*messages, *queued):
            if isinstance(message, UserMessage):
                self._seen[message.id] = message.text

    @property
    def texts(self) -> int:
        """How many texts of the person's were ever in the file."""
        return len(self._seen)

    def _goes_on(self) -> list[str]:
        return [] if self._file is None else ["--continue"]

    def _typing(self) -> bytes:
        words = f"text {self.dice.randrange(10**6)}".encode()
        enter = self.dice.choice([b"\r", b"\r", b"\x1b\r", b"", b"\x13"])
        return words + enter if self.dice.random() < 0.8 else b"\r"
