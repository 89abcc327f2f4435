"""Tool calls on the screen: each has a panel from its first token to its result.

Knows which calls are under way, since when, and how each one ended: well, badly, declined, killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_tui.core.events import (
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from agent_tui.core.messages import (
    AgentMessage,
    BashExecutionMessage,
    ToolResultMessage,
    text_of,
)
from agent_tui.core.text import one_line
from agent_tui.core.tool import ToolResult
from agent_tui.tui.banner import Killed
from agent_tui.tui.blocks import Block, NoticeBlock, ToolBlock, ToolStatus
from agent_tui.tui.grouping import GroupedView
from agent_tui.tui.panels import (
    TARGET_LIMIT,
    changed_path,
    path_of,
    range_read,
    size_of,
    target_of,
    text_of_call,
)

DECLINED = "The user declined this call"
"""How the answer to a call begins that a person declined; a comment follows after a colon."""

CUT_SHORT = (
    "Aborted by the user",
    "Stopped by the user",
    "Stopped: another tool call failed",
    "Interrupted: the program ended",
    "Command aborted",
)
"""How the line begins that says, near the end of a result, that a call was stopped half-way."""

NEVER_RAN = ("Not started", "Aborted by the user before", "Aborted by the user. Not started")
"""How the engine's answers to calls begin that it did not run."""


@dataclass(slots=True)
class _Open:
    """A call that is being executed, or waits for its turn."""

    block: ToolBlock
    name: str
    label: str
    """What a person calls it: its target, else its name."""
    since: float
    lines: int = 0


@dataclass(slots=True)
class Calls:
    """The calls of the step under way and their panels."""

    view: GroupedView
    now: Callable[[], float]
    killed: list[Killed] = field(default_factory=list)
    """Calls that were ended by the person in this turn."""
    changed: set[str] = field(default_factory=set)
    """Files that tools changed in this turn."""
    files: dict[str, str] = field(default_factory=dict)
    """Block id → the file that holds all of its output, where the panel holds only a part."""
    is_stopping: bool = False
    _panels: dict[str, ToolBlock] = field(default_factory=dict)
    _open: dict[str, _Open] = field(default_factory=dict)
    _killing: set[str] = field(default_factory=set)
    _refused: dict[str, str] = field(default_factory=dict)

    def begin_turn(self) -> None:
        """Nothing is killed or changed yet."""
        self.killed, self.changed = [], set()
        self.view.begin_turn()
        self.begin_step()

    def begin_step(self) -> None:
        """The panels of the step before are history."""
        for known in (self._panels, self._open, self._killing, self._refused):
            known.clear()

    @property
    def running(self) -> list[tuple[str, str, float]]:
        """Name, label and seconds of every open call, in call order."""
        now = self.now()
        return [(call.name, call.label, now - call.since) for call in self._open.values()]

    def id_of(self, block: Block) -> str | None:
        """The id of the open call that this panel shows."""
        return next((id_ for id_, call in self._open.items() if call.block is block), None)

    def adopt(self, block: ToolBlock) -> None:
        """This panel shows a call that is complete now; its execution will find it by id."""
        self._panels[block.call_id] = block

    def kill(self, call_id: str) -> None:
        """The person ends this call: its error is no failure of the tool."""
        self._killing.add(call_id)

    def refuse(self, call_id: str, why: str) -> None:
        """The person said no to this call, with these words or none."""
        self._refused[call_id] = why

    def ask(self, call_id: str, word: str = "asks you") -> None:
        """A question about this call is open: nothing of the step runs until it is answered."""
        for known, call in self._open.items():
            call.block.wait(word if known == call_id else "waits its turn")
            self.view.mark(call.block)

    def rename(self, call_id: str, name: str, args: Mapping[str, Any], *, by_person: bool) -> None:
        """A hook, or the person, has changed what this call will do."""
        if (call := self._open.get(call_id)) is not None:
            target = target_of(name, args)
            call.label = target or name
            by = "edited by you" if by_person else "changed by a hook"
            call.block.name_target(name, f"{target} ({by})")
            self.view.mark(call.block)

    def hook_runs(self, call_id: str) -> None:
        """A hook of the person's is asked about this call."""
        if (call := self._open.get(call_id)) is not None:
            call.block.wait("waits for a hook")
            self.view.mark(call.block)

    def hook_ended(self, call_id: str) -> None:
        """That hook is not waited for any more."""
        if (call := self._open.get(call_id)) is not None:
            call.block.start(call.since)
            self.view.mark(call.block)

    def restart_clocks(self) -> None:
        """A question was answered: what waited for it begins now."""
        now = self.now()
        for call in self._open.values():
            call.since = now
            call.block.start(now)
            self.view.mark(call.block)

    # -- events ------------------------------------------------------------------------------

    def begin(self, event: ToolExecutionStartEvent) -> None:
        """The call is taken up."""
        block = self._panels.get(event.tool_call_id)
        if block is None:
            block = ToolBlock(event.tool_call_id, event.tool_name)
            self.view.append(block)
        target = target_of(event.tool_name, event.args)
        block.name_target(event.tool_name, target, path_of(event.tool_name, event.args))
        now = self.now()
        block.start(now)
        self._open[event.tool_call_id] = _Open(
            block, event.tool_name, target or event.tool_name, now
        )
        self.view.mark(block)

    def update(self, event: ToolExecutionUpdateEvent) -> None:
        """The tool reported output."""
        if (call := self._open.get(event.tool_call_id)) is None:
            return
        result = event.partial_result
        details = result.details if isinstance(result.details, dict) else {}
        lines = details.get("lines")
        call.lines = lines if isinstance(lines, int) else result.text.count("\n") + 1
        self._keep_file(call.block, details)
        call.block.update(result.text, lines=call.lines, now=self.now())
        self.view.mark(call.block)

    def end(self, event: ToolExecutionEndEvent) -> None:
        """The call has its result."""
        call_id, result = event.tool_call_id, event.result
        if (call := self._open.pop(call_id, None)) is None:
            return
        now, block = self.now(), call.block
        if not event.is_error:
            if path := changed_path(call.name, result.details):
                self.changed.add(path)
            self._close(block, "ok", call.name, event, now)
        elif call_id in self._refused:
            said = self._refused[call_id]
            block.finish("declined", summary=f'"{said}"' if said else "")
        elif result.text.startswith(NEVER_RAN):
            block.finish("killed", summary="before it started")
        elif self.is_stopping or call_id in self._killing:
            self.killed.append(Killed(call.label, now - call.since, call.lines))
            self._close(block, "killed", call.name, event, now)
        else:
            self._close(block, "failed", call.name, event, now)
        self.view.settle(block)

    def show_result(self, message: ToolResultMessage) -> None:
        """A result of an earlier time goes into the panel of its call."""
        block = self._panels.pop(message.tool_call_id, None)
        if block is None:
            return
        name, details = message.tool_name, message.details
        self._keep_file(block, details)
        if message.is_error and (said := _refused_before(message.text)) is not None:
            block.finish(said[0], summary=said[1])
            self.view.settle(block)
            return
        block.finish(
            _status_before(message),
            summary=size_of(name, message.text, details, is_error=message.is_error),
            text=text_of_call(message.text, details, message.content),
            details=details if isinstance(details, dict) else None,
        )
        self._name_range(block, name, details)
        self.view.settle(block)

    def show_other(self, message: AgentMessage) -> None:
        """A message of an earlier time that is none of a conversation: a note, a command."""
        if isinstance(message, BashExecutionMessage):
            self.own_ended(self.own_began(message.command, message.exclude_from_context), message)
            return
        text = text_of(getattr(message, "content", "")) or getattr(message, "summary", "")
        self.view.append(NoticeBlock(text))

    # -- commands of the person's own --------------------------------------------------------

    def own_began(self, command: str, is_hidden: bool) -> ToolBlock:
        """The panel of a command that the person runs; `is_hidden` from the model."""
        block = ToolBlock("", "!!" if is_hidden else "!", one_line(command, TARGET_LIMIT))
        self.view.append(block)
        return block

    def own_runs(self, block: ToolBlock) -> None:
        """It is at work."""
        block.start(self.now())
        self.view.mark(block)

    def own_prints(self, block: ToolBlock, result: ToolResult) -> None:
        """All that it has printed, or the end of that."""
        details = result.details if isinstance(result.details, dict) else {}
        self._keep_file(block, details)
        block.update(result.text, lines=details.get("lines"), now=self.now())
        self.view.mark(block)

    def own_ended(self, block: ToolBlock, message: BashExecutionMessage) -> None:
        """It has ended, now or at an earlier time."""
        is_ok = message.exit_code == 0
        now = self.now() if block.is_running else None
        details = {"exit_code": message.exit_code, "lines": block.lines_so_far or None}
        self._keep_file(block, {"output_path": message.full_output_path})
        block.finish(
            "killed" if message.cancelled else "ok" if is_ok else "failed",
            summary=size_of("bash", message.output, details, is_error=not is_ok),
            text=message.output,
            now=now,
        )
        self.view.mark(block)

    def _close(
        self,
        block: ToolBlock,
        status: ToolStatus,
        name: str,
        event: ToolExecutionEndEvent,
        now: float,
    ) -> None:
        result = event.result
        self._keep_file(block, result.details)
        block.finish(
            status,
            summary=size_of(name, result.text, result.details, is_error=event.is_error),
            text=text_of_call(result.text, result.details, result.content),
            details=result.details if isinstance(result.details, dict) else None,
            now=now,
        )
        self._name_range(block, name, result.details)

    def _name_range(self, block: ToolBlock, name: str, details: object) -> None:
        if name == "read" and block.path and (lines := range_read(details)):
            block.name_target(name, block.path + lines)

    def _keep_file(self, block: ToolBlock, details: object) -> None:
        path = details.get("output_path") if isinstance(details, dict) else None
        if isinstance(path, str):
            self.files[block.id] = path


def _refused_before(text: str) -> tuple[ToolStatus, str] | None:
    """The state and the summary of an earlier call that never ran; None if it did run."""
    if text.startswith(DECLINED):
        comment = text.removeprefix(DECLINED).lstrip(":.").strip()
        return "declined", f'"{comment}"' if comment else ""
    return ("killed", "before it started") if text.startswith(NEVER_RAN) else None


def _status_before(message: ToolResultMessage) -> ToolStatus:
    """How an earlier call ended, out of what its result says at its end."""
    if not message.is_error:
        return "ok"
    last = [line for line in message.text.splitlines() if line.strip()][-2:]
    return "killed" if any(line.startswith(CUT_SHORT) for line in last) else "failed"
