"""The commands: what they print, what they refuse, and that a start stays lean."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_tui.cli import main
from agent_tui.version import __version__
from tests.providers.test_probing import answering, good

Here = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent


def program(
    *arguments: str, cwd: Path | None = None, piped: bytes = b"", **environ: str
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one start without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_tui", *arguments],
        cwd=cwd,
        input=piped,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environ},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """The same in this process, in an empty folder: many times faster."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["agent-tui", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return code, out, err

    return run


# -- what is printed -----------------------------------------------------------------------------


def test_the_version() -> None:
    assert program("--version") == (0, f"agent-tui {__version__}\n", "")


@pytest.mark.parametrize(
    "command", ["chat", "run", "models", "themes", "config", "doctor", "reset"]
)
def test_help_names_every_command(command: str, here: Here) -> None:
    code, out, _ = here("--help")

    assert code == 0
    assert f"  {command} " in out


def test_help_of_a_command_is_plain_text(here: Here) -> None:
    code, out, _ = here("run", "-h")

    assert code == 0
    assert "--model PROVIDER/ID" in " ".join(out.split())
    assert not set(out) & set("╭│╰\x1b")


def test_models_lists_keys_windows_and_prices(here: Here) -> None:
    code, out, _ = here("models", "--provider", "demo")

    assert code == 0
    assert out.split() == ["demo/tour", "128k", "$0", "/", "$0"]


def test_models_as_json_has_one_object_a_line(here: Here) -> None:
    code, out, _ = here("models", "--json")

    models = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {"key", "context_window", "cost"} <= models[0].keys()
    assert len(models) > 10


def test_models_asks_a_server_when_told_to(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(good({"data": [{"id": "qwen", "max_model_len": 4096}]})) as stage:
        monkeypatch.setenv("OPENAI_BASE_URL", stage.url)
        code, out, _ = here("models", "--provider", "openai", "--live", "--json")

    found = {model["key"]: model for model in map(json.loads, out.splitlines())}
    assert code == 0
    assert found["openai/qwen"]["context_window"] == 4096
    assert found["openai/gpt-5.5"]["thinking"] == ["off", "low", "medium", "high", "xhigh"]


def test_models_says_when_the_server_does_not_answer(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")

    code, out, err = here("models", "--provider", "ollama", "--live")

    assert (code, out) == (1, "")
    assert err.startswith("agent-tui: ollama: nothing answers at 127.0.0.1:9")


def test_models_of_nobody_is_wrong_use(here: Here) -> None:
    code, _, err = here("models", "--provider", "nobody")

    assert code == 2
    assert "'nobody'" in err


def test_the_doctor_reads_well(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "canary")

    code, out, _ = here("doctor")

    assert code == 0
    assert "key        groq: GROQ_API_KEY\n" in out
    assert "canary" not in out


def test_the_doctor_speaks_json(here: Here) -> None:
    code, out, _ = here("doctor", "--json")

    assert code == 0
    assert {"versions", "model", "keys", "servers", "terminal", "problems"} <= json.loads(
        out
    ).keys()


def test_themes_lists_the_looks(here: Here) -> None:
    code, out, _ = here("themes")

    shipped = {path.stem for path in (ROOT / "themes").glob("*.toml")}
    assert code == 0
    assert set(out.split()) == shipped


def test_config_path_is_under_the_home_folder(tmp_path: Path) -> None:
    assert program("config", "path", AGENT_TUI_HOME=str(tmp_path)) == (
        0,
        f"{tmp_path / 'config.toml'}\n",
        "",
    )


def test_config_show_says_which_model_and_why(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('mode = "yolo"\nthinking = "low"')

    code, out, err = program("config", "show", AGENT_TUI_HOME=str(tmp_path), GROQ_API_KEY="canary")

    assert code == 0
    assert "groq/openai/gpt-oss-120b (GROQ_API_KEY is set)" in out
    assert "thinking        low" in out
    assert "mode = 'yolo' must be one of" in err
    assert "canary" not in out + err


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["chat"], ["--model", "demo/tour"]], ids=" ".join)
def test_the_chat_needs_a_terminal_and_names_the_other_way(arguments: list[str]) -> None:
    code, out, err = program(*arguments)

    assert (code, out) == (2, "")
    assert "agent-tui run" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nobody/m"], "unknown provider 'nobody'"),
        (["--model", "openai/none"], "known: "),
        (["--mode", "yolo"], "ask, auto-edit, full-auto, read-only"),
        (["--thinking", "lots"], "off, minimal, low"),
        (["--max-iterations", "0"], "above 0"),
        (["--max-iterations", "x"], "--max-iterations"),
        (["--base-url", "http://h"], "--model"),
        (["--base-url", "nonsense", "--model", "m"], "--base-url"),
        (["--api", "openai-chat"], "--base-url"),
        (["--api-key-env", "NOPE"], "NOPE"),
        (["--cwd", "/nowhere/at/all"], "/nowhere/at/all"),
        (["--system-prompt", "@nowhere"], "nowhere"),
        (["--tools", "nowhere.py"], "nowhere.py"),
        (["--agent", "nowhere"], "MODULE:NAME"),
        (["--agent", "nowhere:agent"], "nowhere"),
        (["--agent", "json:dumps"], "json:dumps"),
        (["--nonsense"], "--nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_sentence_and_code_2(arguments: list[str], words: str, here: Here) -> None:
    code, out, err = here("run", "hi", *arguments)

    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_no_prompt_is_wrong_use() -> None:
    code, _, err = program("run")

    assert code == 2
    assert "empty" in err


AGENT = """
from agent_tui import Agent
from agent_tui.testing import ScriptedModel, text

agent = Agent("test/m", stream_fn=ScriptedModel([text("fine")]))
"""


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["sum this up"], "sum this up\n\nthe figures\n"),
        (["-"], "the figures\n"),
        ([], "the figures\n"),
    ],
    ids=["behind the prompt", "dash", "alone"],
)
def test_what_is_piped_in_is_part_of_the_prompt(
    arguments: list[str], prompt: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(AGENT)

    code, out, _ = program(
        "run",
        *arguments,
        "--json",
        "--agent",
        "mine:agent",
        cwd=tmp_path,
        piped=b"the figures\n",
        AGENT_TUI_HOME=str(tmp_path),
    )

    events = [json.loads(line) for line in out.splitlines()]
    asked = next(event["message"] for event in events if event["type"] == "message_end")
    assert code == 0
    assert asked["content"] == prompt


def test_a_pipe_through_which_nothing_comes_does_not_hold_a_prompt_up(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "agent_tui", "run", "hi", "--agent", "mine:agent"],
            cwd=tmp_path,
            stdin=reading,
            env={**os.environ, "PYTHONPATH": str(ROOT), "AGENT_TUI_HOME": str(tmp_path)},
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)

    assert done.returncode == 0
    assert b"going on without it" in done.stderr


def test_a_mistyped_command_is_wrong_use(here: Here) -> None:
    code, _, err = here("rnu")

    assert code == 2
    assert "run" in err


# -- the person's own tools ----------------------------------------------------------------------

TOOLS = '''
from agent_tui import tool

@tool
def read(path: str) -> str:
    """Instead of the built-in one."""
    return "mine"
'''


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero (line 2)"),
        ("x = 1\n", "@tool"),
    ],
    ids=["syntax", "raises", "no tool"],
)
def test_a_file_of_tools_that_cannot_be_used_says_why(
    source: str, words: str, here: Here, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(source)

    code, _, err = here("run", "hi", "--tools", "tools.py")

    assert code == 2
    assert words in err
    assert "Traceback" not in err


# -- a lean start --------------------------------------------------------------------------------

START = """
import sys
from pathlib import Path
import agent_tui.__main__
from agent_tui.config import Flags, load_settings
from agent_tui.session.first_model import settle_model
from agent_tui.session.build import build_session
import os
build_session(settle_model(load_settings(Flags(), os.environ, Path.cwd())))
print(" ".join(sys.modules))
"""


def test_a_session_is_built_without_what_only_a_turn_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", START],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(done.stdout.split())
    heavy = {"httpx", "textual", "rich", "jsonschema", "markdown_it", "pygments", "mcp"}
    assert not loaded & heavy


def test_the_command_line_alone_loads_no_session() -> None:
    code = "import agent_tui.cli, sys; print(' '.join(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "agent_tui.session.session" not in done.stdout.split()
    assert "pydantic" not in done.stdout.split()


def test_run_sends_what_a_template_stands_for(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "review.md").write_text("Review $1 closely.")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "broken.py").write_text("1 / 0\n")

    code, out, err = program(
        "run", "--json", "/review a.py", cwd=tmp_path, AGENT_TUI_HOME=str(tmp_path)
    )

    assert code == 0
    assert "Review a.py closely." in out
    assert "broken.py: ZeroDivisionError: division by zero (line 1)" in err
    assert all(json.loads(line) for line in out.splitlines())


def test_what_tools_and_their_programs_print_stays_out_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import subprocess, threading\n"
        "from agent_tui import Agent, tool\n"
        "from agent_tui.testing import ScriptedModel, call, calls, text\n"
        "print('while it loads')\n"
        "@tool\n"
        "def build() -> str:\n"
        "    print('from the tool')\n"
        "    beside = threading.Thread(target=print, args=('from a thread',))\n"
        "    beside.start()\n"
        "    beside.join()\n"
        "    subprocess.run('echo from a program; cat', shell=True, check=True)\n"
        "    return 'built'\n"
        "model = ScriptedModel([calls(call('build', {})), text('fine')])\n"
        "agent = Agent('test/m', tools=[build], stream_fn=model)\n"
    )

    arguments = ("--agent", "mine:agent", "--mode", "full-auto", "--json")
    code, out, err = program("run", "go", *arguments, cwd=tmp_path, AGENT_TUI_HOME=str(tmp_path))

    events = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert events[-1]["type"] == "agent_settled"
    assert "from a program" in err
    assert "from a thread" in err
    assert "while it loads" in err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_a_run_does_without_what_was_closed(closed: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m agent_tui run hello {closed}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "AGENT_TUI_HOME": str(tmp_path)},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (b"Go on" in done.stdout) == (">&-" not in closed)
