"""All checks in one command: style, format, types, tests. CI calls this and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("pytest", "-n", "2", "--dist", "worksteal"),
)


def main() -> int:
    """Run the checks in order; the first that fails ends the run with its exit code."""
    root = Path(__file__).parent.parent
    for tool, *arguments in CHECKS:
        print(f"$ {tool} {' '.join(arguments)}", flush=True)
        if code := subprocess.run([sys.executable, "-m", tool, *arguments], cwd=root).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
