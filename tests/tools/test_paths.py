from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.tools import Refused, judge, path_argument
from agent_tui.tools.paths import kind_of, real_path, shown, size_text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work/sub").mkdir(parents=True)
    (tmp_path / "work-evil").mkdir()
    (tmp_path / "work-evil/a.txt").touch()
    (tmp_path / "work/outbox").symlink_to(tmp_path / "work-evil")
    (tmp_path / "work/inbox").symlink_to("sub")
    return tmp_path / "work"


@pytest.mark.parametrize(
    "path",
    [
        "../work-evil/a.txt",
        "sub/../../work-evil/a.txt",
        "~/.ssh/id_rsa",
        "/etc/passwd",
        "outbox/a.txt",
        "outbox/new/x.txt",
        "..",
    ],
)
def test_outside_stays_outside_whatever_it_is_called(project: Path, path: str) -> None:
    """Cases dotdot-and-prefix and symlink-out-write."""
    assert not judge(path, project).inside


@pytest.mark.parametrize("path", [".", "a.txt", "new/folder/a.txt", "sub/../b", "inbox/x.txt"])
def test_inside_stays_inside(project: Path, path: str) -> None:
    """Also through a link that stays inside."""
    assert judge(path, project).inside


def test_the_whole_path_of_something_inside_is_inside(project: Path) -> None:
    assert judge(str(project / "a.txt"), project).inside


def test_a_project_reached_through_a_link_is_the_same_project(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(project)

    assert judge("a.txt", tmp_path / "alias").inside
    assert judge(str(project / "a.txt"), tmp_path / "alias").inside


def test_the_real_path_is_what_the_links_lead_to(project: Path) -> None:
    assert judge("inbox/new.txt", project).path == project / "sub/new.txt"


def test_a_free_folder_counts_as_inside(project: Path, tmp_path: Path) -> None:
    assert judge("../work-evil/a.txt", project, free=[tmp_path / "work-evil"]).inside


@pytest.mark.parametrize(
    ("path", "guarded"),
    [
        (".git/hooks/pre-commit", "version control internals"),
        ("sub/.GIT/config", "version control internals"),
        (".env", "credentials"),
        (".env.production", "credentials"),
        (".env.example", None),
        ("keys/server.pem", "credentials"),
        ("~/.ssh/config", "credentials"),
        ("~/.bashrc", "shell start-up file"),
        ("~/.config/fish/config.fish", "shell start-up file"),
        ("src/environment.py", None),
        (".gitignore", None),
    ],
)
def test_places_that_deserve_a_question_are_known(
    project: Path, path: str, guarded: str | None
) -> None:
    assert judge(path, project).guarded == guarded


def test_a_guarded_name_is_guarded_wherever_it_leads(project: Path) -> None:
    (project / ".env").symlink_to("settings")
    (project / "harmless").symlink_to(".git/config")

    assert judge(".env", project).guarded == "credentials"
    assert judge("harmless", project).guarded == "version control internals"


@pytest.mark.parametrize("path", ["a\0b", "loop"])
def test_a_path_that_leads_nowhere_is_refused(project: Path, path: str) -> None:
    (project / "loop").symlink_to("loop")

    with pytest.raises(Refused):
        real_path(path, project)


@pytest.mark.parametrize(
    ("tool", "args", "path"),
    [
        ("read", {"path": "a"}, "a"),
        ("write", {"path": "b", "content": ""}, "b"),
        ("edit", {"path": "c"}, "c"),
        ("grep", {"pattern": "x"}, "."),
        ("find", {"pattern": "x", "path": "d"}, "d"),
        ("ls", {"path": None}, "."),
        ("bash", {"command": "ls"}, None),
        ("other", {"path": "e"}, None),
    ],
)
def test_the_path_of_a_call_is_known_by_its_tool(
    tool: str, args: dict[str, str], path: str | None
) -> None:
    assert path_argument(tool, args) == path


def test_paths_are_shown_as_a_person_would_write_them(project: Path) -> None:
    assert shown(project / "sub/a", project) == "sub/a"
    assert shown(project.parent / "work-evil", project) == str(project.parent / "work-evil")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1024**2 - 1, "1024.0 KiB"),
        (3_500_000, "3.3 MiB"),
        (5 * 1024**4, "5.0 TiB"),
        (2**60, "1048576.0 TiB"),
    ],
)
def test_sizes_have_readable_units(size: int, text: str) -> None:
    assert size_text(size) == text


def test_a_device_is_called_a_device() -> None:
    assert kind_of(Path("/dev/null").stat().st_mode) == "device"
