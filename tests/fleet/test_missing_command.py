"""Engines whose command is not there."""

from paddock.core.events import AttemptEnded
from tests.fleet.yard import Yard


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
