"""One item of a Responses answer while it arrives: a message, reasoning, or a call.

Pieces are shown as they come. The whole, which follows them, is what counts: what is missing is
added, and where it says something else it replaces what was shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from agent_tui.core.errors import ProviderError
from agent_tui.core.messages import TextBlock, ThinkingBlock
from agent_tui.providers.calls import fresh_call_id
from agent_tui.providers.loose import items, mapping, text, unpacked
from agent_tui.providers.stream import MessageBuilder

Part: TypeAlias = tuple[str, int]
"""A part of an item: its form, and its number among those of that form."""

_ARGUMENTS: Part = ("arguments", 0)


class Item:
    """One item, written into a `MessageBuilder`. Of an unknown kind it writes nothing."""

    def __init__(
        self, builder: MessageBuilder, index: int | None, raw: Mapping[str, Any], kind: str = ""
    ) -> None:
        self.kind = kind or text(raw.get("type"))
        """`message`, `reasoning`, `function_call`, or what we do not know."""
        self.index = index
        """Its place in the answer, None where the server does not tell."""
        self.item_id = raw.get("id")
        self.is_done = False
        self._builder = builder
        self._place = -1
        """Content index of its block; negative as long as it has none."""
        self._pieces: dict[Part, list[str]] = {}
        self._wholes: dict[Part, str] = {}
        if builder.open_block is not None:
            builder.close_block()
        self._writer: Callable[[str], None] = _ignore
        if self.kind == "function_call":
            self._place = builder.open_call(text(raw.get("call_id")), _name_in(raw))
            self._writer = partial(builder.arguments, self._place)
        elif self.kind == "message":
            self._writer = builder.text
        elif self.kind == "reasoning":
            self._writer = builder.thinking

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is missing."""
        return self.is_done or bool(self._wholes)

    def add(self, part: Part, delta: str) -> None:
        """Take in a piece of a part."""
        if not delta or self.is_done:
            return
        if self.kind == "reasoning" and self._pieces and part not in self._pieces:
            if part[0] != self._form:
                return  # the same thoughts in another form
            self._write("\n\n")
        self._pieces.setdefault(part, []).append(delta)
        self._write(delta)

    def settle(self, part: Part, whole: str) -> None:
        """Take in the whole of a part."""
        if not whole or self.is_done:
            return
        self._wholes[part] = whole
        if whole.startswith(said := self._said(part)):
            self.add(part, whole[len(said) :])

    def finish(self, raw: Mapping[str, Any]) -> None:
        """The item is complete, and this is it.

        Raises:
            ProviderError: The arguments of a call came twice, and differ.
        """
        if self.is_done:
            return
        match self.kind:
            case "message":
                self._finish_message(raw)
            case "reasoning":
                self._finish_reasoning(raw)
            case "function_call":
                self._finish_call(raw)
        self.is_done = True

    def add_encrypted(self, raw: Mapping[str, Any]) -> None:
        """Keep encrypted reasoning that came only with the end of the response."""
        block = self._block()
        if not raw.get("encrypted_content") or not isinstance(block, ThinkingBlock):
            return
        if not unpacked(block.signature).get("encrypted_content"):
            block.signature = _kept(raw)

    # -- what it finally is ------------------------------------------------------------------

    def _finish_message(self, raw: Mapping[str, Any]) -> None:
        parts = [mapping(part) for part in items(raw.get("content"))]
        wholes = [text(part.get("text")) or text(part.get("refusal")) for part in parts]
        for number, whole in enumerate(wholes):
            self.settle(("text", number), whole)
        self._close()
        if isinstance(block := self._block(), TextBlock):
            block.text = "".join(wholes) or block.text
            known = {"id": raw.get("id"), "phase": raw.get("phase")}
            block.signature = json.dumps({k: v for k, v in known.items() if isinstance(v, str)})

    def _finish_reasoning(self, raw: Mapping[str, Any]) -> None:
        by_form = {
            form: [text(mapping(part).get("text")) for part in items(raw.get(form))]
            for form in ("summary", "content")
        }
        form = self._form or ("summary" if any(by_form["summary"]) else "content")
        for number, whole in enumerate(by_form[form]):
            self.settle((form, number), whole)
        self._close()
        if isinstance(block := self._block(), ThinkingBlock):
            block.thinking = "\n\n".join(filter(None, by_form[form])) or block.thinking
            block.signature = _kept(raw)
        elif raw.get("encrypted_content"):
            self._place = len(self._builder.message.content)
            self._builder.seal_thinking(_kept(raw))

    def _finish_call(self, raw: Mapping[str, Any]) -> None:
        call = self._builder.call(self._place)
        taken = {other.id for other in self._builder.message.tool_calls if other is not call}
        call.id = text(raw.get("call_id")).strip() or call.id
        if not call.id or call.id in taken:
            call.id = fresh_call_id()
        call.name = _name_in(raw) or call.name
        call.thought_signature = text(raw.get("id")) or None
        arguments = raw.get("arguments")
        if isinstance(arguments, dict) and not self._pieces:
            call.arguments = arguments
        else:
            self.settle(_ARGUMENTS, text(arguments))
        said = self._said(_ARGUMENTS)
        if not _same_json(said, self._wholes.get(_ARGUMENTS, said)):
            raise ProviderError(
                f"the server sent the arguments of {call.name} twice, and not the same",
                retryable=True,
            )
        self._builder.close_call(self._place)

    # -- writing -----------------------------------------------------------------------------

    @property
    def _form(self) -> str:
        """The form in which it arrives; empty as long as nothing has."""
        return next(iter(self._pieces), ("", 0))[0]

    def _said(self, part: Part) -> str:
        return "".join(self._pieces.get(part, ()))

    def _write(self, delta: str) -> None:
        if self._place >= 0:
            self._writer(delta)
            return
        content = self._builder.message.content
        size = len(content)
        self._writer(delta)
        if len(content) > size:
            self._place = size

    def _block(self) -> Any:
        return self._builder.message.content[self._place] if self._place >= 0 else None

    def _close(self) -> None:
        if self._place >= 0 and self._builder.open_block == self._place:
            self._builder.close_block()


def _ignore(_: str) -> None:
    """What items of unknown kinds do with their text."""


def _name_in(raw: Mapping[str, Any]) -> str:
    return text(raw.get("name")).strip()


def _kept(raw: Mapping[str, Any]) -> str:
    """What of a reasoning item goes back: all that it says, without what it does not say."""
    kept = {name: value for name, value in raw.items() if value is not None and name != "status"}
    return json.dumps(kept, ensure_ascii=False)


def _same_json(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False
