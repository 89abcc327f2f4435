"""What every test shares: asyncio through anyio, and an environment without surprises."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

for name in (
    "NO_COLOR",
    "COLORTERM",
    "TEXTUAL_THEME",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_AUTH_TOKEN",
    "HF_TOKEN",
    "OLLAMA_HOST",
    "AGENT_TUI_HOME",
):
    os.environ.pop(name, None)
for name in [
    name for name in os.environ if name.endswith("_API_KEY") or name.lower().endswith("_proxy")
]:
    os.environ.pop(name)
os.environ |= {
    "TEXTUAL_ANIMATIONS": "none",
    "TZ": "UTC",
    "AGENT_TUI_LOCAL_SERVERS": "ignore",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
}
# A shell that starts a command in the background has it ignore Ctrl+C; tests of that would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the home of the person who runs it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("AGENT_TUI_HOME", str(home / "agent-tui"))
    monkeypatch.setenv("HOME", str(home))
    return home
