"""What the demonstration understands: a few commands, and questions about the program."""

from __future__ import annotations

import re

LESSON_SCENES = ("welcome", "steer", "followup", "stop", "hold", "approve", "connect")
"""The tour in its order; the scene of lesson n is at n - 1."""

_COMMANDS: tuple[tuple[str, str], ...] = (
    # scene, and the whole text that asks for it: lower case, without punctuation
    ("next", r"next|n|more|ok|okay|next lesson"),
    ("on", r"go on|continue|go ahead|keep going|carry on|count on|yes go on"),
    ("again", r"again|repeat|once more|redo|retry"),
    ("back", r"back|previous|before"),
    ("welcome", r"tour|start|begin|restart|demo|watch|stream"),
    ("greet", r"hi|hello|hey|hallo|good (morning|evening|day)|hi there|hello there"),
    ("thanks", r"thanks?|thank you|thx|bye|great|cool|nice|good"),
    ("help", r"help|menu|commands|keywords|what can you do|what can you show( me)?|h"),
    ("yes", r"yes|y|yes please|do it|sure|write it"),
    ("no", r"no|n|no thanks|dont|leave it"),
    ("remove", r"remove( it)?|delete( it)?|clean ?up|rm"),
    ("steer", r"steer|steering"),
    ("followup", r"follow ?ups?|followup|queue|queueing"),
    ("stop", r"stop|abort|interrupt|ctrl ?c|esc"),
    ("hold", r"hold|on hold|pending|keep"),
    ("approve", r"approvals?|approve|bash|command|shell|permission"),
    ("parallel", r"parallel|both|two commands"),
    ("connect", r"connect|models?|real model|real|keys? for a model|api key"),
    ("tools", r"tools?"),
    ("long", r"long|flood|speed"),
    ("markdown", r"markdown|format|formatting|code"),
    ("table", r"tables?"),
    ("error", r"errors?|tool error"),
    ("fail", r"fail|failure|crash|model error"),
    ("think", r"think|thinking|thoughts?"),
    ("write", r"write|edit|diff|file"),
)
_LESSON = re.compile(r"(?:lesson|part|chapter) (\d)|(\d)")
_STOP_WORDS = re.compile(r"\b(stop|enough|finish|end|quit|halt|cancel|abort)\b")
_NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
}
_QUESTION = re.compile(
    r"\?|^(how|what|who|why|where|when|which|can|could|do|does|is|are|will|may|should|tell|explain)\b"
)


def scene_named(text: str) -> str | None:
    """The scene that the whole of `text` asks for, None if it is no command."""
    plain = _plain(text)
    if (match := _LESSON.fullmatch(plain)) and 1 <= (n := int(match[1] or match[2])) <= 7:
        return LESSON_SCENES[n - 1]
    bare = re.sub(r"^(?:please|show(?: me)?|now|then|the|a) |(?: please| now| lesson)$", "", plain)
    for scene, pattern in _COMMANDS:
        if re.fullmatch(pattern, plain) or re.fullmatch(pattern, bare):
            return scene
    return None


def scene_in(text: str) -> str | None:
    """The scene that a short sentence mentions, None if it mentions none or is not short."""
    words = _plain(text).split()
    if len(words) > 5:
        return None
    pairs = [" ".join(words[i : i + 2]) for i in range(len(words) - 1)]
    for piece in (*pairs, *(word for word in words if len(word) > 3)):
        if (scene := scene_named(piece)) and scene not in ("yes", "no", "remove", "thanks"):
            return scene
    return None


def is_question(text: str) -> bool:
    """Whether `text` reads like a question."""
    return _QUESTION.search(text.strip().lower()) is not None


def is_stop(text: str) -> bool:
    """Whether steering text asks to come to an end."""
    return _STOP_WORDS.search(text.lower()) is not None


def number_in(text: str) -> int | None:
    """The first number in `text`, in digits or as a word up to nine; None if there is none."""
    for word in re.findall(r"\d+|[a-z]+", text.lower()):
        if word.isdigit():
            return int(word[:4])
        if word in _NUMBER_WORDS:
            return _NUMBER_WORDS[word]
    return None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower().replace("'", "")).split())
