"""How warm starts were that followed another closely."""

from dataclasses import replace

import pytest

from paddock.core.ids import AttemptId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.insight.costs.runs import RunCost
from paddock.insight.forecast.past import SortOfWork, latest_tasks
from paddock.insight.forecast.warmth import CACHE_SECONDS, CloseStart, find_close_starts, observed_warmth
from tests.insight.fleet_log import FleetLog

FIXER = SortOfWork("claude", "fixer", "claude-opus-5")


def start(log: FleetLog, agent: str = "fixer", continues: AttemptId | None = None) -> AttemptId:
    task = log.add(agent=agent)
    return log.attempt(task, Outcome.NOOP, Step.NOOP, agent=agent, continues=continues)


def shown(log: FleetLog, cached: dict[str, int]) -> list[float]:
    """What a cache had of 100 tokens, of the starts that count."""
    traces = {name: RunCost(name, startup_tokens=100, startup_cached=count) for name, count in cached.items()}
    return [one.cached for one in find_close_starts(latest_tasks(log.board), traces)]


def test_only_starts_that_follow_another_of_the_same_agent_closely_say_how_warm_they_are() -> None:
    log = FleetLog()
    first, second = start(log), start(log)
    other = start(log, "writer")
    log.wait(CACHE_SECONDS + 10)
    late, last = start(log), start(log)
    assert shown(log, {first: 1, second: 20, other: 30, late: 40, last: 90}) == [0.2, 0.9]


def test_a_start_that_nobody_knows_anything_of_and_a_conversation_that_goes_on_say_nothing() -> None:
    log = FleetLog()
    first = start(log)
    start(log)
    again = start(log, continues=first)
    assert shown(log, {first: 50, again: 100}) == []


def test_of_starts_at_the_same_moment_none_follows_the_other() -> None:
    log = FleetLog()
    one, two = start(log), start(log)
    tasks = list(latest_tasks(log.board))
    began = tasks[0].attempts[0].started
    together = [_moved(task, began) for task in tasks]
    traces = {str(name): RunCost(name, startup_tokens=100, startup_cached=0) for name in (one, two)}
    assert find_close_starts(together, traces) == []


def _moved(task, started: float):  # type: ignore[no-untyped-def]
    from msgspec.structs import replace as changed

    return changed(task, attempts=tuple(changed(one, started=started) for one in task.attempts))


def test_warmth_is_what_starts_of_the_agent_have_shown_or_else_those_of_its_engine() -> None:
    starts = [CloseStart(FIXER, 0.0), CloseStart(FIXER, 0.5), CloseStart(replace(FIXER, agent="writer"), 0.9)]
    assert observed_warmth(replace(FIXER, kind="docs", series="schedule:x"), starts) == 0.25
    assert observed_warmth(replace(FIXER, model=""), starts) == 0.25, "the engine's own choice"
    assert observed_warmth(replace(FIXER, agent="planner"), starts) == pytest.approx(1.4 / 3)
    assert observed_warmth(replace(FIXER, engine="codex"), starts) == 1.0, "assumed"
