"""The last day of the queue, from its events: rows that never overlap, searches, and what the planner does next."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddock.core.events import Record
from paddock.core.merge import events as qe
from paddock.core.merge.forecast import look_ahead, odds_of_passing
from paddock.core.merge.model import Purpose, Result
from paddock.core.merge.recent import KEPT_SECONDS, RecentQueue, RunKind, place_run
from paddock.core.merge.whereabouts import QueuePlace, places_of
from tests.core.merge.lab import Lab, change, running, started_lab


def records(lab: Lab) -> list[Record]:
    return [Record(n, at, "ana@host", 0, None, None, event, b"") for n, (event, at) in enumerate(lab.log, 1)]


def fold(lab: Lab, upto: int | None = None) -> RecentQueue:
    recent = RecentQueue(lab.slots)
    for record in records(lab)[:upto]:
        recent.fold(record)
    return recent


@st.composite
def busy_labs(draw: st.DrawFn) -> Lab:
    """A queue somewhere in the middle of its work, with changes that are bad or clash."""
    lab = started_lab(draw(st.integers(1, 9)))
    count = draw(st.integers(1, 14))
    for number in range(count):
        if draw(st.integers(0, 4)) == 0:
            lab.truth.bad.add((f"t{number}", 1))
        if number and draw(st.integers(0, 6)) == 0:
            lab.truth.clashes.add(frozenset({(f"t{number}", 1), (f"t{number - 1}", 1)}))
        lab.submit(change(f"t{number}"))
    lab.wake()
    for _ in range(draw(st.integers(0, 25))):
        if not lab.processes:
            break
        lab.tick()
        ending = sorted(lab.processes, key=lambda run: int(run[1:]))
        flakes = draw(st.integers(0, 12)) == 0
        lab.finish(ending[draw(st.integers(0, len(ending) - 1))], Result.FAIL if flakes else None)
        lab.wake()
    return lab


@settings(max_examples=60, deadline=None)
@given(busy_labs(), st.data())
def test_runs_in_one_row_never_overlap_and_a_run_keeps_its_row(lab: Lab, data: st.DataObject) -> None:
    whole = fold(lab)
    rows: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for run in whole.runs.values():
        rows[run.slot].append((run.started, run.ended if run.ended is not None else lab.now))
        assert 0 <= run.slot < lab.slots
    for spans in rows.values():
        assert all(before[1] <= after[0] for before, after in zip(sorted(spans), sorted(spans)[1:], strict=False))
    part = fold(lab, data.draw(st.integers(0, len(lab.log))))
    assert {name: run.slot for name, run in part.runs.items()}.items() <= {
        name: run.slot for name, run in whole.runs.items()
    }.items()
    assert {name for name, run in whole.runs.items() if run.ended is None} == set(lab.queue.running)


@settings(max_examples=60, deadline=None)
@given(busy_labs())
def test_every_queued_change_is_in_one_place_and_a_train_that_may_land_carries_riders(lab: Lab) -> None:
    places = places_of(lab.queue)
    assert set(places) == set(lab.queue.entries)
    for run in running(lab, Purpose.TRAIN):
        if run.confirms is None and not run.cancelling:
            assert {places[member.id] for member in run.members} == {QueuePlace.RIDING}


@settings(max_examples=60, deadline=None)
@given(busy_labs())
def test_what_is_foreseen_fits_the_slots_and_lands_each_change_once(lab: Lab) -> None:
    before = lab.queue
    ahead = look_ahead(lab.queue, lab.slots, lab.now)
    assert lab.queue is before
    landed = [name for landing in ahead.landings for name in landing.members]
    assert len(landed) == len(set(landed))
    assert set(landed) <= set(lab.queue.entries)
    assert [landing.at for landing in ahead.landings] == sorted(landing.at for landing in ahead.landings)
    for run in ahead.runs:
        assert lab.now <= run.starts < run.ends
        assert set(run.members) <= set(lab.queue.entries)
        at_once = [one for one in ahead.runs if one.starts <= run.starts < one.ends]
        assert len(at_once) <= lab.slots
        assert 0.0 <= odds_of_passing(lab.queue, run.members) <= 1.0


@example(frozenset({0, 2, 3, 4, 6}), RunKind.SCREEN, 5)
@given(st.frozensets(st.integers(0, 12), max_size=12), st.sampled_from(list(RunKind)), st.integers(1, 12))
def test_a_row_is_free_and_within_the_slots_while_one_is(busy: frozenset[int], kind: RunKind, slots: int) -> None:
    row = place_run(busy, kind, slots)
    assert row not in busy
    assert row < slots or set(range(slots)) <= busy


def test_trains_are_on_top_and_screens_below_them() -> None:
    assert place_run((), RunKind.TRAIN, 8) == 0
    assert place_run((), RunKind.SCREEN, 8) == 2
    assert place_run({0}, RunKind.SEARCH, 8) == 1
    assert place_run({2, 3, 4, 5, 6, 7}, RunKind.SCREEN, 8) == 1
    assert place_run((), RunKind.SCREEN, 1) == 0


def failed_pool(lab: Lab) -> str:
    """The run in which several changes failed together."""
    return next(i for i, (run, result) in lab.answers.items() if len(run.members) > 1 and result is Result.FAIL)


def test_the_halves_of_a_failed_pool_are_searches_of_it() -> None:
    lab = started_lab(4)
    for number in range(24):
        lab.submit(change(f"t{number}"))
    lab.truth.bad.add(("t3", 1))
    lab.settle()
    recent = fold(lab)
    pool = failed_pool(lab)
    halves = [run for run in recent.runs.values() if run.searched_from == pool]
    assert halves
    assert all(set(half.members) < set(recent.runs[pool].members) for half in halves)
    assert {half.kind for half in halves} == {RunKind.SEARCH}
    assert sum(len(tip.members) for tip in recent.tips if tip.run) == 23


def test_a_second_try_of_what_failed_alone_says_so() -> None:
    lab = started_lab(2)
    lab.submit(change("t1"))
    lab.truth.bad.add(("t1", 1))
    lab.settle()
    again = [run for run in fold(lab).runs.values() if run.purpose is Purpose.CONFIRM]
    assert [run.tries for run in again] == [(1,)]


def test_a_day_later_nothing_of_it_is_kept_but_what_still_runs() -> None:
    lab = started_lab(2)
    lab.submit(change("t1"))
    lab.wake()
    recent = fold(lab)
    assert len(recent.runs) == 2
    late = Record(999, lab.now + KEPT_SECONDS + 60, "daemon", 0, None, None, qe.QueuePaused("for the night"), b"")
    recent.fold(late)
    assert set(recent.runs) == set(lab.queue.running)
    assert recent.switched["paused"].reason == "for the night"
