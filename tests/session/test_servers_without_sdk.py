"""A server is configured and the extra is not installed: one sentence says how to get it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import asyncio, sys
sys.modules["mcp"] = None
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *rest: None if name == "mcp" else find(name, *rest)
)
del sys.modules["mcp"]
from pathlib import Path
from agent_tui.config import Flags, load_settings
from agent_tui.session.servers import Servers

async def main():
    place = Path(sys.argv[1])
    servers = Servers(load_settings(Flags(), {"AGENT_TUI_HOME": str(place)}, place))
    servers.start()
    print(servers.views()[0].state, servers.views()[0].problem)

asyncio.run(main())
"""


def test_a_missing_extra_is_said_with_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[mcp.servers.x]\ncommand = ["true"]\n')

    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("failed the package mcp is not installed: pip install")
