from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from agent_tui.core.abort import AbortSignal
from agent_tui.core.tool import Tool, ToolContext
from agent_tui.tools.grep import grep_tool
from agent_tui.tools.slots import Slots
from tests.tools.calls import run

RIPGREP = shutil.which("rg")
ENGINES = [
    pytest.param("", id="own"),
    pytest.param(
        RIPGREP,
        id="ripgrep",
        marks=pytest.mark.skipif(RIPGREP is None, reason="ripgrep is not installed"),
    ),
]


@pytest.fixture(params=ENGINES)
def grep(request: pytest.FixtureRequest, tmp_path: Path) -> Tool:
    return grep_tool(tmp_path, Slots(), ripgrep=request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text("import os\n\ndef main():\n    pass  # Größe\n")
    (tmp_path / "src/app.ts").write_text("import x\r\n")
    (tmp_path / "notes.md").write_text("how to import\n")
    return tmp_path


async def test_matches_are_named_by_path_and_line(grep: Tool, project: Path) -> None:
    result = await run(grep, pattern="import")

    assert result.text == "notes.md:1:how to import\nsrc/app.py:1:import os\nsrc/app.ts:1:import x"
    assert result.details == {"path": ".", "matches": 3, "files": 3}


async def test_paths_start_at_the_working_directory(grep: Tool, project: Path) -> None:
    result = await run(grep, pattern="def .*:", path="src")

    assert result.text == "src/app.py:3:def main():"


async def test_one_file_can_be_searched(grep: Tool, project: Path) -> None:
    result = await run(grep, pattern="import", path="src/app.ts")

    assert result.text == "src/app.ts:1:import x"


@pytest.mark.parametrize("glob", ["*.py", "src/*.py", "**/*.p?", "*.{py,rs}"])
async def test_a_glob_picks_the_files(grep: Tool, project: Path, glob: str) -> None:
    result = await run(grep, pattern="import", glob=glob)

    assert result.text == "src/app.py:1:import os"


async def test_files_of_credentials_are_searched_only_if_they_are_named(
    grep: Tool, project: Path
) -> None:
    for name in (".env", "src/server.pem", "src/environment.py"):
        (project / name).write_text("import secret\n")

    everywhere = await run(grep, pattern="secret")
    named = await run(grep, pattern="secret", path=".env")

    assert everywhere.text == "src/environment.py:1:import secret"
    assert named.text == ".env:1:import secret"


async def test_case_can_be_ignored(grep: Tool, project: Path) -> None:
    assert (await run(grep, pattern="GRÖSSE|größe")).text == "No matches."
    assert (await run(grep, pattern="GRÖßE", ignore_case=True)).details["matches"] == 1


async def test_no_match_is_no_error(grep: Tool, project: Path) -> None:
    result = await run(grep, pattern="nowhere")

    assert not result.is_error
    assert result.text == "No matches."


async def test_anchors_are_those_of_lines(grep: Tool, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\nfoo\nfoo bar\n")

    assert (await run(grep, pattern="^foo$")).text == "a:2:foo"


async def test_a_pattern_that_looks_around_sees_its_line_only(grep: Tool, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("foo\nbar\nfoo bar\n")

    assert (await run(grep, pattern=r"foo(?!\s*bar)")).text == "a:1:foo"


async def test_a_pattern_that_is_none_is_told(grep: Tool, project: Path) -> None:
    result = await run(grep, pattern="(")

    assert result.is_error
    assert result.text.startswith("The pattern is not a valid regular expression: missing )")


async def test_many_matches_are_cut_and_said(grep: Tool, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 1000)

    result = await run(grep, pattern="x")

    assert result.text.startswith("a:1:x\na:2:x\n")
    assert result.text.endswith(
        "a:200:x\n\n[The first 200 matches; there are more, narrow the search]"
    )
    assert result.details["matches"] == 200


async def test_a_long_line_is_shortened(grep: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("needle" + "x" * 100_000 + "\n")

    result = await run(grep, pattern="needle")

    assert result.text.startswith("a.js:1:needlexxx")
    assert len(result.text) < 700


async def test_pipes_and_binaries_are_skipped(grep: Tool, project: Path) -> None:
    """Case read-fifo: also for grep over the folder."""
    os.mkfifo(project / "live.pipe")
    (project / "a.bin").write_bytes(b"\0def main\n")

    result = await run(grep, pattern="def main")

    assert result.text == "src/app.py:3:def main():"


async def test_a_link_out_of_the_project_is_not_followed(
    grep: Tool, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("def main\n")
    (project / "link").symlink_to(outside / "secret")
    (project / "folder").symlink_to(outside)

    result = await run(grep, pattern="def main")

    assert result.text == "src/app.py:3:def main():"


async def test_what_git_ignores_is_skipped_unless_named(grep: Tool, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / ".gitignore").write_text("build/\n")
    (project / "build").mkdir()
    (project / "build/out.py").write_text("import os\n")

    anywhere = await run(grep, pattern="import os")
    there = await run(grep, pattern="import os", path="build")

    assert anywhere.text == "src/app.py:1:import os"
    assert there.text == "build/out.py:1:import os"


async def test_a_pipe_by_name_is_refused(grep: Tool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "live.pipe")

    result = await run(grep, pattern="x", path="live.pipe")

    assert result.is_error
    assert result.text == "live.pipe is a named pipe, not a file or directory."


async def test_a_pattern_that_would_never_end_can_be_aborted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 50 + "!\n")
    signal = AbortSignal()
    threading.Timer(0.3, signal.set).start()
    began = time.monotonic()

    result = await run(
        grep_tool(tmp_path, Slots(), ripgrep=""), ToolContext(signal=signal), pattern="(a+)+$"
    )

    assert result.is_error
    assert result.text.startswith("Aborted")
    assert time.monotonic() - began < 5


async def test_a_search_that_takes_too_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_tui.tools.grep.LIMIT_SECONDS", 0.5)
    (tmp_path / "a").write_text("aa\n")
    (tmp_path / "b").write_text("a" * 50 + "!\n")

    result = await run(grep_tool(tmp_path, Slots(), ripgrep=""), pattern="(a+)+$")

    assert result.text == "a:1:aa\n\n[Stopped after 0.5 s; narrow the search]"


async def test_a_missing_ripgrep_is_done_without(project: Path) -> None:
    result = await run(grep_tool(project, Slots(), ripgrep="/no/such/rg"), pattern="def main")

    assert result.text == "src/app.py:3:def main():"


async def test_a_large_file_is_read_line_by_line(tmp_path: Path) -> None:
    with (tmp_path / "big.log").open("wb") as file:
        file.write(b"some words of a log\n" * 500_000 + b"needle\xff\r\n")

    result = await run(grep_tool(tmp_path, Slots(), ripgrep=""), pattern="needle")

    assert result.text == "big.log:500001:needle\ufffd"
