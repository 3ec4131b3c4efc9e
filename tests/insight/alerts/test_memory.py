"""What the rules remember: in order, bounded, and the same for whoever reads it again."""

from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.config.schema import AlertRuleSettings, Config
from paddock.core.alerts.model import AlertState
from paddock.core.tasks.vocabulary import Outcome
from paddock.insight.alerts import ended as ended_module
from paddock.insight.alerts import evaluate
from paddock.insight.alerts.ended import EndedRun, EndedRuns, ended_run
from paddock.insight.alerts.gaps import FEWEST_GAPS, UNKNOWN_TIMES, GapBook
from paddock.insight.alerts.rules import budget
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.look import Look
from paddock.insight.paths import Symbols, keep
from paddock.insight.selection import EVERYTHING, Selection
from paddock.insight.trace import KeptTrace, Step, Trace
from tests.insight.alerts.world import MINUTE, World

SOME = ended_run(keep(Trace(run="t1.1", ended=0.0), 1, Symbols()), 0.0)


def run_of(name: int, at: float) -> EndedRun:
    assert SOME is not None
    return replace(SOME, run=f"t{name}.1", ended=at)


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0.0, 100.0)), max_size=60), st.floats(0.0, 100.0))
def test_runs_come_in_the_order_in_which_they_ended_each_as_it_was_told_last(
    told: list[tuple[int, float]], since: float
) -> None:
    runs = EndedRuns()
    for name, at in told:
        runs.take(run_of(name, at))
    latest = sorted(({f"t{name}.1": at for name, at in told}).items(), key=lambda item: (item[1], item[0]))
    first = bisect_left([at for _, at in latest], since)
    assert [run.run for run in runs.since(since)] == [name for name, _ in latest[first:]]
    assert [run.run for run in runs.last(3)] == [name for name, _ in latest[-3:]]
    runs.forget_before(since)
    assert len(runs) == len(latest) - first


def test_no_more_runs_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_module, "MOST_REMEMBERED", 10)
    runs = EndedRuns()
    for number in range(50):
        runs.take(run_of(number, float(number)))
    assert [run.ended for run in runs.since(0.0)] == [float(number) for number in range(40, 50)]


def test_patience_is_what_99_of_100_take_and_more_while_nobody_knows() -> None:
    book = GapBook()
    assert book.patience("TEST", 300.0) == 300.0 * UNKNOWN_TIMES
    steps = [Step(activity="TEST", at=number * 1_000.0) for number in range(FEWEST_GAPS + 1)]
    book.learn(steps)
    assert (book.patience("TEST", 300.0), book.patience("EDIT", 300.0)) == (1_000.0, 1_000.0)
    book.learn([Step(activity="EDIT", at=float(number)) for number in range(FEWEST_GAPS + 1)])
    assert book.patience("EDIT", 300.0) == 300.0


def test_a_daemon_killed_before_it_recorded_raises_the_alert_once_when_it_is_back(tmp_path: Path) -> None:
    world = World(tmp_path, with_causes=False)
    for _ in range(10):
        world.run(seconds=60.0)
        world.look()
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, "mini: command not found")
    names = tuple(sorted(world.ended))
    for _ in range(3):
        world.begin_watch()
        world.now += 30.0
        look = Look(world.site, world.dataset, world.board, names, names, world.now)
        assert [observe(look) for observe in world.observers] == [()], "nobody has settled yet what it failed for"
        world.now += 60.0
        (decide,) = [one for observe in world.observers for one in observe(replace(look, now=world.now))]
        assert len(decide(world.board)) == 1
    world.begin_watch()
    world.looks(5 * MINUTE)
    assert [one.rule for one in world.raised()] == ["never-ran"]
    world.ack("a1")
    world.begin_watch()
    world.looks(5 * MINUTE)
    assert [(one.id, one.state) for one in world.alerts()] == [("a1", AlertState.ACKNOWLEDGED)]
    assert len(world.raised()) == 1
    world.close()


def test_a_rule_that_fails_is_told_and_blinds_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, with_causes=False)
    monkeypatch.setattr(budget, "budget_uses", lambda *_: 1 / 0)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, "mini: command not found")
    world.looks(2 * MINUTE)
    assert {one.key for one in world.open()} == {
        "cause:claude:never_ran: mini: command not found",
        "blind:budget-used",
    }
    world.close()


@pytest.mark.parametrize("name", ["telemetry", "blind"])
def test_a_rule_that_fails_is_one_alert_whichever_other_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    world = World(tmp_path, Config(alerts={name: AlertRuleSettings(on=False)}), with_causes=False)
    monkeypatch.setattr(budget, "budget_uses", lambda *_: 1 / 0)
    world.run()
    world.looks(10 * MINUTE)
    assert [one.rule for one in world.open()] == ([] if name == "blind" else ["blind"])
    assert len(world.raised()) == len(world.open())
    world.close()


def test_every_rule_of_the_catalogue_is_asked() -> None:
    from paddock.core.alerts.catalogue import BLIND, RULES

    assert [*evaluate.JUDGES, BLIND.name] == [rule.name for rule in RULES]


def test_a_look_reads_what_has_changed_and_not_all_that_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, with_causes=False)
    for _ in range(60):
        world.run()
    world.look()
    read: list[str] = []
    find, runs = Dataset.find, Dataset.runs

    def note_find(dataset: Dataset, run: str, label: str | None = None) -> KeptTrace | None:
        read.append(run)
        return find(dataset, run, label)

    def note_runs(dataset: Dataset, where: Selection = EVERYTHING, *, limit: int | None = None) -> list[KeptTrace]:
        read.append("all")
        return runs(dataset, where, limit=limit)

    monkeypatch.setattr(Dataset, "find", note_find)
    monkeypatch.setattr(Dataset, "runs", note_runs)
    for _ in range(5):
        name = world.run()
        world.look()
        assert read == [name]
        read.clear()
    world.close()
