"""The command registry: what is a command, what is a message, what a mistake is told."""

from __future__ import annotations

import pytest

from agent_tui.tui.commands import COMMANDS, completions, find, parse, suggest, unknown_sentence
from agent_tui.tui.verbs import Verbs
from tests.tui.chat import chat


@pytest.mark.parametrize(
    "text",
    [
        "/usr/lib/python3/dist-packages is missing, why?",
        "/etc",
        "/etc/hosts",
        "/2 of the files",
        "//comment",
        "/",
        "hello /help",
        " /help",
        "/tmp.txt is gone",
    ],
)
def test_a_message_that_begins_with_a_path_is_a_message(text: str) -> None:
    parsed = parse(text)

    assert parsed is None or parsed.command is None


def test_a_path_with_a_second_slash_is_not_even_a_mistyped_command() -> None:
    assert parse("/usr/lib/python3/dist-packages is missing, why?") is None


def test_a_command_keeps_its_argument_as_it_stands() -> None:
    parsed = parse("/no use  make clean\nplease")

    assert parsed is not None
    assert parsed.command is find("no")
    assert parsed.argument == "use  make clean\nplease"


def test_names_are_taken_in_any_case() -> None:
    parsed = parse("/Help")

    assert parsed is not None
    assert parsed.command is find("help")


def test_a_mistyped_command_is_told_the_nearest_one() -> None:
    assert suggest("modle") == ["model"] or suggest("modle")[0] in ("model", "mode")
    assert "/model" in unknown_sentence("modle")
    assert "still here" in unknown_sentence("xyzzy")


def test_completions_begin_with_what_was_typed() -> None:
    names = [command.name for command in completions("mo")]

    assert names == ["model", "mode"]


def test_every_command_has_a_verb_and_a_name_of_its_own() -> None:
    names = [command.name for command in COMMANDS]

    assert len(set(names)) == len(names)
    owners = (Verbs, *Verbs.PARTS)
    actions = [command.action for command in COMMANDS]
    assert [a for a in actions if not any(callable(getattr(o, a, None)) for o in owners)] == []


async def test_every_command_is_done_by_exactly_one_part() -> None:
    async with chat() as c:
        verbs = c.app.verbs
        owners = [verbs, *vars(verbs)["_parts"].values()]
        done_by = {
            command.name: [
                type(owner).__name__ for owner in owners if hasattr(owner, command.action)
            ]
            for command in COMMANDS
        }

        assert [name for name, found in done_by.items() if len(found) != 1] == []
