"""What the demonstration shows besides the tour: tools, text, thoughts, failures, a file."""

from __future__ import annotations

from agent_tui.providers.demo.history import Outcome, Situation
from agent_tui.providers.demo.lessons import counting
from agent_tui.providers.demo.parts import Fail, Part, Say, Think, Use
from agent_tui.providers.demo.reading import as_code, described, first_line
from agent_tui.providers.demo.texts import say, text

FILE = "agent-tui-tour.txt"
CONTENT = "This file was made by the tour of agent-tui.\nIt may be deleted.\n"
MISSING = "agent-tui-tour-no-such-file.txt"
_OFFER = "Shall I make it?"


def tools(now: Situation) -> list[Part]:
    """The tools of this very request, by their own descriptions."""
    if not now.tools:
        return [say("no tools")]
    rows = (
        f"| `{name}` | {first_line(about.partition('. ')[0]).replace('|', '¦')} |"
        for name, about in now.tools.items()
    )
    table = "\n".join(("| tool | what it says of itself |", "|---|---|", *rows))
    return [say("my tools", table=table)]


def parallel(now: Situation) -> list[Part]:
    """Two commands side by side."""
    if "bash" not in now.tools:
        return [say("missing tool", tool="bash")]
    return [
        say("parallel"),
        counting(6, "parallel", "slow", 2),
        counting(9, "parallel", "quick", 1),
    ]


def parallel_goes_on(now: Situation) -> list[Part]:
    """What became of both."""
    return [say("both ended", endings="\n".join(f"- {ending(o)}" for o in now.outcomes))]


def error(now: Situation) -> list[Part]:
    """A tool that fails."""
    if "read" not in now.tools:
        return [say("missing tool", tool="read")]
    return [say("error"), Use("read", {"path": MISSING}, "error")]


def error_goes_on(now: Situation) -> list[Part]:
    """What the failed tool said."""
    outcome = now.outcomes[0]
    if outcome.verdict == "done":
        return [say("no error", found=described(outcome))]
    return [say("error seen", found=as_code(first_line(outcome.text).rstrip(".")))]


def fail(now: Situation) -> list[Part]:
    """A request that fails."""
    said = (
        "This failure belongs to the demonstration: you typed `fail`, and trying again fails again"
    )
    return [say("fail"), Fail("provider", said)]


def think(now: Situation) -> list[Part]:
    """Thoughts, then a short answer."""
    return [Think(text("thoughts"), 12), say("thought")]


def table(now: Situation) -> list[Part]:
    """A table that grows row by row."""
    rows = "\n".join(f"| {n} | {n * n} | {n**3} | {'▇' * n} |" for n in range(1, 11))
    return [Say(f"| n | square | cube | bar |\n|--:|--:|--:|:--|\n{rows}\n", 20)]


def long(now: Situation) -> list[Part]:
    """A long answer, fast."""
    return [say("long"), *(Say(_section(n), 150) for n in range(1, 41)), say("long end")]


def write(now: Situation) -> list[Part]:
    """Looks whether the name is free before anything is offered."""
    missing = next((tool for tool in ("write", "ls") if tool not in now.tools), None)
    if missing:
        return [say("missing tool", tool=missing)]
    return [say("look for name"), Use("ls", {"path": "."}, "write", "look")]


def yes(now: Situation) -> list[Part]:
    """Makes the file, if that was the question."""
    if _OFFER not in now.last_answer or "write" not in now.tools:
        return [say("nothing asked")]
    return [say("writing"), Use("write", {"path": FILE, "content": CONTENT}, "write", "made")]


def no(now: Situation) -> list[Part]:
    """Leaves everything alone, if there was a question."""
    was_asked = _OFFER in now.last_answer or now.has_made_file
    return [say("unchanged" if was_asked else "nothing asked")]


def remove(now: Situation) -> list[Part]:
    """Asks to delete the file, if it was this demonstration that made it."""
    if not now.has_made_file or "bash" not in now.tools:
        return [say("nothing of mine")]
    return [
        say("removing", file=FILE),
        Use("bash", {"command": f"rm -- {FILE}"}, "write", "removed"),
    ]


def write_goes_on(now: Situation) -> list[Part]:
    """The steps after the look: offer, write, edit, offer to remove."""
    outcome = now.outcomes[0]
    if outcome.verdict != "done":
        return [Say(f"{ending(outcome)}\n\n"), *_left(now)]
    match now.state:
        case "look":
            return [say("name taken" if FILE in now.listing else "write offer", file=FILE)]
        case "made" if "edit" in now.tools:
            old, new = "It may be deleted.", "It may be deleted, and it was edited once."
            args = {"path": FILE, "old": old, "new": new}
            return [say("editing"), Use("edit", args, "write", "edited")]
        case "made" | "edited":
            return _left(now)
    return [say("removed", file=FILE)]


def after_an_end(now: Situation) -> list[Part]:
    """What became of the calls with which a turn ended, and of the file."""
    ends = "\n".join(f"- {ending(outcome)}" for outcome in now.outcomes)
    return [Say(f"{ends}\n\n"), *(_left(now) if now.scene == "write" else [])]


def _left(now: Situation) -> list[Part]:
    return [say("written", file=FILE)] if now.has_made_file else []


def ending(outcome: Outcome) -> str:
    """What became of a call, as one sentence."""
    args = outcome.call.arguments
    name = f"`{outcome.call.name}` {as_code(str(args.get('command') or args.get('path') or ''))}"
    match outcome.verdict:
        case "done":
            return f"{name} ended normally: {described(outcome)}."
        case "declined":
            comment = f", and said {as_code(outcome.comment)}" if outcome.comment else ""
            return f"{name}: you declined{comment}. **Nothing ran.**"
        case "refused":
            return f"{name} did not run, and nobody was asked. {first_line(outcome.text)}"
        case "aborted":
            last = as_code(outcome.lines[-1]) if outcome.lines else "nothing"
            return f"{name} was stopped. The end of its result: {last}."
        case _:
            return f"{name} failed: {as_code(first_line(outcome.text).rstrip('.'))}."


def _section(number: int) -> str:
    return (
        f"#### Part {number} of 40\n\nThis is paragraph {number}. It is here to be *long*, not to "
        f"be read; {number} times {number} is **{number * number}**.\n\n"
        f"- {number} + 1 = {number + 1}\n- {number} × 2 = {number * 2}\n\n"
    )
