"""The lines of a session file: a header, then entries. `docs/session-format.md` describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.events import json_line
from agent_tui.core.ids import new_id, now_ms
from agent_tui.core.messages import AgentMessage, BranchSummaryMessage, parse_message

VERSION = 1
"""Of the format. A file of a later version is read as far as its entries are understood."""
_ENVELOPE = ("type", "id", "parent_id", "timestamp")
_ROLES = frozenset(
    {
        "user",
        "assistant",
        "tool_result",
        "compaction_summary",
        "branch_summary",
        "custom",
        "bash_execution",
    }
)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""

    id: str
    """The session's."""
    cwd: str
    created_at: int
    """Milliseconds since the epoch."""
    parent_session: str | None = None
    """The id of the session that this one was forked from."""
    version: int = VERSION

    def to_line(self) -> str:
        """One line of JSON with its newline."""
        record: dict[str, Any] = {"type": "session", "version": self.version, "id": self.id}
        record |= {"created_at": self.created_at, "cwd": self.cwd}
        if self.parent_session is not None:
            record["parent_session"] = self.parent_session
        return json_line(record) + "\n"

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Header | None:
        """The header in a record; None if it is none."""
        if record.get("type") != "session" or not isinstance(record.get("id"), str):
            return None
        created, version = record.get("created_at"), record.get("version")
        parent = record.get("parent_session")
        return cls(
            id=record["id"],
            cwd=str(record.get("cwd", "")),
            created_at=created if isinstance(created, int) else 0,
            parent_session=parent if isinstance(parent, str) else None,
            version=version if isinstance(version, int) else VERSION,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One line after the header; never changed once it is written."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """The fields of this type; of a `message` everything is in `message` instead."""
    parent_id: str | None = None
    """The entry before it on its branch; None for the first."""
    id: str = field(default_factory=new_id)
    """Unique in the file; a message entry has the id of its message."""
    timestamp: int = field(default_factory=now_ms)
    """Milliseconds since the epoch."""
    message: AgentMessage | None = None

    def to_line(self) -> str:
        """One line of JSON with its newline."""
        record: dict[str, Any] = {"type": self.type, "id": self.id, "parent_id": self.parent_id}
        record["timestamp"] = self.timestamp
        record |= (
            {"message": self.message} if self.type == "message" and self.message else self.data
        )
        return json_line(record) + "\n"

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Entry:
        """The entry in a record that has an `id`; a message that nobody knows stays plain data.

        Raises:
            pydantic.ValidationError: The message is of a known kind, but not whole.
        """
        data = {key: value for key, value in record.items() if key not in _ENVELOPE}
        message = data.get("message")
        known = record["type"] == "message" and isinstance(message, dict)
        if known and message is not None and message.get("role") in _ROLES:
            return cls(
                record["type"],
                {},
                record.get("parent_id"),
                record["id"],
                record.get("timestamp", 0),
                parse_message(_mended(message)),
            )
        place = (record.get("parent_id"), record["id"], record.get("timestamp", 0))
        return cls(record["type"], data, *place, _branch_summary(data, *place[1:], record["type"]))


def _branch_summary(
    data: Mapping[str, Any], entry_id: str, timestamp: int, kind: str
) -> BranchSummaryMessage | None:
    """The message that stands for a branch that was left; None in entries of other types."""
    summary = data.get("summary")
    if kind != "branch_summary" or not isinstance(summary, str):
        return None
    left = str(data.get("from_id") or "")
    return BranchSummaryMessage(id=entry_id, timestamp=timestamp, summary=summary, from_id=left)


def _mended(message: dict[str, Any]) -> dict[str, Any]:
    """Arguments that are no object become raw text with an error: such a call is never run."""
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return message
    return {**message, "content": [_mended_block(block) for block in content]}


def _mended_block(block: Any) -> Any:
    if not isinstance(block, dict) or block.get("type") != "tool_call":
        return block
    arguments = block.get("arguments", {})
    if isinstance(arguments, dict):
        return block
    raw = arguments if isinstance(arguments, str) else json_line({"arguments": arguments})
    error = "the arguments in the session file are no JSON object"
    return {**block, "arguments": {}, "raw_arguments": raw, "arguments_error": error}
