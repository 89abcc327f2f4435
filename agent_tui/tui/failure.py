"""A turn that failed: what went wrong, what can be done about it, and all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.errors import ErrorInfo
from agent_tui.core.messages import AgentMessage, AssistantMessage
from agent_tui.core.text import printable
from agent_tui.tui.answer import View
from agent_tui.tui.banner import error_sentence
from agent_tui.tui.blocks import NoticeBlock
from agent_tui.tui.figures import clock
from agent_tui.tui.keymap import Keymap


def _actions(keymap: Keymap) -> str:
    """What the keys on it do."""
    first = keymap.shown("f6: r tries again")
    return f"{first} · m picks another model · enter shows the details"


class FailureBlock(NoticeBlock):
    """The error of a turn; its last line names what can be done while nothing has been yet."""

    def __init__(self, error: ErrorInfo, model: str = "", keymap: Keymap | None = None) -> None:
        """`model` is `provider/id`, empty if it is not known."""
        self._sentence = error_sentence(error)
        super().__init__(f"{self._sentence}\n{_actions(keymap or Keymap())}", "error")
        self._details = _details(error, model)
        self._is_open = True

    @property
    def can_retry(self) -> bool:
        """Until something else goes on."""
        return self._is_open

    def close(self) -> None:
        """Something else goes on: only what happened stays."""
        self._is_open = False
        self.change(self._sentence)

    def source(self) -> str:
        """The sentence, and below it all that is known."""
        return f"{self._sentence}\n\n{self._details}"


class Failures:
    """The failure that something can be done about, at most one."""

    def __init__(self, view: View, keymap: Keymap) -> None:
        self.can_retry = True
        """False in a recording: what failed there has failed."""
        self._view = view
        self._keymap = keymap
        self._last: FailureBlock | None = None

    def show(self, error: ErrorInfo, messages: Sequence[AgentMessage] = ()) -> None:
        """A turn has failed; `messages` are those of its last run."""
        self.close()
        answers = [message for message in messages if isinstance(message, AssistantMessage)]
        model = f"{answers[-1].provider}/{answers[-1].model}" if answers else ""
        self._last = FailureBlock(error, model, self._keymap)
        self._view.append(self._last)
        if not self.can_retry:
            self.close()

    def close(self) -> None:
        """A run begins, or the conversation is another one."""
        if self._last is not None:
            self._last.close()
            self._view.mark(self._last)
            self._last = None


def _details(error: ErrorInfo, model: str) -> str:
    facts = {
        "kind": error.code,
        "status": str(error.status or ""),
        "model": model,
        "request": error.request_id or "",
        "wait": clock(error.retry_after) if error.retry_after else "",
        "again": "may help" if error.retryable else "will hardly help without a change",
    }
    rows = [f"{name:<8}{value}" for name, value in facts.items() if value]
    return printable("\n".join([*rows, "", error.message]))
