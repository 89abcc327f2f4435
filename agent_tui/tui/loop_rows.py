"""A step of the loop as text: three lines for the timeline, a page for the details."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from agent_tui.core.errors import reason_of
from agent_tui.core.messages import AgentMessage, text_of
from agent_tui.core.steps import Sent, Step, ToolRun
from agent_tui.core.text import one_line, printable
from agent_tui.tui.figures import count, plural, span
from agent_tui.tui.panels import target_of
from agent_tui.tui.status import Counters, Span, cost_of, tokens_in, tokens_out

_STATES = {
    "waiting": "waits for the first token",
    "answering": "answering",
    "tools": "tools run",
    "failed": "failed",
    "aborted": "stopped",
}
_NAMES = {
    "user": ("message of yours", "messages of yours"),
    "assistant": ("answer", "answers"),
    "tool_result": ("tool result", "tool results"),
}
_GLYPHS = {"failed": "✗", "aborted": "■", "done": "✓"}


def step_rows(step: Step, now: float) -> list[list[Span]]:
    """What was sent, what came back, what it took."""
    glyph = _GLYPHS.get(step.state, "⠿")
    role = {"✗": "error", "■": "warning", "⠿": "activity"}.get(glyph, "")
    first: list[Span] = [(f"{glyph} {name_of(step)}  ", role or "title"), (sent_words(step), "")]
    rows = [first, [("    → ", "quiet"), (answer_words(step), "")]]
    if figures := figure_words(step, now):
        rows.append([(f"    {figures}", "quiet")])
    return rows


def name_of(step: Step) -> str:
    """`turn 2 step 3`, or its number for a step of an earlier time."""
    return f"#{step.number} earlier" if step.is_past else f"turn {step.turn} step {step.step}"


def sent_words(step: Step) -> str:
    """The difference to the request before."""
    sent = step.sent
    if sent is None:
        return _added(step.new) or ("not sent" if not step.is_past else "")
    if sent.kept == 0 and not sent.dropped and not sent.changes:
        tools = plural(len(sent.tools), "tool")
        parts = [f"{plural(sent.count, 'message')}, {tools}, all new"]
    else:
        parts = [_added(sent.new) or "nothing new"]
    if sent.dropped:
        parts.append(f"−{plural(sent.dropped, 'message')}")
    return " · ".join([*parts, *_changes(sent)])


def answer_words(step: Step) -> str:
    """What came back, why it ended, and the tools that ran."""
    parts = []
    if step.thinking:
        parts.append(f"thoughts {count(step.thinking)}")
    if step.text:
        parts.append(f"text {count(step.text)}")
    parts += [_tool_words(run) for run in step.tools]
    if step.state in _STATES:
        parts.append(_STATES[step.state])
    elif step.message is not None:
        parts.append(step.message.stop_reason.replace("_", " "))
    if step.failures:
        tries = plural(len(step.failures), "failed try").replace("trys", "tries")
        parts.append(f"{tries}: {reason_of(step.failures[-1].error)}")
    return " · ".join(parts) or "nothing yet"


def figure_words(step: Step, now: float) -> str:
    """Times, tokens and money; empty for nothing known."""
    parts = []
    if step.to_first_token is not None:
        parts.append(f"{span(step.to_first_token)} to first token")
    rate, is_estimate = step.rate(now)
    if rate is not None:
        parts.append(f"{'~' if is_estimate else ''}{rate:.0f} tok/s")
    if step.spent.requests:
        counters = Counters(spent=step.spent)
        parts += [_input(counters), tokens_out(counters), cost_of(step.spent)]
    return " · ".join(parts)


def details(step: Step, now: float) -> str:
    """Everything that is known of a step, but for the whole request; plain text."""
    return "\n".join(_detail_lines(step, now))


def _detail_lines(step: Step, now: float) -> Iterator[str]:
    yield f"{name_of(step)} · {figure_words(step, now)}".rstrip(" ·")
    sent = step.sent
    yield ""
    yield f"SENT  {sent_words(step)}"
    if sent is not None:
        yield f"  model {sent.model.key} · thinking {sent.thinking_level}"
    for message in sent.new if sent is not None else step.new:
        yield from _message_lines(message)
    for failure in step.failures:
        wait = f" (next try after {span(failure.delay)})" if failure.delay is not None else ""
        yield f"FAILED  {printable(failure.error.message)}{wait}"
    yield ""
    yield f"CAME BACK  {answer_words(step)}"
    if step.message is not None:
        yield from _message_lines(step.message)
    for run in step.tools:
        yield ""
        yield f"TOOL  {_tool_words(run)}{' (arguments changed)' if run.is_changed else ''}"
        yield from _indented(json.dumps(run.args, indent=2, ensure_ascii=False, default=str))
        if run.is_over:
            yield f"  {plural(run.characters, 'character')} of result"


def _message_lines(message: AgentMessage) -> Iterator[str]:
    yield f"  [{_NAMES.get(message.role, (message.role,))[0]}]"
    yield from _indented(_text(message))


def _text(message: AgentMessage) -> str:
    content = getattr(message, "content", None)
    if content is None:
        return str(getattr(message, "summary", ""))
    if isinstance(content, str):
        return content
    parts = [str(getattr(block, "thinking", "")) for block in content]
    return "\n".join(part for part in [*parts, text_of(content)] if part)


def _indented(text: str) -> Iterator[str]:
    for line in printable(text).splitlines():
        yield f"    {line}"


def _added(messages: Sequence[AgentMessage]) -> str:
    counts = Counter(message.role for message in messages)
    # The answer before is in every request: it is no news.
    counts["assistant"] -= 1
    parts = []
    for role, number in counts.items():
        if number > 0:
            one, more = _NAMES.get(role, (role, role))
            parts.append(f"+{number} {one if number == 1 else more}")
    return ", ".join(parts)


def _changes(sent: Sent) -> list[str]:
    words = {
        "model": f"model now {sent.model.key}",
        "thinking": f"thinking now {sent.thinking_level}",
        "system": "other system prompt",
        "tools": f"other tools ({len(sent.tools)})",
    }
    return [words[change] for change in sorted(sent.changes)]


def _tool_words(run: ToolRun) -> str:
    target = one_line(printable(target_of(run.name, run.args)), 32)
    mark = ("✗" if run.is_error else "✓") if run.is_over else "…"
    time = f" {span(run.seconds)}" if run.seconds is not None else ""
    return f"{printable(run.name)}{f' {target}' if target else ''} {mark}{time}"


def _input(counters: Counters) -> str:
    usage = counters.spent.usage
    if not usage.cache_read or not usage.prompt_tokens:
        return tokens_in(counters)
    return f"{tokens_in(counters)} ({usage.cache_read * 100 // usage.prompt_tokens}% cached)"
