"""What servers say went wrong, told as one of our errors."""

from __future__ import annotations

import json
from email.utils import formatdate
from typing import Any

import pytest

from agent_tui.core.errors import (
    BAD_TOOL_CALL,
    AuthenticationError,
    ContentPolicyError,
    ContextOverflowError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
)
from agent_tui.core.model import Model
from agent_tui.providers.errors import (
    http_error,
    mask,
    read_fault,
    strange_answer,
    stream_error,
)
from tests.providers.loopback import CASES

MODEL = Model("lab", "m", api="openai-chat", base_url="http://10.0.0.5:8000/v1")
NOW = 1_700_000_000.0
KINDS = {
    "auth": AuthenticationError,
    "rate_limit": RateLimitError,
    "overloaded": OverloadedError,
    "context_too_large": ContextOverflowError,
    "bad_response": ProviderError,
}


def error(
    status: int, body: Any = "", headers: dict[str, str] | None = None, model: Model = MODEL
) -> ProviderError:
    text = body if isinstance(body, str) else json.dumps(body)
    return http_error(status, headers or {}, text, model, now=lambda: NOW)


def said(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


# -- the recorded answers ----------------------------------------------------------------------

HTTP_CASES = sorted(path.name for path in (CASES / "wire-http").glob("*.http.json"))


@pytest.mark.parametrize("name", HTTP_CASES)
def test_a_recorded_answer_is_classified(name: str) -> None:
    case = json.loads((CASES / "wire-http" / name).read_text("utf-8"))
    http, expect = case["http"], case["expect"]["error"]
    soon = formatdate(NOW + 2, usegmt=True)
    headers = {k: v.replace("{HTTP_DATE_NOW_PLUS_2S}", soon) for k, v in http["headers"].items()}

    if http["status"] == 200:
        found = strange_answer(200, headers["content-type"], http["body"], MODEL)
    else:
        found = error(http["status"], http["body"], headers)

    assert type(found) is KINDS[expect["kind"]]
    assert found.retryable == expect["retryable"]
    assert expect.get("message_contains", "") in found.message
    assert found.retry_after == pytest.approx(expect.get("wait_s"), abs=0.01)
    assert "<" not in found.message


def test_html_instead_of_an_answer_is_named_with_status_type_and_start() -> None:
    page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>[/b] Please</body></html>"

    message = strange_answer(200, "text/html", page, MODEL).message

    assert "HTTP 200" in message
    assert "text/html" in message
    assert "Sign in. [/b] Please" in message
    assert MODEL.base_url in message


def test_the_title_of_a_page_is_said_once() -> None:
    page = "<title>Error response</title><h1>Error response</h1><p>Error code: 501</p>"

    message = http_error(501, {"content-type": "text/html"}, page, MODEL).message

    assert message == f"{MODEL.provider}: Error response. Error code: 501 (HTTP 501)"


# -- classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (401, said("bad key", code="invalid_api_key"), AuthenticationError, False),
        (403, said("country not supported"), AuthenticationError, False),
        (400, said("API key not valid. Please pass a valid API key."), AuthenticationError, False),
        (402, said("Insufficient credits"), QuotaError, False),
        (
            429,
            said("You exceeded your current quota", code="insufficient_quota"),
            QuotaError,
            False,
        ),
        (400, said("Your credit balance is too low"), QuotaError, False),
        (429, {"error": {"code": "1308", "message": "limit"}}, QuotaError, False),
        (429, said("Rate limit reached for requests"), RateLimitError, True),
        (429, said("Too many tokens, please wait before trying again."), RateLimitError, True),
        (413, said("Request too large: tokens per minute (TPM)"), RateLimitError, True),
        (498, "", RateLimitError, True),
        (408, "", RequestTimeoutError, True),
        (409, "", OverloadedError, True),
        (425, "", OverloadedError, True),
        (500, "Internal Server Error", OverloadedError, True),
        (502, "<html><title>502 Bad Gateway</title></html>", OverloadedError, True),
        (503, said("Loading model"), OverloadedError, True),
        (504, "", OverloadedError, True),
        (522, "", OverloadedError, True),
        (529, said("Overloaded", type="overloaded_error"), OverloadedError, True),
        (413, "", ContextOverflowError, False),
        (400, said("x", code="content_policy_violation"), ContentPolicyError, False),
        (400, {"error": {"innererror": {"code": "content_filter"}}}, ContentPolicyError, False),
        (403, said("no", metadata={"reasons": ["violence"]}), ContentPolicyError, False),
        (404, said("The model `m` does not exist"), ProviderError, False),
        (
            422,
            {"detail": [{"loc": ["body", "x"], "msg": "extra", "type": "e"}]},
            ProviderError,
            False,
        ),
        (400, said("bad", code="tool_use_failed"), ProviderError, True),
        (302, "", ProviderError, False),
        (599, "", ProviderError, True),
    ],
)
def test_status_codes_and_words_decide_the_class(
    status: int, body: Any, kind: type[ProviderError], retryable: bool
) -> None:
    found = error(status, body)

    assert type(found) is kind
    assert found.retryable is retryable
    assert found.status == status


def test_a_call_that_groq_could_not_read_has_a_code_of_its_own() -> None:
    assert error(400, said("bad", code="tool_use_failed")).code == BAD_TOOL_CALL


OVERFLOWS = [
    "Your input exceeds the context window of this model",
    "Input tokens exceed the configured limit of 272000 tokens",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "input is too long for requested model",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "Prompt contains 9 tokens, too large for model with 8192 maximum context length",
    "This endpoint's maximum context length is 9 tokens. However, you requested about 12",
    "The input (300 tokens) is longer than the model's context length (200 tokens)",
    "request (9000 tokens) exceeds the available context size (8192 tokens)",
    "Trying to keep the first 9 tokens when context the overflows",
    "the prompt is longer than the context length currently available to the model",
    "prompt too long; exceeded max context length by 20 tokens",
    "prompt token count of 9 exceeds the limit of 8",
    "context window exceeds limit",
    "Your request exceeded model token limit: 9 (requested: 12)",
    "Range of input length should be [1, 30720]",
    "Prompt exceeds max length",
    "litellm.ContextWindowExceededError: too much",
]


@pytest.mark.parametrize("phrase", OVERFLOWS)
def test_every_vendors_words_for_a_full_window_are_known(phrase: str) -> None:
    found = error(400, said(phrase))

    assert type(found) is ContextOverflowError
    assert not found.retryable
    assert "new session" in found.message


def test_a_code_for_a_full_window_counts_more_than_the_words_beside_it() -> None:
    body = said("Request too large, rate limit of your plan", code="context_length_exceeded")

    assert type(error(400, body)) is ContextOverflowError
    assert type(error(429, body)) is ContextOverflowError


@pytest.mark.parametrize(
    "phrase",
    [
        "Rate limit reached for tokens per minute",
        "max_tokens is too large: 64000. This model supports at most 16384 completion tokens",
        "Unsupported parameter: 'max_tokens'",
        "The model `m` does not exist",
        "Incorrect API key provided",
        "Too many requests, please wait",
    ],
)
def test_other_complaints_are_no_full_window(phrase: str) -> None:
    assert type(error(400, said(phrase))) is not ContextOverflowError


def test_a_per_minute_quota_of_gemini_is_worth_waiting_for_and_a_daily_one_is_not() -> None:
    def body(quota: str) -> dict[str, Any]:
        details = [{"violations": [{"quotaId": f"GenerateRequests{quota}PerProject"}]}]
        return said("Quota exceeded, check your plan and billing", details=details)

    assert type(error(429, body("PerMinute"))) is RateLimitError
    assert type(error(429, body("PerDay"))) is QuotaError


def test_a_server_may_say_itself_whether_to_try_again() -> None:
    assert not error(500, "", {"x-should-retry": "false"}).retryable
    assert error(400, "", {"x-should-retry": "true"}).retryable


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (said("plain"), "plain"),
        ({"error": "text"}, "text"),
        ({"message": "top"}, "top"),
        ({"detail": "top"}, "top"),
        ([said("listed")], "listed"),
        ({"detail": [{"loc": ["body", "tools", 0], "msg": "bad"}]}, "body.tools.0: bad"),
        ({"error": {"message": {"detail": "deep"}}}, "deep"),
        ({"error": {"message": ["a", {"msg": "b"}]}}, "a; b"),
        (said("outer", metadata={"raw": "inner"}), "outer: inner"),
        ("no JSON \x1b[31mat all\n", "no JSON at all"),
        ("<html><title>Oops</title><p>Try  later</p></html>", "Oops. Try later"),
        ("", ""),
        ("[]", ""),
        ("null", ""),
    ],
    ids=str,
)
def test_the_servers_words_are_found_in_any_shape(body: Any, message: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)

    assert read_fault(text).message == message


def test_a_message_says_who_what_and_what_to_do() -> None:
    named = Model("lab", "m", base_url=MODEL.base_url, compat={"api_key_env": "LAB_KEY"})

    assert error(401, said("Wrong key."), model=named).message == (
        "lab: Wrong key (HTTP 401). Check the key in LAB_KEY"
    )
    assert "(m) and the address http://10.0.0.5:8000/v1" in error(404).message
    assert "https://else.where/v1" in error(307, "", {"location": "https://else.where/v1"}).message


def test_endless_bodies_are_cut() -> None:
    assert len(error(500, said("x" * 10**6)).message) < 2500


def test_the_requests_id_is_kept() -> None:
    assert error(500, "", {"x-request-id": "req_1"}).request_id == "req_1"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-proj-abcdefghijklmnop is wrong", "key sk-[key] is wrong"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [key]"),
        ("https://x.y/v1?key=AIzaSyD-1234567890&a=1", "https://x.y/v1?key=[key]&a=1"),
        ("http://user:hunter2@proxy:3128", "http://[key]@proxy:3128"),
        ("token limit exceeded: 12 tokens", "token limit exceeded: 12 tokens"),
        ("the secret 12345 itself", "the [key] itself"),
    ],
)
def test_keys_are_masked(text: str, masked: str) -> None:
    assert mask(text, ["secret 12345"]) == masked


def test_a_server_that_echoes_the_key_shows_it_to_nobody() -> None:
    key = "my-own-key-0001"

    found = http_error(
        401, {"x-request-id": key}, json.dumps(said(f"unknown key {key}")), MODEL, [key]
    )

    assert key not in repr(vars(found))
    assert key not in str(found)


def test_an_error_in_mid_stream_takes_its_status_from_the_body() -> None:
    assert type(stream_error(said("x", code=429), MODEL)) is RateLimitError
    assert type(stream_error(said("request timed out"), MODEL)) is RequestTimeoutError
