"""What each command does. The registry names a verb, the app finds it here.

A verb returns None, or the sentence that says why it cannot act; its text then stays in the
composer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agent_tui.core.errors import AgentError
from agent_tui.core.model import THINKING_LEVELS
from agent_tui.tui.approval_verbs import MODES, SCOPES, ApprovalVerbs
from agent_tui.tui.block_verbs import BlockVerbs
from agent_tui.tui.blocks import AssistantBlock, ThoughtBlock, ToolBlock
from agent_tui.tui.branch_verbs import BranchVerbs
from agent_tui.tui.break_verbs import CHOICES, BreakVerbs
from agent_tui.tui.budget import more_of
from agent_tui.tui.commands import COMMANDS, Parsed, unknown_sentence
from agent_tui.tui.complete import CommandHint
from agent_tui.tui.context_verbs import ContextVerbs
from agent_tui.tui.delivery import Lane
from agent_tui.tui.figures import plural
from agent_tui.tui.find import Find
from agent_tui.tui.job_verbs import JobVerbs
from agent_tui.tui.loop_verbs import LoopVerbs
from agent_tui.tui.mcp_verbs import McpVerbs
from agent_tui.tui.model_menu import ModelMenu
from agent_tui.tui.own_commands import OwnCommands
from agent_tui.tui.own_shell import OwnShell
from agent_tui.tui.picture_verbs import PictureVerbs
from agent_tui.tui.session_verbs import SessionVerbs

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp


class Verbs:
    """One method a verb, named as in the registry."""

    PARTS: ClassVar[tuple[type, ...]] = (
        OwnCommands,
        BlockVerbs,
        SessionVerbs,
        BranchVerbs,
        ContextVerbs,
        ApprovalVerbs,
        McpVerbs,
        JobVerbs,
        Find,
        BreakVerbs,
        LoopVerbs,
        PictureVerbs,
    )
    """Classes with further verbs, one for each area that has several."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self.models = ModelMenu(app)
        self.on_shell = OwnShell(app)
        self._parts: dict[type, Any] = {part: part(app) for part in self.PARTS}
        self.own: OwnCommands = self._parts[OwnCommands]
        self.on_blocks: BlockVerbs = self._parts[BlockVerbs]
        self.sessions: SessionVerbs = self._parts[SessionVerbs]
        self.on_context: ContextVerbs = self._parts[ContextVerbs]
        self.on_jobs: JobVerbs = self._parts[JobVerbs]
        self.finding: Find = self._parts[Find]
        self.on_breaks: BreakVerbs = self._parts[BreakVerbs]

    def takes(self, text: str, lane: Lane) -> bool:
        """Do what a text says that is neither a message nor a command of the program."""
        return self.on_shell.takes(text) or self.own.takes(text, lane)

    def run(self, parsed: Parsed) -> str | None:
        """Do what a command line says."""
        command = parsed.command
        if command is None:
            return unknown_sentence(parsed.name, self.own.names())
        if parsed.argument and not command.argument:
            return f"/{command.name} takes nothing after it. The text is still here."
        return self._verb(command.action)(parsed.argument)

    def _verb(self, action: str) -> Callable[[str], str | None]:
        """What does `action`: a method here, or of one of the parts."""
        owner = next(part for part in (self, *self._parts.values()) if hasattr(part, action))
        verb: Callable[[str], str | None] = getattr(owner, action)
        return verb

    # -- looking -----------------------------------------------------------------------------

    def help(self, _: str) -> str | None:
        """Keys and commands."""
        from agent_tui.tui.screens.help import HelpScreen

        app = self._app
        now = app.chrome.keys_now()
        app.push_screen(HelpScreen(self.own.rows(), app.keymap, now, app.prompt.type))
        return None

    def keys(self, _: str) -> str | None:
        """What the terminal sends for each key."""
        from agent_tui.tui.screens.keys import KeysScreen

        self._app.push_screen(KeysScreen(self._app.keymap))
        return None

    def vim(self, _: str) -> str | None:
        """Vim's keys in the composer, or no more."""
        from agent_tui.tui.vim import Vim

        prompt = self._app.prompt
        prompt.vim = None if prompt.vim is not None else Vim()
        if prompt.vim is not None:
            self._app.flash("INSERT: esc goes to NORMAL. vim = true in config.toml keeps it.")
        else:
            self._app.flash("The usual keys are back.")
        return None

    def why(self, _: str) -> str | None:
        """What the turn is waiting for."""
        session = self._app.session
        if not session.is_running:
            self._app.flash("Nothing is running: it waits for you.")
        else:
            self._app.flash(lambda: f"Waiting for: {session.waiting_for()}")
        return None

    def usage(self, argument: str) -> str | None:
        """What was spent, as a table on the screen or in a file."""
        word, _, name = argument.partition(" ")
        report = self._app.session.usage_report()
        if word == "export" and name.strip():
            return self._export(name.strip())
        if argument:
            return "/usage takes nothing, or `export FILE.csv`."
        if not report.charges:
            self._app.flash("Nothing has been spent yet.")
            return None
        from agent_tui.tui.screens.output import OutputScreen
        from agent_tui.tui.usage import usage_text

        text = usage_text(report, self._app.session.budgets.meters(), self._app.size.width - 2)
        self._app.push_screen(OutputScreen("Usage", text))
        return None

    def _export(self, name: str) -> str | None:
        session = self._app.session
        path = session.cwd / Path(name).expanduser()
        try:
            session.export_usage(path)
        except AgentError as error:
            return error.message
        self._app.flash(f"Written to {path}.")
        return None

    def expand(self, _: str) -> str | None:
        """Expand or collapse all panels."""
        self._app.transcript.toggle_all()
        return None

    def blocks(self, _: str) -> str | None:
        """Move over the transcript."""
        return None if self._app.modes.enter_blocks() else "There is nothing to move over yet."

    def copy(self, _: str) -> str | None:
        """Copy the last answer."""
        answers = [block for block in self._app.transcript.blocks if _is_answer(block)]
        if not answers:
            return "There is no answer to copy yet."
        self.copy_text(answers[-1].source())
        return None

    # -- the turn ----------------------------------------------------------------------------

    def now(self, text: str) -> str | None:
        """Stop and send at once."""
        return self._send(text, "now")

    def follow_up(self, text: str) -> str | None:
        """Send when the turn is over."""
        return self._send(text, "follow_up")

    def stop(self, argument: str) -> str | None:
        """Stop after this step, or at once."""
        app = self._app
        if not app.session.is_running:
            return "Nothing is running."
        if not argument and self.on_breaks.held is not None:
            return self.on_breaks.answer("stop")
        asked = app.session.budgets.pending
        if asked is not None and not argument:
            app.session.budgets.answer(asked.id, "stop")
            return None
        if argument == "now":
            app.stop_turn()
        elif argument:
            return "/stop takes `now` or nothing."
        else:
            app.session.stop_after_step()
            app.redraw()
        return None

    def retry(self, _: str) -> str | None:
        """Go on with a turn that failed or broke off."""
        if self._app.is_busy:
            return "A turn is running."
        if not self._app.delivery.retry():
            return "There is nothing to try again."
        self._app.transcript.follow()
        return None

    def extend(self, argument: str) -> str | None:
        """Allow more of the budget that is used up, as much again or so much."""
        budgets = self._app.session.budgets
        if budgets.pending is None:
            return "No budget asks for an answer."
        more, reason = more_of(budgets.pending.meters, argument)
        if reason is None:
            budgets.answer(budgets.pending.id, "extend", more)
        return reason

    def finish(self, _: str) -> str | None:
        """One last answer, without tools."""
        budgets = self._app.session.budgets
        if budgets.pending is None:
            return "No budget asks for an answer."
        budgets.answer(budgets.pending.id, "finish")
        return None

    def queue(self, _: str) -> str | None:
        """Select a pending message."""
        return None if self._app.modes.select(-1) else "Nothing is pending."

    def quit(self, _: str) -> str | None:
        """Leave."""
        if self._app.session.is_running:
            return (
                "A turn is running: esc stops it first; or queue /quit with alt+enter "
                "to leave when it ends."
            )
        self._app.leave()
        return None

    # -- settings ----------------------------------------------------------------------------

    def model(self, key: str) -> str | None:
        """Pick a model, or switch to the named one."""
        if not key:
            self.models.open()
            return None
        return self.models.use(key)

    def fallback(self, names: str) -> str | None:
        """Say, or set, who goes on for a turn when the model is overloaded."""
        return self.models.stand_in(names)

    def thinking(self, level: str) -> str | None:
        """Set how hard to think; without a level show or hide thinking."""
        if not level:
            self._toggle_thinking()
            return None
        return self.models.think(level)

    def theme(self, name: str) -> str | None:
        """Pick a theme, or switch to the named one."""
        if not name:
            self._pick_theme()
            return None
        if name not in self._app.theme_names:
            return f"Themes: {', '.join(self._app.theme_names)}."
        self._app.theme = name
        self._app.flash(f'For this chat. theme = "{name}" in config.toml keeps it.', "quiet")
        return None

    def edit(self, _: str) -> str | None:
        """Edit the draft in the person's editor."""
        self._app.prompt.action_edit_externally()
        return None

    def doctor(self, _: str) -> str | None:
        """Show what a start here finds."""
        if self._app.shelf is None:
            return "This chat was opened without settings; agent-tui doctor knows more."
        self._app.flash("Asking the servers of this machine…")
        self._app.start(self._examine(self._app.shelf.examined))
        return None

    async def _examine(self, examine: Callable[[], Awaitable[list[tuple[str, str]]]]) -> None:
        from agent_tui.tui.screens.output import OutputScreen

        lines = [f"{name:<10} {sentence}" for name, sentence in await examine()]
        self._app.push_screen(OutputScreen("What was found", "\n".join(lines)))

    # -- on what is under the cursor or selected -------------------------------------------------

    def copy_text(self, text: str) -> None:
        """Copy, and say how that went."""
        self._app.start(self._copy(text))

    async def _copy(self, text: str) -> None:
        how = await self._app.copier.copy(text)
        kept = "only inside this program" if how == "memory" else how
        self._app.flash(f"Copied {plural(len(text), 'character')} ({kept}).")

    def kill_tool(self, block: ToolBlock) -> None:
        """End this tool; the turn goes on."""
        app = self._app
        call_id = app.presenter.call_of(block)
        if self.on_shell.stop(block):
            return
        if call_id is None:
            app.flash("That call is over.", "quiet")
            return
        app.presenter.killing(call_id)
        app.session.agent.abort_tool(call_id)

    def hints(self) -> list[CommandHint]:
        """The commands as the completion menu shows them."""
        choices: dict[str, Callable[[], list[str]]] = {
            "mode": lambda: [*MODES],
            "thinking": lambda: list(THINKING_LEVELS),
            "theme": lambda: [*self._app.theme_names],
            "stop": lambda: ["now"],
            "break": lambda: [*CHOICES, *(t.name for t in self._app.session.agent.state.tools)],
            "always": lambda: [*SCOPES],
            "trust": lambda: ["no"],
            "usage": lambda: ["export"],
            "compact": lambda: ["undo"],
            "mcp": lambda: ["restart", "login"],
            "diff": lambda: ["session"],
        }
        return [
            CommandHint(
                command.name,
                command.summary,
                takes_argument=command.needs_argument,
                choices=choices.get(command.name),
            )
            for command in COMMANDS
        ] + self.own.hints()

    # -- inside ------------------------------------------------------------------------------

    def _toggle_thinking(self) -> None:
        presenter = self._app.presenter
        presenter.shows_thinking = not presenter.shows_thinking
        thoughts = [
            block for block in self._app.transcript.blocks if isinstance(block, ThoughtBlock)
        ]
        for block in thoughts:
            if block.expanded != presenter.shows_thinking:
                block.toggle()
        self._app.transcript.changed_all(thoughts)
        self._app.flash("Thinking is shown." if presenter.shows_thinking else "Thinking is folded.")

    def _pick_theme(self) -> None:
        from agent_tui.tui.screens.choice import Choice, ChoiceScreen

        app, before = self._app, self._app.theme

        def show(name: str) -> None:
            app.theme = name

        def end(name: str | None) -> None:
            show(before)
            self._chosen("theme", name)

        choices = [Choice(name, "", name == before) for name in app.theme_names]
        title = "Theme: shown as you move; esc leaves it as it was"
        app.push_screen(ChoiceScreen(title, choices, preview=show), end)

    def _chosen(self, verb: str, value: str | None) -> None:
        if value and (reason := getattr(self, verb)(value)) is not None:
            self._app.flash(reason, "warning")
        self._app.redraw()

    def _send(self, text: str, lane: Lane) -> str | None:
        if not text:
            return f"Say what to send: /{'now' if lane == 'now' else 'follow-up'} TEXT"
        self._app.send(text, lane)
        return None


def _is_answer(block: object) -> bool:
    return isinstance(block, AssistantBlock)
