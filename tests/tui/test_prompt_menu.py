"""The menu of completions: when it opens, and what its keys do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agent_tui.tui.complete import CommandHint, Completer, Completion
from agent_tui.tui.menu import CompletionMenu
from tests.tui.composer import Composer, composer

HINTS = (
    CommandHint("help", "keys and commands"),
    CommandHint("model", "pick a model", takes_argument=True, choices=lambda: ["demo/tour", "x/y"]),
    CommandHint("quit", "leave"),
)


@asynccontextmanager
async def with_menu(cwd: Path) -> AsyncIterator[Composer]:
    for name in ("alpha.py", "beta.py", "two words.md", "src/deep.py"):
        (cwd / name).parent.mkdir(exist_ok=True)
        (cwd / name).write_text("")
    async with composer() as it:
        it.prompt.completions = Completer(cwd, lambda: HINTS)
        yield it


async def test_a_slash_opens_the_menu_and_enter_runs_the_choice(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/q")
        assert it.prompt.menu_open

        await it.gets(b"\r")
        assert it.sent == [("/quit", "enter")]
        assert not it.prompt.menu_open


async def test_enter_in_a_burst_of_keys_sends_what_was_typed_not_an_older_choice(
    tmp_path: Path,
) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/")
        await it.gets(b"quit\r")

        assert it.sent == [("/quit", "enter")]


async def test_enter_on_a_command_with_an_argument_asks_for_it(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/mod")
        await it.gets(b"\r")
        assert (it.prompt.text, it.sent) == ("/model ", [])
        assert it.prompt.menu_open

        await it.gets(b"\x1b[B\r")
        assert it.sent == [("/model demo/tour", "enter")]


async def test_enter_on_a_command_that_is_typed_out_sends_it(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/model")
        await it.gets(b"\r")

        assert it.sent == [("/model", "enter")]


async def test_enter_without_a_choice_sends_the_text(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/model ")
        await it.gets(b"\r")

        assert it.sent == [("/model ", "enter")]


async def test_an_unknown_command_has_no_menu(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/modle")
        assert not it.prompt.menu_open

        await it.gets(b"\r")
        assert it.sent == [("/modle", "enter")]


async def test_a_path_at_the_start_has_no_menu(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/usr/bin")

        assert not it.prompt.menu_open


async def test_an_at_sign_completes_a_file_and_does_not_send(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"read @alp")
        await it.gets(b"\r")
        assert (it.prompt.text, it.sent) == ("read @alpha.py ", [])
        assert not it.prompt.menu_open


async def test_tab_takes_the_choice_and_sends_nothing(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"read @two")
        await it.gets(b"\t")

        assert (it.prompt.text, it.sent) == ('read @"two words.md" ', [])


async def test_a_folder_keeps_the_menu_open_for_what_is_in_it(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"@src")
        await it.gets(b"\t")
        assert it.prompt.text == "@src/"
        assert it.prompt.menu_open


async def test_arrows_move_in_the_menu_and_not_in_the_history(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        it.prompt.recall.add("old")
        await it.gets(b"/")
        await it.gets(b"\x1b[B\x1b[B\x1b[A\t")

        assert it.prompt.text == "/model "


async def test_esc_closes_the_menu_and_nothing_else(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/he")
        await it.gets(b"\x1b")
        assert (it.prompt.menu_open, it.app.keys_left_over) == (False, [])

        await it.gets(b"l")
        assert not it.prompt.menu_open

        await it.gets(b"\x15")
        await it.gets(b"/h")
        assert it.prompt.menu_open


async def test_moving_the_cursor_away_closes_the_menu(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/he")
        await it.gets(b"\x1b[H")

        assert not it.prompt.menu_open


async def test_a_failing_hook_costs_the_menu_only() -> None:
    async def broken(text: str, cursor: int) -> Sequence[Completion]:
        raise RuntimeError("no")

    async with composer() as it:
        it.prompt.completions = broken
        await it.gets(b"/help\r")

        assert it.sent == [("/help", "enter")]


async def test_a_burst_of_a_command_and_enter_sends_what_was_typed(tmp_path: Path) -> None:
    async with with_menu(tmp_path) as it:
        await it.gets(b"/mod\r")

        assert it.sent == [("/mod", "enter")]


async def test_the_list_shows_names_explanations_and_the_choice() -> None:
    async with composer(size=(40, 24)) as it:
        menu = CompletionMenu()
        await it.app.mount(menu)
        items = [
            Completion(0, 1, f"/c{n}", f"/c{n}", "what [b]it[/b] \x1b[31mdoes") for n in range(20)
        ]
        menu.show(items, 15)
        await it.settles()

        lines = menu.render().plain.splitlines()
        assert len(lines) == 8
        assert "▸ /c15  what [b]it[/b] does" in [line.strip() for line in lines]

        menu.show([], -1)
        assert not menu.display
