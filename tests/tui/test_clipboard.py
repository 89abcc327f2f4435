"""Copying to where a person can paste it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from agent_tui.tui.clipboard import LIMIT_BYTES, Clipboard


def tool(folder: Path, name: str, script: str) -> None:
    """A program of that name that a shell script stands for."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def clipboard(folder: Path, **environ: str) -> tuple[Clipboard, list[str]]:
    written: list[str] = []
    return Clipboard({"PATH": f"{folder}:/bin:/usr/bin", **environ}, written.append), written


@pytest.mark.parametrize(
    ("name", "variable"),
    [("wl-copy", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY"), ("clip.exe", "WSL_DISTRO_NAME")],
)
async def test_on_the_own_machine_the_desktops_tool_is_used(
    name: str, variable: str, tmp_path: Path
) -> None:
    tool(tmp_path, name, f"cat > {tmp_path}/got")
    copier, written = clipboard(tmp_path, **{variable: "1"})

    assert await copier.copy("größer\n") == name
    assert (tmp_path / "got").read_text() == "größer\n"
    assert copier.text == "größer\n"
    assert written == []


async def test_far_away_the_terminal_is_asked(tmp_path: Path) -> None:
    tool(tmp_path, "xclip", f"cat > {tmp_path}/got")
    copier, written = clipboard(tmp_path, DISPLAY=":0", SSH_CONNECTION="1 2 3 4")

    assert await copier.copy("text") == "terminal"
    assert written == [f"\x1b]52;c;{base64.b64encode(b'text').decode()}\x07"]
    assert not (tmp_path / "got").exists()


async def test_in_tmux_its_buffer_is_filled(tmp_path: Path) -> None:
    tool(tmp_path, "tmux", f'echo "$@" > {tmp_path}/arguments; cat > {tmp_path}/got')
    copier, _ = clipboard(tmp_path, TMUX="/tmp/tmux,1,0", SSH_TTY="/dev/pts/1")

    assert await copier.copy("text") == "tmux"
    assert (tmp_path / "got").read_text() == "text"
    assert (tmp_path / "arguments").read_text().split() == ["load-buffer", "-w", "-"]


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$"])
async def test_a_tool_that_fails_is_passed_over(script: str, tmp_path: Path) -> None:
    tool(tmp_path, "xclip", script)
    copier, written = clipboard(tmp_path, DISPLAY=":0")

    assert await copier.copy("text") == "terminal"
    assert len(written) == 1


async def test_what_no_terminal_takes_stays_in_memory(tmp_path: Path) -> None:
    copier, written = clipboard(tmp_path)
    text = "x" * (LIMIT_BYTES + 1)

    assert await copier.copy(text) == "memory"
    assert copier.text == text
    assert written == []


async def test_half_a_character_can_be_copied(tmp_path: Path) -> None:
    copier, written = clipboard(tmp_path)

    assert await copier.copy("half \ud83d") == "terminal"
    assert base64.b64encode("half \ufffd".encode()).decode() in written[0]
