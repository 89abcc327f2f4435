"""Docstrings of tools: what a function is for, and what each of its parameters means.

Three habits are understood: Google's `Args:`, Sphinx's `:param name:` and NumPy's underlined
`Parameters`. Whatever comes from the first of these sections on is not part of the description.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params):\s*$", re.M)
_GOOGLE_END = re.compile(r"\n(?=\S)")
_GOOGLE_ENTRY = re.compile(r"^(?P<name>\*{0,2}\w+) *(?:\([^)\n]*\))? *: *(?P<text>.*)$")
_SPHINX = re.compile(r"^:(?:param|parameter|arg)\s+(?:[^:\n]*\s)?(?P<name>\w+):", re.M)
_FIELD = re.compile(r"^:\w+[^:\n]*:", re.M)
_NUMPY = re.compile(r"^Parameters\n-{3,}\n", re.M)
_NUMPY_NEXT = re.compile(r"^[^\n]+\n-{3,}\s*$", re.M)


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """The description, and one text a parameter; `doc` is cleaned of its indentation."""
    starts = [
        (match.start(), match.end(), read)
        for pattern, read in ((_GOOGLE, _google), (_NUMPY, _numpy), (_SPHINX, _sphinx))
        if (match := pattern.search(doc))
    ]
    if not starts:
        return doc.strip(), {}
    start, end, read = min(starts)
    rest = doc[start:] if read is _sphinx else doc[end:]
    notes = {name: " ".join(text.split()) for name, text in read(rest)}
    return doc[:start].strip(), {name: text for name, text in notes.items() if text}


def _google(text: str) -> Iterator[tuple[str, str]]:
    section = textwrap.dedent(_GOOGLE_END.split(text.lstrip("\n"), maxsplit=1)[0])
    name, words = "", ""
    for line in section.splitlines():
        entry = _GOOGLE_ENTRY.match(line)
        if entry is None:
            words += f" {line}"
            continue
        if name:
            yield name, words
        name, words = entry["name"].lstrip("*"), entry["text"]
    if name:
        yield name, words


def _numpy(text: str) -> Iterator[tuple[str, str]]:
    following = _NUMPY_NEXT.search(text)
    section = text[: following.start()] if following else text
    names: list[str] = []
    words = ""
    for line in section.splitlines():
        if line[:1].strip():
            yield from ((name, words) for name in names)
            names = [name.strip(" *") for name in line.partition(":")[0].split(",")]
            words = ""
        else:
            words += f" {line}"
    yield from ((name, words) for name in names)


def _sphinx(text: str) -> Iterator[tuple[str, str]]:
    for match in _SPHINX.finditer(text):
        rest = text[match.end() :]
        following = _FIELD.search(rest)
        words = rest[: following.start()] if following else rest
        yield match["name"], words.split("\n\n", 1)[0]
