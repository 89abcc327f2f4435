"""Where the turn is: running, stopping, over, and how; the words of the status for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from agent_tui.tui.banner import stopping_notice

if TYPE_CHECKING:
    from agent_tui.core.events import EndReason
    from agent_tui.tui.pending import Phase
    from agent_tui.tui.status import State

Work = Literal["idle", "waiting", "answering", "tools"]

CAN_CONTINUE = ("error", "tool_error", "max_iterations", "stopped")


class Course:
    """The course that the current or last turn takes."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.is_running = False
        self.continues = False
        """A run has ended, and another one of the same turn follows."""
        self.work: Work = "idle"
        self.arriving = ""
        """What of the answer is arriving: `text`, `thinking` or `call`."""
        self.is_killing = False
        """The stop was pressed again."""
        self.stops_to_send = False
        """The turn is stopped to make room for a message: what is queued follows without a word."""
        self.was_stopped = False
        """The last run was aborted, and not to make room for a message."""
        self.has_failed = False
        """The last run ended with an error."""
        self.can_continue = False
        """The last turn broke off in a way that can be gone on from."""
        self._stopping_since: float | None = None

    @property
    def is_stopping(self) -> bool:
        """Between a stop and the end of the turn."""
        return self.is_running and self._stopping_since is not None

    def stop(self, *, to_send: bool) -> None:
        """The turn is being stopped."""
        self.stops_to_send = to_send
        if self._stopping_since is None:
            self._stopping_since = self._now()

    def begin_run(self) -> None:
        """A run of the turn begins."""
        self._stopping_since = None
        self.is_killing = self.can_continue = self.continues = False
        self.is_running = True
        self.work = "waiting"

    def end_run(self, reason: EndReason, *, will_retry: bool) -> None:
        """It has ended; with `will_retry` another one of the turn follows."""
        self.continues = will_retry
        self.work = "waiting" if will_retry else "idle"
        if not will_retry:
            self.can_continue = reason in CAN_CONTINUE
            self.has_failed = reason in ("error", "tool_error")
            self.was_stopped = reason == "aborted" and not self.stops_to_send

    def give_up_retry(self) -> None:
        """The run that was to follow does not."""
        self.was_stopped = self._stopping_since is not None and not self.stops_to_send
        self.has_failed = self.can_continue = True

    def settle(self) -> None:
        """The turn is over."""
        self.is_running = self.continues = False
        self._stopping_since = None
        self.work = "idle"

    # -- in words ----------------------------------------------------------------------------

    def state(self, *, retrying: bool) -> State:
        """For the status; `retrying` while a failed request waits for its next attempt."""
        if not self.is_running:
            return "idle"
        if self.is_stopping:
            return "stopping"
        return "retrying" if retrying else "running"

    def phase(self, *, asking: bool, retrying: bool) -> Phase:
        """For the delivery sentences; `asking` while the person has to answer a question."""
        if not self.is_running:
            return "idle"
        if self.is_stopping:
            return "stopping"
        if asking:
            return "asking"
        return "retrying" if retrying else self.work

    def stop_notice(self) -> str:
        """How long the stop has been taking; empty if there is none."""
        if not self.is_running or self._stopping_since is None:
            return ""
        return stopping_notice(self._now() - self._stopping_since, killing=self.is_killing)

    def activity(self, phase: Phase, tools: Sequence[str]) -> str:
        """What goes on in `phase`, given the names of the running tools."""
        match phase:
            case "waiting":
                return "waiting for the model"
            case "answering":
                arriving = {"thinking": "thinking", "call": "writing a call"}
                return arriving.get(self.arriving, "answering")
            case "tools":
                return tools[0] if len(tools) == 1 else f"{len(tools)} tools"
            case _:
                return ""
