"""One prompt without a screen: what goes where, and the exit codes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent_tui.agent.agent import Agent
from agent_tui.core.messages import AgentMessage, AssistantMessage, TextBlock, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.tool import Tool
from agent_tui.core.usage import Usage
from agent_tui.headless import run_prompt
from agent_tui.session.approvals import Approvals
from agent_tui.session.session import Session
from agent_tui.testing import Part, ScriptedModel, call, calls, end, fail, text
from agent_tui.tools import builtin_tools


class Screen(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, s: str) -> int:
        raise BrokenPipeError


async def no_wait(seconds: float) -> None:
    """Takes no time."""


def session_of(
    *script: Part | list[Part],
    tools: list[Tool] | None = None,
    cwd: Path | None = None,
    **options: Any,
) -> Session:
    made: dict[str, Any] = {"model": "test/m", **options}
    agent = Agent(stream_fn=ScriptedModel(list(script)), tools=tools or [], **made)
    approvals = Approvals("ask", cwd or Path("/"), unattended=True)
    return Session(agent, approvals, sleep=no_wait, jitter=lambda: 1.0)


def run(
    session: Session, *, as_json: bool = False, out: io.StringIO | None = None
) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = out or io.StringIO(), io.StringIO()
    code = run_prompt(session, "go", as_json=as_json, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


def look() -> Tool:
    return Tool("look", "Looks.", {"type": "object"}, lambda call_id, args, ctx: "seen")


# -- output --------------------------------------------------------------------------------------


def test_the_answer_is_all_that_standard_output_gets() -> None:
    assert run(session_of(text("the *answer*"))) == (0, "the *answer*\n", "")


def test_only_the_last_answer_is_printed() -> None:
    session = session_of([text("let me look"), calls(call("look"))], text("done"), tools=[look()])

    assert run(session)[:2] == (0, "done\n")


def test_a_partial_answer_that_was_tried_again_is_printed_once() -> None:
    code, out, err = run(session_of([text("the ans"), fail("network", "cut")], text("the answer")))

    assert (code, out) == (0, "the answer\n")
    assert err == "agent-tui: cut; next try in 2 s (1/3)\n"


def test_a_terminal_gets_no_escape_sequences() -> None:
    screen = Screen()

    run(session_of(text("a\x1b]0;title\x07b\x1b[2Jc")), out=screen)

    assert screen.getvalue() == "abc\n"


def test_a_pipe_gets_the_text_as_it_is() -> None:
    assert run(session_of(text("a\x1b[31mb")))[1] == "a\x1b[31mb\n"


def test_an_answer_without_text_is_said() -> None:
    code, out, err = run(session_of([]))

    assert (code, out) == (0, "")
    assert err == "agent-tui: the last answer has no text\n"


def test_json_prints_every_event_on_a_line() -> None:
    code, out, _ = run(session_of(fail("overloaded"), text("é")), as_json=True)

    types = [json.loads(line)["type"] for line in out.splitlines()]
    assert code == 0
    assert types[0] == "agent_start"
    assert types[-1] == "agent_settled"
    assert types.count("auto_retry_start") == types.count("auto_retry_end") == 1
    assert "é" in out


def test_json_tells_when_and_how_the_context_was_summarised() -> None:
    said: list[AgentMessage] = [
        message
        for n in range(10)
        for message in (
            UserMessage(content=f"question {n} ".ljust(2800, "u")),
            AssistantMessage(content=[TextBlock(text="a")], stop_reason="stop"),
        )
    ]
    usage = Usage(input=900, output=30, total=930)

    def session(*script: Part | list[Part]) -> Session:
        return session_of(*script, model=Model("test", "m", context_window=8192), messages=said)

    code, out, err = run(session([text("S"), end("stop", usage)], text("done")), as_json=True)
    events = [json.loads(line) for line in out.splitlines()]
    began = next(event for event in events if event["type"] == "compaction_start")
    ended = next(event for event in events if event["type"] == "compaction_end")

    assert code == 0
    assert began["reason"] == ended["reason"] == "threshold"
    assert began["tokens_before"] == ended["tokens_before"] > ended["tokens_after"] > 0
    assert ended["summary"]["summary"] == "S"
    assert ended["first_kept_id"] in [message.id for message in said]
    assert ended["usage"]["total"] == 930
    assert (ended["error"], ended["aborted"]) == (None, False)
    assert "the context was summarised" in err

    code, out, err = run(session(fail("auth", "no such key"), text("done")), as_json=True)
    events = [json.loads(line) for line in out.splitlines()]
    ended = next(event for event in events if event["type"] == "compaction_end")
    assert code == 0
    assert (ended["summary"], ended["tokens_after"]) == (None, None)
    assert "no such key" in ended["error"]
    assert "not summarised" in err


def test_json_grows_with_the_text_and_not_with_its_square() -> None:
    def size(pieces: int) -> int:
        return len(run(session_of(text("x" * pieces, chunk=1)), as_json=True)[1])

    assert size(400) < 5 * size(100)


# -- exit codes ----------------------------------------------------------------------------------


def test_an_error_is_one_sentence_and_code_1() -> None:
    code, out, err = run(session_of(fail("auth", "the key is wrong")))

    assert (code, out, err) == (1, "", "agent-tui: the key is wrong\n")


def test_a_fatal_tool_error_is_code_1() -> None:
    from agent_tui.core.errors import ToolError

    def broken(call_id: str, args: dict[str, Any], ctx: object) -> str:
        raise ToolError("the disk is on fire")

    tool = Tool("look", "Looks.", {"type": "object"}, broken)
    session = session_of(calls(call("look")), tools=[tool])
    session.approvals.mode = "full-auto"

    code, _, err = run(session)

    assert code == 1
    assert "the disk is on fire" in err


def test_the_step_limit_is_code_3_and_names_the_option() -> None:
    session = session_of(calls(call("look")), tools=[look()], max_iterations=1)

    code, _, err = run(session)

    assert code == 3
    assert "--max-iterations" in err


def test_a_run_that_a_hook_stopped_is_done() -> None:
    session = session_of(
        calls(call("look")), tools=[look()], should_stop_after_turn=lambda ctx, signal: True
    )

    assert run(session)[0] == 0


def test_a_call_that_needs_approval_is_refused_and_names_the_mode(tmp_path: Path) -> None:
    asked = calls(call("write", {"path": "a.txt", "content": "x"}))
    session = session_of(asked, text("I may not"), tools=builtin_tools(tmp_path), cwd=tmp_path)

    code, out, _ = run(session, as_json=True)

    assert code == 0
    assert "--mode auto-edit" in out
    assert not (tmp_path / "a.txt").exists()


def test_a_closed_output_ends_the_run() -> None:
    assert run(session_of(text("x")), as_json=True, out=Closed())[0] == 1


# -- the program ---------------------------------------------------------------------------------

MINE = '''
from agent_tui import Agent, tool
from agent_tui.testing import ScriptedModel, call, calls, hang, text

@tool
def shout(words: str) -> str:
    """Make it loud."""
    return words.upper()

agent = Agent("test/m", tools=[shout], stream_fn=ScriptedModel([text("hello there")]))
slow = Agent("test/m", stream_fn=ScriptedModel([[text("part of it"), hang()]]))

def made():
    return Agent("test/m", tools=[shout], stream_fn=ScriptedModel(
        [calls(call("shout", {"words": "hi"})), text("done")]))
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def program(
    place: Path, *arguments: str, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "agent_tui", *arguments],
        cwd=place,
        input=stdin,
        env=_environment(environ),
        capture_output=True,
        timeout=60,
        check=False,
    )


def _environment(more: dict[str, str]) -> dict[str, str]:
    root = str(Path(__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": root, **more}


def test_the_program_runs_an_agent_of_ones_own(place: Path) -> None:
    done = program(place, "run", "hi", "--agent", "mine:agent")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello there\n", b"")


def test_the_prompt_may_come_from_standard_input(place: Path) -> None:
    done = program(place, "run", "--json", "--agent", "mine:agent", stdin="größe \xff".encode())

    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert said[2]["message"]["content"] == "größe \xff"


def test_bytes_that_are_no_text_are_replaced(place: Path) -> None:
    done = program(place, "run", "-", "--json", "--agent", "mine:agent", stdin=b"a\xffb")

    assert "a\ufffdb".encode() in done.stdout


def test_output_is_utf8_whatever_the_locale(place: Path) -> None:
    done = program(
        place, "run", "ü", "--json", "--agent", "mine:agent", PYTHONIOENCODING="ascii", LC_ALL="C"
    )

    assert done.returncode == 0
    assert "ü".encode() in done.stdout


def test_a_call_of_ones_own_tool_needs_approval_too(place: Path) -> None:
    asked = program(place, "run", "hi", "--json", "--agent", "mine:made")
    allowed = program(place, "run", "hi", "--json", "--agent", "mine:made", "--mode", "full-auto")

    assert b"--mode full-auto would allow it" in asked.stdout
    assert b'"text":"HI"' in allowed.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_aborts_and_is_code_130(place: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_tui", "run", "hi", "--json", "--agent", "mine:slow"],
        cwd=place,
        env=_environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    while b"text_delta" not in process.stdout.readline():
        pass

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert b'"reason":"aborted"' in out
    assert err == b"agent-tui: aborted\n"


# -- over a wire ---------------------------------------------------------------------------------


class _Answers(BaseHTTPRequestHandler):
    """Plays the server's list of (status, headers, body), one a request."""

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        self.rfile.read(int(self.headers["content-length"]))
        server.seen.append((self.path, self.headers.get("authorization")))
        status, headers, body = server.answers.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.answers = list(answers)
        self.seen: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> _Server:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()


GOOD = (
    200,
    {"content-type": "text/event-stream"},
    b'data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
)


def test_a_server_gets_the_key_that_was_named_and_no_other(place: Path) -> None:
    with _Server(GOOD) as server:
        done = program(
            place,
            *("run", "hi", "--base-url", server.url, "--model", "m", "--api-key-env", "LAB"),
            LAB=" sk-lab\n",
            OPENAI_API_KEY="sk-canary",
        )

    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert server.seen == [("/v1/chat/completions", "Bearer sk-lab")]


def test_a_server_without_a_named_key_gets_none(place: Path) -> None:
    with _Server(GOOD) as server:
        done = program(
            place,
            *("run", "hi", "--base-url", f"{server.url}/v1/", "--model", "openai/m"),
            OPENAI_API_KEY="sk-canary",
        )

    assert done.returncode == 0
    assert server.seen == [("/v1/chat/completions", None)]


def test_openai_base_url_gets_the_key_that_stands_beside_it(place: Path) -> None:
    """The cases base-url-variants and key-with-newline."""
    with _Server(GOOD) as server:
        done = program(
            place, "run", "hi", OPENAI_BASE_URL=f"{server.url}/v1/", OPENAI_API_KEY="sk-1\n"
        )

    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert server.seen == [("/v1/chat/completions", "Bearer sk-1")]


def test_a_failure_that_may_pass_is_tried_again(place: Path) -> None:
    busy = (503, {"retry-after": "0", "content-type": "text/plain"}, b"busy")
    with _Server(busy, GOOD) as server:
        done = program(place, "run", "hi", "--json", "--base-url", server.url, "--model", "m")

    assert done.returncode == 0
    assert b'"type":"auto_retry_start"' in done.stdout
    assert len(server.seen) == 2


def test_a_wait_that_is_too_long_fails_at_once_and_names_it(place: Path) -> None:
    limited = (429, {"retry-after": "300", "content-type": "application/json"}, b"{}")
    with _Server(limited) as server:
        done = program(place, "run", "hi", "--base-url", server.url, "--model", "m")

    assert done.returncode == 1
    assert b"300 s" in done.stderr


def test_a_key_that_comes_back_in_an_error_is_not_shown(place: Path) -> None:
    """The case key-not-in-logs."""
    body = b'{"error":{"message":"Incorrect API key provided: sk-CANARY-0123456789abcdef"}}'
    with _Server((401, {"content-type": "application/json"}, body)) as server:
        done = program(
            place,
            *("run", "hi", "--json", "--base-url", server.url, "--model", "m"),
            *("--api-key-env", "LAB"),
            LAB="sk-CANARY-0123456789abcdef",
        )

    assert done.returncode == 1
    assert b"CANARY" not in done.stdout + done.stderr


def test_a_refused_connection_is_one_sentence() -> None:
    with _Server() as server:
        url = f"{server.url}/v1"
    agent = Agent(Model("custom", "m", "openai-chat", url))
    session = Session(agent, Approvals("ask", Path("/")), sleep=no_wait)

    code, _, err = run(session)

    last = err.splitlines()[-1]
    assert code == 1
    assert "next try" not in last
    assert "127.0.0.1" in last
