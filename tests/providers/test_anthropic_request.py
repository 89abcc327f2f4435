"""Requests as Anthropic gets them: one context with everything in it, and each rule by itself."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

import pytest

from agent_tui.agent.boundary import normalise
from agent_tui.core.messages import (
    AssistantMessage,
    ImageBlock,
    LlmMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.anthropic import Parser
from agent_tui.providers.anthropic_request import build, is_adaptive
from agent_tui.providers.catalog import get_model, list_models
from agent_tui.providers.compat import compat_for
from agent_tui.providers.request import encode
from agent_tui.providers.sse import SseDecoder
from tests.providers.loopback import CASES

PNG = ImageBlock(data="aWNvbg==", mime_type="image/png")
PNG_SENT = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aWNvbg=="},
}
LS = ToolSchema("ls", "List a folder.", {"type": "object", "properties": {}})
MARK = {"cache_control": {"type": "ephemeral"}}
HOST = "https://api.anthropic.com"


def model(model_id: str = "claude-sonnet-5", base_url: str = HOST, **fields: Any) -> Model:
    return Model("anthropic", model_id, api="anthropic", base_url=base_url, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "ls", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def asks(words: str) -> UserMessage:
    return UserMessage(content=words)


def own(*content: Any) -> AssistantMessage:
    return AssistantMessage(
        provider="anthropic", api="anthropic", model="claude-sonnet-5", content=list(content)
    )


def result(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    blocks = [TextBlock(text=item) if isinstance(item, str) else item for item in content]
    return ToolResultMessage(
        tool_call_id=call_id, tool_name="ls", content=blocks, is_error=is_error
    )


def body(context: LlmContext, target: Model | None = None, **options: Any) -> dict[str, Any]:
    return build(target or model(), context, StreamOptions(**options)).body


def messages(*history: LlmMessage, target: Model | None = None) -> list[Any]:
    """The messages, without marks."""
    plain = target or model(compat={"cache_marks": False})
    sent: list[Any] = body(LlmContext(messages=list(history)), plain)["messages"]
    return sent


def marks_in(sent: dict[str, Any]) -> list[str]:
    """Where the marks are, in the order in which the server reads the request."""
    found = []
    for name in ("tools", "system"):
        found += [name for block in sent.get(name, []) if "cache_control" in block]
    for place, message in enumerate(sent["messages"]):
        for number, block in enumerate(message["content"]):
            if "cache_control" in block:
                found.append(f"{place}.{number}")
    return found


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


# -- everything at once ------------------------------------------------------------------------

EVERYTHING = LlmContext(
    "Be brief.",
    [
        UserMessage(content=[TextBlock(text="what is this?"), PNG]),
        own(
            ThinkingBlock(thinking="an icon", signature="EqQB"),
            ThinkingBlock(redacted=True, signature="EmwK"),
            TextBlock(text="I look."),
            call("c1", path="ä"),
            call("c2"),
        ),
        result("c1", "a.py", PNG),
        result("c2", "no such folder", is_error=True),
        asks("and?"),
    ],
    [LS],
)


def test_a_context_with_everything_becomes_this_body() -> None:
    assert body(EVERYTHING) == {
        "model": "claude-sonnet-5",
        "max_tokens": 8192,
        "system": [text("Be brief.") | MARK],
        "tools": [
            {
                "name": "ls",
                "description": "List a folder.",
                "input_schema": {"type": "object", "properties": {}},
            }
            | MARK
        ],
        "messages": [
            {"role": "user", "content": [text("what is this?"), PNG_SENT | MARK]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "an icon", "signature": "EqQB"},
                    {"type": "redacted_thinking", "data": "EmwK"},
                    text("I look."),
                    {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "ä"}},
                    {"type": "tool_use", "id": "c2", "name": "ls", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [text("a.py"), PNG_SENT],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": [text("no such folder")],
                        "is_error": True,
                    },
                    text("and?") | MARK,
                ],
            },
        ],
        "stream": True,
    }


def test_the_least_request_holds_no_more_than_it_must() -> None:
    sent = build(model(), LlmContext(messages=[asks("hi")]), StreamOptions(session_id="s1"))

    assert set(sent.body) == {"model", "max_tokens", "messages", "stream"}
    assert sent.headers == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    "base_url", [HOST, f"{HOST}/", f"{HOST}/v1", f"{HOST}/v1/", f"{HOST}/v1/messages"]
)
def test_the_address_may_be_written_with_and_without_its_version(base_url: str) -> None:
    sent = build(model(base_url=base_url), LlmContext(), StreamOptions())

    assert sent.url == "https://api.anthropic.com/v1/messages"


def test_the_path_of_a_gateway_is_kept() -> None:
    sent = build(get_model("minimax/MiniMax-M3", {}), LlmContext(), StreamOptions())

    assert sent.url == "https://api.minimax.io/anthropic/v1/messages"


# -- the cache ---------------------------------------------------------------------------------


def test_marks_are_at_the_ends_of_what_stays() -> None:
    assert marks_in(body(EVERYTHING)) == ["tools", "system", "0.1", "2.2"]


@pytest.mark.parametrize(
    ("context", "marks"),
    [
        (LlmContext(messages=[asks("hi")]), ["0.0"]),
        (LlmContext("s", [asks("hi")]), ["system", "0.0"]),
        (LlmContext(None, [asks("hi")], [LS]), ["tools", "0.0"]),
        (LlmContext("s", [], [LS]), ["tools", "system"]),
    ],
    ids=["neither", "system", "tools", "no messages"],
)
def test_what_is_not_there_is_not_marked(context: LlmContext, marks: list[str]) -> None:
    assert marks_in(body(context)) == marks


def test_each_request_finds_what_the_one_before_it_wrote() -> None:
    history: list[LlmMessage] = [asks("do it")]
    sent = []
    for step in range(6):
        sent.append(body(LlmContext("s", list(history), [LS, LS])))
        thought = ThinkingBlock(thinking="hm", signature=f"S{step}")
        history += [
            own(thought, call(f"a{step}"), call(f"b{step}")),
            result(f"a{step}", "ok"),
            result(f"b{step}"),
        ]

    for before, after in pairwise(sent):
        repeated = after["messages"][: len(before["messages"])]
        assert unmarked(repeated) == unmarked(before["messages"])
        assert unmarked(after["tools"]) == unmarked(before["tools"])
        assert marks_in(before)[-1] in marks_in(after)
        assert len(marks_in(after)) == 4


def test_the_transcript_itself_gets_no_marks_and_gives_the_same_bytes() -> None:
    before = copy.deepcopy(EVERYTHING)

    assert encode(body(EVERYTHING)) == encode(body(EVERYTHING))
    assert before == EVERYTHING


def test_marks_can_be_switched_off() -> None:
    assert marks_in(body(EVERYTHING, model(compat={"cache_marks": False}))) == []


# -- thinking ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model_id", "adaptive"),
    [
        ("claude-3-7-sonnet-20250219", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-opus-4-1-20250805", False),
        ("claude-haiku-4-5", False),
        ("claude-opus-4-5-20251101", False),
        ("claude-opus-4-6", True),
        ("claude-opus-4.8", True),
        ("claude-sonnet-5", True),
        ("claude-sonnet-5-20260101", True),
        ("claude-fable-5-2", True),
        ("claude-fable", True),
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("anthropic/claude-opus-5.5", True),
        ("MiniMax-M3", False),
        ("smollm2", False),
    ],
)
def test_the_id_tells_how_a_model_thinks(model_id: str, adaptive: bool) -> None:
    target = model(model_id)

    assert is_adaptive(target, compat_for(target)) is adaptive


@pytest.mark.parametrize("target", list_models({}, "anthropic"), ids=lambda model: model.id)
def test_the_id_of_every_known_model_tells_the_same_as_the_catalog(target: Model) -> None:
    plain = model(target.id)

    assert is_adaptive(plain, compat_for(plain)) is bool(target.compat.get("adaptive_thinking"))


def test_the_settings_know_better_than_the_id() -> None:
    target = model("my-claude-4-5", compat={"adaptive_thinking": True})

    assert body(LlmContext(), target, thinking_level="low")["thinking"]["type"] == "adaptive"


ADAPTIVE = {"thinking": {"type": "adaptive", "display": "summarized"}}
OFF = {"thinking": {"type": "disabled"}}


def effort(word: str) -> dict[str, Any]:
    return ADAPTIVE | {"output_config": {"effort": word}}


@pytest.mark.parametrize(
    ("key", "level", "fields"),
    [
        ("claude-sonnet-5", "off", OFF),
        ("claude-sonnet-5", "minimal", effort("low")),
        ("claude-sonnet-5", "medium", effort("medium")),
        ("claude-sonnet-5", "xhigh", effort("xhigh")),
        ("claude-opus-4-6", "xhigh", effort("max")),
        ("claude-opus-5-5", "off", effort("low")),
        ("claude-fable-5", "off", effort("low")),
        ("claude-haiku-4-5", "off", OFF),
    ],
)
def test_thinking_is_switched_as_the_model_wants_it(
    key: str, level: ThinkingLevel, fields: dict[str, Any]
) -> None:
    sent = body(LlmContext(), get_model(f"anthropic/{key}", {}), thinking_level=level)

    assert {k: v for k, v in sent.items() if k in ("thinking", "output_config")} == fields


@pytest.mark.parametrize("model_id", ["claude-sonnet-9", "claude-haiku-4-5", "smollm2"])
def test_a_model_not_known_to_think_is_not_told_to_stop(model_id: str) -> None:
    assert "thinking" not in body(LlmContext(), model(model_id), thinking_level="off")


@pytest.mark.parametrize(
    ("level", "budget", "most"),
    [
        ("minimal", 1024, 33_024),
        ("low", 4096, 36_096),
        ("medium", 10_240, 42_240),
        ("high", 24_576, 56_576),
        ("xhigh", 55_808, 64_000),
    ],
)
def test_a_budget_is_added_to_what_may_be_written(
    level: ThinkingLevel, budget: int, most: int
) -> None:
    sent = build(
        get_model("anthropic/claude-haiku-4-5", {}),
        LlmContext(),
        StreamOptions(thinking_level=level),
    )

    assert sent.body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert sent.body["max_tokens"] == most
    assert sent.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"


@pytest.mark.parametrize("asked", [None, 1, 500, 100_000, 10**7])
@pytest.mark.parametrize("most", [None, 1, 1500, 4096, 64_000])
@pytest.mark.parametrize("window", [None, 10, 5000, 200_000])
@pytest.mark.parametrize("level", THINKING_LEVELS)
def test_a_budget_is_legal_whatever_the_figures(
    asked: int | None, most: int | None, window: int | None, level: ThinkingLevel
) -> None:
    target = model(
        "claude-haiku-4-5", max_output_tokens=most, context_window=window, reasoning=True
    )

    sent = body(LlmContext(), target, thinking_level=level, max_output_tokens=asked)

    budget = sent["thinking"].get("budget_tokens")
    assert sent["max_tokens"] >= 1
    assert budget is None or 1024 <= budget < sent["max_tokens"]
    assert budget is None or sent["max_tokens"] <= (most or 10**9)


def test_a_budget_stays_the_same_as_long_as_there_is_room() -> None:
    target = get_model("anthropic/claude-haiku-4-5", {})

    def budget(words: int) -> int:
        context = LlmContext(messages=[asks("word " * words)])
        tokens: int = body(context, target, thinking_level="high")["thinking"]["budget_tokens"]
        return tokens

    assert budget(1) == budget(80_000) == 24_576
    assert 1024 <= budget(130_000) < 24_576


def test_the_answer_is_asked_no_longer_than_the_window_leaves_room_for() -> None:
    target = get_model("anthropic/claude-haiku-4-5", {})
    context = LlmContext("s", [asks("word " * 126_000), own(call("c1")), result("c1", PNG)], [LS])

    most = body(context, target)["max_tokens"]

    assert 10_000 < most < 200_000 - 126_000 * 5 / 3.5
    assert body(LlmContext(messages=[asks("word " * 10**6)]), target)["max_tokens"] == 1024


def test_a_turn_that_began_without_thoughts_goes_on_without() -> None:
    target = get_model("anthropic/claude-haiku-4-5", {})
    began: list[LlmMessage] = [asks("go"), own(TextBlock(text="x"), call("c1")), result("c1", "ok")]
    thought = own(ThinkingBlock(thinking="hm", signature="S"), call("c2"))

    def kind(*history: LlmMessage) -> str:
        context = LlmContext(messages=list(history))
        name: str = body(context, target, thinking_level="low")["thinking"]["type"]
        return name

    assert kind(*began) == "disabled"
    assert kind(*began, asks("faster!")) == "disabled"
    assert kind(*began, own(TextBlock(text="done")), asks("next")) == "enabled"
    assert kind(asks("go"), thought, result("c2", "ok")) == "enabled"
    assert kind(asks("go"), thought, result("c2"), own(call("c3")), result("c3")) == "enabled"


@pytest.mark.parametrize(
    ("level", "sent"), [("off", {"temperature": 0.5}), ("low", {}), ("xhigh", {})]
)
def test_the_temperature_is_not_sent_beside_thinking(
    level: ThinkingLevel, sent: dict[str, float]
) -> None:
    found = body(LlmContext(), thinking_level=level, temperature=0.5)

    assert {k: v for k, v in found.items() if k == "temperature"} == sent


# -- thoughts that go back ---------------------------------------------------------------------


@pytest.mark.parametrize("signature", [None, ""])
def test_unsigned_thoughts_become_text_unless_the_server_signs_none(signature: str | None) -> None:
    thought = ThinkingBlock(thinking="hm", signature=signature)
    here = model("m", "http://127.0.0.1:8080")
    gateway = model("m", "https://gw.test", compat={"empty_signature_ok": True})
    kept = {"type": "thinking", "thinking": "hm", "signature": ""}

    assert messages(asks("q"), own(thought))[1]["content"] == [text("hm")]
    assert messages(asks("q"), own(thought), target=here)[1]["content"] == [kept]
    assert messages(asks("q"), own(thought), target=gateway)[1]["content"] == [kept]


def test_thoughts_without_words_go_back_only_if_they_are_signed() -> None:
    sent = messages(
        asks("q"),
        own(
            ThinkingBlock(signature="S"),
            ThinkingBlock(),
            ThinkingBlock(redacted=True),
            TextBlock(text="ok"),
        ),
    )

    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "S"},
        text("ok"),
    ]


def test_blocks_of_unknown_kinds_go_back_as_they_came() -> None:
    raw = {"type": "server_tool_use", "id": "srv_1", "input": {"query": "ä"}}

    sent = messages(asks("q"), own(ThinkingBlock(redacted=True, signature=json.dumps(raw))))

    assert sent[1]["content"] == [raw]


def test_the_recorded_answer_goes_back_as_it_came() -> None:
    target = model("claude-sonnet-4-5", compat={"cache_marks": False})
    parser, decoder = Parser(target), SseDecoder()
    recorded = (CASES / "wire-anthropic/thinking-signature-tool.sse").read_bytes()
    parser.feed(json.loads(data) for _, data in decoder.feed(recorded))
    parser.finish()
    answer = parser.builder.message
    answer.tool_calls[0].arguments = {"path": "app.log"}
    history: list[LlmMessage] = [asks("q"), answer, result("toolu_01T", "empty")]

    assert messages(*normalise(history, target), target=target)[1]["content"] == [
        {"type": "thinking", "thinking": "Let me check the log.", "signature": "EqQBSigA=="},
        text("I'll look."),
        {"type": "tool_use", "id": "toolu_01T", "name": "read_file", "input": {"path": "app.log"}},
    ]


def test_another_models_thoughts_go_as_text() -> None:
    foreign = AssistantMessage(
        provider="anthropic",
        api="anthropic",
        model="claude-opus-5",
        content=[
            ThinkingBlock(thinking="hm", signature="S"),
            ThinkingBlock(redacted=True, signature="E"),
            TextBlock(text="ok"),
        ],
    )

    sent = messages(*normalise([asks("q"), foreign], model()))

    assert sent[1]["content"] == [text("hm"), text("ok")]


# -- results -----------------------------------------------------------------------------------


def test_all_results_come_first_in_one_message() -> None:
    sent = messages(
        asks("q"),
        own(call("c1"), call("c2"), call("c3")),
        result("c1", "one"),
        result("c2", PNG, is_error=True),
        result("c3", "three", PNG, is_error=True),
        asks("faster!"),
        UserMessage(content=[TextBlock(text="look"), PNG]),
    )

    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    blocks = sent[2]["content"]
    assert [block["type"] for block in blocks] == [
        *("tool_result", "tool_result", "tool_result", "image", "image"),
        *("text", "text", "image"),
    ]
    assert blocks[1]["content"] == [text("(the image follows the results)")]
    assert blocks[2]["content"] == [text("three")]
    assert [block.get("is_error", False) for block in blocks[:3]] == [False, True, True]


@pytest.mark.parametrize("content", [(), ("",), (" \n",)])
def test_a_result_is_never_empty(content: tuple[str, ...]) -> None:
    sent = messages(asks("q"), own(call("c1")), result("c1", *content))

    assert sent[2]["content"][0]["content"] == [text("(no output)")]


def test_a_picture_of_another_kind_is_named_instead() -> None:
    bmp = ImageBlock(data="Qk0=", mime_type="image/bmp")

    (sent,) = messages(UserMessage(content=[TextBlock(text="see"), bmp]))

    assert sent["content"][1]["type"] == "text"
    assert "image/bmp" in sent["content"][1]["text"]


# -- what would be refused ---------------------------------------------------------------------


def test_nothing_empty_is_sent() -> None:
    sent = messages(
        asks(" "),
        UserMessage(content=[TextBlock(text=""), TextBlock(text="hi")]),
        own(TextBlock(text=" \n")),
        own(TextBlock(text="\n"), TextBlock(text="ok")),
        asks("go on"),
    )

    assert sent == [
        {"role": "user", "content": [text("hi")]},
        {"role": "assistant", "content": [text("ok")]},
        {"role": "user", "content": [text("go on")]},
    ]


def test_the_first_message_is_the_users_and_the_last_ends_without_blanks() -> None:
    sent = messages(own(TextBlock(text="So, \n")))

    assert [message["role"] for message in sent] == ["user", "assistant"]
    assert sent[1]["content"] == [text("So,")]


def test_calls_in_the_transcript_need_tools_even_where_none_may_be_called() -> None:
    history: list[LlmMessage] = [asks("q"), own(call("c1"), call("c2", "rm")), result("c1")]

    sent = body(LlmContext(messages=[*history, result("c2"), own(call("c3")), result("c3")]))

    assert [tool["name"] for tool in sent["tools"]] == ["ls", "rm"]
    assert sent["tool_choice"] == {"type": "none"}
    assert "tools" not in body(LlmContext(messages=[asks("q")]))


def test_a_schema_is_that_of_an_object_without_alternatives() -> None:
    schema = {"properties": {"a": {"anyOf": []}}, "oneOf": [{}], "$defs": {}}

    (sent,) = body(LlmContext(tools=[ToolSchema("ls", "", schema)]))["tools"]

    assert unmarked(sent) == {
        "name": "ls",
        "input_schema": {"type": "object", "properties": {"a": {"anyOf": []}}, "$defs": {}},
    }


def test_numbers_that_json_lacks_are_null() -> None:
    sent = messages(asks("q"), own(call("c1", size=float("nan"))), result("c1"))

    assert sent[1]["content"][0]["input"] == {"size": None}
