from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agent_tui.tools.process import MARK, Process, left_behind, marked, processes, tree
from agent_tui.tools.process import _from_ps as from_ps
from tests.tools.calls import until


def process(pid: int, parent: int, group: int) -> Process:
    return Process(pid, parent, group, "0", f"command {pid}")


def test_a_tree_is_the_group_and_all_who_descend_from_it() -> None:
    table = [
        process(30, 20, 30),  # a grandchild in a group of its own, listed before its parent
        process(10, 1, 10),
        process(20, 10, 20),
        process(40, 1, 10),  # adopted by init, still in the group
        process(50, 40, 50),
        process(60, 1, 60),
    ]

    assert [member.pid for member in tree(10, table)] == [30, 10, 20, 40, 50]


def test_a_name_is_one_short_printable_line() -> None:
    shady = Process(7, 1, 7, "0", "printf\n \x1b[31mred" + "x" * 100)

    assert shady.name == "printf red" + "x" * 69 + "… (pid 7)"


def test_a_process_without_a_command_line_has_a_name() -> None:
    assert Process(7, 1, 7, "0", "").name == "a process (pid 7)"


async def test_the_tables_of_proc_and_ps_agree(nap: str) -> None:
    with subprocess.Popen(["sleep", nap], start_new_session=True) as sleeper:
        found = {one.pid: one for one in processes()}[sleeper.pid]
        listed = {one.pid: one for one in from_ps()}[sleeper.pid]
        sleeper.kill()

    assert (found.parent, found.group) == (listed.parent, listed.group) == (os.getpid(), found.pid)
    assert found.name == listed.name == f"sleep {nap} (pid {sleeper.pid})" or not found.command


async def test_a_zombie_is_no_process() -> None:
    with subprocess.Popen(["true"]) as dead:
        await until(lambda: dead.pid not in {one.pid for one in processes()})

        assert dead.pid not in {one.pid for one in from_ps()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads environments in /proc")
async def test_a_process_is_known_by_its_mark(nap: str) -> None:
    with subprocess.Popen(
        ["sleep", nap], env={"PATH": "/usr/bin:/bin", MARK: "m1"}, start_new_session=True
    ) as sleeper:
        await until(lambda: [one.pid for one in marked("m1", processes())] == [sleeper.pid])

        assert not marked("m", processes())
        assert left_behind(1 << 30, "m1") == [f"sleep {nap} (pid {sleeper.pid})"]
        sleeper.kill()
