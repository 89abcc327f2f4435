"""Verbs about what the agent may do: answers, the mode, rules, trust in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent_tui.config import Mode, Rule, Trust

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp

MODES: dict[Mode, str] = {
    "ask": "writing and shell ask first",
    "auto-edit": "edits in the project are free, shell asks",
    "full-auto": "nothing in the project asks",
    "read-only": "writing and shell are refused",
}
SCOPES: tuple[Literal["session", "project", "everywhere"], ...] = (
    "session",
    "project",
    "everywhere",
)
SECOND_THOUGHTS = 0.8
"""Seconds until a mode that a key went to judges the open question: more keys may follow."""
_ORIGINS = {
    "session": "until the program ends",
    "project": "in this project",
    "everywhere": "everywhere",
    "settings": "in your config.toml",
    "project settings": "in the project's .agent-tui/config.toml",
}


class ApprovalVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    # -- answers -----------------------------------------------------------------------------

    def yes(self, _: str) -> str | None:
        """Allow once; what is held goes on."""
        breaks = self._app.verbs.on_breaks
        if breaks.held is not None:
            return breaks.answer("go")
        return self._answer("once", None)

    def no(self, comment: str) -> str | None:
        """Decline; the comment goes to the model."""
        return self._answer("decline", comment or None)

    def always(self, scope: str) -> str | None:
        """Allow from now on: in this session, this project, or everywhere."""
        asked = self._app.session.approvals.pending
        if not asked:
            return "Nothing asks for an answer."
        if scope and scope not in SCOPES:
            return f"/always takes {', '.join(SCOPES)} or nothing."
        if asked[0].rule is None:
            return "No rule is sure enough for this call: /yes allows it once."
        approvals = self._app.session.approvals
        chosen = next((known for known in SCOPES if known == scope), approvals.usual_scope)
        approvals.answer(asked[0].id, "always", scope=chosen)
        said = (
            approvals.problem or f"Stored: {asked[0].rule} ({_ORIGINS[chosen]}). /rules lists all."
        )
        self._app.flash(said, "warning" if approvals.problem else "activity")
        return None

    def _answer(self, verdict: Literal["once", "decline"], comment: str | None) -> str | None:
        return None if self._app.answer(verdict, comment) else "Nothing asks for an answer."

    # -- the mode ----------------------------------------------------------------------------

    def mode(self, name: str) -> str | None:
        """Take the named approval mode, or the next one."""
        approvals = self._app.session.approvals
        names = list(MODES)
        chosen = next((known for known in names if known == name), None)
        if name and chosen is None:
            return f"Modes: {', '.join(names)}."
        if chosen is not None:
            approvals.mode = chosen
        else:
            chosen = names[(names.index(approvals.mode) + 1) % len(names)]
            approvals.preselect(chosen)
            self._app.set_timer(SECOND_THOUGHTS, lambda: self._judge_again(chosen))
        self._app.flash(f"{chosen}: {MODES[chosen]}")
        return None

    def _judge_again(self, mode: Mode) -> None:
        approvals = self._app.session.approvals
        if approvals.mode == mode:
            approvals.judge_again()

    # -- rules -------------------------------------------------------------------------------

    def rules(self, _: str) -> str | None:
        """Show the rules, and take one back."""
        rules = self._app.session.approvals.rules
        if not rules:
            return "There are no rules yet: /always makes one, and so does [rules] in config.toml."
        from agent_tui.tui.screens.choice import Choice, ChoiceScreen

        choices = [Choice(_shown(rule, place)) for place, rule in enumerate(rules, start=1)]
        screen = ChoiceScreen("Rules: enter takes one back, esc leaves all", choices)
        self._app.push_screen(screen, self._take_back)
        return None

    def _take_back(self, chosen: str | None) -> None:
        approvals = self._app.session.approvals
        rules = {_shown(rule, place): rule for place, rule in enumerate(approvals.rules, start=1)}
        rule = rules.get(chosen or "")
        if rule is None:
            return
        try:
            gone = approvals.forget(rule)
        except OSError as error:
            self._app.flash(f"The rule stays: {error}", "warning")
            return
        where = _ORIGINS[rule.origin]
        said = f"{rule}: taken back." if gone else f"That rule stands {where}: take it out there."
        self._app.flash(said, "activity" if gone else "warning")

    # -- trust -------------------------------------------------------------------------------

    def trust(self, answer: str) -> str | None:
        """Use what the folder brings along, or do not."""
        settings = self._app.settings
        if settings is None:
            return "This chat was opened without settings, so nothing of the folder is used."
        if answer not in ("", "yes", "no"):
            return "/trust takes `no` or nothing."
        trust = Trust(settings.folders)
        try:
            kept = trust.refuse(settings.cwd) if answer == "no" else trust.trust(settings.cwd)
        except OSError as error:
            return f"The answer cannot be kept: {error}"
        if not kept:
            return "There is nothing in .agent-tui/ here, or more than can be looked through."
        if answer == "no":
            self._app.flash("What the folder brings along is not used.")
        elif settings.is_trusted:
            self._app.flash("Trusted already.")
        elif self._app.session.agent.state.messages or self._app.is_busy:
            self._app.flash(
                "Trusted: /reload uses its tools, hooks, skills and templates, the next start all."
            )
        else:
            self._app.leaving.for_another(None)
        return None


def _shown(rule: Rule, place: int) -> str:
    return f"{place}. {rule.verdict} {rule} · {_ORIGINS[rule.origin]}"
