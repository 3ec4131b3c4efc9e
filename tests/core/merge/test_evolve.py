"""The reducer: what folds, what is refused, what a snapshot holds."""

from __future__ import annotations

from typing import get_args

import msgspec
from bench.queue.engine import simulate
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario

from paddock.core.merge import events as ev
from paddock.core.merge.model import Ending, Queue, Result
from tests.core.merge.claims import answer, outcome, run_of, with_changes
from tests.core.merge.lab import Commit, change, refused, started_lab


def test_kinds_are_distinct_and_belong_to_the_queue() -> None:
    kinds = [event.kind for event in get_args(ev.QueueEvent)]
    assert len(set(kinds)) == len(kinds)
    assert all(kind.startswith("queue.") for kind in kinds)


def test_every_recorded_event_survives_its_encoding() -> None:
    lab = with_changes(started_lab(), "t1", "t2", "t3", bad=("t2",))
    lab.settle()
    for event, _ in lab.log:
        assert msgspec.json.decode(msgspec.json.encode(event), type=type(event)) == event


def test_a_snapshot_holds_the_whole_state() -> None:
    lab = with_changes(started_lab(), "t1", "t2", "t3", bad=("t2",))
    answer(lab, run_of(lab, "t2"))
    assert msgspec.json.decode(msgspec.json.encode(lab.queue), type=Queue) == lab.queue


def test_the_state_stays_bounded_however_much_lands() -> None:
    policy = SieveAndTrain(8)
    simulate(Scenario(700, 8, 0.1, arrivals_per_run=4.0), policy)
    assert len(policy.queue.decided) <= 256
    assert len(policy.queue.ended) <= 1024
    assert len(policy.queue.passes) <= 1024
    assert not policy.queue.entries


def test_a_stale_word_is_refused() -> None:
    lab = with_changes(started_lab(), "t1")
    run = run_of(lab, "t1")
    assert refused(lab, ev.RunEnded("r99", Result.PASS))
    assert refused(lab, ev.ChangeQueued(change("t1")))
    assert refused(lab, ev.RunEnded(run, Result.PASS, reused="r99"))
    assert refused(lab, ev.MainMoved(lab.main, "empty"))
    assert refused(lab, ev.TrainLanded(run, "c0", "c1"))
    assert refused(lab, ev.ChangeCancelled("t1", 2))


def test_a_change_that_is_landing_can_no_longer_be_cancelled_or_replaced() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    run = lab.queue.ended[lab.queue.landable[0]]
    lab.record(ev.LandingStarted(run.id, run.base, run.commit))
    assert refused(lab, ev.ChangeCancelled("t1", 1))
    assert refused(lab, ev.ChangeQueued(change("t1", 2)))


def test_a_tree_that_passed_is_not_tested_again() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.settle()
    lab.commits["revert"] = Commit(lab.main, frozenset())
    lab.main = "revert"
    lab.wake()
    assert not lab.processes
    assert lab.queue.main is not None
    assert lab.queue.main.verified_by == "r1"


def test_a_rewound_main_halts_until_a_person_resumes() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.settle()
    lab.rewind()
    with_changes(lab, "t2")
    assert lab.queue.halted is not None
    assert "rewound" in lab.queue.halted.reason
    lab.record(ev.QueueResumed())
    lab.settle()
    assert outcome(lab, "t2") is Ending.LANDED


def test_a_foreign_commit_is_verified_before_anything_is_judged_on_it() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    lab.push_foreign("hotfix")
    lab.settle()
    assert {outcome(lab, "t1"), outcome(lab, "t2")} == {Ending.LANDED}
    assert ("hotfix", 1) in lab.commits[lab.main].tree


def test_a_red_push_by_somebody_else_halts_and_blames_nobody() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    lab.push_foreign("oops", bad=True)
    lab.settle()
    assert lab.queue.halted is not None
    assert lab.queue.decided == ()
