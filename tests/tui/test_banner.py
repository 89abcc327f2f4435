"""Sentences for a stop, a failure, a retry."""

from __future__ import annotations

from agent_tui.core.errors import ErrorInfo
from agent_tui.tui.banner import (
    Killed,
    error_sentence,
    limit_sentence,
    retry_sentence,
    stop_banner,
    stopping_notice,
    welcome,
)


def test_a_stop_says_what_it_did_and_what_can_be_done_now() -> None:
    said, keys = stop_banner(7, [Killed("pytest -q", 14.3, 214)], 2, 3)

    assert said == (
        "Stopped at step 7 · pytest -q killed after 14 s (214 lines kept) · "
        "2 files changed since the turn began · 3 pending, on hold"
    )
    assert keys == (
        "enter (empty composer): send all now · alt+↑: select (e edit as one draft, x discard all) "
        "· typing starts a new message"
    )


def test_without_pending_messages_there_is_nothing_to_explain() -> None:
    assert stop_banner(1, [], 0, 0) == ("Stopped at step 1", "")


def test_a_stop_before_any_output_says_where_the_message_went() -> None:
    said, _ = stop_banner(0, [], 0, 0)

    assert said == "Stopped before any output: your message is back in the composer"


def test_an_error_is_one_sentence_with_a_way_out() -> None:
    error = ErrorInfo(code="auth", message="The key was refused (401).")

    assert error_sentence(error) == (
        "The key was refused (401) — check the key, or pick another model with /model."
    )


def test_an_error_text_cannot_carry_escape_sequences_or_lines() -> None:
    error = ErrorInfo(code="provider", message="bad \x1b]0;owned\x07thing\n\n<html>")

    said = error_sentence(error)

    assert said.startswith("bad thing <html> — ")


def test_an_error_without_words_names_its_code() -> None:
    assert error_sentence(ErrorInfo(code="stream_incomplete", message="")).startswith(
        "stream incomplete — "
    )


def test_a_retry_counts_down() -> None:
    error = ErrorInfo(code="rate_limit", message="Rate limited.")

    assert retry_sentence(2, 3, 4.0, error) == "Rate limited. Try 2 of 3 in 4 s · esc gives up"
    assert retry_sentence(2, 3, 0.1, None) == "The request failed. Try 2 of 3 now · esc gives up"


def test_stopping_counts_up_and_names_the_harder_key() -> None:
    assert stopping_notice(1.2) == "stopping… 1 s (ctrl+c: kill)"
    assert stopping_notice(1.2, killing=True) == "killing… 1 s"


def test_a_limit_says_how_to_go_on() -> None:
    assert limit_sentence("max_iterations", 100, 0) == (
        "Paused after 100 steps, the limit of a turn · enter goes on"
    )
    assert (
        limit_sentence("stopped", 3, 2) == "Stopped after step 3, as asked · enter sends 2 pending"
    )
    assert limit_sentence("completed", 3, 0) == ""


def test_the_first_words_say_who_answers_and_why() -> None:
    said = welcome("groq/m", "GROQ_API_KEY is set", is_demonstration=False)

    assert said.startswith("groq/m answers (GROQ_API_KEY is set) · ")


def test_the_demonstration_says_how_to_get_a_real_model() -> None:
    said = welcome("demo/tour", "no key was found", is_demonstration=True)

    assert said.startswith("demo/tour answers (no key was found): the offline demonstration")
    assert "agent-tui doctor" in said
