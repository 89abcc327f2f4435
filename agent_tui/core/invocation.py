"""A skill that a person calls: the message that the model gets, and the line that was typed."""

from __future__ import annotations

import re

_MESSAGE = re.compile(
    r'<skill name="([A-Za-z0-9_-]+)" path="[^"\n]*">\n.*?\n</skill>(?:\n\n(.*))?', re.DOTALL
)


def skill_message(name: str, path: str, folder: str, body: str, arguments: str) -> str:
    """The message that gives a skill to the model by hand."""
    closed = body.replace("</skill", "<\\/skill")
    head = f'<skill name="{name}" path="{path}">\nPaths in it begin at {folder}.'
    return f"{head}\n\n{closed}\n</skill>\n\n{arguments}".rstrip()


def as_typed(text: str) -> str:
    """The line `/skill:NAME ARGUMENTS` for such a message; any other text as it is."""
    match = _MESSAGE.fullmatch(text)
    return text if match is None else f"/skill:{match[1]} {match[2] or ''}".rstrip()
