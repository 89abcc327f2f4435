"""The pending list: delivery sentences from the loop's state, and editing with undo."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui.agent.queues import MessageQueues, QueuedItem
from agent_tui.core.messages import AgentMessage, ImageBlock, TextBlock, UserMessage
from agent_tui.tui.pending import (
    Lane,
    Moment,
    PendingList,
    delivery_sentences,
    preview,
    text_of_item,
    with_text,
)

TOOLS = Moment(phase="tools", step=7, max_steps=100, tools=(("pytest -q", 14.2),))


@dataclass
class Queue:
    """The engine's queues with the names of the agent's editing calls."""

    queues: MessageQueues = field(default_factory=MessageQueues)

    def queued(self) -> list[QueuedItem]:
        return self.queues.items()

    def steer(self, message: AgentMessage) -> str:
        return self.queues.add("steer", message)

    def follow_up(self, message: AgentMessage) -> str:
        return self.queues.add("follow_up", message)

    def cancel_queued(self, id: str) -> str:
        return self.queues.cancel(id)

    def replace_queued(self, id: str, message: AgentMessage) -> bool:
        return self.queues.replace(id, message)

    def move_queued(self, id: str, *, index: int | None = None, kind: Lane | None = None) -> bool:
        return self.queues.move(id, index, kind)

    def hold_queued(self, id: str, held: bool = True) -> bool:
        return self.queues.hold(id, held)


def queue(steer: str = "", follow_up: str = "") -> Queue:
    """A queue with one item for each letter, its text the letter."""
    made = Queue()
    for letter in steer:
        made.steer(UserMessage(content=letter))
    for letter in follow_up:
        made.follow_up(UserMessage(content=letter))
    return made


def texts(pending: PendingList) -> str:
    """The texts in order, a bar between the lanes."""
    lanes = {"steer": "", "follow_up": ""}
    for item in pending.items:
        lanes[item.kind] += text_of_item(item)
    return f"{lanes['steer']}|{lanes['follow_up']}"


def select(pending: PendingList, text: str) -> None:
    pending.selected = next(item.id for item in pending.items if text_of_item(item) == text)


# -- sentences -----------------------------------------------------------------------------------


def test_a_steer_goes_in_after_the_running_tool_and_before_the_next_step() -> None:
    sentences = delivery_sentences(queue("a").queued(), TOOLS)

    assert sentences == ["after `pytest -q` (running 14 s), before step 8"]


def test_parallel_tools_are_counted() -> None:
    moment = dataclasses.replace(TOOLS, tools=(("pytest -q", 14.0), ("ls", 1.0), ("ls b", 1.0)))

    sentences = delivery_sentences(queue("a").queued(), moment)

    assert sentences == ["after `pytest -q` and 2 more (running 14 s), before step 8"]


def test_steers_go_in_one_a_step_unless_the_mode_says_all() -> None:
    items = queue("abc").queued()

    one = delivery_sentences(items, TOOLS)
    together = delivery_sentences(items, TOOLS, steering_mode="all")

    assert [sentence.rpartition(" step ")[2] for sentence in one] == ["8", "9", "10"]
    assert {sentence.rpartition(" step ")[2] for sentence in together} == {"8"}


@pytest.mark.parametrize(
    ("moment", "sentence"),
    [
        (Moment(phase="waiting", step=7), "before step 8"),
        (Moment(phase="answering", step=7), "after this answer and its tools, before step 8"),
        (
            Moment(phase="asking", step=7, asking="rm -rf build"),
            "after your answer to `rm -rf build`, before step 8",
        ),
        (Moment(phase="retrying", step=7, retry_in=12.4), "with the next try in 12 s"),
        (Moment(phase="stopping", step=7), "on hold once this turn has stopped"),
        (
            Moment(phase="tools", step=100, max_steps=100, tools=(("ls", 1.0),)),
            "on hold after step 100, the last one allowed",
        ),
        (
            Moment(phase="idle", step=7, on_hold=True),
            "on hold · enter (empty composer) sends it first",
        ),
        (Moment(phase="idle", step=7), "next"),
    ],
    ids=lambda value: value.phase if isinstance(value, Moment) else "",
)
def test_the_sentence_follows_the_state_of_the_loop(moment: Moment, sentence: str) -> None:
    assert delivery_sentences(queue("a").queued(), moment) == [sentence]


def test_follow_ups_wait_for_the_end_of_the_turn_and_for_each_other() -> None:
    sentences = delivery_sentences(queue("a", "xy").queued(), TOOLS)

    assert sentences[1:] == ["when this turn ends", "after the one above is answered"]


def test_what_stands_behind_a_queued_command_waits_for_it() -> None:
    made = queue("", "c")
    made.follow_up(UserMessage(content="then this"))
    command = made.queued()[0]

    sentences = delivery_sentences(made.queued(), TOOLS, commands=[command.id])

    assert sentences == ["runs when this turn ends", "after c"]


def test_on_hold_the_first_in_delivery_order_is_named() -> None:
    moment = Moment(phase="idle", on_hold=True)

    sentences = delivery_sentences(queue("a", "x").queued(), moment)

    assert sentences == ["on hold · enter (empty composer) sends it first", "on hold · then this"]


def test_an_item_that_is_edited_says_when_its_boundary_has_passed() -> None:
    made = queue("a")
    item = made.queued()[0]

    before = delivery_sentences(made.queued(), TOOLS, editing=item.id, held_at_step=7)
    later = dataclasses.replace(TOOLS, step=9)
    after = delivery_sentences(made.queued(), later, editing=item.id, held_at_step=7)

    assert before == ["held while you edit it; keeps its place"]
    assert after == ["step 8 began without it; once stored, before step 10"]


def test_markup_and_long_commands_stay_on_one_line() -> None:
    moment = dataclasses.replace(TOOLS, tools=(("echo [red]" + "x" * 300, 1.0),))

    sentence = delivery_sentences(queue("a").queued(), moment)[0]

    assert len(sentence) < 90
    assert "[red]" in sentence


# -- previews ------------------------------------------------------------------------------------


def test_a_preview_has_at_most_three_lines_and_marks_what_is_cut() -> None:
    assert preview("one\n\ntwo\nthree\nfour", 20) == ["one", "two", "three…"]
    assert preview("word " * 10, 12) == ["word word w…"]


@given(st.text(), st.integers(2, 30), st.integers(1, 4))
def test_a_preview_never_exceeds_its_room(text: str, width: int, limit: int) -> None:
    lines = preview(text, width, limit)

    assert len(lines) <= limit


# -- editing -------------------------------------------------------------------------------------


def test_a_selection_begins_at_the_near_end_and_stays_inside() -> None:
    pending = PendingList(queue("ab", "x"))

    seen = []
    for step in (-1, -1, -1, -1, 1):
        pending.select(step)
        current = pending.current()
        seen.append(text_of_item(current) if current else None)

    assert seen == ["x", "b", "a", "a", "b"]


def test_nothing_can_be_selected_in_an_empty_list() -> None:
    assert PendingList(queue()).select(1) is False


def test_a_deleted_item_comes_back_to_its_place() -> None:
    pending = PendingList(queue("abc"))
    select(pending, "b")

    pending.delete()
    gone = texts(pending)
    pending.undo()

    assert [gone, texts(pending)] == ["ac|", "abc|"]


def test_after_a_deletion_the_next_item_is_selected() -> None:
    pending = PendingList(queue("abc"))
    select(pending, "b")

    pending.delete()

    current = pending.current()
    assert current is not None
    assert text_of_item(current) == "c"


def test_items_move_within_their_lane_and_back() -> None:
    pending = PendingList(queue("abc", "x"))
    select(pending, "c")

    pending.move(-1)
    moved = texts(pending)
    at_the_end = pending.move(1) and pending.move(1)
    pending.undo()
    pending.undo()

    assert moved == "acb|x"
    assert at_the_end is False
    assert texts(pending) == "abc|x"


def test_changing_the_lane_can_be_undone() -> None:
    pending = PendingList(queue("ab", "x"))
    select(pending, "a")

    pending.switch_lane()
    switched = texts(pending)
    pending.undo()

    assert [switched, texts(pending)] == ["b|xa", "ab|x"]


def test_an_edited_item_is_held_and_keeps_its_place() -> None:
    made = queue("ab")
    pending = PendingList(made)
    select(pending, "a")

    pending.begin_edit()
    held = [item.held for item in pending.items]
    pending.end_edit("better")

    assert held == [True, False]
    assert [(text_of_item(i), i.held) for i in pending.items] == [("better", False), ("b", False)]


def test_leaving_the_editor_keeps_the_old_text_and_emptying_deletes() -> None:
    pending = PendingList(queue("ab"))
    select(pending, "a")
    pending.begin_edit()
    pending.end_edit(None)
    kept = texts(pending)
    select(pending, "a")
    pending.begin_edit()

    pending.end_edit("  ")

    assert [kept, texts(pending)] == ["ab|", "b|"]


def test_edited_text_of_an_item_that_is_gone_has_no_home() -> None:
    made = queue("a")
    pending = PendingList(made)
    select(pending, "a")
    pending.begin_edit()
    made.queues.clear()

    assert pending.end_edit("better") is False
    assert pending.end_edit(None) is True


def test_pictures_stay_with_an_edited_message() -> None:
    image = ImageBlock(data="aGk=", mime_type="image/png")
    message = UserMessage(content=[TextBlock(text="old"), image])

    edited = with_text(message, "new")

    assert isinstance(edited, UserMessage)
    assert edited.content == [TextBlock(text="new"), image]


def test_everything_that_was_taken_comes_back_in_order() -> None:
    pending = PendingList(queue("ab", "xy"))

    pending.take_all()
    taken = texts(pending)
    while pending.undo():
        pass

    assert [taken, texts(pending)] == ["|", "ab|xy"]


def test_what_went_into_the_composer_does_not_come_back_a_second_time() -> None:
    pending = PendingList(queue("ab"))
    pending.take_all()

    pending.forget_undo()

    assert pending.undo() is False


def test_a_selection_moves_on_when_its_item_is_delivered() -> None:
    made = queue("ab")
    pending = PendingList(made)
    select(pending, "a")
    made.cancel_queued(pending.items[0].id)

    pending.settle()

    current = pending.current()
    assert current is not None
    assert text_of_item(current) == "b"


@given(st.lists(st.sampled_from(["up", "down", "d", "m-", "m+", "s", "z"]), max_size=40))
def test_no_sequence_of_edits_loses_or_doubles_an_item(keys: list[str]) -> None:
    pending = PendingList(queue("abc", "xyz"))
    acts = {
        "up": lambda: pending.select(-1),
        "down": lambda: pending.select(1),
        "d": pending.delete,
        "m-": lambda: pending.move(-1),
        "m+": lambda: pending.move(1),
        "s": pending.switch_lane,
        "z": pending.undo,
    }
    for key in keys:
        acts[key]()
    while pending.undo():
        pass

    assert sorted(texts(pending)) == sorted("abc|xyz")
