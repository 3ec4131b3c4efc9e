"""Budgets in the running fleet: who does not fit waits with a reason, who overspends is stopped."""

import json
import re

from paddock.core.events import AttemptEnded, AttemptStarted, TurnEnded
from paddock.core.money.budget import committed
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

# The scripted agent reports 1,001 tokens for every message, as it goes.
CHATTER: Step = {"chatter": 600, "every": 0.05}
PRICE = '[prices."scripted"]\ninput = 1000\noutput = 1000\n'


def priced(yard: Yard) -> Yard:
    """A dollar per thousand tokens; what the agent itself tells at its end counts more."""
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + PRICE)
    return yard


def verdicts(yard: Yard, name: str = "t1") -> list[tuple[str, str]]:
    events = [record.event for record in yard.records(AttemptEnded, name)]
    return [(event.outcome, event.next) for event in events if isinstance(event, AttemptEnded)]


def ended_by(yard: Yard, name: str = "t1") -> list[str]:
    events = [record.event for record in yard.records(TurnEnded, name)]
    return [event.ended_by for event in events if isinstance(event, TurnEnded)]


def test_an_attempt_that_spends_more_money_than_it_may_is_stopped(yard: Yard) -> None:
    priced(yard).paddock("budget", "set", "attempt", "--usd", "3")
    yard.add(CHATTER)
    yard.run(code=1)
    assert (verdicts(yard), ended_by(yard)) == ([("over_budget", "block")], ["budget"])
    attempt = yard.attempt()
    assert attempt.cost_usd is not None
    assert attempt.cost_usd > 1
    costs = json.loads(yard.paddock("costs", "--by", "model", "--json"))
    assert (costs["rows"][0]["model"], costs["rows"][0]["cost_usd"]) == ("scripted", round(attempt.cost_usd, 6))


def test_three_agents_cannot_spend_more_than_there_is(make_yard: MakeYard) -> None:
    """Each tells only with its last word what it cost."""
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="3")
    yard.paddock("budget", "set", "fleet", "--usd", "4")
    spend: Step = {"usage": {"input_tokens": 4000, "output_tokens": 1000, "cost": 1.5}}
    yard.add_all([{"brief": play(write(f"{n}.txt"), commit("Add"), spend)} for n in range(3)])
    said = yard.run()
    assert committed(yard.board().spending.ledger, "fleet").money == 3.0
    assert [yard.task(f"t{n}").phase.value for n in (1, 2, 3)] == ["approval", "approval", "ready"]
    assert "t3 is waiting: fleet has $1.00 of $4.00 left, $1.50 needed" in said


def test_every_attempt_has_a_budget_though_nobody_has_set_one(yard: Yard) -> None:
    priced(yard)
    yard.add({"chatter": 600, "every": 0.3})
    yard.run(code=1, env={"PADDOCK_LIMITS_ATTEMPT_USD": "4"})
    assert (verdicts(yard), ended_by(yard)) == ([("over_budget", "block")], ["budget"])
    assert re.match(r"attempt:t1\.1 has used \$\d+\.\d\d of \$4\.00 \(`limits\.attempt_usd`\)", yard.attempt().reason)
    yard.paddock("retry", "t1")
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + "[agents.rich]\nattempt_usd = 0\n")
    yard.paddock("edit", "t1", "--agent", "rich")
    fleet = yard.start("run", "--until-idle", env={"PADDOCK_LIMITS_ATTEMPT_USD": "4"})
    yard.await_board(lambda board: board.live, "the second attempt")
    yard.paddock("stop", "t1")
    assert fleet.wait() == 1, fleet.words
    assert verdicts(yard)[-1][0] == "killed", "an agent of its own may spend more"


def test_who_does_not_fit_waits_with_the_reason_and_starts_when_the_budget_is_raised(yard: Yard) -> None:
    # Before anything is learnt an attempt is expected to need some 837,000 tokens.
    yard.paddock("budget", "set", "fleet", "--tokens", "1e6")
    gates = [yard.folder / f"gate{number}" for number in range(2)]
    for number in range(2):
        yard.add({"wait_for": str(gates[number])}, write(f"{number}.txt"), commit("Add"))
    fleet = yard.start("run", "--until-idle")
    yard.await_board(lambda board: board.live, "the first agent")
    reason = "fleet has 162,986 of 1,000,000 tokens left, 837,014 needed"
    yard.await_that(lambda: yard.row("t2")["reason"] == reason, "the reason")
    assert reason in yard.paddock("status")
    assert f"t2      waiting: {reason}" in yard.paddock("limits")
    shown = json.loads(yard.paddock("budget", "show", "--json"))["budgets"]
    assert [(row["scope"], row["spent_tokens"], round(row["committed_tokens"])) for row in shown] == [
        ("fleet", 0, 837014)
    ]
    yard.paddock("budget", "set", "fleet", "--tokens", "2e6")
    yard.await_board(lambda board: len(board.live) == 2, "the second agent")
    for gate in gates:
        gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert len(yard.records(AttemptStarted)) == 2


def test_a_fleet_whose_budget_is_used_up_comes_to_rest(yard: Yard) -> None:
    """Nobody but a person can help: `run --until-idle` ends, and the reason stays to be read."""
    yard.paddock("budget", "set", "day", "--tokens", "1000")
    yard.add(write("a.txt"), commit("Add a"))
    said = yard.run()
    assert re.search(r"t1 is waiting: day:\d{4}-\d\d-\d\d has 1,000 of 1,000 tokens left, 837,014 needed\n", said)
    assert yard.records(AttemptStarted) == []
    assert yard.row("t1")["phase"] == "ready"
    assert "of 1,000 tokens left" in yard.row("t1")["reason"]
    yard.paddock("budget", "set", "day", "--none")
    yard.run(code=0)
    assert yard.attempt().outcome == "delivered"


def test_costs_per_landed_change_count_every_attempt(make_yard: MakeYard) -> None:
    yard = make_yard()
    (yard.top / "paddock.toml").write_text('engine = "scripted"\n[land]\napproval = "none"\nci = "true"\n')
    spend: Step = {"usage": {"input_tokens": 4000, "output_tokens": 1000, "cost": 0.5}}
    yard.add(write("a.txt"), commit("Add a"), spend)
    yard.add({"say": "all done"}, {"attempt": 1, **spend}, {"attempt": 2, "noop": "nothing"}, attempts=1)
    yard.run()
    said = json.loads(yard.paddock("costs", "--json"))
    assert (said["landed"], said["total"]["cost_usd"], said["per_landed_usd"]) == (1, 1.0, 1.0)
    assert said["rows"][0]["startup_tokens"] == 1000
    assert 0 < said["rows"][0]["startup_usd"] < said["rows"][0]["cost_usd"]
    assert "\n$1.0000 per landed change (1 landed)\n" in yard.paddock("costs")
