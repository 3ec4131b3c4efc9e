"""What a schedule asks for: to fire, to wait, to let times pass. Whatever the daemon and the clock do, no time is
settled twice, and none is forgotten without a word."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.events import Draft
from paddock.core.schedules import events as se
from paddock.core.schedules.due import LATE_SECONDS, SETBACK_SECONDS, Fire, Queue, Rewind, Skip, Wait, fire_at
from paddock.core.schedules.events import CatchUp, Overlap, WhySkipped
from paddock.core.schedules.model import MOST_WAITING
from tests.core.schedules.clockwork import START, Clockwork

HOUR, DAY = 3600.0, 86400.0


def begin(**options: object) -> Clockwork:
    work = Clockwork()
    work.add(**options)  # type: ignore[arg-type]
    return work


def test_it_waits_for_its_time_and_fires_then() -> None:
    work = begin()
    assert work.settle() == Wait(START + HOUR)
    work.now = START + HOUR
    assert work.step() == Fire(START + HOUR)
    assert work.settle() == Wait(START + 2 * HOUR)
    assert work.fired == [1]


def test_a_daemon_that_is_some_minutes_late_is_in_time() -> None:
    work = begin(catch_up=CatchUp.SKIP)
    work.now = START + HOUR + LATE_SECONDS
    assert work.step() == Fire(START + HOUR)


@pytest.mark.parametrize(
    ("catch_up", "fired"), [(CatchUp.SKIP, []), (CatchUp.ONCE, [5.0]), (CatchUp.ALL, [1.0, 2.0, 3.0, 4.0, 5.0])]
)
def test_times_without_a_daemon_are_made_up_for_as_was_said(catch_up: CatchUp, fired: list[float]) -> None:
    work = begin(catch_up=catch_up, overlap=Overlap.QUEUE)
    work.now = START + 5.5 * HOUR
    for _ in range(6):
        assert work.settle().until == START + 6 * HOUR
        work.finish()
    assert work.fired == fired


def test_one_run_for_all_missed_times_says_for_how_many_it_stands() -> None:
    work = begin()
    work.now = START + 5.5 * HOUR
    assert work.step() == Fire(START + 5 * HOUR, missed=4)
    assert work.schedule.last is not None
    assert work.schedule.last.missed == 4


def test_no_more_missed_times_are_queued_than_may_wait() -> None:
    work = begin(catch_up=CatchUp.ALL)
    work.now = START + 100.5 * HOUR
    skipped = work.step()
    assert skipped == Skip(START + 76 * HOUR, WhySkipped.MISSED, 76)
    queued = work.step()
    assert isinstance(queued, Queue)
    assert len(queued.dues) == MOST_WAITING
    work.settle()
    assert work.fired == [77.0]


def test_a_time_that_comes_while_tasks_are_unfinished_is_left_out() -> None:
    work = begin()
    work.now = START + HOUR
    work.settle()
    work.now = START + 2 * HOUR
    step = work.step()
    assert isinstance(step, Skip)
    assert (step.why, step.behind) == (WhySkipped.OVERLAP, "t1")
    work.finish()
    work.now = START + 3 * HOUR
    work.settle()
    assert work.fired == [1, 3]


def test_or_it_waits_for_them_and_only_one_does() -> None:
    work = begin(overlap=Overlap.QUEUE)
    for hour in (1, 2, 3, 4):
        work.now = START + hour * HOUR
        work.settle()
    assert work.fired == [1]
    assert work.schedule.waiting == (START + 2 * HOUR,)
    work.finish()
    work.settle()
    assert work.fired == [1, 2]


def test_a_clock_that_is_set_back_makes_no_time_come_twice() -> None:
    work = begin()
    for hour in range(1, 6):
        work.now = START + hour * HOUR
        work.settle()
        work.finish()
    work.now = START + 2 * HOUR
    assert work.settle() == Wait(START + 6 * HOUR)
    assert work.fired == [1, 2, 3, 4, 5]


def test_a_clock_that_was_far_ahead_does_not_keep_it_from_firing() -> None:
    work = begin()
    work.now = START + 400 * DAY
    work.settle()
    work.finish()
    work.now = START + HOUR / 2
    assert work.schedule.settled > work.now + SETBACK_SECONDS
    assert work.step() == Rewind(work.now)
    work.now = START + HOUR
    assert work.step() == Fire(START + HOUR)


def test_a_paused_schedule_asks_for_nothing_and_makes_up_for_nothing() -> None:
    work = begin(catch_up=CatchUp.ALL)
    work.now = START + HOUR / 2
    work.write(se_draft(se.SchedulePaused("watch", "holidays")))
    work.now = START + 10.5 * HOUR
    assert work.settle() == Wait(None)
    work.write(se_draft(se.ScheduleResumed("watch")))
    assert work.settle() == Wait(START + 11 * HOUR)
    assert work.fired == []


def test_what_is_never_due_again_waits_for_nothing() -> None:
    work = begin(cron="0 0 29 2 *")
    until = work.settle().until
    assert until is not None
    assert until > START + 200 * DAY


@given(st.floats(0.0, HOUR), st.integers(1, 500))
def test_jitter_is_the_same_each_time_it_is_asked_for_and_ends_before_the_next_time(jitter: float, hour: int) -> None:
    work = begin(jitter=jitter)
    due = START + hour * HOUR
    at = fire_at(work.schedule, work.timetable, due)
    assert due <= at <= due + jitter
    assert at < due + HOUR
    assert at == fire_at(work.schedule, work.timetable, due)


def test_jitter_spreads_times() -> None:
    work = begin(jitter=600.0)
    late = {fire_at(work.schedule, work.timetable, START + hour * HOUR) % HOUR for hour in range(50)}
    assert len(late) > 30
    assert max(late) > 300


Doing = st.one_of(
    st.tuples(st.just("wait"), st.floats(1.0, 3 * HOUR)),
    st.tuples(st.just("away"), st.floats(HOUR, 40 * HOUR)),
    st.tuples(st.just("back"), st.floats(1.0, 20 * HOUR)),
    st.tuples(st.just("finish"), st.just(0.0)),
    st.tuples(st.just("pause"), st.floats(1.0, 5 * HOUR)),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(Doing, max_size=25),
    st.sampled_from(["0 * * * *", "*/20 * * * *", "30 1 * * *", "0 9-17 * * 1-5"]),
    st.sampled_from(list(CatchUp)),
    st.sampled_from(list(Overlap)),
    st.sampled_from([0.0, 300.0]),
)
def test_every_time_is_settled_once_whatever_happens(
    course: list[tuple[str, float]], cron: str, catch_up: CatchUp, overlap: Overlap, jitter: float
) -> None:
    work = begin(cron=cron, catch_up=catch_up, overlap=overlap, jitter=jitter)
    for what, seconds in course:
        if what == "back":
            work.now -= seconds
        elif what == "finish":
            work.finish()
        elif what == "pause":
            work.write(se_draft(se.SchedulePaused("watch")))
            work.now += seconds
            work.settle()
            work.write(se_draft(se.ScheduleResumed("watch")))
        else:
            work.now += seconds
        until = work.settle().until
        assert until is None or until > work.now
    check(work)


def check(work: Clockwork) -> None:
    firings = [(record.at, record.event) for record in work.records if isinstance(record.event, se.ScheduleFired)]
    times = Counter(event.due for _, event in firings)
    was_rewound = any(isinstance(record.event, se.ScheduleRewound) for record in work.records)
    assert was_rewound or all(count == 1 for count in times.values()), "no time fires twice"
    table = work.timetable
    queued = {due for r in work.records if isinstance(r.event, se.ScheduleQueued) for due in r.event.dues}
    for at, event in firings:
        assert event.due is not None
        assert table.next(event.due - 1) == event.due, "it fires for times of its own alone"
        assert at >= event.due or event.due in queued, "never before its time"
        assert event.tasks
    in_order = [event.due for _, event in firings if event.due not in queued]
    assert was_rewound or in_order == sorted(in_order)  # type: ignore[type-var]
    assert len(work.schedule.waiting) <= MOST_WAITING
    if not was_rewound and not any(isinstance(record.event, se.SchedulePaused) for record in work.records):
        skipped = sum(record.event.times for record in work.records if isinstance(record.event, se.ScheduleSkipped))
        fired = sum(1 + event.missed for _, event in firings if event.due not in queued)
        due = len(table.between(START, work.schedule.settled, 1_000_000).times)
        assert fired + skipped + len(queued) == due, "none is forgotten without a word"


def se_draft(event: se.ScheduleEvent) -> Draft:
    return Draft(event)
