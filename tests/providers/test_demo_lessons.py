"""The demonstration's lessons: steered, queued, stopped, approved, declined, and one file."""

from __future__ import annotations

import re

import pytest

from agent_tui.core.messages import AssistantMessage, UserMessage
from tests.providers.talking import DECLINED, FOLDER, NOBODY, Talk

# -- steering ----------------------------------------------------------------------------------


async def _steered(text: str, *, after: int = 1) -> tuple[Talk, AssistantMessage]:
    talk = Talk()
    await talk.prompt("2")
    for _ in range(after - 1):
        await talk.results(FOLDER)
    return talk, await talk.results(FOLDER, steering=text)


async def test_a_number_changes_how_many_looks_follow() -> None:
    talk, answer = await _steered("use 2 steps only")

    assert "> use 2 steps only" in answer.text
    assert "2 looks instead of 5" in answer.text
    assert "Look 2 of 2" in answer.text
    last = await talk.results("x.txt  1 bytes")
    assert last.tool_calls == []
    assert "You steered me with** `use 2 steps only`" in last.text


async def test_steering_to_stop_ends_the_lesson() -> None:
    _, answer = await _steered("stop", after=2)

    assert answer.tool_calls == []
    assert "I end after 2 looks" in answer.text


async def test_shouting_lasts_until_it_is_asked_to_be_quiet() -> None:
    talk, answer = await _steered("shout!")
    assert "**LOOK 2 OF 5.**" in answer.text
    assert "I LIST `docs/`" in answer.text

    answer = await talk.results("a.md  1 bytes", steering="quiet please")

    assert "**Look 3 of 5.**" in answer.text


async def test_a_wish_it_cannot_obey_is_quoted() -> None:
    _, answer = await _steered("write it in French\nplease")

    assert "> write it in French\n> please" in answer.text
    assert "my script only knows" in answer.text
    assert "Look 2 of 5" in answer.text


async def test_a_question_while_it_works_is_answered() -> None:
    _, answer = await _steered("how do I quit?")

    assert "So I leave this" in answer.text
    assert "/quit" in answer.text


async def test_steering_in_another_scene_is_quoted_and_the_scene_goes_on() -> None:
    talk = Talk()
    await talk.prompt("hi")

    answer = await talk.results(FOLDER, steering="and now in French")

    assert "You steered me:\n\n> and now in French" in answer.text
    assert [call.name for call in answer.tool_calls] == ["read", "grep"]


async def test_a_lesson_without_steering_says_so() -> None:
    talk = Talk()
    await talk.prompt("2")

    answers = [await talk.results(FOLDER) for _ in range(5)]

    assert "heard nothing from you" in answers[-1].text
    assert [len(answer.tool_calls) for answer in answers] == [1, 1, 1, 1, 0]


# -- queue, stop, keep -------------------------------------------------------------------------


async def test_what_waited_is_quoted_before_it_is_answered() -> None:
    talk = Talk()
    await talk.prompt("3")

    answer = await talk.waiting("next")

    assert "so it waited until I had finished:\n\n> next" in answer.text
    assert "### Lesson 4" in answer.text


async def test_messages_that_arrive_together_are_all_quoted() -> None:
    talk = Talk()
    await talk.prompt("4")
    talk.interrupt(talk.last.text.partition("2. ")[0])
    talk.messages.append(UserMessage(content="what I typed first"))

    answer = await talk.waiting("next")

    assert "reached me together" in answer.text
    assert "> what I typed first\n>\n> next" in answer.text
    assert "### Lesson 5" in answer.text


async def test_what_is_typed_afterwards_did_not_wait() -> None:
    talk = Talk()
    await talk.prompt("3")

    answer = await talk.prompt("next")

    assert answer.text.startswith("### Lesson 4")


async def test_after_a_stop_it_says_what_it_saw() -> None:
    talk = Talk()
    await talk.prompt("4")
    talk.interrupt(talk.last.text.partition("14. ")[0])

    answer = await talk.prompt("next")

    assert "You stopped me at sheep 13" in answer.text
    assert "### Lesson 5" in answer.text


async def test_after_a_stop_in_the_words_it_counts_them() -> None:
    talk = Talk()
    await talk.prompt("help")
    talk.interrupt("I play a script")

    answer = await talk.prompt("tools")

    assert "You stopped me after 4 words" in answer.text


async def test_a_message_kept_through_a_stop_is_welcomed() -> None:
    talk = Talk()
    await talk.prompt("5")
    talk.interrupt(talk.last.text.partition("3. ")[0])

    answer = await talk.waiting("next")

    assert "What you had queued was kept" in answer.text
    assert "### Lesson 6" in answer.text


async def test_going_on_after_a_stop_counts_on() -> None:
    talk = Talk()
    await talk.prompt("4")
    talk.interrupt(talk.last.text.partition("59. ")[0])

    answer = await talk.prompt("go on")

    assert re.findall(r"^(\d+)\. ", answer.text, re.M) == ["59", "60"]


# -- approvals ---------------------------------------------------------------------------------


async def test_the_command_only_prints_and_sleeps() -> None:
    talk = Talk()

    answer = await talk.prompt("6")

    command = 'for i in 1 2 3 4 5 6 7 8; do echo "step $i of 8"; sleep 1; done'
    assert [call.arguments for call in answer.tool_calls] == [{"command": command}]


@pytest.mark.parametrize(
    ("result", "failed", "said"),
    [
        pytest.param(
            "step 1 of 8\nstep 8 of 8",
            False,
            "ended normally: 2 lines of output, the last one `step 8 of 8`",
            id="done",
        ),
        pytest.param(
            "oops\n\nCommand exited with code 3.",
            True,
            "error: this came back: `oops`",
            id="failed",
        ),
        pytest.param(NOBODY, True, f"nobody was asked.** {NOBODY}", id="headless"),
        pytest.param(
            "bash is refused: the mode is read-only, so nothing may be changed.",
            True,
            "nobody was asked.** bash is refused",
            id="read-only",
        ),
        pytest.param(
            "step 1 of 8\n\nCommand aborted (stopped by the user) after 1.2 s.",
            True,
            "I am still here. It had written 1 line of output, the last one `step 1 of 8`",
            id="killed alone",
        ),
        pytest.param(
            "step 1 of 8\n\nCommand aborted after 1.2 s.",
            True,
            "You stopped me while it ran",
            id="stopped and continued",
        ),
    ],
)
async def test_it_says_what_became_of_the_command(result: str, failed: bool, said: str) -> None:
    talk = Talk()
    await talk.prompt("6")

    answer = await talk.results(result, failed=failed)

    assert said in answer.text
    assert "`next`" in answer.text


async def test_a_no_with_a_number_is_asked_again_with_that_number() -> None:
    talk = Talk()
    await talk.prompt("6")

    answer = await talk.results(f"{DECLINED[:-1]}: only 3 steps", failed=True)

    assert "> only 3 steps" in answer.text
    assert "in 1 2 3;" in answer.tool_calls[0].arguments["command"]


async def test_a_no_with_other_words_is_accepted() -> None:
    talk = Talk()
    await talk.prompt("6")

    answer = await talk.results(f"{DECLINED[:-1]}: I do not trust you", failed=True)

    assert "> I do not trust you" in answer.text
    assert answer.tool_calls == []


async def test_a_plain_no_is_noticed_at_the_next_prompt() -> None:
    talk = Talk()
    await talk.prompt("6")
    await talk.results(DECLINED, failed=True)
    del talk.messages[-1]

    answer = await talk.prompt("next")

    assert "you declined. **Nothing ran.**" in answer.text
    assert "### Lesson 7" in answer.text


async def test_a_command_that_was_stopped_is_noticed_at_the_next_prompt() -> None:
    talk = Talk()
    await talk.prompt("6")
    await talk.results("step 1 of 8\n\nCommand aborted after 1.2 s.", failed=True)
    del talk.messages[-1]

    answer = await talk.prompt("next")

    assert "was stopped. The end of its result: `Command aborted after 1.2 s.`" in answer.text


# -- the file ----------------------------------------------------------------------------------


async def test_a_file_is_offered_and_made_only_after_a_yes() -> None:
    talk = Talk()
    await talk.prompt("write")
    offer = await talk.results(FOLDER)
    assert offer.tool_calls == []

    answer = await talk.prompt("yes")

    assert [call.name for call in answer.tool_calls] == ["write"]
    assert answer.tool_calls[0].arguments["path"] == "agent-tui-tour.txt"


async def test_a_file_of_that_name_is_left_alone() -> None:
    talk = Talk()
    await talk.prompt("write")
    await talk.results(f"{FOLDER}\nagent-tui-tour.txt  5 bytes")

    answer = await talk.prompt("yes")

    assert answer.tool_calls == []


async def test_a_file_whose_edit_was_declined_can_still_be_removed() -> None:
    talk = Talk()
    await talk.prompt("write")
    await talk.results(FOLDER)
    await talk.prompt("yes")
    await talk.results("Created agent-tui-tour.txt (2 lines, 64 bytes).")
    await talk.results(DECLINED, failed=True)
    del talk.messages[-1]

    answer = await talk.prompt("remove")

    assert "`agent-tui-tour.txt` is in your folder now" in answer.text
    assert answer.tool_calls[0].arguments == {"command": "rm -- agent-tui-tour.txt"}


@pytest.mark.parametrize("said", ["yes", "remove", "no"])
async def test_an_answer_without_a_question_does_nothing(said: str) -> None:
    talk = Talk()
    await talk.prompt("help")

    answer = await talk.prompt(said)

    assert answer.tool_calls == []
