"""A turn that failed: what its block says, and what can be done from it."""

from __future__ import annotations

import pytest

from agent_tui.core.errors import ErrorInfo
from agent_tui.testing import fail, text
from agent_tui.tui.failure import FailureBlock
from agent_tui.tui.screens.models import ModelScreen
from agent_tui.tui.screens.output import OutputScreen
from tests.tui.chat import Chat, chat
from tests.tui.drawing import rows

ACTIONS = "f6: r tries again · m picks another model · enter shows the details"


def failures(c: Chat) -> list[FailureBlock]:
    return [block for block in c.app.transcript.blocks if isinstance(block, FailureBlock)]


async def failed(c: Chat) -> None:
    await c.say("go")
    await c.idle()
    await c.until(lambda: failures(c))


def test_the_last_line_names_what_can_be_done() -> None:
    block = FailureBlock(ErrorInfo("overloaded", "Too busy", retryable=True))

    assert rows(block)[-1].strip() == ACTIONS
    block.close()
    assert ACTIONS not in "".join(rows(block))


def test_the_details_are_complete_and_harmless() -> None:
    message = "long " * 200 + "\x1b]0;owned\x07end"
    error = ErrorInfo(
        "rate_limit", message, retryable=True, retry_after=90, status=429, request_id="req_1"
    )
    source = FailureBlock(error, "lab/m").source()

    assert source.split("\n\n")[1].split("\n") == [
        "kind    rate_limit",
        "status  429",
        "model   lab/m",
        "request req_1",
        "wait    1m30s",
        "again   may help",
    ]
    assert source.endswith("long end")
    assert "owned" not in source


async def test_r_tries_again_and_the_turn_goes_on() -> None:
    async with chat(fail("auth", "refused"), text("works now")) as c:
        await failed(c)
        c.app.prompt.set_text("a draft")
        await c.press("f6")
        hints = c.line("hint")
        await c.press("r")
        await c.until(lambda: "works now" in "".join(c.shown))
        await c.idle()

        assert "r try again" in hints
        assert c.draft == "a draft"
        assert c.said == ["go"]
        assert not failures(c)[0].can_retry


async def test_r_tries_again_before_what_is_queued() -> None:
    async with chat(fail("auth", "refused"), text("first"), text("second")) as c:
        await failed(c)
        c.session.follow_up("later")
        await c.press("f6", "r")
        await c.until(lambda: "first" in "".join(c.shown))


async def test_retry_says_when_there_is_nothing_to_try() -> None:
    async with chat(fail("auth", "refused"), text("works now")) as c:
        await c.say("/retry")
        early = c.line("hint")
        await failed(c)
        await c.say("/retry")
        await c.until(lambda: "works now" in "".join(c.shown))
        await c.idle()

        assert "There is nothing to try again." in early
        assert c.said == ["go"]


async def test_m_opens_the_models() -> None:
    async with chat(fail("auth", "refused")) as c:
        await failed(c)
        await c.press("f6", "m")

        assert c.app.modes.mode == "none"
        assert isinstance(c.app.screen, ModelScreen)


async def test_enter_shows_the_details() -> None:
    async with chat(fail("auth", "the key was refused")) as c:
        await failed(c)
        await c.press("f6", "enter")
        await c.until(lambda: isinstance(c.app.screen, OutputScreen))

        assert str(c.app.screen.query_one("#output-title").render()).startswith("Error")


@pytest.mark.parametrize("key", ["r", "m"])
async def test_once_something_else_went_on_there_is_nothing_to_try(key: str) -> None:
    async with chat(fail("auth", "refused"), text("fine")) as c:
        await failed(c)
        await c.say("another")
        await c.idle()
        (block,) = failures(c)
        asked = len(c.requests)
        while c.app.transcript.cursor is not block:
            await c.press("f6")
        await c.press(key)

        assert ACTIONS not in "".join(rows(block))
        assert len(c.requests) == asked
