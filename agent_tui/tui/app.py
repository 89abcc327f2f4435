"""The chat: composes the screen, binds the keys, routes what happens. The rules are elsewhere."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import TextArea

from agent_tui.config import PICK
from agent_tui.core.errors import AgentError
from agent_tui.tui import crash, themes, warm
from agent_tui.tui.approval import ApprovalCard, Guard
from agent_tui.tui.chrome import Chrome
from agent_tui.tui.clipboard import Clipboard
from agent_tui.tui.commands import COMMANDS, Parsed, find
from agent_tui.tui.complete import Completer
from agent_tui.tui.draft_keeper import DraftKeeper
from agent_tui.tui.driver import driver_class
from agent_tui.tui.first_hint import FirstHint
from agent_tui.tui.history import History, history_path
from agent_tui.tui.incoming import Incoming
from agent_tui.tui.keymap import Keymap
from agent_tui.tui.leaving import Leaving
from agent_tui.tui.links import path_of
from agent_tui.tui.menu import CompletionMenu
from agent_tui.tui.notify import notifier_of
from agent_tui.tui.opening import catalogue_of, go_on, greeting, session_of
from agent_tui.tui.paced import PacedView
from agent_tui.tui.pacer import Pacer
from agent_tui.tui.presses import ANYWHERE, ON_CARD, Presses, bindings
from agent_tui.tui.prompt import Prompt
from agent_tui.tui.redraw import Redraw
from agent_tui.tui.selecting import Copied
from agent_tui.tui.stopkeys import StopKeys
from agent_tui.tui.strip import ItemEditor, PendingStrip
from agent_tui.tui.submitting import Submitting
from agent_tui.tui.terminal import on_signals
from agent_tui.tui.transcript import Transcript
from agent_tui.tui.vim import Vim

if TYPE_CHECKING:
    from agent_tui.config import Settings
    from agent_tui.core.abort import AbortSignal
    from agent_tui.session.catalogue import SessionCatalogue
    from agent_tui.session.events import Answer, AnyEvent
    from agent_tui.session.session import Session
    from agent_tui.session.shelf import ModelShelf
    from agent_tui.tui.delivery import Delivery, Lane
    from agent_tui.tui.modes import Modes
    from agent_tui.tui.presenter import Presenter
    from agent_tui.tui.verbs import Verbs

PLACEHOLDER = "Say something · / for commands · @ for files"
TICK_SECONDS = 0.5


class ChatApp(App[None], inherit_bindings=False):
    """The interactive chat around an agent, a session, or a function that opens one.

    A function is called after the first paint, so that the composer stands before anything heavy
    is loaded.
    """

    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    is_replay: ClassVar[bool] = False

    session: Session
    presenter: Presenter
    delivery: Delivery
    modes: Modes
    verbs: Verbs

    def __init__(
        self,
        source: Any,
        *,
        settings: Settings | None = None,
        news: str = "",
        clock: Callable[[], float] = time.monotonic,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`source` is an `Agent`, a `Session`, or a function, plain or async, that gives one."""
        super().__init__(driver_class=driver_class())
        folders = [settings.folders.themes] if settings is not None else []
        self._problems = themes.install(self, folders, settings.theme if settings else None)
        self.theme_names = sorted(themes.theme_files(folders))
        self.keymap = Keymap(settings.keys if settings is not None else None)
        """The keys in force."""
        self._first_hint = FirstHint(settings.folders.state if settings is not None else None)
        self.now = clock
        self.is_ready = False
        """The session is open. What is sent before waits until it is."""
        self.settings = settings
        self._news = news
        self._source = source
        self._environ = environ
        self._cwd = settings.cwd if settings is not None else Path.cwd()
        self._tasks: set[asyncio.Task[None]] = set()
        self.stop_keys = StopKeys(clock)
        self.guard = Guard(clock)
        self._presses = Presses(self)
        self._incoming = Incoming(self)
        self._redraw = Redraw(self)
        self.submitting = Submitting(self)
        self.leaving = Leaving(self)
        self._draft_keeper = DraftKeeper(self)
        self._forget_signals: Callable[[], None] = lambda: None
        self.transcript = self._make_transcript()
        self.pacer = Pacer(self.transcript.changed_all, clock=clock)
        self.strip = PendingStrip()
        self.card = ApprovalCard(self.keymap)
        self.menu = CompletionMenu()
        self._history = self._open_history()
        self.prompt = Prompt(history=self._history, id="prompt", placeholder=PLACEHOLDER)
        if settings is not None and settings.vim:
            self.prompt.vim = Vim()
        home = environ.get("HOME")
        self.chrome = Chrome(self, self._cwd, Path(home) if home else None)
        self.copier = Clipboard(environ, self.write)
        self._notifier = notifier_of(self, settings, environ)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, but colours that only the terminal knows are dropped, not made grey."""
        filters = super().get_line_filters()
        return themes.colourless(filters) if self.no_color and self.native_ansi_color else filters

    # -- beginning and end -------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Eight widgets, whatever the length of the chat."""
        yield self.chrome.header
        yield self.transcript
        yield self.strip
        yield self.card
        yield self.menu
        yield self.prompt
        yield self.chrome.hint
        yield self.chrome.status

    def on_mount(self) -> None:
        """Paint first; everything else comes after."""
        self._ticker = self.set_interval(TICK_SECONDS, self._tick, pause=True)
        self._forget_signals = on_signals(self.leaving.by_signal)
        self.prompt.focus()
        self.chrome.draw()
        self.call_after_refresh(lambda: self.start(self._open()))

    async def _open(self) -> None:
        """Open the session; what only a session needs is loaded here, behind the first paint."""
        from agent_tui.tui.delivery import Delivery
        from agent_tui.tui.modes import Modes
        from agent_tui.tui.pending import PendingList
        from agent_tui.tui.presenter import Presenter
        from agent_tui.tui.verbs import Verbs

        try:
            session = self.session = await session_of(self._source, self._cwd)
        except AgentError as error:
            self.exit(return_code=2, message=Text(f"agent-tui: {error.message}"))
            return
        view = PacedView(self.transcript, self.pacer)
        steps = session.agent.max_iterations
        tail = self.settings.tail_lines if self.settings is not None else None
        self.presenter = Presenter(
            view, session, self.now, max_steps=steps, tail_lines=tail, keymap=self.keymap
        )
        self.delivery = Delivery(
            session,
            self.presenter,
            self.start,
            refused=self.submitting.give_back,
            run_command=self.submitting.run_queued,
            is_own=lambda text: self.verbs.own.knows(text),
        )
        self.modes = Modes(self, PendingList(session.agent))
        self.verbs = Verbs(self)
        self.is_ready = True
        self.prompt.completions = Completer(session.cwd, self.verbs.hints)
        self.transcript.folder = session.cwd
        session.subscribe(self._on_event)
        self.presenter.show_history(session.history())
        self._greet()
        go_on(session, self.presenter)
        self._draft_keeper.restore()
        if self.settings is not None and self.settings.session.resume == PICK:
            self.verbs.sessions.pick()
        self.submitting.take_early()
        self.redraw()
        self.start(self.verbs.models.describe())
        if not self.is_headless:
            warm.up()

    def _greet(self) -> None:
        if self._news:
            self.presenter.say(self._news)
        problems = [*self._problems]
        if self._history.problem:
            problems.append(self._history.problem)
        for sentence, kind in greeting(self.session, self.settings, problems):
            self.presenter.say(sentence, kind)
        is_known = self.session.agent.state.model.api == "demo" or bool(self.session.history())
        if not is_known and (words := self._first_hint.words(self.keymap)):
            self.presenter.say(words)

    def leave(self) -> None:
        """Quit; the first time with pending messages only warn."""
        self.leaving.ask()

    def _fatal_error(self) -> None:
        crash.report(self)

    def on_unmount(self) -> None:
        """Let go of everything; drafts that were put aside are kept in the history."""
        list(map(self._history.add, self.prompt.stashed))
        self._forget_signals()
        self.pacer.stop()
        if self.is_ready:
            self._draft_keeper.save()
            self.session.close()
        for task in self._tasks:
            task.cancel()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` on the loop; what goes wrong there ends up as a sentence."""
        task = asyncio.get_running_loop().create_task(self._watched(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # the top: a bug must not take the chat down
            if not self.is_ready:
                self._handle_exception(error)
                return
            self.log.error(repr(error))
            self.presenter.say(f"Internal error: {type(error).__name__}: {error}", "error")
            self.redraw()

    # -- events of the session ---------------------------------------------------------------

    def _on_event(self, event: AnyEvent, signal: AbortSignal) -> None:
        self.presenter.take(event)
        self._notifier.hear(event.type)
        match event.type:
            case "message_update":
                return
            case "agent_start":
                self.stop_keys.run_began()
                self._ticker.resume()
            case "message_end":
                self._draft_keeper.changed()
            case "queue_update":
                self.modes.pending.settle()
                self.call_later(self._arrange)
            case "agent_settled":
                self._settled()
        self.redraw_soon(paced=event.type.startswith(("message", "tool", "turn")))

    def _settled(self) -> None:
        self.stop_keys.settled()
        self._ticker.pause()
        if (text := self.delivery.take_back()) is not None:
            self.prompt.put_back(text)
        if self.presenter.course.was_stopped and self.session.after_abort == "restore":
            self.modes.all_into_draft()
        self.delivery.settled()

    def _arrange(self) -> None:
        self.delivery.arrange(self.modes.pending.editing)

    # -- what the person does ----------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        """Keys and pastes are looked at before they are handed on."""
        taken = self._incoming.take(event)
        if taken is not None:
            await super().on_event(taken)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """A text left the composer."""
        self.submitting.take(event)

    def send(self, text: str, lane: Lane) -> None:
        """Send a text, and look at the end of the transcript."""
        self.transcript.follow()
        if self.is_busy:
            self._first_hint.done()
        self.delivery.send(text, lane)

    def on_prompt_vim_changed(self) -> None:
        """The hint line says so."""
        self.redraw()

    def on_prompt_paste_requested(self) -> None:
        """Ctrl+V with nothing copied here."""
        if self.is_ready:
            self.run_verb("paste")

    def on_prompt_help_requested(self) -> None:
        """`?` on the empty composer."""
        self.run_verb("help")

    def on_prompt_quit_requested(self) -> None:
        """Ctrl+D on the empty composer."""
        if self.is_busy:
            self.flash("A turn is running: esc stops it.", "warning")
        else:
            self.leave()

    def on_prompt_menu_changed(self, event: Prompt.MenuChanged) -> None:
        """The completion menu opened, moved or closed."""
        self.menu.show(event.items, event.index)
        self.redraw()

    def on_prompt_search_changed(self, event: Prompt.SearchChanged) -> None:
        """The history search began, changed or ended."""
        self.chrome.search = event.query
        self.redraw()

    def on_prompt_stash_changed(self, event: Prompt.StashChanged) -> None:
        """A draft was put aside or brought back."""
        self._draft_keeper.changed()
        self.chrome.stashed = event.count
        self.redraw()

    def on_prompt_notice(self, event: Prompt.Notice) -> None:
        """The composer has something to say."""
        self.flash(event.text, "warning")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """The hints depend on whether there is a draft."""
        self._draft_keeper.changed()
        self.redraw_soon()

    def on_item_editor_done(self, event: ItemEditor.Done) -> None:
        """A pending item was edited."""
        self.modes.end_edit(event)

    def on_transcript_changed(self) -> None:
        """The view follows, or does not any more."""
        self.redraw_soon()

    def on_copied(self, event: Copied) -> None:
        """Text was selected with the mouse."""
        self.verbs.copy_text(event.text)

    def on_transcript_link_opened(self, event: Transcript.LinkOpened) -> None:
        """A harmless link was clicked: a file opens in the editor, the rest in the browser."""
        path = path_of(event.address)
        if path is None:
            self.open_url(event.address)
        else:
            self.verbs.on_blocks.edit_file(path)

    def on_resize(self) -> None:
        """The lines are cut to the new width, once the app knows it; the end stays in view."""
        self.call_later(self.chrome.resized)
        if self.transcript.following:
            self.call_after_refresh(self.transcript.follow)

    # -- keys and commands -------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the chat rest while another screen, or the editor of an item, is on top."""
        if action != "press" or parameters[0] in ANYWHERE:
            return True
        if not self.is_ready or len(self.screen_stack) > 1 or self.strip.editor is not None:
            return False
        return parameters[0] not in ON_CARD or parameters[0] in self.card.presses

    def action_press(self, name: str) -> None:
        """Do what a key is for."""
        if self.is_ready:
            getattr(self._presses, name)()
            self.redraw()

    def run_verb(self, name: str) -> None:
        """Run a command by its key or from the palette."""
        if (reason := self.verbs.run(Parsed(name, "", find(name)))) is not None:
            self.flash(reason, "warning")
        self.redraw()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette offers the same verbs as the slash commands."""
        for command in COMMANDS:
            if command.in_palette:
                act = partial(self.run_verb, command.name)
                yield SystemCommand(
                    f"/{command.name}", command.summary_with_key(self.keymap.shown), act
                )

    def stop_turn(self) -> None:
        """Abort: the status says so at once, the rest follows."""
        self.presenter.stopping()
        self.redraw()
        self.session.abort("stopped by the user")
        if not self.session.is_running:
            self.call_later(self.session.abort, "stopped by the user")

    def answer(self, verdict: Answer, comment: str | None = None) -> bool:
        """Answer the oldest open question; False if there is none."""
        asked = self.session.approvals.pending
        if not asked:
            return False
        return self.session.approvals.answer(asked[0].id, verdict, comment)

    # -- for verbs and modes -----------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """A turn runs or is about to."""
        return self.is_ready and self.delivery.is_busy

    @property
    def is_on_hold(self) -> bool:
        """Pending messages wait for a word."""
        return self.presenter.is_on_hold

    @cached_property
    def shelf(self) -> ModelShelf | None:
        """The models that can be picked; None without settings."""
        from agent_tui.session.shelf import ModelShelf

        return ModelShelf(self.settings) if self.settings is not None else None

    @cached_property
    def catalogue(self) -> SessionCatalogue | None:
        """The sessions that can be gone on with; None without settings."""
        return catalogue_of(self.settings) if self.settings is not None else None

    def flash(self, text: str | Callable[[], str], role: str = "activity") -> None:
        """Say something in the hint line for some seconds; a function says it anew each time."""
        self.chrome.flash(text, role)
        self.redraw_soon()

    def redraw(self) -> None:
        """Bring every line around the transcript up to date now."""
        self._redraw.now()

    def _tick(self) -> None:
        self.presenter.tick()
        self._notifier.tick()
        self.redraw()

    def redraw_soon(self, *, paced: bool = False) -> None:
        """Bring them up to date after what is being done now."""
        self._redraw.soon(paced=paced)

    def write(self, sequence: str) -> None:
        """Send a sequence to the terminal, outside of what is painted."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def _make_transcript(self) -> Transcript:
        settings = self.settings
        if settings is not None and settings.motion == "reduced":
            self.animation_level = "none"
        wraps = settings is None or settings.long_lines == "wrap"
        return Transcript(motion=self.animation_level != "none", wraps=wraps)

    def _open_history(self) -> History:
        if self.settings is None:
            return History()
        return History(history_path(self.settings.folders.state, self._cwd))
