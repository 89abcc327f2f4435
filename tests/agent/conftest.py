"""The stage of every engine test; whatever a test claims, the invariants hold as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.agent.stage import Stage


@pytest.fixture
def stage() -> Iterator[Callable[..., Stage]]:
    """Make a `Stage`; at the end of the test every stage that was made has kept the invariants."""
    made: list[Stage] = []

    def make(*script: object, **options: object) -> Stage:
        made.append(Stage(*script, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    assert [problem for each in made for problem in each.problems()] == []
