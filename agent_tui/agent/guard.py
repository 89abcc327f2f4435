"""A model that asks for the same thing over and over: warned first, stopped in the end."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent_tui.core.messages import ToolCall

WARN_AT = 5
STOP_AT = 12
WARNING = (
    f"Warning: the same call has now been made {WARN_AT} times in a row. Repeating it will not "
    f"change the result; after {STOP_AT} times the run is stopped."
)


class IdenticalCallGuard:
    """Counts the consecutive batches that hold the same tool with the same arguments."""

    def __init__(self) -> None:
        self._streaks: dict[str, int] = {}

    @property
    def must_stop(self) -> bool:
        """Whether a call has been repeated so often that the run should end."""
        return max(self._streaks.values(), default=0) >= STOP_AT

    def see(self, calls: Sequence[ToolCall]) -> dict[str, str]:
        """Count a batch; returns the warning for each repeated call, by call id."""
        keys = {call.id: _key(call) for call in calls}
        self._streaks = {key: self._streaks.get(key, 0) + 1 for key in set(keys.values())}
        return {call_id: WARNING for call_id, key in keys.items() if self._streaks[key] == WARN_AT}


def _key(call: ToolCall) -> str:
    arguments = call.raw_arguments or json.dumps(call.arguments, sort_keys=True, default=str)
    return f"{call.name} {arguments}"
