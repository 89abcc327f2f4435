"""The commands about commands in the background: send one there, look at them, end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_tui.core.figures import clock, plural
from agent_tui.core.text import one_line
from agent_tui.tui.blocks import ToolBlock

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp


class JobVerbs:
    """One method a verb, named as in the registry."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app

    def background(self, _: str) -> str | None:
        """Let the command that began last go on in the background."""
        return self._detach(None)

    def detach(self, block: ToolBlock) -> None:
        """Let the command of this panel go on in the background."""
        call_id = self._app.presenter.call_of(block)
        if call_id is None:
            self._app.flash("That call is over.", "quiet")
        elif (reason := self._detach(call_id)) is not None:
            self._app.flash(reason, "quiet")

    def jobs(self, argument: str) -> str | None:
        """Look at the jobs, or end one."""
        jobs = self._app.session.jobs
        if jobs is None or not jobs.all:
            return "There are no jobs: b on the panel of a running command makes one."
        word, _, number = argument.partition(" ")
        if not argument:
            self._pick()
            return None
        job = jobs.get(int(number)) if word == "end" and number.strip().isdecimal() else None
        if job is None:
            return "/jobs takes nothing, or `end NUMBER`."
        self._end(job)
        return None

    def _detach(self, call_id: str | None) -> str | None:
        jobs = self._app.session.jobs
        if jobs is None or not jobs.to_background(call_id):
            return "No command is running that could go to the background."
        return None

    def _pick(self) -> None:
        from agent_tui.tui.screens.choice import Choice, ChoiceScreen

        jobs = self._app.session.jobs
        assert jobs is not None
        choices = [Choice(f"job {job.number}", _about(job)) for job in reversed(jobs.all)]
        self._app.push_screen(ChoiceScreen("Jobs: enter looks at one", choices), self._picked)

    def _picked(self, value: str | None) -> None:
        jobs = self._app.session.jobs
        words = (value or "").split()
        if jobs is None or len(words) != 2 or (job := jobs.get(int(words[1]))) is None:
            return
        from agent_tui.tui.screens.choice import Choice, ChoiceScreen

        choices = [Choice("look", "at all that it printed, and follow it")]
        choices += [Choice("end", "it and all that it started")] if job.is_running else []
        title = f"Job {job.number}: {one_line(job.command, 60)}"

        def chosen(act: str | None) -> None:
            if act == "look":
                self._look(job)
            elif act == "end":
                self._end(job)

        self._app.push_screen(ChoiceScreen(title, choices), chosen)

    def _look(self, job: Any) -> None:
        from agent_tui.tui.screens.output import OutputScreen
        from agent_tui.tui.texts import FileText, PlainText

        path = job.log.path
        text = PlainText(job.log.live()) if path is None else FileText(path)
        title = f"Job {job.number}  {one_line(job.command, 80)}"
        self._app.push_screen(OutputScreen(title, text, path=path, follows=job.is_running))

    def _end(self, job: Any) -> None:
        jobs = self._app.session.jobs
        if jobs is None or not job.is_running:
            self._app.flash(f"Job {job.number} has ended already.", "quiet")
            return
        self._app.flash(f"Ending job {job.number}…")
        self._app.start(jobs.end(job))


def _about(job: Any) -> str:
    lines = plural(job.log.lines, "line")
    return f"{job.state} · {clock(job.seconds)} · {lines} · {one_line(job.command, 60)}"
