"""The tree of entries: what is found on the way to the leaf."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.tree import SessionTree

KINDS = ("run", "model_change", "thinking_change")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from((*KINDS, "leaf")), st.integers(0, 30)), max_size=30))
def test_the_last_of_a_type_is_the_last_on_the_way_wherever_the_leaf_went(
    steps: list[tuple[str, int]],
) -> None:
    tree = SessionTree()
    ids: list[str | None] = [None]
    for kind, number in steps:
        if kind == "leaf":
            tree.add(Entry("leaf", {"target_id": ids[number % len(ids)]}, tree.leaf))
        else:
            parent = tree.leaf if number < 25 else ids[number % len(ids)]
            entry = Entry(kind, {}, parent)
            tree.add(entry)
            ids.append(entry.id)

        for asked in KINDS:
            on_the_way = [entry for entry in tree.path() if entry.type == asked]
            assert tree.last(asked) == (on_the_way[-1] if on_the_way else None)
