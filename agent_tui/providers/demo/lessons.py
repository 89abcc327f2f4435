"""The tour: seven lessons, each a small scene that a person takes part in."""

from __future__ import annotations

import re

from agent_tui.providers.demo.history import Outcome, Situation
from agent_tui.providers.demo.parts import BRISK, SLOW, Part, Rest, Say, Think, Use
from agent_tui.providers.demo.reading import (
    Look,
    as_code,
    described,
    first_line,
    looks_for,
    plural,
    quote,
    readable_file,
)
from agent_tui.providers.demo.texts import lines, say, say_next, text
from agent_tui.providers.demo.words import is_stop, number_in

LOOKS = 5
MOST_LOOKS = 8
STEPS = 8
MOST_STEPS = 20
SHEEP = 60


# -- 1: watch ----------------------------------------------------------------------------------


def welcome(now: Situation) -> list[Part]:
    """Introduces itself and lists the folder."""
    thought: list[Part] = [Think(text("first thought"))] if now.is_first else []
    hello = [*thought, say("welcome")]
    if "ls" in now.tools:
        return [*hello, say("look around"), Use("ls", {"path": "."}, "welcome")]
    return [*hello, say("no reading"), say("watched")]


def welcome_goes_on(now: Situation) -> list[Part]:
    """Reads and searches one file at the same time, then sums up what was really found."""
    if now.state == "":
        found = now.outcomes[0]
        file = readable_file(now.listing) if found.verdict == "done" else None
        calls = _readings(file, now) if file else []
        if file and calls:
            both = " with two tools **at the same time**" if len(calls) == 2 else ""
            return [Say(f"I see {described(found)}. Now {as_code(file)}{both}.\n"), *calls]
    return [Say(f"{_table(now.outcomes)}\n\n"), say("watched")]


def _readings(file: str, now: Situation) -> list[Part]:
    calls: list[Part] = []
    if "read" in now.tools:
        calls.append(Use("read", {"path": file, "limit": 40}, "welcome", "file"))
    if "grep" in now.tools:
        calls.append(Use("grep", {"pattern": "the", "path": file}, "welcome", "file"))
    return calls


def _table(outcomes: tuple[Outcome, ...]) -> str:
    rows = [
        f"| `{outcome.call.name}` | {as_code(str(outcome.call.arguments.get('path', '.')))} "
        f"| {described(outcome)} |"
        for outcome in outcomes
    ]
    return "\n".join(("| tool | looked at | and found |", "|---|---|---|", *rows))


# -- 2: steer ----------------------------------------------------------------------------------


def steer(now: Situation) -> list[Part]:
    """Several slow steps, so that there is time to type."""
    looks = looks_for(now.listing, now.tools, MOST_LOOKS)
    if not looks:
        return [say("steer"), say("no steps", SLOW), say_next(2)]
    return [say("steer"), *_look(looks, 1, LOOKS, is_loud=False)]


def steer_goes_on(now: Situation) -> list[Part]:
    """Obeys what was typed, then takes the next look or ends."""
    match = re.fullmatch(r"(\d+)of(\d+)(loud)?", now.state)
    done, wanted = (int(match[1]), int(match[2])) if match else (LOOKS, LOOKS)
    is_loud = bool(match and match[3])
    looks = looks_for(now.listing, now.tools, MOST_LOOKS)
    parts: list[Part] = [Say(_voice(f"I see {described(now.outcomes[0])}.\n\n", is_loud))]
    for said in now.said:
        wanted, is_loud, answer = _obey(said, done, wanted, is_loud)
        parts.append(Say(f"{quote(said)}\n\n{answer}\n\n"))
    if done < wanted and looks:
        return [*parts, *_look(looks, done + 1, wanted, is_loud)]
    words = ", ".join(as_code(said) for said in now.steered)
    name = "steered" if words else "not steered"
    return [*parts, say(name, looks=plural(done, "look"), words=words), say_next(2)]


def _obey(said: str, done: int, wanted: int, is_loud: bool) -> tuple[int, bool, str]:
    """The new number of looks, the new voice, and what to say about it."""
    number = number_in(said)
    if is_stop(said):
        return done, is_loud, f"You want me to stop, so I end after {plural(done, 'look')}."
    if number is not None:
        aim = min(max(number, done), MOST_LOOKS)
        why = {True: " (so many are done already)", False: " (I cannot do more)"}
        limit = why[aim > number] if aim != number else ""
        return aim, is_loud, f"Good: **{plural(aim, 'look')} instead of {wanted}**{limit}."
    if re.search(r"shout|loud|capital|upper", said.lower()):
        return wanted, True, "Gladly: from here on I shout."
    if re.search(r"quiet|whisper|lower|calm", said.lower()):
        return wanted, False, "Quiet again."
    return wanted, is_loud, text("cannot obey")


def _look(looks: list[Look], turn: int, wanted: int, is_loud: bool) -> list[Part]:
    look = looks[min(turn, len(looks)) - 1]
    tips = lines("steer tips")
    words = f"**Look {turn} of {wanted}.** {tips[(turn - 1) % len(tips)]} Next: {look.words}.\n"
    state = f"{turn}of{wanted}{'loud' if is_loud else ''}"
    return [
        Say(_voice(words, is_loud), SLOW),
        Rest(1.5),
        Use(look.tool, look.args, "steer", state),
    ]


def _voice(words: str, is_loud: bool) -> str:
    """`words`, in capitals outside code if it is loud."""
    if not is_loud:
        return words
    return "`".join(p if n % 2 else p.upper() for n, p in enumerate(words.split("`")))


# -- 3, 4, 5: queue, stop, keep ----------------------------------------------------------------


def follow_up(now: Situation) -> list[Part]:
    """Talks long enough for a message to be queued."""
    return [say("follow up"), say("follow up talk", SLOW), say("follow up end")]


def stop(now: Situation) -> list[Part]:
    """Counts sheep until it is stopped."""
    return [say("stop"), *_sheep(1), say("not stopped")]


def hold(now: Situation) -> list[Part]:
    """Counts sheep again, for a stop with something queued."""
    return [say("hold"), *_sheep(1), say("not stopped")]


def count_on(count: int) -> list[Part]:
    """Takes up an interrupted count behind the sheep that came last."""
    if count >= SHEEP:
        return [say("last sheep")]
    return [say("counting on", count=str(count)), *_sheep(count + 1), say("last sheep")]


def sheep_in(words: str) -> int | None:
    """How far an interrupted count had come, None if there was none."""
    numbers = re.findall(r"^(\d+)\. A .*sheep", words, re.M)
    return int(numbers[-1]) if numbers else None


def _sheep(first: int) -> list[Part]:
    kinds = lines("sheep")
    parts: list[Part] = []
    for number in range(first, SHEEP + 1):
        end = "\n" if number < SHEEP else "\n\n"
        parts += [Say(f"{number}. {kinds[number % len(kinds)]}{end}", BRISK / 2), Rest(0.6)]
    return parts


# -- 6: approve --------------------------------------------------------------------------------


def approve(now: Situation) -> list[Part]:
    """Asks to run a harmless command."""
    if "bash" not in now.tools:
        return [say("no shell"), say_next(6)]
    return [Think(text("approve thought")), say("approve"), counting(STEPS, "approve")]


def counting(steps: int, scene: str, word: str = "step", pause: int = 1) -> Use:
    """A command that prints one line after another and changes nothing."""
    numbers = " ".join(str(n) for n in range(1, steps + 1))
    command = f'for i in {numbers}; do echo "{word} $i of {steps}"; sleep {pause}; done'
    return Use("bash", {"command": command}, scene, str(steps))


def approve_goes_on(now: Situation) -> list[Part]:
    """Says what became of the command; obeys a comment or a text that names a number."""
    outcome = now.outcomes[0]
    parts = [_ending(outcome)]
    for said in now.said:
        parts += [Say(f"{quote(said)}\n\n"), say("late for command")]
    wish = now.latest or outcome.comment
    wanted = None if is_stop(wish) else number_in(wish)
    if wanted and "bash" in now.tools and str(wanted) != now.state:
        steps = min(wanted, MOST_STEPS)
        return [
            *parts,
            say("ask again", steps=plural(steps, "step")),
            counting(steps, "approve"),
        ]
    return [*parts, say_next(6)]


def _ending(outcome: Outcome) -> Say:
    if outcome.verdict == "declined":
        return say("command declined", comment=quote(outcome.comment))
    if outcome.verdict == "refused":
        return say("command refused", found=first_line(outcome.text))
    is_stop_of_all = outcome.verdict == "aborted" and not outcome.ended_alone
    name = "stopped" if is_stop_of_all else outcome.verdict
    return say(f"command {name}", found=described(outcome))


# -- 7: connect --------------------------------------------------------------------------------


def connect(now: Situation) -> list[Part]:
    """How to leave the demonstration behind."""
    return [say("connect lesson", connect=text("connect"))]
