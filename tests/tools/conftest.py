"""What the tests of the tools share."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.tools.calls import running


@pytest.fixture
def nap() -> Iterator[str]:
    """The argument of a long `sleep` that no other process has; its sleepers end with the test."""
    seconds = f"3{secrets.randbelow(100)}.{secrets.randbelow(10**9):09}"
    yield seconds
    for process in running(seconds):
        process.kill()
