"""The context at a place of a tree with branches and summaries, and the settings there."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.messages import AssistantMessage, TextBlock, UserMessage
from agent_tui.core.model import Model
from agent_tui.session.journal.entries import Entry
from agent_tui.session.journal.tree import UNDONE, SessionTree
from agent_tui.testing import text
from tests.session.compaction.transcripts import Small, answered, said


def user(name: str, parent: str | None) -> Entry:
    """A message of the person."""
    message = UserMessage(content=name, id=name)
    return Entry("message", parent_id=parent, id=name, message=message)


def answer(name: str, parent: str) -> Entry:
    """An answer."""
    message = AssistantMessage(content=[TextBlock(text=name)], id=name)
    return Entry("message", parent_id=parent, id=name, message=message)


def summary(name: str, parent: str, kept: str) -> Entry:
    """A summary of everything before `kept`."""
    data = {"summary": name, "first_kept_entry_id": kept, "tokens_before": 10}
    return Entry("compaction", data, parent, name)


def branched() -> SessionTree:
    """Two questions, a summary, a third; from the second answer on another way with its own."""
    return SessionTree(
        [
            user("q1", None),
            answer("a1", "q1"),
            user("q2", "a1"),
            answer("a2", "q2"),
            summary("S", "a2", "q2"),
            user("q3", "S"),
            answer("a3", "q3"),
            user("other", "a2"),
            answer("b", "other"),
            summary("T", "b", "other"),
            user("later", "T"),
        ]
    )


def ids(tree: SessionTree, to: str) -> list[str]:
    """The context there."""
    return [message.id for message in tree.context(to)]


def test_a_summary_counts_only_on_its_own_branch() -> None:
    tree = branched()

    assert ids(tree, "a3") == ["S", "q2", "a2", "q3", "a3"]
    assert ids(tree, "later") == ["T", "other", "b", "later"]
    assert ids(tree, "b") == ["q1", "a1", "q2", "a2", "other", "b"]
    assert ids(tree, "a2") == ["q1", "a1", "q2", "a2"]


def test_a_summary_that_was_undone_on_one_branch_holds_on_the_other() -> None:
    tree = branched()
    undone = {"custom_type": UNDONE, "data": ["S"]}
    tree.add(Entry("custom", undone, "a3", "undone"))

    assert ids(tree, "undone") == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert ids(tree, "a3") == ["S", "q2", "a2", "q3", "a3"]


def test_the_newest_summary_stands_for_the_older_one() -> None:
    tree = branched()
    tree.add(summary("U", "a3", "q3"))

    assert ids(tree, "U") == ["U", "q3", "a3"]


async def test_settings_from_before_a_summary_hold_after_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    small = Small(text("ok"), text("S"), messages=[said(400), answered(400), said(400)], path=path)
    small.session.set_thinking("high")
    small.session.set_model(Model("test", "m", context_window=8192))
    await small.session.prompt("hi")
    await small.session.compact()
    small.session.close()
    assert small.roles[0] == "compaction_summary"

    again = Small(path=path)

    assert again.agent.state.thinking_level == "high"
    assert again.agent.state.model.key == "test/m"
    assert again.roles == small.roles
    again.session.close()
