"""Statuses and messages of model providers, and whose fault they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.trace import Error, RateLimited, RequestFault, TroubleKind
from paddock.engines.trouble import classify, describe_error


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", TroubleKind.PER_MINUTE),
        ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", TroubleKind.PER_MINUTE),
        ("This request would exceed your organization's rate limit of 50,000 input tokens per minute", "per_minute"),
        ("Quota exceeded for quota metric 'requests per minute'", TroubleKind.PER_MINUTE),
        ("You exceeded your current quota. Please retry in 36.1s", TroubleKind.PER_MINUTE),
        ("429 rate limit, retry-after: 3600", TroubleKind.WINDOW),
        ("Claude AI usage limit reached|1794737924", TroubleKind.WINDOW),
        ("You've hit your limit · resets 3pm", TroubleKind.WINDOW),
        ("5-hour limit reached", TroubleKind.WINDOW),
        ("API Error: 529 overloaded_error", TroubleKind.OVERLOAD),
        ("unexpected status 503 Service Unavailable", TroubleKind.OVERLOAD),
        ("We're currently experiencing high demand", TroubleKind.OVERLOAD),
        ("Connection failed: error sending request", TroubleKind.OVERLOAD),
        ("connect ECONNREFUSED 127.0.0.1:1", TroubleKind.OVERLOAD),
        ("unexpected status 401 Unauthorized", TroubleKind.AUTH),
        ("Invalid API key · Please run /login", TroubleKind.AUTH),
        ("Your credit balance is too low to access the API", TroubleKind.AUTH),
        ("insufficient_quota", TroubleKind.AUTH),
    ],
)
def test_the_words_of_each_provider_are_understood(message: str, kind: TroubleKind) -> None:
    trouble = classify(message)
    assert trouble is not None
    assert trouble.kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "cannot go on: FileNotFoundError: [Errno 2] No such file or directory: 'ring'",
        "ModuleNotFoundError: No module named 'harbor'",
        "No conversation found with session ID: x",
        "line 429 of main.py is wrong",
        "processed 500 files in 401 ms",
        "",
    ],
)
def test_our_own_mistakes_are_not_laid_at_the_providers_door(message: str) -> None:
    assert classify(message) is None
    assert describe_error(message) == Error(message)


@pytest.mark.parametrize(
    ("message", "status", "fault"),
    [
        ("model gpt-9 does not exist (404)", None, RequestFault.MODEL),
        ("API Error: 400 prompt is too long", None, RequestFault.TOO_LONG),
        ("This model's maximum context length is 8192 tokens", 400, RequestFault.TOO_LONG),
        ("Your prompt was flagged as violating our usage policy", 400, RequestFault.CONTENT),
        ("messages.3: all messages must have non-empty content", 400, RequestFault.INVALID),
        ("Unprocessable", 422, RequestFault.INVALID),
        ("Not Found", 404, RequestFault.NOT_FOUND),
        ('{"error":{"type":"invalid_request_error","message":"no"}}', None, RequestFault.INVALID),
    ],
)
def test_a_request_that_no_provider_takes_has_a_fault(message: str, status: int | None, fault: RequestFault) -> None:
    told = describe_error(message, status)
    assert isinstance(told, Error)
    assert told.fault is fault


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("the context window is fine, you are too quick", 429, TroubleKind.PER_MINUTE),
        ("content filter unavailable", 503, TroubleKind.OVERLOAD),
        ("Your credit balance is too low to access the API", 400, TroubleKind.AUTH),
    ],
)
def test_words_of_a_fault_do_not_hide_whose_doing_it_is(message: str, status: int, kind: TroubleKind) -> None:
    told = describe_error(message, status)
    assert isinstance(told, RateLimited)
    assert told.kind is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, TroubleKind.PER_MINUTE),
        (401, TroubleKind.AUTH),
        (403, TroubleKind.AUTH),
        (402, TroubleKind.AUTH),
        (500, TroubleKind.OVERLOAD),
        (529, TroubleKind.OVERLOAD),
        (408, TroubleKind.OVERLOAD),
    ],
)
def test_a_status_speaks_for_itself(status: int, kind: TroubleKind) -> None:
    assert describe_error("mock", status) == RateLimited(kind, status, message="mock")


def test_a_status_outweighs_the_words_beside_it() -> None:
    trouble = classify("rate limit service is down", 503)
    assert trouble is not None
    assert trouble.kind is TroubleKind.OVERLOAD


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("rate limit, retry-after: 12", 12.0),
        ("rate limit; try again in 1.5s", 1.5),
        ("rate limit; try again in 250ms", 0.25),
        ("rate limit, retry in 2 min", 120.0),
        ("rate limit", None),
    ],
)
def test_the_pause_asked_for_is_read_with_its_unit(message: str, seconds: float | None) -> None:
    trouble = classify(message)
    assert trouble is not None
    assert trouble.retry_after == seconds


def test_a_closed_window_is_told_from_a_busy_minute_by_words_and_by_a_reset() -> None:
    for trouble in (classify("usage limit reached", 429), classify("rate limit", 429, resets_at=1794737924.0)):
        assert trouble is not None
        assert trouble.kind is TroubleKind.WINDOW


def test_the_time_of_a_reset_is_read() -> None:
    trouble = classify("Claude AI usage limit reached|1794737924")
    assert trouble is not None
    assert (trouble.resets_at, trouble.retry_after) == (1794737924.0, None)


@given(st.text(max_size=300), st.none() | st.integers(), st.none() | st.floats(0, 1e9))
def test_no_message_is_too_strange(message: str, status: int | None, retry_after: float | None) -> None:
    describe_error(message, status, retry_after)


def test_a_message_made_to_be_slow_is_not() -> None:
    describe_error("error " * 100_000 + "retry after " * 10_000)
