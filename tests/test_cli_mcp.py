"""`agent-tui mcp` and `run` with servers, as programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.mcp.servers import case, odd


@pytest.fixture
def home(tmp_path: Path) -> Path:
    servers = {"odd": odd(), "dead": ("no-such-program-9",), "kids": case("banner-on-stdout")}
    tables = [
        f"[mcp.servers.{name}]\ncommand = {json.dumps(list(command))}"
        for name, command in servers.items()
    ]
    (tmp_path / "config.toml").write_text("\n".join(tables))
    return tmp_path


def agent_tui(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_tui", *words],
        env={**os.environ, "AGENT_TUI_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_servers_are_listed_with_their_commands(home: Path) -> None:
    done = agent_tui(home, "mcp", "list")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["odd", "dead", "kids"]
    assert "odd_server.py plain" in done.stdout


def test_a_server_is_tried_out(home: Path) -> None:
    good, bad = agent_tui(home, "mcp", "test", "odd"), agent_tui(home, "mcp", "test", "dead")

    assert good.returncode == 0, good.stderr
    assert "mcp__odd__echo" in good.stdout
    assert "/odd:re-view" in good.stdout
    assert bad.returncode == 1
    assert "no-such-program-9 cannot be started" in bad.stderr


def test_an_unknown_server_is_a_wrong_use(home: Path) -> None:
    done = agent_tui(home, "mcp", "test", "none")

    assert done.returncode == 2
    assert "there is odd, dead, kids" in done.stderr


def test_a_run_tells_of_a_broken_server_and_goes_on(home: Path) -> None:
    done = agent_tui(home, "run", "hello")

    assert done.returncode == 0
    assert "MCP server dead is not there" in done.stderr
    assert done.stdout.strip()
