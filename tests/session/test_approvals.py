"""What asks, what does not, and what an answer does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from agent_tui.agent.hooks import AgentContext, BeforeToolCallContext
from agent_tui.config import Rule
from agent_tui.core.abort import AbortSignal
from agent_tui.core.events import ToolExecutionEndEvent
from agent_tui.core.messages import AssistantMessage, ToolCall, ToolResultMessage
from agent_tui.core.tool import Tool
from agent_tui.session.approvals import ApprovalMode, ApprovalRequest, Approvals
from agent_tui.session.events import ApprovalAnswerEvent, ApprovalRequestEvent
from agent_tui.session.rule_book import RuleBook
from agent_tui.testing import call, calls, text
from agent_tui.tools import FileMemory, builtin_tools
from tests.session.rig import Rig, lets_run, plain_tool, start, until, user_texts


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def rig_in(
    project: Path, *script: Any, mode: ApprovalMode = "ask", more: list[Tool] | None = None
) -> Rig:
    tools = [*builtin_tools(project), *(more or [])]
    return Rig(*script, tools=tools, mode=mode, cwd=project)


async def first_question(rig: Rig) -> ApprovalRequest:
    await until(lambda: bool(rig.session.approvals.pending))
    return rig.session.approvals.pending[0]


async def ask_for(project: Path, name: str, args: dict[str, Any], mode: ApprovalMode) -> str:
    """`asks`, or how the call ended without a question: `runs`, or the refusal."""
    rig = rig_in(project, calls(call(name, args)), text("ok"), mode=mode, more=[plain_tool("own")])
    turn = start(rig.session.prompt("go"))
    await until(lambda: bool(rig.session.approvals.pending) or turn.done())
    if not turn.done():
        rig.session.abort()
        await turn
        return "asks"
    [ended] = rig.told(ToolExecutionEndEvent)
    return ended.result.text if "refused" in ended.result.text else "runs"


WRITE = ("write", {"path": "new.txt", "content": "x"})
SHELL = ("bash", {"command": "true"})
READ = ("read", {"path": "a.txt"})
OWN: tuple[str, dict[str, Any]] = ("own", {})


@pytest.mark.parametrize(
    ("mode", "action", "outcome"),
    [
        ("ask", READ, "runs"),
        ("ask", ("ls", {}), "runs"),
        ("ask", WRITE, "asks"),
        ("ask", SHELL, "asks"),
        ("ask", OWN, "asks"),
        ("auto-edit", WRITE, "runs"),
        ("auto-edit", SHELL, "asks"),
        ("auto-edit", OWN, "asks"),
        ("full-auto", WRITE, "runs"),
        ("full-auto", OWN, "runs"),
        ("read-only", READ, "runs"),
        ("read-only", OWN, "asks"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
async def test_what_a_mode_lets_run(
    project: Path, mode: ApprovalMode, action: tuple[str, dict[str, Any]], outcome: str
) -> None:
    assert await ask_for(project, *action, mode) == outcome


@pytest.mark.parametrize("action", [WRITE, SHELL], ids=["write", "bash"])
async def test_read_only_refuses_changes_with_a_sentence(
    project: Path, action: tuple[str, dict[str, Any]]
) -> None:
    answer = await ask_for(project, *action, "read-only")

    assert "the mode is read-only" in answer
    assert not (project / "new.txt").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../project-evil/a.txt",
        "sub/../../project-evil/a.txt",
        "~/.ssh/id_rsa",
        "/etc/hostname",
        "link/x.txt",
    ],
)
@pytest.mark.parametrize("name", ["read", "write", "edit", "grep", "find", "ls"])
async def test_what_lies_outside_the_project_asks(project: Path, path: str, name: str) -> None:
    """The cases dotdot-and-prefix and symlink-out-write."""
    evil = project.parent / "project-evil"
    evil.mkdir()
    (project / "link").symlink_to(evil)
    args = {"path": path, "content": "x", "old": "a", "new": "b", "pattern": "x"}
    wanted = {
        "read": ["path"],
        "write": ["path", "content"],
        "edit": ["path", "old", "new"],
        "grep": ["path", "pattern"],
        "find": ["path", "pattern"],
        "ls": ["path"],
    }

    outcome = await ask_for(project, name, {key: args[key] for key in wanted[name]}, "auto-edit")

    assert outcome == "asks"
    assert list(evil.iterdir()) == []


async def test_a_link_that_stays_inside_is_free(project: Path) -> None:
    (project / "inner").mkdir()
    (project / "short").symlink_to(project / "inner")

    outcome = await ask_for(project, "write", {"path": "short/x", "content": "x"}, "auto-edit")

    assert outcome == "runs"
    assert (project / "inner" / "x").read_text() == "x"


@pytest.mark.parametrize("path", [".git/config", ".env", ".ssh/id_rsa"])
async def test_guarded_files_ask_although_they_are_inside(project: Path, path: str) -> None:
    assert await ask_for(project, "read", {"path": path}, "ask") == "asks"


async def test_a_folder_named_as_free_counts_as_inside(project: Path, tmp_path: Path) -> None:
    saved = tmp_path / "output"
    saved.mkdir()
    (saved / "1.txt").write_text("long")
    approvals = Approvals("ask", project, free=[saved])

    assert await lets_run(approvals, "read", {"path": str(saved / "1.txt")})


# -- the question --------------------------------------------------------------------------------


async def test_a_question_shows_the_whole_command_and_why_it_asks(project: Path) -> None:
    """The case approval-shows-everything."""
    command = f"echo hello{' ' * 300}; touch hidden.txt\n\n\n\ntouch hidden2.txt"
    rig = rig_in(project, calls(call("bash", {"command": command})))
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert request.detail == command
    assert request.summary == command
    assert request.reason == "it runs a command"
    assert request.cwd == str(project)
    assert request.rule == "bash: touch hidden.txt and bash: touch hidden2.txt"
    rig.session.abort()
    await turn


async def test_a_command_cannot_hide_behind_what_a_terminal_swallows(project: Path) -> None:
    command = "echo hi \x1b]0; ; rm -rf x \x07 \u202e\r."
    rig = rig_in(project, calls(call("bash", {"command": command})))
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert request.detail == r"echo hi \x1b]0; ; rm -rf x \x07 \u202e\r."
    assert request.args["command"] == command
    rig.session.abort()
    await turn


async def test_a_question_about_an_edit_shows_its_diff_before_it_is_applied(project: Path) -> None:
    args = {"path": "a.txt", "old": "two", "new": "three"}
    rig = rig_in(project, calls(call("edit", args)))
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert "-two\n+three\n" in request.detail
    assert request.summary == "a.txt"
    assert (project / "a.txt").read_text() == "one\ntwo\n"
    rig.session.abort()
    await turn


async def test_an_edit_that_would_fail_asks_nothing_and_can_change_nothing(project: Path) -> None:
    memory = FileMemory()
    args = {"path": "a.txt", "old": "not there", "new": "three"}
    tools = builtin_tools(project, memory=memory)
    rig = Rig(calls(call("edit", args)), text("ok"), tools=tools, mode="ask", cwd=project)

    def show(call_id: str, diff: str) -> None:
        memory.was_shown(call_id, diff)
        # Somebody makes the edit possible between the judgement and the call.
        (project / "a.txt").write_text("not there\n")

    rig.session.approvals.on_diff = show
    await rig.session.prompt("go")

    [ended] = rig.told(ToolExecutionEndEvent)
    assert "has changed since" in ended.result.text
    assert (project / "a.txt").read_text() == "not there\n"


async def test_only_what_the_card_showed_is_done(project: Path) -> None:
    memory = FileMemory()
    args = {"path": "a.txt", "content": "mine\n"}
    tools = builtin_tools(project, memory=memory)
    rig = Rig(calls(call("write", args)), text("ok"), tools=tools, mode="ask", cwd=project)
    rig.session.approvals.on_diff = memory.was_shown
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)
    (project / "a.txt").write_text("somebody's\n")
    rig.session.approvals.answer(request.id, "once")
    await turn

    [ended] = rig.told(ToolExecutionEndEvent)
    assert ended.is_error
    assert "has changed since the user was shown this change" in ended.result.text
    assert (project / "a.txt").read_text() == "somebody's\n"


async def test_a_question_about_an_unknown_tool_shows_its_arguments(project: Path) -> None:
    rig = rig_in(project, calls(call("own", {"n": 3})), more=[plain_tool("own")])
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert request.detail == '{\n  "n": 3\n}'
    assert request.rule == "own: any arguments"
    rig.session.abort()
    await turn


async def test_a_path_outside_is_named_in_full(project: Path) -> None:
    rig = rig_in(project, calls(call("read", {"path": "../secret"})))
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert request.summary == "../secret"
    assert request.reason == f"{project.parent / 'secret'} is outside the project"
    rig.session.abort()
    await turn


# -- the answer ----------------------------------------------------------------------------------


async def test_once_runs_the_call_and_the_next_one_asks_again(project: Path) -> None:
    rig = rig_in(project, calls(call("write", WRITE[1])), calls(call("write", WRITE[1])))
    turn = start(rig.session.prompt("go"))
    first = await first_question(rig)

    assert rig.session.approvals.answer(first.id, "once")
    await until(lambda: bool(rig.session.approvals.pending))

    assert (project / "new.txt").read_text() == "x"
    assert rig.session.approvals.pending[0].id != first.id
    rig.session.abort()
    await turn


async def test_always_covers_later_calls_of_the_same_kind(project: Path) -> None:
    rig = rig_in(
        project,
        calls(call("write", {"path": "b.txt", "content": "b"})),
        calls(call("write", {"path": "c.txt", "content": "c"})),
        calls(call("write", {"path": "../d.txt", "content": "d"})),
    )
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.approvals.answer(request.id, "always")
    await until(lambda: any(p.summary == "../d.txt" for p in rig.session.approvals.pending))

    assert request.rule == "write: any file in the project"
    assert (project / "c.txt").read_text() == "c"
    rig.session.abort()
    await turn


async def test_declining_without_a_comment_ends_the_turn_after_the_batch(project: Path) -> None:
    """S36: although a sibling succeeded."""
    rig = rig_in(
        project,
        calls(call("read", READ[1]), call("bash", SHELL[1])),
        text("never asked"),
    )
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.approvals.answer(request.id, "decline")
    await turn

    results = [m for m in rig.agent.state.messages if isinstance(m, ToolResultMessage)]
    assert rig.reasons == ["terminated"]
    assert [result.is_error for result in results] == [False, True]
    assert "declined" in results[1].text


async def test_declining_with_a_comment_tells_the_model_and_goes_on(project: Path) -> None:
    """S36."""
    rig = rig_in(project, calls(call("bash", SHELL[1])), text("as you wish"))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.approvals.answer(request.id, "decline", "use make clean")
    await turn

    assert rig.reasons == ["completed"]
    assert "use make clean" in rig.model.requests[1].messages[-1].text


async def test_steering_typed_while_a_question_is_open_starts_a_turn(project: Path) -> None:
    """S36."""
    rig = rig_in(project, calls(call("bash", SHELL[1])), text("ok"))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.steer("something else")
    rig.session.approvals.answer(request.id, "decline")
    await turn

    assert user_texts(rig.model.requests[1]) == ["go", "something else"]


async def test_an_abort_takes_the_question_off_the_table(project: Path) -> None:
    rig = rig_in(project, calls(call("bash", {"command": "touch ran"})))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.abort()
    await turn

    assert rig.session.approvals.pending == []
    assert rig.told(ApprovalAnswerEvent) == [ApprovalAnswerEvent(request.id, "aborted")]
    assert not rig.session.approvals.answer(request.id, "once")
    assert not (project / "ran").exists()


async def test_question_and_answer_are_events(project: Path) -> None:
    rig = rig_in(project, calls(call("bash", SHELL[1])), text("ok"))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)
    assert rig.session.waiting_for() == "approval of `true`"

    rig.session.approvals.answer(request.id, "once")
    await turn

    assert [event.request for event in rig.told(ApprovalRequestEvent)] == [request]
    assert rig.told(ApprovalAnswerEvent) == [ApprovalAnswerEvent(request.id, "once")]


# -- while a question is open ---------------------------------------------------------------------


async def test_full_auto_lets_an_open_question_run(project: Path) -> None:
    rig = rig_in(project, calls(call("bash", SHELL[1])), calls(call("bash", SHELL[1])), text("ok"))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.approvals.mode = "full-auto"
    await turn

    assert len(rig.told(ApprovalRequestEvent)) == 1
    assert rig.told(ApprovalAnswerEvent) == [ApprovalAnswerEvent(request.id, "allowed")]
    assert rig.reasons == ["completed"]


async def test_full_auto_leaves_a_question_open_that_it_would_ask_too(project: Path) -> None:
    args = {"path": "../x.txt", "content": "x"}
    rig = rig_in(project, calls(call("write", args)), text("ok"))
    turn = start(rig.session.prompt("go"))
    await first_question(rig)

    rig.session.approvals.mode = "full-auto"
    still_open = list(rig.session.approvals.pending)
    rig.session.abort()
    await turn

    assert len(still_open) == 1
    assert not (project.parent / "x.txt").exists()


async def test_read_only_refuses_an_open_question_and_the_run_goes_on(project: Path) -> None:
    rig = rig_in(project, calls(call("write", WRITE[1])), text("as you wish"))
    turn = start(rig.session.prompt("go"))
    await first_question(rig)

    rig.session.approvals.mode = "read-only"
    await turn

    [ended] = rig.told(ToolExecutionEndEvent)
    assert "the mode is read-only" in ended.result.text
    assert rig.told(ApprovalAnswerEvent)[0].verdict == "refused"
    assert rig.reasons == ["completed"]
    assert not (project / "new.txt").exists()


async def test_auto_edit_answers_a_question_about_an_edit_but_not_about_a_command(
    project: Path,
) -> None:
    rig = rig_in(project, calls(call("write", WRITE[1])), calls(call("bash", SHELL[1])))
    turn = start(rig.session.prompt("go"))
    await first_question(rig)

    rig.session.approvals.mode = "auto-edit"
    await until(lambda: any(p.tool_name == "bash" for p in rig.session.approvals.pending))

    assert (project / "new.txt").read_text() == "x"
    rig.session.abort()
    await turn


async def test_a_mode_that_is_only_preselected_waits_but_its_refusal_counts(project: Path) -> None:
    rig = rig_in(project, calls(call("bash", {"command": "touch ran"})), text("ok"))
    turn = start(rig.session.prompt("go"))
    request = await first_question(rig)

    rig.session.approvals.preselect("read-only")
    still_open = list(rig.session.approvals.pending)
    rig.session.approvals.answer(request.id, "once")
    await turn

    assert still_open == [request]
    assert rig.told(ApprovalAnswerEvent)[0].verdict == "refused"
    assert not (project / "ran").exists()


# -- rules that are kept --------------------------------------------------------------------------


def start_asking(approvals: Approvals, name: str, args: dict[str, Any]) -> asyncio.Task[None]:
    """A call that waits at the gate."""
    asked = ToolCall(id="c1", name=name, arguments=args)
    ctx = BeforeToolCallContext(AssistantMessage(content=[asked]), asked, args, AgentContext())

    async def wait() -> None:
        await approvals.before_tool_call(ctx, AbortSignal())

    return start(wait())


@pytest.mark.parametrize("scope", ["project", "everywhere"])
async def test_a_rule_is_kept_outside_of_the_project_and_counts_at_the_next_start(
    project: Path, tmp_path: Path, scope: Literal["project", "everywhere"]
) -> None:
    book = RuleBook(tmp_path / "home" / "rules.toml", project)
    approvals = Approvals("ask", project, book=book)
    asking = start_asking(approvals, "bash", {"command": "make all"})
    await until(lambda: bool(approvals.pending))
    before = sorted(project.rglob("*"))

    approvals.answer(approvals.pending[0].id, "always", scope=scope)
    await asking

    later = Approvals("ask", project, book=RuleBook(tmp_path / "home" / "rules.toml", project))
    assert await lets_run(later, "bash", {"command": "make all"})
    assert not await lets_run(later, "bash", {"command": "make"})
    assert sorted(project.rglob("*")) == before


async def test_a_rule_for_the_session_is_forgotten_with_it(project: Path, tmp_path: Path) -> None:
    book = RuleBook(tmp_path / "home" / "rules.toml", project)
    approvals = Approvals("ask", project, book=book)
    asking = start_asking(approvals, "bash", {"command": "make"})
    await until(lambda: bool(approvals.pending))

    approvals.answer(approvals.pending[0].id, "always", scope="session")
    await asking

    assert await lets_run(approvals, "bash", {"command": "make"})
    assert not (tmp_path / "home").exists()


async def test_a_rule_that_cannot_be_kept_counts_for_the_session_and_says_so(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("in the way")
    book = RuleBook(tmp_path / "home" / "rules.toml", project)
    approvals = Approvals("ask", project, book=book)
    asking = start_asking(approvals, "bash", {"command": "make"})
    await until(lambda: bool(approvals.pending))

    approvals.answer(approvals.pending[0].id, "always")
    await asking

    assert approvals.problem is not None
    assert approvals.problem.startswith("The rule counts for this session only: ")
    assert await lets_run(approvals, "bash", {"command": "make"})


async def test_kept_rules_that_cannot_be_read_are_a_problem(project: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text("[[deny")

    approvals = Approvals("ask", project, book=RuleBook(tmp_path / "rules.toml", project))

    assert approvals.problem is not None
    assert "rules.toml is no valid TOML and is not used" in approvals.problem


async def test_always_settles_the_other_questions_that_its_rule_covers(project: Path) -> None:
    approvals = Approvals("ask", project)
    waits = []
    for command in ("pytest -q", "pytest -x", "make"):
        waits.append(start_asking(approvals, "bash", {"command": command}))
        await until(lambda: len(approvals.pending) == len(waits))

    approvals.answer(approvals.pending[0].id, "always")
    left = [request.summary for request in approvals.pending]
    approvals.answer(approvals.pending[0].id, "decline")

    assert left == ["make"]
    for wait in waits:
        await wait


async def test_a_rule_can_be_taken_back_where_it_was_made(project: Path, tmp_path: Path) -> None:
    book = RuleBook(tmp_path / "home" / "rules.toml", project)
    kept = book.add(Rule("bash", "make"), "project")
    written = Rule("bash", "ls", origin="settings")
    approvals = Approvals("ask", project, rules=[written], book=book)

    gone = [approvals.forget(rule) for rule in (kept, written)]

    assert gone == [True, False]
    assert not await lets_run(approvals, "bash", {"command": "make"})
    assert await lets_run(approvals, "bash", {"command": "ls"})
    assert book.rules() == []


async def test_with_nobody_there_the_call_is_blocked_and_the_way_out_is_named(
    project: Path,
) -> None:
    rig = rig_in(project, calls(call("write", WRITE[1])), text("I could not"))
    rig.session.approvals.unattended = True

    await rig.session.prompt("go")

    [ended] = rig.told(ToolExecutionEndEvent)
    assert ended.is_error
    assert "--mode auto-edit" in ended.result.text
    assert rig.reasons == ["completed"]


# -- rules ---------------------------------------------------------------------------------------

GIT = [Rule("bash", "git log*"), Rule("bash", "git status")]


@pytest.mark.parametrize(
    "command",
    [
        "git log && touch pwned1",
        "git status; touch pwned2",
        "git log $(touch pwned3)",
        "git log `touch pwned3`",
        "git log\ntouch pwned4",
        "git log | sh -c 'touch pwned5'",
        "git log > pwned6",
        "git log & touch pwned7",
        "git log <(touch pwned8)",
        "GIT_PAGER=evil git log",
        "git log /etc/passwd",
        "git log --output=../x",
        "git log -- ~/.ssh/id_rsa",
        "git log .env",
        "git log -o/etc/x",
        "git log 'open quote",
        "git status --short",
        "git push",
        "",
    ],
)
async def test_a_rule_for_one_command_lets_nothing_else_through(
    project: Path, command: str
) -> None:
    """The case allow-rule-compound."""
    approvals = Approvals("ask", project, rules=GIT)

    assert not await lets_run(approvals, "bash", {"command": command})


@pytest.mark.parametrize(
    "command", ["git log --oneline -3", "git log", "  git   log -p  a.txt ", "git status"]
)
async def test_a_rule_lets_its_own_command_run(project: Path, command: str) -> None:
    approvals = Approvals("ask", project, rules=GIT)

    assert await lets_run(approvals, "bash", {"command": command})


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git log --oneline", "bash: git log *"),
        ("git -C /x log", "bash: git -C /x log"),
        ("pytest -q tests", "bash: pytest *"),
        ("rm -rf build", "bash: rm -rf build"),
        ("rm 'a b'", "bash: rm 'a b'"),
        ("make && make test", "bash: make and bash: make test"),
        ("echo $HOME", None),
        ("X=1 make", None),
    ],
)
async def test_the_rule_that_always_would_make_is_no_wider_than_it_says(
    project: Path, command: str, rule: str | None
) -> None:
    rig = rig_in(project, calls(call("bash", {"command": command})))
    turn = start(rig.session.prompt("go"))

    request = await first_question(rig)

    assert request.rule == rule
    rig.session.abort()
    await turn


async def test_an_exact_rule_covers_only_that_command(project: Path) -> None:
    approvals = Approvals("ask", project, rules=[Rule("bash", "rm 'a b'")])

    assert await lets_run(approvals, "bash", {"command": 'rm "a b"'})
    assert not await lets_run(approvals, "bash", {"command": "rm a b"})


async def test_a_rule_of_one_tool_is_no_rule_of_another(project: Path) -> None:
    approvals = Approvals("ask", project, rules=[Rule("write", path="**")])

    assert await lets_run(approvals, "write", WRITE[1])
    assert not await lets_run(approvals, "edit", {"path": "a.txt", "old": "a", "new": "b"})
