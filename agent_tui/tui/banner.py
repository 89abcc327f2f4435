"""Sentences for the moments a person reads twice: stopped, failed, retrying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_tui.core.errors import ErrorInfo
from agent_tui.core.text import one_line, printable
from agent_tui.tui.figures import clock, countdown, plural

WAYS_OUT = {
    "auth": "check the key, or pick another model with /model",
    "quota": "the account has nothing left: top it up, or pick another model with /model",
    "rate_limit": "wait a little and press enter to go on, or pick another model with /model",
    "timeout": "press enter to try again",
    "overloaded": "press enter to try again, or pick another model with /model",
    "network": "check the connection and the address, then press enter to try again",
    "stream_incomplete": "the answer was cut on its way: press enter to try again",
    "content_policy": "say it differently, or pick another model with /model",
    "context_overflow": "start a new chat or pick a model with a larger window: /model",
    "output_limit_loop": "ask for smaller pieces",
    "hook_failed": "the agent's own code raised; see its log",
    "config": "correct the setting and start again",
}
DEFAULT_WAY_OUT = "press enter to try again, or pick another model with /model"


@dataclass(frozen=True, slots=True)
class Killed:
    """A tool that a stop ended."""

    name: str
    seconds: float
    lines: int = 0


def error_sentence(error: ErrorInfo) -> str:
    """One clear sentence with a way out."""
    said = one_line(printable(error.message), 400).rstrip(" .") or error.code.replace("_", " ")
    way_out = WAYS_OUT.get(error.code, DEFAULT_WAY_OUT)
    wait = f" (the server asks to wait {clock(error.retry_after)})" if error.retry_after else ""
    return f"{said}{wait} — {way_out}."


def retry_sentence(
    attempt: int, max_attempts: int, seconds_left: float, error: ErrorInfo | None
) -> str:
    """The countdown of a retry: `Rate limited. Try 2 of 3 in 4 s · esc gives up`."""
    said = one_line(printable(error.message), 200).rstrip(" .") if error else "The request failed"
    return f"{said}. Try {attempt} of {max_attempts} {countdown(seconds_left)} · esc gives up"


def stop_banner(
    step: int, killed: Sequence[Killed], changed_files: int, pending: int
) -> tuple[str, str]:
    """Two lines: what the stop did, and what can be done now; the second is empty without pending.

    `step` 0: there was no output, and the message went back to the composer.
    `changed_files` counts the files that tools changed since the turn began.
    """
    back = "Stopped before any output: your message is back in the composer"
    facts = [f"Stopped at step {step}" if step else back]
    for tool in killed:
        kept = f" ({plural(tool.lines, 'line')} kept)" if tool.lines else ""
        facts.append(f"{one_line(tool.name, 40)} killed after {clock(tool.seconds)}{kept}")
    if changed_files:
        facts.append(f"{plural(changed_files, 'file')} changed since the turn began")
    if not pending:
        return " · ".join(facts), ""
    facts.append(f"{pending} pending, on hold")
    keys = (
        "enter (empty composer): send all now · alt+↑: select (e edit as one draft, x discard all)"
    )
    return " · ".join(facts), f"{keys} · typing starts a new message"


def stopping_notice(seconds: float, *, killing: bool = False) -> str:
    """What the status says between the stop key and the end of the turn."""
    return f"killing… {clock(seconds)}" if killing else f"stopping… {clock(seconds)} (ctrl+c: kill)"


def limit_sentence(reason: str, steps: int, pending: int) -> str:
    """Why a turn ended although there was more to do; empty if it ended by itself."""
    way_on = f"enter sends {pending} pending" if pending else "enter goes on"
    match reason:
        case "max_iterations":
            return f"Paused after {plural(steps, 'step')}, the limit of a turn · {way_on}"
        case "stopped":
            return f"Stopped after step {steps}, as asked · {way_on}"
        case _:
            return ""


def welcome(model: str, reason: str, *, is_demonstration: bool) -> str:
    """The first words of an empty chat: who answers, why, and how to find the way."""
    why = f" ({reason})" if reason else ""
    if is_demonstration:
        return (
            f"{model} answers{why}: the offline demonstration, with real tools. "
            "Say hello, and in three minutes you know your way around.\n"
            "A real model: set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local "
            "server such as Ollama, or give --base-url http://localhost:8080/v1 --model NAME. "
            "agent-tui doctor says what was found."
        )
    return f"{model} answers{why} · / lists the commands · f1 the keys"
