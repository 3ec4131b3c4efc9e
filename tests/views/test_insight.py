"""Who lands how much, what it costs, and how attempts end."""

import json

import pytest

from paddock.core import events as ev
from paddock.core.ids import TaskId, attempt_id, task_id
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.views.costs import sum_costs, view_costs
from paddock.views.document import to_json
from paddock.views.insight.overview import SHOWN_GROUPS, view_insight
from tests.core.ledger import Ledger


def work(ledger: Ledger, agent: str | None, engine: str, outcome: Outcome, then: Step, cost: float | None) -> TaskId:
    """A task with one attempt of one turn."""
    task = task_id(ledger.board.next_task)
    attempt = attempt_id(task, 1)
    ended = ev.AttemptEnded(outcome, then, True, head="c" * 40, base="b" * 40)
    ledger.write(ev.Draft(ev.TaskAdded("do it", "do it", agent=agent, attempts=1), task=task))
    for event in (
        ev.AttemptStarted(engine, "b" * 40, f"paddock/{task}", agent=agent),
        ev.TurnStarted(1, session="s"),
        ev.TurnEnded(1, exit=0, output_tokens=10, cost_usd=cost, cost_source="engine" if cost else "unknown"),
        ended,
    ):
        ledger.write(ev.Draft(event, task=task, attempt=attempt))
    return task


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    work(ledger, "fixer", "claude", Outcome.NOOP, Step.NOOP, 0.5)
    work(ledger, "fixer", "claude", Outcome.CRASHED, Step.FAIL, 1.0)
    work(ledger, "typer", "codex", Outcome.DELIVERED, Step.APPROVAL, None)
    return ledger


def turns(ledger: Ledger) -> list[ev.Record]:
    return [record for record in ledger.records if isinstance(record.event, ev.TurnEnded)]


def test_each_agent_and_engine_has_its_record(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.TaskAdded("later", "later"), task=TaskId("t4")))
    seen = view_insight(ledger.board, turns(ledger))
    [fixer, typer] = seen.crew
    assert (fixer.agent, fixer.engine, fixer.tasks, fixer.decided, fixer.failed) == ("fixer", "claude", 2, 2, 1)
    assert (fixer.landed, fixer.landed_share, fixer.cost_usd, fixer.per_landed_usd) == (0, 0.0, 1.5, None)
    assert (typer.decided, typer.landed_share, typer.cost_usd) == (0, None, None)
    [claude, codex] = seen.engines
    assert (claude.attempts, claude.useful, claude.outcomes) == (2, 1, {"noop": 1, "crashed": 1})
    assert (codex.useful, codex.outcomes) == (1, {"delivered": 1})
    assert seen.words == "0 of 4 tasks landed; all turns cost $1.50; 1 of 3 turns told no price."


def test_the_costs_are_those_of_the_command(ledger: Ledger) -> None:
    seen = view_insight(ledger.board, iter(turns(ledger)))
    for by in SHOWN_GROUPS:
        assert seen.costs[by] == view_costs(sum_costs(ledger.board, turns(ledger), by))
    assert json.loads(to_json(seen))["schema"] == 1


def test_before_anybody_has_worked_it_says_so() -> None:
    seen = view_insight(Ledger().board, [])
    assert (seen.crew, seen.engines) == ([], [])
    assert seen.words == "No agent has worked yet, so there is nothing to tell."
