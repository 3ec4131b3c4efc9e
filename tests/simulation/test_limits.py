"""Budgets and refusals by a clock that jumps: an agent that overspends is stopped, a refused one loses nothing."""

import re
from pathlib import Path
from random import Random

import pytest

from paddock.core.board import Board
from paddock.core.events import AttemptEnded, AttemptExtended, AttemptStarted, TurnEnded
from paddock.core.intent.budget import set_budget
from paddock.core.money.budget import committed
from paddock.git.repo import Repo
from tests.simulation.parts import delivers, is_overloaded, is_throttled, spends
from tests.simulation.stage import Role, Stage, set_stage
from tests.simulation.troupe import Part
from tests.simulation.world import PERSON


def spends_after_a_commit(chance: Random, session: str) -> Part:
    return Part(spends(chance, session).says, None, early=1)


def limit(world: Stage, scope: str, usd: float | None = None, tokens: float | None = None) -> None:
    world.people.append(lambda board: set_budget(board, scope, usd, tokens, lift=False), PERSON)


def verdicts(world: Stage) -> list[tuple[str, str]]:
    return [(end.outcome, end.next) for end in world.ends()]


def ended_by(world: Stage) -> list[str]:
    return [event.ended_by for event in world.events(TurnEnded, "t1") if isinstance(event, TurnEnded)]


def test_an_attempt_that_spends_more_tokens_than_it_may_is_stopped(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": spends_after_a_commit})
    limit(world, "attempt", tokens=1_000_000)
    world.add(1)
    assert world.live()
    assert (verdicts(world), ended_by(world)) == ([("over_budget", "block")], ["budget"])
    attempt = world.attempt()
    assert re.match(r"attempt:t1\.1 has used [\d,]+ tokens of 1,000,000 tokens", attempt.reason)
    assert 500_000 < attempt.input_tokens + attempt.output_tokens <= 1_000_000, "the next call would not have fitted"
    assert attempt.commits == 1, "what it had committed is kept"
    assert (world.task().phase, world.task().unblock) == ("blocked", "paddock retry t1")
    world.assert_nothing_is_left()


def test_more_is_reserved_while_the_fleet_has_room_and_then_the_turn_ends(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": spends})
    limit(world, "fleet", usd=12.0)
    world.add(1)
    assert world.live()
    assert verdicts(world) == [("over_budget", "block")]
    assert re.match(r"fleet has \$\d\.\d\d of \$12\.00 left, \$\d+\.\d\d needed", world.attempt().reason)
    extended = [event for event in world.events(AttemptExtended) if isinstance(event, AttemptExtended)]
    amounts = [event.reserved_usd or 0.0 for event in extended]
    assert amounts == sorted(amounts)
    assert 0 < amounts[-1] <= 12
    assert 10 < (committed(world.board.spending.ledger, "fleet").money or 0.0) <= 12


def test_ten_agents_in_flight_cannot_overshoot(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, max_agents=10)
    limit(world, "fleet", tokens=2e6)
    world.add(10)
    assert world.live()
    most, board = 0.0, Board()
    for record in world.records():
        board.apply(record)
        most = max(most, committed(board.spending.ledger, "fleet").tokens)
    assert 1e6 < most <= 2e6
    assert len(world.events(AttemptStarted)) == 10, "what the first ones left was used by the others"


@pytest.mark.parametrize(("refusal", "outcome"), [(is_throttled, "throttled"), (is_overloaded, "overloaded")])
def test_a_refusal_that_passes_is_waited_out_and_uses_up_no_attempt(
    repo: Repo, stage: Path, refusal: Role, outcome: str
) -> None:
    """One attempt is all the task has, and it is there for the work."""
    world = set_stage(repo, stage, {"t1.1": refusal, "t1": delivers})
    world.add(1, attempts=1)
    assert world.live()
    assert [(end.outcome, end.counted) for end in world.ends()] == [(outcome, False), ("delivered", False)]
    assert world.task().counted == 0
    ended = next(record.at for record in world.records() if isinstance(record.event, AttemptEnded))
    again = [record.at for record in world.records() if isinstance(record.event, AttemptStarted)][1]
    assert again >= ended + (60.0 if outcome == "throttled" else 5.0), "as long as the provider asks for"
