"""What `agent_tui.providers` offers."""

from __future__ import annotations

import subprocess
import sys

import agent_tui.providers


def test_every_public_name_is_there() -> None:
    assert all(hasattr(agent_tui.providers, name) for name in agent_tui.providers.__all__)


def test_asking_for_models_and_wires_loads_no_http_client() -> None:
    code = (
        "import sys\n"
        "from agent_tui.providers import get_model, with_retries\n"
        "from agent_tui.core.registry import stream_fn_for\n"
        "stream_fn_for(get_model('ollama/x'))\n"
        "assert 'httpx' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
