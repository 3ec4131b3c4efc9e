"""What people may ask of schedules, and what follows when one is due."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition, Misuse, NotFound, PaddockError
from paddock.core.intent.plan import PlanRequest
from paddock.core.intent.schedules import (
    LONGEST_TEXT,
    ScheduleRequest,
    add_schedule,
    contents_of,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    run_schedule,
    settle,
)
from paddock.core.intent.tasks import Batch, Known, TaskSpec
from paddock.core.schedules import events as se
from paddock.core.schedules.cron import parse_cron
from paddock.core.schedules.due import Fire
from paddock.core.schedules.model import FAILURES_IN_A_ROW, MOST_SCHEDULES
from paddock.core.schedules.timetable import Timetable, timetable_of
from tests.core.ledger import START, Ledger, fold_from_snapshot

KNOWN = Known(frozenset({"fixer"}), frozenset({"claude"}))
HOUR = 3600.0


def request(text: str = "Look around.", cron: str = "0 * * * *", **more: object) -> ScheduleRequest:
    sort = more.pop("sort", se.WorkSort.TASK)
    work = se.ScheduledWork(sort, text, agent=more.pop("agent", None))  # type: ignore[arg-type]
    return ScheduleRequest(parse_cron(cron), str(more.pop("zone", "UTC")), work, **more)  # type: ignore[arg-type]


def add(log: Ledger, wanted: ScheduleRequest, workflow: Batch | None = None) -> str:
    contents = contents_of(wanted.work, "any", workflow, 3)
    [record] = log.write(*add_schedule(log.board, wanted, contents, KNOWN))
    assert isinstance(record.event, se.ScheduleAdded)
    return record.event.name


@pytest.fixture
def log() -> Ledger:
    return Ledger()


def test_a_name_is_made_of_the_work_and_is_free(log: Ledger) -> None:
    assert [add(log, request()) for _ in range(3)] == ["look-around", "look-around-2", "look-around-3"]
    flow = Batch((TaskSpec("Check.", key="check"),), "nightly")
    assert add(log, request("nightly", sort=se.WorkSort.WORKFLOW), flow) == "nightly"


@pytest.mark.parametrize(
    ("more", "words", "hint"),
    [
        ({"text": "  "}, "the brief", None),
        ({"text": "", "sort": se.WorkSort.PLAN}, "the goal", None),
        ({"text": "x" * (LONGEST_TEXT + 1)}, "the limit of a schedule's is", "name that file"),
        ({"jitter_seconds": -1.0}, "the jitter must be between 0 and a day", "--jitter 10m"),
        ({"jitter_seconds": 7200.0}, "the jitter of 2h is longer than the 1h between two times", "--jitter 1h"),
        ({"budget_usd": 0.0}, "the budget must be above 0 dollars", "omit"),
        ({"budget_usd": float("nan")}, "the budget must be above 0 dollars", "omit"),
        ({"name": "no spaces please"}, "no spaces please", None),
        ({"name": "n" * 61}, "at most 60 characters", "shorter"),
        ({"agent": "fixxer"}, "fixxer", "fixer"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_recorded(
    log: Ledger, more: dict[str, object], words: str, hint: str | None
) -> None:
    with pytest.raises(PaddockError) as refused:
        add(log, request(**more))  # type: ignore[arg-type]
    assert words in refused.value.message
    assert hint is None or hint in (refused.value.hint or "")
    assert not log.records


def test_jitter_is_compared_with_the_shortest_of_the_gaps(log: Ledger) -> None:
    with pytest.raises(Misuse, match="10m between two times"):
        add(log, request(cron="0,10 8 * * *", jitter_seconds=900.0))
    assert add(log, request(cron="0,10 8 * * *", jitter_seconds=600.0))


def test_a_name_that_is_taken_is_refused(log: Ledger) -> None:
    add(log, request(name="watch"))
    with pytest.raises(PaddockError, match="there is a schedule `watch` already") as refused:
        add(log, request(name="watch"))
    assert "paddock schedule remove watch" in (refused.value.hint or "")


def test_there_is_a_bound_to_how_many_there_are(log: Ledger) -> None:
    for number in range(MOST_SCHEDULES):
        log.write(ev.Draft(se.ScheduleAdded(f"s{number}", "0 0 * * *", "UTC", request().work)))
    with pytest.raises(PaddockError, match="200 schedules already"):
        add(log, request())
    with pytest.raises(IllegalTransition):
        log.write(ev.Draft(se.ScheduleAdded("more", "0 0 * * *", "UTC", request().work)))


def test_one_that_is_not_there_is_named_with_those_that_are(log: Ledger) -> None:
    with pytest.raises(NotFound, match="there is no schedule `wotch`") as refused:
        pause_schedule(log.board, "wotch")
    assert "paddock schedule add" in (refused.value.hint or "")
    add(log, request(name="watch"))
    with pytest.raises(NotFound) as refused:
        remove_schedule(log.board, "wotch")
    assert "watch" in (refused.value.hint or "")


def test_pausing_twice_and_resuming_what_is_not_paused_are_refused(log: Ledger) -> None:
    add(log, request(name="watch"))
    with pytest.raises(PaddockError, match="is not paused"):
        resume_schedule(log.board, "watch")
    log.write(*pause_schedule(log.board, "watch", "holidays"))
    assert log.board.schedules.by_name["watch"].paused == "holidays"
    with pytest.raises(PaddockError, match="is paused already"):
        pause_schedule(log.board, "watch")
    log.write(*resume_schedule(log.board, "watch"))
    assert log.board.schedules.by_name["watch"].paused is None


def test_a_person_runs_it_at_any_time_and_its_own_times_stay(log: Ledger) -> None:
    wanted = request(name="watch")
    add(log, wanted)
    log.write(*pause_schedule(log.board, "watch"))
    contents = contents_of(wanted.work, "watch", None, 3)
    log.write(*run_schedule(log.board, "watch", contents, KNOWN))
    schedule = log.board.schedules.by_name["watch"]
    assert schedule.last is not None
    assert (schedule.last.due, schedule.last.tasks) == (None, ("t1",))
    assert schedule.settled == schedule.added
    assert log.task("t1").series == "schedule:watch"
    assert "schedule:watch" in log.task("t1").labels


def test_a_workflow_becomes_a_convoy_of_its_own_each_time(log: Ledger) -> None:
    flow = Batch((TaskSpec("Look.", key="look"), TaskSpec("Fix.", key="fix", after=("look",))), "nightly", "Nightly")
    wanted = request("nightly", sort=se.WorkSort.WORKFLOW)
    add(log, wanted, flow)
    for _ in range(2):
        log.write(*run_schedule(log.board, "nightly", contents_of(wanted.work, "nightly", flow, 3), KNOWN))
    assert list(log.board.convoys) == ["nightly-1", "nightly-2"]
    assert [log.task(name).series for name in ("t1", "t2", "t3")] == [
        "schedule:nightly/look",
        "schedule:nightly/fix",
        "schedule:nightly/look",
    ]


def test_a_plan_is_asked_for_with_the_goal() -> None:
    wanted = request("Find work.", sort=se.WorkSort.PLAN)
    contents = contents_of(wanted.work, "plans", None, 3)
    assert isinstance(contents, PlanRequest)
    assert (contents.goal, contents.series) == ("Find work.", "schedule:plans")


def test_one_that_fails_again_and_again_is_paused_with_the_reason(log: Ledger) -> None:
    add(log, request(name="watch"))
    gone = PaddockError("there is no workflow `nightly`", "`paddock workflow list` lists them")
    for _ in range(FAILURES_IN_A_ROW):
        log.waited_seconds += HOUR
        due = due_now(log)
        log.write(*settle(log.board, "watch", Fire(due), table(), gone, KNOWN, due + 1))
    schedule = log.board.schedules.by_name["watch"]
    assert schedule.failure is not None
    assert schedule.failure.in_a_row == FAILURES_IN_A_ROW
    assert schedule.paused is not None
    assert schedule.paused.startswith("it failed 3 times in a row: there is no workflow `nightly`")
    log.write(*resume_schedule(log.board, "watch"))
    assert log.board.schedules.by_name["watch"].failure is None


def test_a_step_that_another_daemon_has_taken_is_not_recorded_again(log: Ledger) -> None:
    wanted = request(name="watch")
    add(log, wanted)
    log.waited_seconds += HOUR
    due, contents = due_now(log), contents_of(wanted.work, "watch", None, 3)
    first = settle(log.board, "watch", Fire(due), table(), contents, KNOWN, due + 1)
    log.write(*first)
    assert settle(log.board, "watch", Fire(due), table(), contents, KNOWN, due + 1) == []
    with pytest.raises(IllegalTransition):
        log.write(ev.Draft(se.ScheduleFired("watch", due)))


def test_what_was_removed_meanwhile_does_not_fire(log: Ledger) -> None:
    wanted = request(name="watch")
    add(log, wanted)
    log.write(*remove_schedule(log.board, "watch"))
    contents = contents_of(wanted.work, "watch", None, 3)
    assert settle(log.board, "watch", Fire(START + HOUR), table(), contents, KNOWN, START + 2 * HOUR) == []


def test_a_board_from_a_snapshot_has_the_same_schedules(log: Ledger) -> None:
    wanted = request(name="watch")
    add(log, wanted)
    log.write(*run_schedule(log.board, "watch", contents_of(wanted.work, "watch", None, 3), KNOWN))
    log.write(*pause_schedule(log.board, "watch"))
    for cut in range(len(log.records) + 1):
        assert fold_from_snapshot(log.records, cut).schedules == log.board.schedules


def table() -> Timetable:
    return timetable_of("0 * * * *", "UTC")


def due_now(log: Ledger) -> float:
    """The only time since the last one."""
    settled = log.board.schedules.by_name["watch"].settled
    due = timetable_of("0 * * * *", "UTC").next(settled)
    assert due is not None
    return due
