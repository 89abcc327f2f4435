"""Which scene comes next. A pure function of the context: the same request, the same answer."""

from __future__ import annotations

from collections.abc import Callable

from agent_tui.core.stream import LlmContext
from agent_tui.providers.demo import lessons, scenes
from agent_tui.providers.demo.history import Situation, read_context
from agent_tui.providers.demo.parts import Part, Rest, Say
from agent_tui.providers.demo.reading import as_code, described, quote
from agent_tui.providers.demo.texts import answer_to, say
from agent_tui.providers.demo.words import (
    LESSON_SCENES,
    is_question,
    is_stop,
    scene_in,
    scene_named,
)

Scene = Callable[[Situation], list[Part]]

_BEGINNINGS: dict[str, Scene] = {
    "welcome": lessons.welcome,
    "steer": lessons.steer,
    "followup": lessons.follow_up,
    "stop": lessons.stop,
    "hold": lessons.hold,
    "approve": lessons.approve,
    "connect": lessons.connect,
    "tools": scenes.tools,
    "parallel": scenes.parallel,
    "error": scenes.error,
    "fail": scenes.fail,
    "think": scenes.think,
    "table": scenes.table,
    "long": scenes.long,
    "write": scenes.write,
    "yes": scenes.yes,
    "no": scenes.no,
    "remove": scenes.remove,
}
_CONTINUATIONS: dict[str, Scene] = {
    "welcome": lessons.welcome_goes_on,
    "steer": lessons.steer_goes_on,
    "approve": lessons.approve_goes_on,
    "parallel": scenes.parallel_goes_on,
    "error": scenes.error_goes_on,
    "write": scenes.write_goes_on,
}
_DIRECTIONS = {"next": 1, "on": 1, "again": 0, "back": -1}
_ANSWERS_ONLY = ("yes", "no", "remove", "thanks", "greet")
"""Words that mean something after a question or between people, but choose no scene."""


def reply_to(context: LlmContext) -> list[Part]:
    """The parts of the answer to `context`."""
    now = read_context(context)
    return _trimmed(_parts(now))


def _parts(now: Situation) -> list[Part]:
    if now.outcomes:
        if now.said and (now.was_ended or not now.was_waiting):
            return [*scenes.after_an_end(now), *_several(now), *_answer(now)]
        return _go_on(now)
    if now.was_interrupted:
        counted = lessons.sheep_in(now.last_answer)
        if counted and scene_named(now.latest) == "on":
            return lessons.count_on(counted)
        return [_after_a_stop(now), *_several(now), *_answer(now)]
    if now.was_waiting:
        waited = [say("waited", said=_quoted(now))] if len(now.said) == 1 else _several(now)
        return [*waited, *_answer(now)]
    return _answer(now)


def _trimmed(parts: list[Part]) -> list[Part]:
    """`parts` without empty lines at the ends of text blocks."""
    trimmed: list[Part] = []
    goes_on = False
    for part in reversed(parts):
        if isinstance(part, Say):
            words = part.text if goes_on else part.text.rstrip()
            trimmed.append(Say(words, part.words_per_second))
            goes_on = True
        else:
            trimmed.append(part)
            goes_on = goes_on and isinstance(part, Rest)
    return trimmed[::-1]


# -- results have come back --------------------------------------------------------------------


def _go_on(now: Situation) -> list[Part]:
    go_on = _CONTINUATIONS.get(now.scene, _foreign)
    if not now.said:
        return go_on(now)
    heard = say("heard", said=_quoted(now))
    if _turns_aside(now.latest):
        return [heard, say("turn aside"), *_answer(now)]
    if now.scene in ("steer", "approve"):
        return go_on(now)
    if is_stop(now.latest):
        return [heard, say("end here")]
    return [heard, say("no use for it"), *go_on(now)]


def _turns_aside(said: str) -> bool:
    """Whether steering text asks for something else than the running scene."""
    scene = scene_named(said)
    if scene is None:
        return is_question(said) and answer_to(said) is not None
    return scene != "stop" and scene not in _ANSWERS_ONLY and not said.strip().isdigit()


def _foreign(now: Situation) -> list[Part]:
    found = "; ".join(f"`{o.call.name}`: {described(o)}" for o in now.outcomes)
    return [say("foreign results", found=found)]


# -- after something ended a turn --------------------------------------------------------------


def _after_a_stop(now: Situation) -> Say:
    sheep = lessons.sheep_in(now.last_answer)
    where = f"at sheep {sheep}" if sheep else f"after {len(now.last_answer.split())} words"
    return say("stopped and kept" if now.lesson == 5 else "stopped", where=where)


def _several(now: Situation) -> list[Part]:
    return [say("several", said=_quoted(now))] if len(now.said) > 1 else []


def _quoted(now: Situation) -> str:
    return "\n>\n".join(map(quote, now.said))


# -- what was said -----------------------------------------------------------------------------


def _answer(now: Situation) -> list[Part]:
    picture: list[Part] = [say("picture")] if now.has_picture else []
    scene = scene_named(now.latest)
    known = answer_to(now.latest) if is_question(now.latest) else None
    if scene is None and known is None:
        scene = scene_in(now.latest)
    if now.is_first and (scene in (None, *_ANSWERS_ONLY, *_DIRECTIONS)) and known is None:
        return [*picture, *lessons.welcome(now)]
    if now.is_first and scene != "welcome":
        picture.append(say("introduction"))
    return [*picture, *_known(now, scene, known)]


def _known(now: Situation, scene: str | None, known: str | None) -> list[Part]:
    if scene in _DIRECTIONS:
        return _lesson(now, scene)
    if scene in _BEGINNINGS:
        return _BEGINNINGS[scene](now)
    if scene is not None:
        return [say(scene)]
    if known := known or answer_to(now.latest):
        return [Say(known)]
    return [say("unknown", said=as_code(now.latest))]


def _lesson(now: Situation, direction: str) -> list[Part]:
    number = now.lesson + _DIRECTIONS[direction]
    if number > len(LESSON_SCENES):
        return [say("finished")]
    if number < 1 and direction == "back":
        return [say("at start")]
    return _BEGINNINGS[LESSON_SCENES[max(number, 1) - 1]](now)
