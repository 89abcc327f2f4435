"""Another model for the rest of a turn, when the one in use is overloaded and waiting did not help.

It is put into the agent's state between two runs and taken out when the turn is over; a model that
the person picks meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_tui.agent.state import AgentState
from agent_tui.core.errors import AgentError, ErrorInfo
from agent_tui.core.figures import count
from agent_tui.core.model import Model

OVERLOADS = ("overloaded", "rate_limit")
"""What another model may help against."""
_PASSED_OVER = (*OVERLOADS, "auth", "quota", "network", "timeout", "config")
"""What makes a stand-in useless, so that the next one is taken."""


class Fallback:
    """Knows who stands in for whom. `names` may change at any time."""

    def __init__(
        self,
        state: AgentState,
        find: Callable[[str], Model],
        context_tokens: Callable[[], int | None],
    ) -> None:
        self.names: tuple[str, ...] = ()
        """`provider/id`, in the order in which they are tried."""
        self._state = state
        self.find = find
        """The model of a name."""
        self._context_tokens = context_tokens
        self._main: Model | None = None
        """The model that is stood in for, None while nobody stands in."""
        self._tried: set[str] = set()
        self.doubts: list[str] = []
        """Why names were passed over in this turn."""

    def next_for(self, error: ErrorInfo) -> Model | None:
        """Who goes on after `error` was given up; None if that is final."""
        codes = OVERLOADS if self._main is None else _PASSED_OVER
        if error.code not in codes:
            return None
        self._tried.add(self._state.model.key)
        return next((model for name in self.names if (model := self._usable(name))), None)

    def take(self, model: Model) -> Model:
        """Let `model` answer from now on; returns the one that it replaces."""
        replaced = self._state.model
        if self._main is None:
            self._main = replaced
        self._state.model = model
        return replaced

    def keep(self) -> None:
        """The person has chosen a model: nobody is given back."""
        self._main = None

    def give_back(self) -> None:
        """The turn is over."""
        if self._main is not None:
            self._state.model = self._main
        self._main = None
        self._tried.clear()
        self.doubts.clear()

    def _usable(self, name: str) -> Model | None:
        if name in self._tried:
            return None
        self._tried.add(name)
        try:
            model = self.find(name)
        except AgentError as error:
            self.doubts.append(error.message)
            return None
        if model.key == self._state.model.key or (self._main and model.key == self._main.key):
            return None
        self._tried.add(model.key)
        tokens, window = self._context_tokens() or 0, model.context_window
        if window is not None and tokens >= window:
            self.doubts.append(f"{model.key} reads no more than {count(window)} tokens at once")
            return None
        return model
