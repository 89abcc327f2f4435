"""Tables of a settings file, read value by value: what is wrong becomes a sentence.

Every reader returns None for a key that is absent or unusable. `finish` reports the keys that
nobody asked for, with the nearest one that exists.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any


class Table:
    """One table of a file. What cannot be used becomes a problem; what nobody asks for, too."""

    def __init__(
        self, data: Mapping[str, Any], source: str, problems: list[str], place: str = ""
    ) -> None:
        self._data = data
        self._source = source
        self._place = place
        self._problems = problems
        self._known: list[str] = []

    def text(self, key: str) -> str | None:
        """Text that is not empty, without white space around it."""
        value = self._value(key)
        if value is None:
            return None
        if isinstance(value, str) and value.strip():
            return value.strip()
        self._bad(key, value, "must be text that is not empty")
        return None

    def command(self, key: str) -> str | tuple[str, ...] | None:
        """A line for the shell, or an array of a program and its arguments."""
        value = self._value(key)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            if value[0].strip() and not any("\0" in word for word in value):
                return tuple(value)
        elif value is None or (isinstance(value, str) and value.strip() and "\0" not in value):
            return value
        self._bad(key, value, 'must be a line for the shell, or ["program", "argument", …]')
        return None

    def words(self, key: str) -> tuple[str, ...] | None:
        """A text, or an array of texts."""
        value = self._value(key)
        if value is None:
            return None
        said = [value] if isinstance(value, str) else value
        if isinstance(said, list) and all(map(_says, said)):
            return tuple(word.strip() for word in said)
        self._bad(key, value, "must be text, or an array of texts")
        return None

    def arguments(self, key: str) -> tuple[str, ...] | None:
        """An array of texts as they are, the first not blank; one text is an array of it."""
        value = self._value(key)
        if isinstance(value, str) and value.strip():
            return (value,)
        if value is None or value == []:
            return None
        is_texts = isinstance(value, list) and all(isinstance(word, str) for word in value)
        if is_texts and value[0].strip() and not any("\0" in word for word in value):
            return tuple(value)
        self._bad(key, value, 'must be an array of texts, ["…", "…"]')
        return None

    def choice(self, key: str, allowed: Sequence[str]) -> Any:
        """One of the words in `allowed`."""
        value = self._value(key)
        if value is None or value in allowed:
            return value
        hint = _did_you_mean(str(value), allowed)
        self._bad(key, value, f"must be one of {', '.join(allowed)}{hint}")
        return None

    def count(self, key: str) -> int | None:
        """A whole number above 0."""
        value = self._value(key)
        if value is None or (isinstance(value, int) and value is not True and value > 0):
            return value
        self._bad(key, value, "must be a whole number above 0")
        return None

    def up_to(self, key: str, most: int) -> int | None:
        """A whole number from 0 to `most`."""
        value = self._value(key)
        if value is None or (type(value) is int and 0 <= value <= most):
            return value
        self._bad(key, value, f"must be a whole number from 0 to {most}")
        return None

    def number(self, key: str) -> float | None:
        """A number, 0 or more."""
        value = self._value(key)
        if value is None:
            return None
        if isinstance(value, int | float) and value is not True and 0 <= value < float("inf"):
            return float(value)
        self._bad(key, value, "must be a number, 0 or more")
        return None

    def amount(self, key: str) -> float | None:
        """A number above 0."""
        value = self._value(key)
        if value is None:
            return None
        if isinstance(value, int | float) and value is not True and 0 < value < float("inf"):
            return float(value)
        self._bad(key, value, "must be a number above 0")
        return None

    def switch(self, key: str) -> bool | None:
        """True or false."""
        value = self._value(key)
        if value is None or isinstance(value, bool):
            return value
        self._bad(key, value, "must be true or false")
        return None

    def table(self, key: str) -> Table:
        """The table under `key`; an empty one if there is none."""
        value = self._value(key)
        if value is not None and not isinstance(value, dict):
            self._bad(key, value, "must be a table")
            value = None
        return self._inner(value or {}, key)

    def tables(self, key: str) -> list[Table]:
        """The tables of an array of tables."""
        value = self._value(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._bad(key, value, f"must be tables, [[{self._name(key)}]]")
            return []
        return [self._inner(item, f"{key}[{place}]") for place, item in enumerate(value)]

    def entries(self, key: str) -> list[str | Table]:
        """An array whose entries are texts or tables."""
        value = self._value(key)
        if value is None:
            return []
        if isinstance(value, list) and all(isinstance(item, dict) or _says(item) for item in value):
            return [
                item.strip() if isinstance(item, str) else self._inner(item, f"{key}[{place}]")
                for place, item in enumerate(value)
            ]
        self._bad(key, value, "must be an array of texts or tables")
        return []

    def names(self) -> list[str]:
        """All keys, every one of them welcome."""
        self._known = list(self._data)
        return self._known

    def texts(self) -> dict[str, str]:
        """A table of names and texts."""
        return {key: text for key in self.names() if (text := self.text(key)) is not None}

    def anything(self) -> dict[str, Any]:
        """The table as it is, for whoever knows its keys."""
        return dict(self._data)

    def finish(self) -> None:
        """Report the keys that nobody asked for."""
        for key in [key for key in self._data if key not in self._known]:
            hint = _did_you_mean(key, self._known) or f"; known: {', '.join(self._known)}"
            self._problems.append(f"{self._source}: unknown key {self._name(key)!r}{hint}")

    def missing(self, key: str) -> None:
        """Report a key that must be there."""
        self._problems.append(f"{self._source}: {self._name(key)} is missing")

    def wrong(self, key: str, sentence: str) -> None:
        """Report a value that can be read but makes no sense."""
        self._problems.append(f"{self._source}: {self._name(key)}: {sentence}")

    def _value(self, key: str) -> Any:
        if key not in self._known:
            self._known.append(key)
        return self._data.get(key)

    def _bad(self, key: str, value: Any, rule: str) -> None:
        self._problems.append(f"{self._source}: {self._name(key)} = {value!r} {rule}")

    def _name(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _inner(self, data: Mapping[str, Any], key: str) -> Table:
        return Table(data, self._source, self._problems, self._name(key))


def _says(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.6)
    near.sort(key=lambda other: sorted(other) != sorted(word))  # swapped letters first
    return f"; did you mean {near[0]!r}?" if near else ""
