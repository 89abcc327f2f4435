"""Colours for code. The theme decides them: here a token only gets the name of a role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType


class Word(NamedTuple):
    """A piece of a line of code and the role it plays, "" for plain text."""

    text: str
    role: str


_ROLE_BY_TOKEN = {
    "Comment": "syntax-comment",
    "Comment.Preproc": "syntax-keyword",
    "Keyword": "syntax-keyword",
    "Keyword.Constant": "syntax-number",
    "Keyword.Type": "syntax-type",
    "Literal.Number": "syntax-number",
    "Literal.String": "syntax-string",
    "Literal.String.Doc": "syntax-comment",
    "Literal.String.Interpol": "syntax-number",
    "Name.Attribute": "syntax-name",
    "Name.Builtin": "syntax-type",
    "Name.Class": "syntax-type",
    "Name.Constant": "syntax-number",
    "Name.Decorator": "syntax-name",
    "Name.Exception": "syntax-type",
    "Name.Function": "syntax-name",
    "Name.Tag": "syntax-keyword",
    "Operator.Word": "syntax-keyword",
    "Generic.Deleted": "syntax-deleted",
    "Generic.Heading": "syntax-comment",
    "Generic.Inserted": "syntax-inserted",
    "Generic.Subheading": "syntax-comment",
}
_CHUNK = 16
_LONGEST_CHUNK = 64
_LONGEST_CODE = 8_000
"""Characters of code that are lexed together; more than that is not written by hand."""
_PLAIN = frozenset(("", "text", "txt", "plain", "plaintext", "output", "none", "ansi"))


@lru_cache(maxsize=256)
def highlight(code: str, language: str) -> tuple[tuple[Word, ...], ...]:
    """The lines of `code`, coloured as `language`; an unknown one is plain. `code` is printable."""
    lexer = _lexer(language) if len(code) <= _LONGEST_CODE else None
    if lexer is None:
        return tuple((Word(line, ""),) for line in code.split("\n"))
    lines: list[list[Word]] = [[]]
    for kind, text in lexer.get_tokens(code):
        first, *others = text.split("\n")
        role = _role(kind)
        if first:
            lines[-1].append(Word(first, role))
        lines.extend([Word(line, role)] if line else [] for line in others)
    # The lexer always ends its output with a newline.
    return tuple(map(tuple, lines[: code.count("\n") + 1]))


def chunk_length(lines: Sequence[str], info: str) -> int:
    """How many of the first lines of a code block are coloured together; 0 if it needs more lines.

    Code is coloured in chunks, so that a long block does not have to be lexed again for each new
    line. A chunk does not end inside a string or a comment, unless that is very long.
    """
    language = language_of(info)
    for length in range(_CHUNK, min(len(lines), _LONGEST_CHUNK) + 1, _CHUNK):
        if length == _LONGEST_CHUNK or not _ends_inside("\n".join(lines[:length]), language):
            return length
    return 0


def highlight_chunks(lines: Sequence[str], info: str) -> Iterator[tuple[tuple[Word, ...], ...]]:
    """The coloured lines of a code block, chunk by chunk."""
    start = 0
    while start < len(lines):
        end = start + (chunk_length(lines[start:], info) or len(lines) - start)
        yield highlight("\n".join(lines[start:end]), language_of(info))
        start = end


def language_of(info: str) -> str:
    """The language in the info string of a code block, "" if there is none."""
    return info.split()[0].lower() if info.strip() else ""


def _ends_inside(code: str, language: str) -> bool:
    last = next((line for line in reversed(highlight(code, language)) if line), ())
    return bool(last) and last[-1].role in ("syntax-string", "syntax-comment")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    if language in _PLAIN:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _role(kind: _TokenType) -> str:
    names = str(kind).split(".")[1:]
    while names:
        if role := _ROLE_BY_TOKEN.get(".".join(names)):
            return role
        names.pop()
    return ""
