"""Commands that are shut in."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui.core.errors import ConfigError
from agent_tui.core.tool import Tool, ToolContext, ToolResult
from agent_tui.tools import Sandbox, builtin_tools, find_sandbox


def _works() -> bool:
    try:
        find_sandbox(Path("/"))
    except ConfigError:
        return False
    return True


needs_sandbox = pytest.mark.skipif(not _works(), reason="there is no sandbox on this system")


def test_linux_shuts_in_with_bubblewrap(tmp_path: Path) -> None:
    command = Sandbox("bwrap", "/usr/bin/bwrap", tmp_path).shut_in(["sh", "-c", "ls"])

    assert command[0] == "/usr/bin/bwrap"
    assert command[-4:] == ["--", "sh", "-c", "ls"]
    options = " ".join(command[1:-4])
    assert "--ro-bind / /" in options
    assert f"--bind {tmp_path} {tmp_path}" in options
    assert "--unshare-net" in options
    assert "--die-with-parent" in options
    assert options.index("--ro-bind / /") < options.index(f"--bind {tmp_path}")


def test_macos_shuts_in_with_sandbox_exec(tmp_path: Path) -> None:
    place = tmp_path / 'a "quoted" folder'
    place.mkdir()

    program, option, profile, *command = Sandbox("sandbox-exec", "/usr/bin/x", place).shut_in(
        ["true"]
    )

    assert (program, option, command) == ("/usr/bin/x", "-p", ["true"])
    assert "(deny file-write*)" in profile
    assert "(deny network*)" in profile
    assert '\\"quoted\\"' in profile


def test_the_network_can_be_left_open(tmp_path: Path) -> None:
    linux = Sandbox("bwrap", "bwrap", tmp_path, has_network=True)
    mac = Sandbox("sandbox-exec", "x", tmp_path, has_network=True)

    assert "--unshare-net" not in linux.shut_in(["true"])
    assert "(deny network*)" not in mac.shut_in(["true"])[2]
    assert "without network" not in linux.sentence


@pytest.mark.parametrize(("platform", "name"), [("linux", "bwrap"), ("darwin", "sandbox-exec")])
def test_a_system_without_one_is_said(platform: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=name):
        find_sandbox(tmp_path, which=lambda program: None, platform=platform)


def test_one_that_does_not_work_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not work here"):
        find_sandbox(tmp_path, which=lambda program: shutil.which("false"), platform="linux")


async def bash(folder: Path, command: str) -> ToolResult:
    tools = builtin_tools(folder, sandbox=find_sandbox(folder), output_dir=folder / "out")
    tool: Tool = next(tool for tool in tools if tool.name == "bash")
    assert tool.execute is not None
    result = await tool.execute("c1", {"command": command}, ToolContext())  # type: ignore[misc]
    assert isinstance(result, ToolResult)
    return result


@needs_sandbox
async def test_a_command_writes_in_the_project_and_nowhere_else(tmp_path: Path) -> None:
    elsewhere = Path("/var/tmp") / f"agent-tui-{tmp_path.stat().st_ino}"

    inside = await bash(tmp_path, "echo yes > inside.txt && cat inside.txt")
    outside = await bash(tmp_path, f"touch {elsewhere}")

    assert inside.text.startswith("yes")
    assert not inside.is_error
    assert outside.is_error
    assert not elsewhere.exists()
    assert "ran in a sandbox" in outside.text
    assert "without network" in outside.text


@needs_sandbox
async def test_a_command_reaches_no_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        probe = f"import socket; socket.create_connection({address}, 5); print('reached')"
        command = [sys.executable, "-c", probe]

        outside = subprocess.run(command, capture_output=True, check=True)
        inside = await bash(tmp_path, shlex.join(command))

    assert b"reached" in outside.stdout
    assert inside.is_error
    assert "reached" not in inside.text.splitlines()


@needs_sandbox
async def test_what_a_shut_in_command_started_ends_with_it(tmp_path: Path) -> None:
    mark = f"sleep 97{tmp_path.stat().st_ino % 1000}"
    signal = ToolContext()
    tools = builtin_tools(tmp_path, sandbox=find_sandbox(tmp_path))
    tool = next(tool for tool in tools if tool.name == "bash")
    assert tool.execute is not None
    signal.on_update = lambda partial: signal.signal.set("stopped")

    await tool.execute("c1", {"command": f"echo on; {mark} & {mark}"}, signal)  # type: ignore[misc]

    listing = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, check=True)
    assert mark not in listing.stdout.decode("utf-8", "replace").splitlines()


async def test_a_command_is_shut_in_once(tmp_path: Path) -> None:
    program = tmp_path / "sandbox"
    program.write_text(
        f'#!/bin/sh\necho x >> {tmp_path}/times\nwhile [ "$1" != "--" ]; do shift; done\n'
        'shift\nexec "$@"\n'
    )
    program.chmod(0o755)
    tools = builtin_tools(tmp_path, sandbox=Sandbox("bwrap", str(program), tmp_path))
    tool = next(tool for tool in tools if tool.name == "bash")
    assert tool.execute is not None

    await tool.execute("c1", {"command": "true"}, ToolContext())  # type: ignore[misc]

    assert (tmp_path / "times").read_text() == "x\n"
