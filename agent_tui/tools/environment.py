"""What commands run in: which shell, and which variables they inherit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

OWN_KEYS = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "AZURE_OPENAI_API_KEY",
        "CEREBRAS_API_KEY",
        "DEEPSEEK_API_KEY",
        "FIREWORKS_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "NVIDIA_API_KEY",
        "OLLAMA_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "TOGETHER_API_KEY",
        "XAI_API_KEY",
        "ZAI_API_KEY",
    }
)
"""What pays for the chat is no business of the commands it runs."""

NO_DIALOGUE = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Nobody can press a key in there: editors leave the text as it is, pagers print through."""


def for_commands(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` as commands get it: without `OWN_KEYS`, with `NO_DIALOGUE`."""
    return {key: value for key, value in environ.items() if key not in OWN_KEYS} | NO_DIALOGUE


def find_shell() -> str:
    """The path of bash if the system has it, else of the POSIX shell."""
    usual = ("/bin/bash", "/usr/bin/bash", shutil.which("bash"))
    return next((path for path in usual if path and os.access(path, os.X_OK)), "/bin/sh")
