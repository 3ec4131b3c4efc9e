"""Agents that go round in circles, and engines whose command is not there."""

import pytest

from paddock.core.events import AttemptEnded
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write

SAME = {"run": ["echo", "the same"], "always": True}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"PADDOCK_LIMITS_REPEATS": "5"}, "the same call with the same result "),
        ({"PADDOCK_LIMITS_REPEATS": "0", "PADDOCK_LIMITS_MAX_CALLS": "8"}, "more than 8 tool calls in one turn"),
        ({"PADDOCK_LIMITS_REPEATS": "0", "PADDOCK_LIMITS_MAX_TURNS": "8"}, "more than 8 model answers"),
    ],
)
def test_a_turn_that_goes_round_in_circles_is_ended(make_yard: MakeYard, settings: dict[str, str], reason: str) -> None:
    yard = make_yard(**settings)
    yard.add(write("a.txt"), commit("Add a"), SAME, attempts=1)
    yard.run(code=1)
    attempt = yard.attempt()
    assert (attempt.outcome, attempt.ended_by, attempt.counted) == ("looping", "looping", True)
    assert attempt.reason.startswith(reason)
    assert attempt.commits == 1, "what it had committed is kept"
    assert yard.task().phase == "failed"
    yard.assert_nothing_is_left()


def test_an_engine_whose_command_is_not_found_uses_up_no_attempt(yard: Yard) -> None:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[engines.gone]\ncommand = ["sh", "-c", "no-such-agent-cli"]\n')
    yard.add({"say": "hm"}, engine="gone", attempts=1)
    yard.run(code=1)
    ends = [record.event for record in yard.records(AttemptEnded)]
    assert [(end.outcome, end.counted) for end in ends if isinstance(end, AttemptEnded)] == [("never_ran", False)] * 3
    task = yard.task()
    assert (task.phase, task.counted) == ("blocked", 0)
    assert "exit 127" in yard.attempt().reason
    assert yard.row("t1")["unblock"] == "paddock engines check gone, then paddock retry t1"
