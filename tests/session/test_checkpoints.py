from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_tui.core.messages import UserMessage
from agent_tui.core.tool import ToolContext, ToolResult
from agent_tui.session.checkpoints import Checkpoints
from agent_tui.testing import call, calls, text
from agent_tui.tools import FileMemory, builtin_tools
from tests.session.rig import Rig


class Project:
    """A folder that an agent works in, with its checkpoints beside it."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "project"
        self.cwd.mkdir()
        self._folder = root / "kept"
        self.restart()

    def restart(self) -> None:
        """The program ends and begins again."""
        self.kept = Checkpoints(self._folder)
        memory = FileMemory(self.kept)
        self.kept.on_restored = memory.forget
        tools = builtin_tools(self.cwd, memory=memory)
        self._tools = {tool.name: tool for tool in tools}

    def path(self, name: str) -> Path:
        return self.cwd / name

    def write(self, name: str, content: str) -> None:
        self._call("write", path=name, content=content)

    def edit(self, name: str, old: str, new: str) -> None:
        self._call("edit", path=name, old=old, new=new)

    def _call(self, tool: str, **args: object) -> None:
        execute = self._tools[tool].execute
        assert execute is not None
        result = execute("c1", dict(args), ToolContext())
        assert isinstance(result, ToolResult)
        assert not result.is_error, result.text

    def files(self) -> dict[str, tuple[str, int]]:
        return {
            file.name: (file.read_text(), file.stat().st_mode & 0o777)
            for file in self.cwd.iterdir()
            if file.is_file()
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_files_go_back_to_what_they_held_before_a_message(project: Project) -> None:
    project.path("a.txt").write_text("one\n")
    project.path("a.txt").chmod(0o755)
    project.kept.begin("m1")
    project.edit("a.txt", "one", "two")
    project.kept.begin("m2")
    project.edit("a.txt", "two", "three")
    project.write("new.txt", "new\n")

    report = project.kept.restore("m2")
    after_m2 = project.files()
    project.kept.restore("m1")

    assert {path.name for path in report.restored} == {"a.txt", "new.txt"}
    assert not report.skipped
    assert after_m2 == {"a.txt": ("two\n", 0o755)}
    assert project.files() == {"a.txt": ("one\n", 0o755)}


def test_putting_back_can_be_taken_back(project: Project) -> None:
    project.path("a.txt").write_text("one\n")
    project.kept.begin("m1")
    project.edit("a.txt", "one", "two")
    project.write("new.txt", "new\n")
    before = project.files()

    report = project.kept.restore("m1")
    between = project.files()
    project.kept.redo(report)

    assert between != before
    assert project.files() == before


def test_a_message_of_a_branch_that_was_left_is_still_a_place_to_go_to(project: Project) -> None:
    project.kept.begin("m1")
    project.write("a.txt", "one\n")
    project.kept.begin("m2")
    project.write("a.txt", "two\n")
    project.kept.restore("m2")
    project.kept.begin("m3")
    project.write("a.txt", "other\n")

    project.kept.restore("m2")

    assert project.path("a.txt").read_text() == "one\n"


def test_the_preview_lists_what_would_change_with_diffs(project: Project) -> None:
    project.path("a.txt").write_text("one\ntwo\n")
    project.kept.begin("m1")
    project.edit("a.txt", "two", "2")
    project.write("new.txt", "new\n")
    project.write("again.txt", "x\n")
    project.kept.begin("m2")

    changed = {change.path.name: change for change in project.kept.changed_since("m1")}

    assert project.kept.changed_since("m2") == []
    assert {name: change.kind for name, change in changed.items()} == {
        "a.txt": "changed",
        "new.txt": "created",
        "again.txt": "created",
    }
    assert "-two\n+2\n" in changed["a.txt"].diff
    assert "-2\n+two\n" in changed["a.txt"].undo
    assert (changed["a.txt"].added, changed["a.txt"].removed) == (1, 1)
    assert not any(change.is_foreign or change.problem for change in changed.values())


def test_what_somebody_else_changed_is_told_and_left_alone(project: Project) -> None:
    project.kept.begin("m1")
    project.write("a.txt", "agent\n")
    project.path("a.txt").write_text("person\n")

    (change,) = project.kept.changed_since("m1")
    report = project.kept.restore("m1")
    kept = project.files()
    forced = project.kept.restore("m1", overwrite=[project.path("a.txt")])
    gone = project.files()
    project.kept.redo(forced)

    assert change.is_foreign
    assert report.skipped == ((project.path("a.txt"), "somebody else changed it after the agent"),)
    assert kept["a.txt"][0] == "person\n"
    assert gone == {}
    assert project.files()["a.txt"][0] == "person\n"


def test_a_link_that_took_the_place_of_a_file_is_not_followed(
    project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine\n")
    project.path("a.txt").write_text("one\n")
    project.kept.begin("m1")
    project.write("a.txt", "two\n")
    project.path("a.txt").unlink()
    project.path("a.txt").symlink_to(outside)

    report = project.kept.restore("m1", overwrite=[project.path("a.txt")])

    assert report.skipped == ((project.path("a.txt"), "a link stands in its way now"),)
    assert outside.read_text() == "mine\n"


def test_credentials_are_not_copied_and_the_preview_says_so(
    project: Project, tmp_path: Path
) -> None:
    project.path(".env").write_text("KEY=secret-word\n")
    project.kept.begin("m1")
    project.write(".env", "KEY=other\n")

    (change,) = project.kept.changed_since("m1")

    assert change.problem == "files with credentials are not copied"
    assert project.kept.restore("m1").skipped
    kept = [file.read_bytes() for file in (tmp_path / "kept").rglob("*") if file.is_file()]
    assert not any(b"secret-word" in content for content in kept)


def test_what_was_kept_is_found_again_by_the_next_start(project: Project, tmp_path: Path) -> None:
    project.path("a.txt").write_text("one\n")
    project.kept.begin("m1")
    project.write("a.txt", "two\n")
    project.kept.begin("m2")
    with (tmp_path / "kept" / "timeline.jsonl").open("a") as file:
        file.write('{"path": "torn')

    again = Checkpoints()
    again.open(tmp_path / "kept")
    again.restore("m2")
    unchanged = project.files()
    report = again.restore("m1")
    back = project.files()
    third = Checkpoints(tmp_path / "kept")
    third.redo(report)

    assert unchanged["a.txt"][0] == "two\n"
    assert back["a.txt"][0] == "one\n"
    assert project.files()["a.txt"][0] == "two\n"


def test_a_fork_has_what_its_parent_kept_and_goes_its_own_way(
    project: Project, tmp_path: Path
) -> None:
    project.path("a.txt").write_text("one\n")
    project.kept.begin("m1")
    project.write("a.txt", "two\n")
    fork = Checkpoints()
    fork.open(tmp_path / "fork", tmp_path / "kept")
    fork.begin("m2")
    fork.before_change(project.path("b.txt"), None, None, b"new\n")
    fork.restore("m1")

    assert project.path("a.txt").read_text() == "one\n"
    assert len(project.kept.changed_since(None)) == 1
    shutil.rmtree(tmp_path / "kept")
    assert [change.path.name for change in fork.changed_since(None)] == ["a.txt", "b.txt"]


def test_only_the_person_can_read_what_is_kept(project: Project, tmp_path: Path) -> None:
    project.path("a.txt").write_text("one\n")
    project.write("a.txt", "two\n")

    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "kept").rglob("*")}

    assert modes == {0}


def test_a_session_that_is_not_saved_keeps_files_until_it_closes(tmp_path: Path) -> None:
    kept = Checkpoints()
    file = tmp_path / "a.txt"
    file.write_text("new\n")
    kept.before_change(file, b"old\n", 0o644, b"new\n")
    folder = kept.folder
    kept.restore(None)
    kept.close()

    assert file.read_text() == "old\n"
    assert folder is not None
    assert not folder.exists()


def test_a_temporary_folder_goes_with_its_session(tmp_path: Path) -> None:
    kept = Checkpoints()
    kept.before_change(tmp_path / "a.txt", None, None, b"new\n")
    folder = kept.folder
    del kept
    gc.collect()

    assert folder is not None
    assert not folder.exists()


async def test_a_session_knows_after_which_message_a_file_changed(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "kept")
    project = tmp_path / "project"
    project.mkdir()
    script = []
    for content in ("1\n", "2\n"):
        script += [calls(call("write", {"path": "a.txt", "content": content})), text("done")]
    rig = Rig(*script, tools=builtin_tools(project, memory=FileMemory(kept)), cwd=project)
    rig.session.checkpoints = kept
    await rig.session.prompt(UserMessage(id="m1", content="first"))
    await rig.session.prompt(UserMessage(id="m2", content="second"))

    kept.restore("m2")
    then = (project / "a.txt").read_text()
    kept.restore("m1")
    rig.session.close()

    assert then == "1\n"
    assert not (project / "a.txt").exists()


NAMES = ("a", "b", "c")
STEPS = st.lists(
    st.one_of(
        st.just(("say",)),
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from("123")),
        st.tuples(st.just("go"), st.integers(0, 9)),
        st.just(("redo",)),
        st.just(("restart",)),
    ),
    max_size=25,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_any_place_can_be_gone_to_and_back(
    steps: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("random")
    project = Project(root)
    project.path("a").write_text("old\n")
    project.path("a").chmod(0o600)
    seen = [("m0", project.files())]
    project.kept.begin("m0")
    for step in steps:
        match step:
            case ("say",):
                message_id = f"m{len(seen)}"
                project.kept.begin(message_id)
                seen.append((message_id, project.files()))
            case ("write", name, content):
                project.write(str(name), f"{content}\n")
            case ("go", number):
                assert isinstance(number, int)
                message_id, files = seen[number % len(seen)]
                report = project.kept.restore(message_id)
                assert not report.skipped
                assert project.files() == files
                assert all(
                    change.kind == "same" for change in project.kept.changed_since(message_id)
                )
            case ("redo",):
                before = project.files()
                project.kept.redo(project.kept.restore("m0"))
                assert project.files() == before
            case ("restart",):
                known = [message_id for message_id, _ in seen]
                project.restart()
                list(map(project.kept.begin, known))
