from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.tools.diff import unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30)


def test_a_change_stands_between_three_lines_of_context() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))

    diff = unified(before, before.replace("10\n", "ten\n"), "n.txt")

    assert diff.text == (
        "--- a/n.txt\n+++ b/n.txt\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )
    assert (diff.added, diff.removed) == (1, 1)


def test_changes_far_apart_have_hunks_of_their_own() -> None:
    before = "".join(f"{number}\n" for number in range(1, 31))

    diff = unified(before, before.replace("\n5\n", "\nV\n").replace("\n25\n", "\nXXV\n"), "n")

    assert diff.text.count("@@ -") == 2


def test_a_new_file_comes_from_nowhere() -> None:
    assert unified("", "a\n", "n", is_new=True).text == (
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n"
    )


def test_a_missing_final_newline_is_said() -> None:
    assert unified("a", "b\n", "n").text.endswith("-a\n\\ No newline at end of file\n+b\n")


def test_no_change_is_no_text() -> None:
    assert unified("a\n", "a\n", "n").text == ""


def test_bytes_that_are_no_utf8_can_be_stored() -> None:
    text = unified("a\udce9\n", "b\udce9\n", "n").text

    assert text.encode().count("\ufffd".encode()) == 2


def test_a_rewrite_of_a_large_file_is_not_matched_line_by_line() -> None:
    before = "".join(f"a{number % 7}\n" for number in range(30_000))

    diff = unified(before, before.replace("a", "b"), "n")

    assert (diff.added, diff.removed) == (30_000, 30_000)


def test_a_bounded_diff_says_what_it_leaves_out() -> None:
    diff = unified("", "line\n" * 100, "n", is_new=True)

    kept = diff.bounded(100).split("\n")

    assert kept[-2:] == [f"… {103 - len(kept) + 2} more lines of the diff are not shown", ""]
    assert diff.bounded(10_000) == diff.text


@settings(deadline=None, derandomize=True, max_examples=40)
@given(LINES, LINES, st.booleans())
def test_patch_can_apply_it(old: list[str], new: list[str], ends_in_newline: bool) -> None:
    before = "".join(old)
    after = "".join(new) + ("" if ends_in_newline else "end")

    diff = unified(before, after, "n")

    assert _patched(before, diff.text) == after


def _patched(before: str, diff: str) -> str:
    if not diff:
        return before
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "n").write_text(before)
        subprocess.run(
            ["git", "apply", "--unsafe-paths", "-"],
            cwd=folder,
            input=diff.encode(),
            check=True,
            env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(Path(folder).parent)},
        )
        return Path(folder, "n").read_text()


@pytest.mark.parametrize("size", [1, 3, 4, 6, 7, 8])
def test_neighbouring_changes_share_a_hunk_up_to_six_lines_apart(size: int) -> None:
    before = "x\n" + "".join(f"{number}\n" for number in range(size)) + "y\n"

    diff = unified(before, before.replace("x", "X").replace("y", "Y"), "n")

    assert diff.text.count("@@ -") == (1 if size <= 6 else 2)
