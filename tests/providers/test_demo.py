"""The demonstration, request by request: its words depend on the context and on nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.cli import app
from agent_tui.config import Flags, load_settings
from agent_tui.core.messages import ImageBlock, TextBlock, UserMessage
from agent_tui.core.model import Model
from agent_tui.core.registry import stream_fn_for
from agent_tui.core.stream import LlmContext, StreamError
from agent_tui.providers import demo
from agent_tui.providers.catalog import get_model
from agent_tui.providers.demo import stream
from agent_tui.providers.demo.texts import answer_to, text
from agent_tui.providers.demo.words import scene_named
from agent_tui.tui.commands import find
from tests.providers.talking import (
    AT_ONCE,
    DECLINED,
    FOLDER,
    MUCH_LATER,
    NOBODY,
    TOOLS,
    Talk,
    play,
    play_until,
    words_of,
)

PROSE = "".join(path.read_text("utf-8") for path in Path(demo.__file__).parent.glob("*.md"))
WORDS = [
    "tour",
    "next",
    "again",
    "back",
    "help",
    "steer",
    "follow-up",
    "stop",
    "hold",
    "approval",
    "parallel",
    "tools",
    "write",
    "markdown",
    "table",
    "long",
    "think",
    "error",
    "fail",
    "connect",
    "yes",
    "no",
    "remove",
    "hello",
    "thanks",
    "4",
    "nonsense",
]


# -- the stream --------------------------------------------------------------------------------


def test_it_serves_the_model_of_the_catalog() -> None:
    model = get_model("demo/tour")

    assert stream_fn_for(model) is stream
    assert model.cost is not None
    assert model.cost.output == 0.0


async def test_the_same_request_gives_the_same_words_and_calls() -> None:
    context = LlmContext(None, [UserMessage(content="hi")], Talk().tools)

    first, second = await play(context), await play(context)

    assert [e.type for e in first] == [e.type for e in second]
    assert words_of(first[-1].message) == words_of(second[-1].message)  # type: ignore[union-attr]


@pytest.mark.parametrize("word", WORDS)
async def test_an_answer_is_one_well_formed_stream(word: str) -> None:
    talk = Talk()

    await talk.prompt(word)

    kinds = [event.type for event in talk.events]
    assert kinds[0] == "start"
    assert sum(kind in ("done", "error") for kind in kinds) == 1
    assert kinds.count("text_start") == kinds.count("text_end")
    assert kinds.count("toolcall_start") == kinds.count("toolcall_end") == len(talk.last.tool_calls)


async def test_tokens_are_counted_from_the_real_texts_and_cost_nothing() -> None:
    talk = Talk(tools=())

    answer = await talk.prompt("think")

    characters = sum(map(len, words_of(answer)))
    assert answer.usage.output == -(-characters // 4)
    assert 0 < answer.usage.reasoning < answer.usage.output
    assert answer.usage.input == -(-len("You are helpful." + "think") // 4)
    assert answer.usage.cost_usd == 0.0


async def test_an_abort_ends_a_wait_at_once_and_keeps_what_was_said() -> None:
    slow = Model("demo", "tour", api="demo", compat={"pace": 1e6})

    with anyio.fail_after(5):
        events, _ = await play_until(Talk().context, slow, "start")

    assert [event.type for event in events] == ["start", "error"]
    assert isinstance(events[-1], StreamError)
    assert events[-1].reason == "aborted"


async def test_an_abort_in_the_middle_keeps_the_half_answer() -> None:
    talk = Talk()
    talk.messages.append(UserMessage(content="stop"))

    events, _ = await play_until(talk.context, AT_ONCE, "text_delta")

    assert isinstance(events[-1], StreamError)
    assert 0 < len(events[-1].message.text) < 100


async def test_fail_ends_as_a_failed_request_that_is_not_retried() -> None:
    talk = Talk()

    answer = await talk.prompt("fail")

    assert answer.stop_reason == "error"
    assert answer.error is not None
    assert not answer.error.retryable


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [*WORDS, "only 2", "stop", "how do I quit?", "what is this?", "漢字\n> x"]
            ),
            st.sampled_from(
                [FOLDER, "", DECLINED, f"{DECLINED[:-1]}: only 3", NOBODY, "Aborted by x"]
            ),
            st.booleans(),
        ),
        max_size=12,
    ),
    st.sets(st.sampled_from(TOOLS)),
)
async def test_whatever_happens_it_answers_and_calls_only_tools_it_was_given(
    story: list[tuple[str, str, bool]], tools: set[str]
) -> None:
    talk = Talk(tools=sorted(tools))

    for said, result, failed in story:
        answer = await talk.prompt(said)
        for _ in range(3):
            names = {call.name for call in answer.tool_calls}
            assert names <= tools
            assert words_of(answer)
            answer = await talk.results(*[result] * len(answer.tool_calls), failed=failed)


# -- the beginning -----------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["hi", "fix the bug in parser.py", "…", "漢字", "yes", "x" * 9000])
async def test_the_first_answer_says_what_it_is_and_looks_around(said: str) -> None:
    talk = Talk()

    answer = await talk.prompt(said)

    assert "scripted demonstration" in answer.text
    assert "not a language model" in answer.text
    assert [call.name for call in answer.tool_calls] == ["ls"]


async def test_a_first_word_that_it_knows_is_obeyed_with_an_introduction() -> None:
    talk = Talk()

    answer = await talk.prompt("table")

    assert answer.text.startswith("*I am a scripted demonstration, not a language model")
    assert "| 10 | 100 | 1000 |" in answer.text


async def test_it_reads_and_searches_one_file_at_the_same_time() -> None:
    talk = Talk()
    await talk.prompt("hi")

    answer = await talk.results(FOLDER)

    assert "2 folders and 3 files" in answer.text
    calls = [(call.name, call.arguments["path"]) for call in answer.tool_calls]
    assert calls == [("read", "README.md"), ("grep", "README.md")]


async def test_it_reports_what_the_tools_really_found() -> None:
    talk = Talk()
    await talk.prompt("hi")
    await talk.results(FOLDER)

    answer = await talk.results(
        "# Weather | station\n\nIt rains.", "README.md:3:the\nREADME.md:9:they"
    )

    assert "a file that begins `# Weather ¦ station`" in answer.text
    assert "2 lines with `the`" in answer.text
    assert "type `next`" in answer.text


async def test_a_file_that_cannot_be_read_is_reported_as_that() -> None:
    talk = Talk()
    await talk.prompt("hi")
    await talk.results(FOLDER)

    answer = await talk.results("README.md: permission denied", "No matches.", failed=True)

    assert "this came back: `README.md: permission denied`" in answer.text


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(". is empty.", id="nothing"),
        pytest.param(".env  12 bytes\n.secret.md  3 bytes", id="only hidden files"),
        pytest.param("logo.png  3 KiB\nmain -> /bin/main", id="no text"),
    ],
)
async def test_without_a_fit_file_nothing_is_read(listing: str) -> None:
    talk = Talk()
    await talk.prompt("hi")

    answer = await talk.results(listing)

    assert answer.tool_calls == []
    assert "**Go on:**" in answer.text


async def test_next_leads_through_the_seven_lessons() -> None:
    talk = Talk(tools=())

    heads = [
        re.findall(r"Lesson \d", (await talk.prompt(word)).text) for word in ["hi", *["next"] * 7]
    ]

    assert heads == [[f"Lesson {n}"] for n in range(1, 8)] + [[]]


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ("lesson 4", "### Lesson 4"),
        ("again", "### Lesson 2"),
        ("back", "### Lesson 1"),
        ("please show me approvals", "### Lesson 6"),
        ("follow-up", "### Lesson 3"),
    ],
)
async def test_lessons_can_be_chosen(said: str, head: str) -> None:
    talk = Talk(tools=())
    await talk.prompt("2")

    answer = await talk.prompt(said)

    assert head in answer.text


# -- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("How do I connect a real model?", "--base-url http://127.0.0.1:8080/v1 --model qwen"),
        ("how can I use ollama", "export OPENAI_API_KEY"),
        ("Are you an AI?", "scripted demonstration"),
        ("how do I stop you?", "**Esc** or **Ctrl+C**"),
        ("How do I close this?", "/quit"),
        ("what does it cost?", "I am free"),
        ("Will you change my files?", "Without your yes"),
        ("how do I send several lines?", "Ctrl+J"),
        ("can I run it in a script?", "agent-tui run"),
        ("What happens to a queued message?", "Alt+Enter"),
        ("Where are the settings?", "config.toml"),
        ("is my data private?", "offline"),
        ("why is it so slow?", "F3"),
    ],
)
async def test_questions_about_the_program_are_answered(question: str, part: str) -> None:
    talk = Talk()
    await talk.prompt("help")

    answer = await talk.prompt(question)

    assert part in answer.text


async def test_anything_else_gets_an_honest_no_and_suggestions() -> None:
    talk = Talk()
    await talk.prompt("help")

    answer = await talk.prompt("refactor `the parser` | now")

    assert (
        "I only play a script, so I cannot help with `refactor 'the parser' ¦ now`" in answer.text
    )
    assert "`help`" in answer.text


async def test_a_picture_is_not_pretended_to_be_seen() -> None:
    talk = Talk()
    blocks: Sequence[TextBlock | ImageBlock] = [
        TextBlock(text="help"),
        ImageBlock(data="", mime_type="image/png"),
    ]
    talk.messages.append(UserMessage(content=list(blocks), timestamp=MUCH_LATER))

    answer = await talk.answer()

    assert "I cannot see pictures" in answer.text


@pytest.mark.parametrize("word", re.findall(r"`([a-z 0-9-]+)`", text("help") + text("unknown")))
def test_every_word_it_offers_is_a_word_it_knows(word: str) -> None:
    assert scene_named(word) is not None


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`/([a-z-]+)", PROSE))))
def test_every_command_it_names_is_a_command_of_the_chat(command: str) -> None:
    assert find(command) is not None


def test_every_command_line_it_names_is_one_of_the_program() -> None:
    commands = {
        command.callback.__name__ for command in app.registered_commands if command.callback
    }
    groups = {str(group.name) for group in app.registered_groups}

    assert set(re.findall(r"`?agent-tui ([a-z]+)\b", PROSE)) <= commands | groups


def test_the_commands_for_a_real_model_are_true(tmp_path: Path) -> None:
    advice = text("connect")
    (model,) = re.findall(r"agent-tui chat --model (\S+)", advice)
    (toml,) = re.findall(r"```toml\n(.*?)```", advice, re.S)
    (tmp_path / "config.toml").write_text(toml, "utf-8")

    found = load_settings(Flags(), {"AGENT_TUI_HOME": str(tmp_path)}, tmp_path)

    assert get_model(model).provider == "openai"
    assert tomllib.loads(toml)["model"] == "local/qwen"
    assert found.problems == ()
    assert answer_to("how do I connect a real model?") is not None
