"""A request to look at is the request that goes out, without what nobody may see."""

from __future__ import annotations

import json

import pytest

from agent_tui.core.messages import UserMessage
from agent_tui.core.model import Model
from agent_tui.core.stream import LlmContext, StreamOptions, ToolSchema
from agent_tui.providers.shown import HIDDEN, shown_request
from tests.providers.loopback import collect, serving
from tests.providers.wires import SPEECHES, Speech, asked

KEY = "sk-test-0123456789abcdef"
CONTEXT = LlmContext(
    "Be brief.", [UserMessage(content="hi")], [ToolSchema("look", "Looks.", {"type": "object"})]
)


@pytest.mark.parametrize("speech", SPEECHES, ids=lambda speech: speech.api)
async def test_it_is_what_goes_out(speech: Speech) -> None:
    options = StreamOptions(api_key=KEY, max_output_tokens=100)
    async with serving(speech.answers()) as lab:
        model = lab.model(api=speech.api, headers={"X-Team": "secret-team"})
        await collect(model, context=CONTEXT, options=options)
        shown = await shown_request(model, CONTEXT, StreamOptions(max_output_tokens=100))
        [received] = asked(lab)

    assert shown is not None
    assert shown["body"] == received.body
    assert shown["url"].endswith(received.path)
    assert shown["headers"]["x-team"] == HIDDEN
    assert KEY not in json.dumps(shown)
    assert "secret-team" not in json.dumps(shown)


async def test_what_an_address_holds_beside_its_path_is_hidden() -> None:
    url = "http://me:pass@127.0.0.1:1/v1?key=abc&api-version=2"
    model = Model("lab", "m", api="openai-chat", base_url=url)

    shown = await shown_request(model, CONTEXT, StreamOptions())

    assert shown is not None
    assert shown["url"] == (f"http://127.0.0.1:1/v1/chat/completions?key={HIDDEN}&api-version=2")


async def test_where_no_wire_of_ours_asks_there_is_none() -> None:
    assert await shown_request(Model("demo", "tour", api="demo"), CONTEXT, StreamOptions()) is None
    assert await shown_request(Model("test", "m"), CONTEXT, StreamOptions()) is None
