"""Commands in the background, as far as the conversation is concerned."""

from __future__ import annotations

from agent_tui.core.messages import AgentMessage, CustomMessage, UserMessage
from agent_tui.session.events import JobsEvent
from agent_tui.session.own_shell import OwnShell
from agent_tui.tools import Job, Jobs

JOB_ENDED = "job_ended"
"""The `custom_type` of the message that tells the model of a job that has ended."""


class Working(OwnShell):
    """The part of a session that is about jobs."""

    jobs: Jobs | None = None
    """Commands in the background; None where there are no built-in tools."""
    _job_news: tuple[CustomMessage, ...] = ()
    """Jobs that have ended, of which the model does not know yet."""

    def employ(self, jobs: Jobs) -> None:
        """Look after these jobs: the model is told when one ends, and they end with the session."""
        self.jobs = jobs
        jobs.on_end = self._job_ended
        jobs.on_change = self._jobs_changed

    def dismiss_jobs(self) -> None:
        """The session ends, and all jobs with it."""
        self._stop_own_commands()
        if self.jobs is not None:
            self.jobs.on_change = lambda: None
            self.jobs.on_end = lambda job: None
            self.jobs.close()

    def _jobs_changed(self) -> None:
        if self.jobs is not None:
            running = [job.sentence for job in self.jobs.running]
            self._post(JobsEvent(running))

    def _job_ended(self, job: Job) -> None:
        news = job.news()
        text = f"{job.sentence}\n\n{news}" if news else job.sentence
        message = CustomMessage(custom_type=JOB_ENDED, content=text, details={"job": job.number})
        if self.agent.state.pending_tool_calls:
            self.agent.steer(message)  # another model call follows anyway
        else:
            self._job_news = (*self._job_news, message)

    def _with_news(self, said: str | AgentMessage | list[AgentMessage]) -> str | list[AgentMessage]:
        """A prompt, behind what happened since the last one."""
        self._keep_own_commands()
        news, self._job_news = self._job_news, ()
        if isinstance(said, str) and not news:
            return said
        messages = as_messages(said)
        return [*news, *messages] if messages else messages


def as_messages(said: str | AgentMessage | list[AgentMessage]) -> list[AgentMessage]:
    """A prompt as messages; a blank text is none."""
    if isinstance(said, str):
        return [UserMessage(content=said)] if said.strip() else []
    return list(said) if isinstance(said, list) else [said]
