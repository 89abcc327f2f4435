"""Arguments against a JSON schema: first bent into shape as AJV does, then checked.

jsonschema decides what is valid; it is imported at the first check because it is slow to load.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = dict[str, Any]


class ArgumentChecker:
    """Checks arguments of one schema; a schema that is itself invalid lets everything pass.

    References lead nowhere but into the schema itself: nothing is fetched.
    """

    def __init__(self, schema: Schema) -> None:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from referencing import Registry

        self._schema = schema
        # Without a registry of its own jsonschema would open every URL that a schema refers to.
        self._validator: Validator | None = Draft202012Validator(schema, registry=Registry())
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError:
            self._validator = None

    def check(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """A coerced deep copy of `args`, and one line per problem with the path of the value."""
        from referencing.exceptions import Unresolvable

        try:
            return self._checked(args)
        except (Unresolvable, RecursionError, re.error):
            # A reference to nowhere or in a circle, or a pattern in another language's regex.
            return copy.deepcopy(args), []

    def _checked(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        if self._validator is None:
            return copy.deepcopy(args), []
        coerced: dict[str, Any] = self._coerce(copy.deepcopy(args), self._schema)
        errors = sorted(
            self._validator.iter_errors(coerced), key=lambda error: list(map(str, error.path))
        )
        return coerced, [f"{_path(error.absolute_path)}: {error.message}" for error in errors]

    def _matches(self, value: Any, schema: Schema) -> bool:
        assert self._validator is not None
        return bool(self._validator.evolve(schema=schema).is_valid(value))

    def _coerce(self, value: Any, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return value
        schema = self._resolve(schema)
        arms = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(arms, list):
            return self._coerce_union(value, arms)
        for part in schema.get("allOf", ()):
            value = self._coerce(value, part)
        kinds = schema.get("type")
        if isinstance(kinds, str):
            kinds = [kinds]
        if isinstance(kinds, list) and not any(_is_kind(value, kind) for kind in kinds):
            for kind in kinds:
                done, changed = _to_kind(value, kind)
                if done:
                    value = changed
                    break
        return self._coerce_children(value, schema)

    def _coerce_union(self, value: Any, arms: list[Any]) -> Any:
        if any(self._matches(value, arm) for arm in arms):
            return value
        for arm in arms:
            changed = self._coerce(copy.deepcopy(value), arm)
            if self._matches(changed, arm):
                return changed
        return value

    def _coerce_children(self, value: Any, schema: Schema) -> Any:
        if isinstance(value, dict):
            properties = schema.get("properties", {})
            rest = schema.get("additionalProperties")
            for name in value:
                value[name] = self._coerce(value[name], properties.get(name, rest))
        elif isinstance(value, list):
            first = schema.get("prefixItems", [])
            for place, item in enumerate(value):
                value[place] = self._coerce(
                    item, first[place] if place < len(first) else schema.get("items")
                )
        return value

    def _resolve(self, schema: Schema) -> Schema:
        for _ in range(32):  # a chain of references may be a circle
            reference = schema.get("$ref")
            if not isinstance(reference, str) or reference[:2] not in ("#", "#/"):
                break
            target: Any = self._schema
            for key in reference[2:].split("/") if reference != "#" else ():
                target = (
                    target.get(key.replace("~1", "/").replace("~0", "~"))
                    if isinstance(target, dict)
                    else None
                )
            if not isinstance(target, dict):
                break
            schema = target
        return schema


def schema_problem(schema: Any) -> str | None:
    """What is wrong with a schema that comes from elsewhere; None if it can be used."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return "it does not describe an object"
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        return f"{getattr(error, 'message', 'it has no end')}"[:200]
    return None


def _path(parts: Any) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "arguments"


def _is_kind(value: Any, kind: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return number and value == value // 1
        case "number":
            return number
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return True


def _to_kind(value: Any, kind: str) -> tuple[bool, Any]:
    """Whether `value` can be read as a `kind`, and the value so read."""
    match kind:
        case "string":
            if value is None:
                return True, ""
            if isinstance(value, bool):
                return True, "true" if value else "false"
            if isinstance(value, int | float):
                return True, str(value)
        case "integer" | "number":
            return _to_number(value, kind)
        case "boolean":
            if value in ("true", "false"):
                return True, value == "true"
            if value is None or (value in (0, 1) and not isinstance(value, bool)):
                return True, bool(value)
        case "null":
            if value in ("", 0) or value is False:
                return True, None
        case "array" | "object":
            if isinstance(value, str):
                return _from_json(value, list if kind == "array" else dict)
    return False, value


def _to_number(value: Any, kind: str) -> tuple[bool, Any]:
    if value is None or isinstance(value, bool):
        return True, int(bool(value))
    if not isinstance(value, str) or not value.strip():
        return False, value
    try:
        number = float(value)
    except ValueError:
        return False, value
    if number.is_integer() and not any(mark in value for mark in ".eE"):
        return True, int(value)
    if kind == "integer":
        return (True, int(number)) if number.is_integer() else (False, value)
    return (True, number) if number == number and abs(number) != float("inf") else (False, value)


def _from_json(text: str, kind: type) -> tuple[bool, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return False, text
    return (True, value) if isinstance(value, kind) else (False, text)
