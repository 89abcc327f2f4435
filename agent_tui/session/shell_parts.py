"""A shell command taken apart with the grammar of bash: every simple command, wherever it stands.

Lists, pipes, subshells, loops, substitutions, functions and here-documents are gone through, and so
is what another program is asked to run (`sudo`, `xargs`, `sh -c`, …). What the grammar does not
know, or cannot know before it runs, is named as a doubt.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from agent_tui.session.shell_inner import inner_command
from agent_tui.session.shell_words import (
    Segment,
    Word,
    has_odd_characters,
    read_line,
    read_word,
)

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MISREAD = "it is written in a way that is not sure to be understood"
LONGEST = 20_000
"""Characters; a longer command is not taken apart."""
_DEEPEST = 6
"""Commands within the text of commands (`sh -c "sh -c …"`)."""
_MOST_LEVELS = 100
"""Brackets within brackets."""

_WORDS = frozenset(
    {
        "word",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "number",
        "simple_expansion",
        "expansion",
        "arithmetic_expansion",
        "command_substitution",
        "process_substitution",
        "brace_expression",
        "regex",
        "extglob_pattern",
    }
)
_HARMLESS_NODES = frozenset(
    {
        "program",
        "list",
        "pipeline",
        "subshell",
        "compound_statement",
        "redirected_statement",
        "negated_command",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "do_group",
        "comment",
        "file_descriptor",
        "variable_name",
        "string_content",
        "case_item",
        "heredoc_start",
        "heredoc_body",
        "heredoc_content",
        "heredoc_end",
    }
)
_DOUBTS = {
    "command_substitution": "it uses the output of a command as text",
    "process_substitution": "it uses a command as a file",
    "function_definition": "it defines a function",
    "heredoc_redirect": "it holds a here-document",
    "for_statement": "it holds a loop over names",
    "case_statement": "it holds a case",
}


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that the shell itself opens."""

    target: Word
    writes: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command."""

    words: tuple[Word, ...]
    assignments: tuple[str, ...] = ()
    """`NAME=value` in front of it, as written; of `env`, too."""
    is_wrapper: bool = False
    """All that it does is to run the parts that follow it: `time`, `env`, `sh -c`, …"""

    @property
    def text(self) -> str:
        """As it was written, one blank between words."""
        return " ".join([*self.assignments, *(word.text for word in self.words)])

    @property
    def name(self) -> str | None:
        """The program; None if that is only known when it runs."""
        return self.words[0].literal if self.words else None

    @property
    def literals(self) -> list[str] | None:
        """All words as the program gets them; None if one of them is not sure."""
        found = [word.literal for word in self.words if word.literal is not None]
        return found if len(found) == len(self.words) else None


@dataclass(slots=True)
class ShellParts:
    """What was found in a command."""

    parts: list[Part] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    """Why it is not sure what the command does, each as a clause."""
    has_loop: bool = False
    """A part may run more than once."""
    unreadable: str | None = None
    """Why there may be more parts than were found, as a clause."""

    def doubt(self, clause: str) -> None:
        """Note a doubt, once."""
        if clause not in self.doubts:
            self.doubts.append(clause)

    def give_up(self, clause: str) -> None:
        """Note that the parts are not all."""
        self.unreadable = self.unreadable or clause
        self.doubt(clause)


@lru_cache(maxsize=64)
def shell_parts(command: str) -> ShellParts:
    """The parts of a command; never raises. Treat the answer as read-only: it is remembered."""
    found = ShellParts()
    _take_apart(command, found, 0)
    return found


def _take_apart(command: str, found: ShellParts, depth: int) -> None:
    if not command.strip():
        found.give_up("it is empty")
        return
    if len(command) > LONGEST or depth > _DEEPEST:
        found.give_up("it is too long to be taken apart")
        return
    if has_odd_characters(command):
        found.doubt("it holds characters that a shell and a screen may read differently")
    try:
        root = _tree(command)
    except ImportError:
        found.give_up("there is no grammar of the shell on this system")
        return
    if root.has_error:
        found.give_up("it cannot be taken apart")
    taker = _Taker(found, depth)
    taker.visit(root)
    if not found.doubts and not _agrees(command, taker):
        found.doubt(MISREAD)


def _tree(command: str) -> Node:
    """What the grammar makes of the command. A parser of its own: judges run in several threads."""
    from tree_sitter import Parser

    return Parser(_language()).parse(command.encode("utf-8", "replace")).root_node


@lru_cache(maxsize=1)
def _language() -> Language:
    from tree_sitter import Language
    from tree_sitter_bash import language

    return Language(language())


class _Taker:
    """Goes through the tree of one command text."""

    def __init__(self, found: ShellParts, depth: int) -> None:
        self._found = found
        self._depth = depth
        self._level = 0
        self.commands: list[list[tuple[int, int]]] = []
        """Where the words of each simple command stand, in bytes."""
        self.targets: list[tuple[str, int]] = []
        """Each redirection's sign, and where its target begins, in bytes."""

    def visit(self, node: Node) -> None:
        """Take note of everything in this node."""
        self._level += 1
        if self._level > _MOST_LEVELS:
            self._found.give_up("it is too long or too deep to be taken apart")
        else:
            self._visit(node)
        self._level -= 1

    def _visit(self, node: Node) -> None:
        match node.type:
            case "command":
                self._command(node)
                return
            case "file_redirect":
                self._redirect(node)
            case "herestring_redirect":
                self._found.doubt("it holds a here-string")
            case "declaration_command" | "unset_command" | "variable_assignments":
                self._found.doubt("it sets variables")
            case "variable_assignment":
                self._found.doubt("it sets a variable")
            case "while_statement":
                self._found.has_loop = True
            case "ERROR":
                self._found.give_up("it cannot be taken apart")
            case kind if kind in _DOUBTS:
                self._found.doubt(_DOUBTS[kind])
            case kind if node.is_named and kind not in _HARMLESS_NODES and kind not in _WORDS:
                self._found.doubt("it holds more than plain commands")
        for child in node.named_children:
            self.visit(child)

    def _command(self, node: Node) -> None:
        words: list[Word] = []
        places: list[tuple[int, int]] = []
        assignments: list[str] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                assignments.append(_text(child))
                places.append((child.start_byte, child.end_byte))
                self._substitutions(child)
            elif child.type == "command_name" or child.type in _WORDS:
                words.append(read_word(_text(child)))
                places.append((child.start_byte, child.end_byte))
                self._substitutions(child)
            else:
                self.visit(child)
        self.commands.append(places)
        self._add(Part(tuple(words), tuple(assignments)))

    def _substitutions(self, word: Node) -> None:
        """Visit every substitution in a word, wherever it stands in there."""
        waiting = [word]
        while waiting:
            node = waiting.pop()
            if node.type in ("command_substitution", "process_substitution"):
                self.visit(node)
            else:
                waiting += reversed(node.named_children)

    def _add(self, part: Part) -> None:
        inner = inner_command(part.words)
        is_wrapper = inner.is_all and not inner.doubt and bool(inner.words or inner.texts)
        self._found.parts.append(replace(part, is_wrapper=is_wrapper))
        if inner.doubt:
            self._found.doubt(inner.doubt)
        if inner.words:
            more = tuple(word.text for word in inner.assignments)
            self._add(Part(inner.words, part.assignments + more))
        for text in inner.texts:
            _take_apart(text, self._found, self._depth + 1)

    def _redirect(self, node: Node) -> None:
        target = node.child_by_field_name("destination")
        sign = next((_text(child) for child in node.children if not child.is_named), "")
        if target is None:
            if not _text(node).rstrip().endswith("-"):  # `2>&-` closes
                self._found.give_up("it cannot be taken apart")
            return
        self.targets.append((sign, target.start_byte))
        word = read_word(_text(target))
        if sign in (">&", "<&") and (word.literal or "").rstrip("-").isdecimal():
            return
        self._found.redirects.append(Redirect(word, writes=sign not in ("<", "<&")))


def _agrees(command: str, taker: _Taker) -> bool:
    """Whether a much simpler reading of the line finds the same commands and redirections."""
    segments = read_line(command)
    if segments is None:
        return False
    place_of = _bytes_before(command)
    lines = [_placed(segment, place_of) for segment in segments]
    targets = [target for _, found in lines for target in found]
    if sorted(targets) != sorted(taker.targets):
        return False
    wanted = sorted(taker.commands)
    for words, _ in lines:
        rest = list(words)
        while rest and command.encode()[slice(*rest[0])].decode() in _KEYWORDS:
            rest.pop(0)
        if not rest:
            continue
        if not wanted or wanted.pop(0) != rest:
            return False
    return not wanted


_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"}
)


def _placed(
    segment: Segment, place_of: list[int]
) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    words = [(place_of[start], place_of[end]) for start, end in segment.words]
    return words, [(sign, place_of[start]) for sign, start in segment.redirects]


def _bytes_before(text: str) -> list[int]:
    places = [0]
    for sign in text:
        places.append(places[-1] + len(sign.encode("utf-8", "replace")))
    return places


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
