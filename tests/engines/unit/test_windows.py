"""Quota windows as claude 2.1.325 and codex 0.166.0 told them, word for word, against a mock model server."""

import json

import pytest

from paddock.core.trace import Progress, RateLimited, TraceEntry, TroubleKind, WindowsTold, WindowUse
from paddock.engines.protocol import Source
from paddock.engines.registry import load_engine

CLAUDE = {
    "status": "allowed_warning",
    "resetsAt": 1794800191,
    "rateLimitType": "five_hour",
    "utilization": 0.93,
    "isUsingOverage": False,
    "surpassedThreshold": 0.9,
    "unifiedWindows": {
        "five_hour": {"utilization": 0.93, "resetsAt": 1794800191, "status": "allowed_warning"},
        "seven_day": {"utilization": 0.4, "resetsAt": 1794882991, "status": "allowed"},
    },
}
CODEX = {
    "limit_id": "codex",
    "limit_name": None,
    "primary": {"used_percent": 93.5, "window_minutes": 300, "resets_at": 1794800197},
    "secondary": {"used_percent": 40.0, "window_minutes": 10080, "resets_at": 1794882997},
    "credits": None,
    "individual_limit": None,
    "spend_control_reached": None,
    "plan_type": None,
    "rate_limit_reached_type": None,
}


def claude_says(**changes: object) -> list[TraceEntry]:
    info = {key: value for key, value in {**CLAUDE, **changes}.items() if value is not None}
    line = {"type": "rate_limit_event", "rate_limit_info": info, "uuid": "5839e122", "session_id": ""}
    return list(load_engine("claude").parser().feed(json.dumps(line).encode()))


def codex_writes(limits: object) -> list[TraceEntry]:
    payload = {"type": "token_count", "info": None, "rate_limits": limits}
    line = {"timestamp": "2026-11-16T02:36:40.050Z", "ordinal": 13, "type": "event_msg", "payload": payload}
    return list(load_engine("codex").parser().feed(json.dumps(line).encode(), Source.LOG))


def test_claude_tells_both_windows_with_what_limits_it_now() -> None:
    both = (WindowUse("5-hour", 0.93, 1794800191.0), WindowUse("7-day", 0.4, 1794882991.0))
    assert claude_says() == [WindowsTold(both)]
    assert claude_says(unifiedWindows=None) == [WindowsTold(both[:1])]


def test_claude_may_have_calls_beyond_its_windows_paid_for() -> None:
    for changes in ({"isUsingOverage": True}, {"overageStatus": "allowed"}, {"overageStatus": "allowed_warning"}):
        assert [entry.extra for entry in claude_says(**changes) if isinstance(entry, WindowsTold)] == [True]
    assert [entry.extra for entry in claude_says(overageStatus="rejected") if isinstance(entry, WindowsTold)] == [False]


def test_a_refusal_by_claudes_window_is_both_told_and_refused() -> None:
    told, refused = claude_says(status="rejected", utilization=1.0, unifiedWindows=None)
    assert told == WindowsTold((WindowUse("5-hour", 1.0, 1794800191.0),))
    assert isinstance(refused, RateLimited)
    assert (refused.kind, refused.resets_at) == (TroubleKind.WINDOW, 1794800191.0)


def test_a_limit_of_one_model_says_nothing_of_the_account() -> None:
    assert claude_says(rateLimitType="seven_day_opus", unifiedWindows=None) == [Progress("rate_limit_event")]
    assert codex_writes({**CODEX, "limit_id": "codex_other"}) == []


def test_codex_writes_both_windows_beside_every_call() -> None:
    both = (WindowUse("5-hour", 0.935, 1794800197.0), WindowUse("7-day", 0.4, 1794882997.0))
    assert codex_writes(CODEX) == [WindowsTold(both)]
    assert codex_writes({**CODEX, "primary": None}) == [WindowsTold(both[1:])]
    credits = {"has_credits": True, "unlimited": False, "balance": "12"}
    assert codex_writes({**CODEX, "credits": credits}) == [WindowsTold(both, extra=True)]


@pytest.mark.parametrize("odd", [None, {}, [], 7, {"primary": {"used_percent": "many"}}, {"primary": [1]}])
def test_what_codex_leaves_out_is_not_made_up(odd: object) -> None:
    assert codex_writes(odd) == []


def test_the_rest_of_codexs_own_file_is_passed_over() -> None:
    parser = load_engine("codex").parser()
    for line in (b"", b"{}", b'error: "rate_limits"', b'{"type":"turn.completed"}', b"\xff\xfe rate_limits"):
        assert list(parser.feed(line, Source.LOG)) == []
