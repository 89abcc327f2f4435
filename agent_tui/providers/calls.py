"""Which tool call does a piece belong to? Servers disagree; this is where the answers meet.

A piece is keyed by `index`; else by a known `id`; else a piece with a name opens a call and one
without continues the last. Calls of servers that send index 0 every time are told apart by a fresh
id, or by arguments that are already complete.
"""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.messages import ToolCall
from agent_tui.providers.stream import MessageBuilder

_ALPHANUMERIC = string.ascii_letters + string.digits


def fresh_call_id() -> str:
    """A new id as OpenAI's servers make them."""
    return "call_" + "".join(secrets.choice(_ALPHANUMERIC) for _ in range(24))


def fresh_short_id() -> str:
    """A new id of nine letters and digits, the only form that Mistral takes."""
    return "".join(secrets.choice(_ALPHANUMERIC) for _ in range(9))


def add_whole_call(
    builder: MessageBuilder,
    call_id: Any,
    name: Any,
    arguments: Any,
    make_id: Callable[[], str] = fresh_call_id,
) -> ToolCall:
    """Put a call into the message that came in one piece, its arguments as an object.

    An id that is missing, or that an earlier call of the message has, is replaced. Arguments that
    are no object stay text, which the engine refuses with a sentence for the model.
    """
    taken = {call.id for call in builder.message.tool_calls}
    own_id = call_id if isinstance(call_id, str) and call_id.strip() else make_id()
    while own_id in taken:
        own_id = make_id()
    place = builder.open_call(own_id, name.strip() if isinstance(name, str) else "")
    call = builder.call(place)
    if isinstance(arguments, dict):
        call.arguments = arguments
    elif arguments is not None:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        builder.arguments(place, text)
    builder.close_call(place)
    return call


@dataclass(slots=True)
class _Slot:
    place: int
    index: int | None
    pieces: list[str] = field(default_factory=list)
    held: str = ""
    is_whole: bool = False

    @property
    def is_complete(self) -> bool:
        if self.is_whole:
            return True
        try:
            return isinstance(json.loads("".join(self.pieces) + self.held, strict=False), dict)
        except ValueError:
            return False

    @property
    def is_empty(self) -> bool:
        return not (self.pieces or self.held or self.is_whole)


class CallAssembler:
    """Puts the tool calls of one message together in a `MessageBuilder`."""

    def __init__(self, builder: MessageBuilder, make_id: Callable[[], str] = fresh_call_id) -> None:
        self._builder = builder
        self._make_id = make_id
        self._slots: list[_Slot] = []

    def add(self, piece: dict[str, Any]) -> None:
        """Take in one entry of a delta's `tool_calls`."""
        function = piece.get("function")
        if not isinstance(function, dict):
            function = {}
        raw_index, raw_id, raw_name = piece.get("index"), piece.get("id"), function.get("name")
        index = raw_index if isinstance(raw_index, int) else None
        call_id = "" if raw_id is None else str(raw_id)
        name = raw_name if isinstance(raw_name, str) else ""
        arguments = function.get("arguments")
        slot = self._find(index, call_id, name, arguments)
        if slot is None:
            slot = _Slot(self._builder.open_call(call_id, name), index)
            self._slots.append(slot)
        else:
            self._name(slot, call_id, name)
        self._argue(slot, arguments)

    def finish(self) -> None:
        """Trim the names, give every call an id of its own, and close the calls."""
        seen: set[str] = set()
        for slot in self._slots:
            call = self._call(slot)
            call.name = call.name.strip()
            if not call.id.strip() or call.id == "null" or call.id in seen:
                call.id = self._make_id()
            seen.add(call.id)
            if slot.held:
                self._builder.arguments(slot.place, slot.held)
            self._builder.close_call(slot.place)
        self._slots.clear()

    def _call(self, slot: _Slot) -> ToolCall:
        return self._builder.call(slot.place)

    def _find(self, index: int | None, call_id: str, name: str, arguments: Any) -> _Slot | None:
        if index is not None:
            same = [slot for slot in self._slots if slot.index == index]
            if not same or self._is_another(same[-1], call_id, name, arguments):
                return None
            return same[-1]
        if call_id:
            for slot in reversed(self._slots):
                if self._call(slot).id == call_id and not (name and slot.is_complete):
                    return slot
        if name or not self._slots:
            return None
        return self._slots[-1]

    def _is_another(self, open_: _Slot, call_id: str, name: str, arguments: Any) -> bool:
        """Whether a piece with the index of an open call begins a new one."""
        if not name:
            return False
        call = self._call(open_)
        if call_id and call.id:
            # Older vLLM gives every piece of a named call the name and a fresh id.
            return call_id != call.id and (name != call.name or open_.is_complete)
        is_prefix = bool(open_.held) and name == call.name
        return bool(arguments) and open_.is_complete and not is_prefix

    def _name(self, slot: _Slot, call_id: str, name: str) -> None:
        call = self._call(slot)
        call.id = call.id or call_id
        if name and slot.is_empty and name != call.name:
            call.name += name

    def _argue(self, slot: _Slot, arguments: Any) -> None:
        if isinstance(arguments, dict):
            if slot.is_empty:
                slot.is_whole = True
                self._call(slot).arguments = arguments
            return
        delta = arguments if isinstance(arguments, str) else ""
        if arguments is not None and not isinstance(arguments, str):
            delta = json.dumps(arguments)
        if not delta or slot.is_whole:
            return
        if slot.is_empty and delta.strip() == "{}":
            # Some versions of llama.cpp send `{}` first and the real arguments after it.
            slot.held = delta
            return
        if slot.held:
            delta = delta if delta.lstrip().startswith("{") else slot.held + delta
            slot.held = ""
        slot.pieces.append(delta)
        self._builder.arguments(slot.place, delta)
