"""What a typed line does: a message to the agent, or one of the commands."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_args

from agent_tui.config import Mode
from agent_tui.core.errors import AgentError
from agent_tui.core.figures import count, money
from agent_tui.core.model import THINKING_LEVELS
from agent_tui.core.text import one_line
from agent_tui.session.approvals import RuleScope
from agent_tui.session.events import Answer
from agent_tui.session.outfit import Outfit
from agent_tui.session.session import Session

HELP = """\
a message: sent; while a turn runs it steers: it goes in before the next step
an empty line: sends what is on hold
/follow-up TEXT: sent when the turn is over     /now TEXT: stop, and send this at once
/stop: stop after this step                     /stop now: stop at once (Ctrl+C does the same)
/queue: what is pending                         /drop N: remove one of them
/yes /always /no [COMMENT]: answer a question   /extend [N] /finish: answer one about a budget
/rules: what needs no question                  /always session|project|everywhere: where it counts
/why: what is being waited for                  /usage: what was spent
/context: what fills the window                /compact [FOCUS], /compact undo: summarise, take back
/reload: read instructions, skills, templates, tools and hooks again
/model KEY  /thinking LEVEL  /mode MODE         /quit: leave (Ctrl+D does the same)"""


class Orders:
    """Carries out lines. `say(label, text)` answers, `start` runs work, `leave()` ends the chat."""

    def __init__(
        self,
        session: Session,
        say: Callable[[str, str], None],
        start: Callable[[Coroutine[Any, Any, None]], None],
        leave: Callable[[], None],
    ) -> None:
        self._session = session
        self._say = say
        self._start = start
        self._leave = leave
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: say("help", HELP),
            "follow-up": self._follow_up,
            "now": self._now,
            "stop": self._stop,
            "queue": self._queue,
            "drop": self._drop,
            "yes": lambda _: self._answer("once"),
            "always": self._always,
            "rules": self._rules,
            "no": lambda comment: self._answer("decline", comment or None),
            "extend": self._extend,
            "finish": lambda _: self._budget("finish"),
            "why": lambda _: say("waiting for", session.waiting_for()),
            "usage": self._usage,
            "context": self._context,
            "compact": self._compact,
            "model": self._model,
            "thinking": self._thinking,
            "mode": self._mode,
            "reload": self._reload,
            "quit": lambda _: leave(),
        }

    def take(self, line: str) -> None:
        """Do what a line says."""
        name, _, argument = line[1:].partition(" ")
        command = self._commands.get(name) if line.startswith("/") else None
        try:
            if command is not None:
                command(argument.strip())
            elif (message := self._session.kit.expanded(line)) is not None:
                self._message(message)
            elif line.startswith("/") and name.replace("-", "").isalpha():
                self._say("unknown", f"there is no command /{name}; /help lists them")
            else:
                self._message(line)
        except AgentError as error:
            self._say("error", error.message)

    def _message(self, line: str) -> None:
        session = self._session
        if not line.strip():
            if not session.is_running:
                self._start(session.resume_queue())
        elif session.is_running:
            session.steer(line)
        else:
            self._start(session.prompt(line))

    def _reload(self, _: str) -> None:
        outfit = self._session.outfit
        if outfit is None:
            self._say("reload", "this chat was opened without settings")
        else:
            self._start(self._read_again(outfit))

    async def _read_again(self, outfit: Outfit) -> None:
        told = await outfit.reload()
        self._say("reload", "\n".join(told) or "nothing has changed")

    def _follow_up(self, text: str) -> None:
        text = self._session.kit.expanded(text) or text
        if self._session.is_running:
            self._session.follow_up(text)
        else:
            self._message(text)

    def _now(self, text: str) -> None:
        self._start(self._session.send_now(text or None))

    def _stop(self, argument: str) -> None:
        session = self._session
        if not session.is_running:
            self._say("stop", "nothing is running")
        elif session.budgets.pending is not None:
            self._budget("stop")
        elif argument == "now":
            session.abort("stopped by the user")
        else:
            session.stop_after_step()
            self._say("stop", "after this step")

    def _queue(self, _: str) -> None:
        items = self._session.agent.queued()
        for number, item in enumerate(items, 1):
            self._say(str(number), f"{item.kind}: {getattr(item.message, 'text', '')}")
        if not items:
            self._say("queue", "nothing is pending")

    def _drop(self, argument: str) -> None:
        items = self._session.agent.queued()
        if not (argument.isdecimal() and 1 <= int(argument) <= len(items)):
            self._say("drop", "takes the number of a pending message; /queue lists them")
            return
        item = items[int(argument) - 1]
        self._session.agent.cancel_queued(item.id)
        self._say("dropped", getattr(item.message, "text", ""))

    def _answer(self, verdict: Answer, comment: str | None = None) -> None:
        asked = self._session.approvals.pending
        if not asked or not self._session.approvals.answer(asked[0].id, verdict, comment):
            self._say("approval", "nothing asks for an answer")

    def _always(self, scope: str) -> None:
        chosen = next((known for known in get_args(RuleScope) if known == scope), None)
        if scope and chosen is None:
            self._say("approval", f"/always takes {', '.join(get_args(RuleScope))} or nothing")
            return
        asked = self._session.approvals.pending
        if asked and asked[0].rule is None:
            self._say("approval", "no rule is sure enough for this call; /yes allows it once")
        elif not asked or not self._session.approvals.answer(asked[0].id, "always", scope=chosen):
            self._say("approval", "nothing asks for an answer")

    def _context(self, _: str) -> None:
        report = self._session.context_report()
        window = "an unknown window" if report.window is None else f"{count(report.window)} tokens"
        lines = [f"about {count(report.tokens)} of {window}"]
        if report.threshold is not None:
            lines[0] += f", summarised above {count(report.threshold)}"
        lines += [f"{part.name}: {count(part.tokens)}" for part in report.parts if part.tokens]
        for item in report.largest:
            mark = ", pinned" if item.is_pinned else ""
            lines.append(f"{count(item.tokens)} in {item.part}{mark}: {one_line(item.label, 60)}")
        self._say("context", "\n".join(lines))

    def _compact(self, argument: str) -> None:
        if argument != "undo":
            self._start(self._session.compact(argument))
        elif self._session.undo_compaction() is None:
            self._say("context", "there is no summary to take back")
        else:
            self._say("context", "the summary was taken back")

    def _rules(self, _: str) -> None:
        for rule in self._session.approvals.rules:
            self._say(rule.verdict, f"{rule} ({rule.origin})")
        if not self._session.approvals.rules:
            self._say("rules", "there are none")

    def _extend(self, argument: str) -> None:
        pending = self._session.budgets.pending
        if pending is None:
            self._say("budget", "no budget asks for an answer")
            return
        try:
            more = float(argument) if argument else None
        except ValueError:
            self._say("budget", "/extend takes a number, or nothing for as much again")
            return
        self._session.budgets.answer(pending.id, "extend", more)

    def _budget(self, answer: Any) -> None:
        pending = self._session.budgets.pending
        if pending is None:
            self._say("budget", "no budget asks for an answer")
        else:
            self._session.budgets.answer(pending.id, answer)

    def _usage(self, _: str) -> None:
        for name, spent in (
            ("turn", self._session.turn_spent),
            ("session", self._session.spent),
        ):
            usage = spent.usage
            sent = usage.input + usage.cache_read + usage.cache_write
            cost = money(usage.cost_usd, incomplete=spent.cost_is_partial)
            self._say(name, f"{count(sent)} tokens in, {count(usage.output)} out, {cost}")

    def _model(self, key: str) -> None:
        if key:
            self._session.set_model(key)
        self._say("model", self._session.agent.state.model.key)

    def _thinking(self, level: str) -> None:
        known = next((known for known in THINKING_LEVELS if known == level), None)
        if known is not None:
            self._session.set_thinking(known)
        elif level:
            self._say("thinking", f"levels: {', '.join(THINKING_LEVELS)}")
        self._say("thinking", self._session.agent.state.thinking_level)

    def _mode(self, name: str) -> None:
        known = next((known for known in get_args(Mode) if known == name), None)
        if known is not None:
            self._session.approvals.mode = known
        elif name:
            self._say("mode", f"modes: {', '.join(get_args(Mode))}")
        self._say("mode", self._session.approvals.mode)
