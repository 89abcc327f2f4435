"""Copies of descriptors beside the standard ones."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agent_tui.core.descriptors import FIRST, copy_of, lead_nowhere


def test_a_copy_is_no_standard_descriptor_even_if_one_is_free() -> None:
    code = (
        "import os; from agent_tui.core.descriptors import copy_of; os.close(0); os.close(2);"
        "print(copy_of(1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(done.stdout) >= FIRST


def test_children_do_not_inherit_a_copy() -> None:
    copy = copy_of(1)

    assert not os.get_inheritable(copy)
    os.close(copy)


def test_there_is_no_copy_of_what_is_closed() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)

    with pytest.raises(OSError, match="Bad file descriptor"):
        copy_of(reader)


def test_what_leads_nowhere_reads_nothing() -> None:
    reader, writer = os.pipe()
    lead_nowhere(reader)

    assert os.read(reader, 1) == b""
    os.close(reader)
    os.close(writer)
