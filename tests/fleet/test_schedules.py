"""Schedules with real daemons: whoever dies where, what was due is fired once."""

import json
import time
from collections.abc import Sequence

import pytest

from paddock.core.events import Draft
from paddock.core.schedules import events as se
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.yard import Yard, commit, play, write

LONG_AGO = 5 * 3600.0
WORK = se.ScheduledWork(se.WorkSort.TASK, play(write("a.txt"), commit("Look around")), title="Look around")


def add_long_ago(yard: Yard, *schedules: se.ScheduleAdded) -> None:
    """As a person would have, hours ago: what has been due since then was missed."""
    store = SqliteStore(yard.log_path, clock=lambda: time.time() - LONG_AGO)
    drafts: Sequence[Draft] = [Draft(schedule) for schedule in schedules]
    store.append(lambda _board: drafts, Author("ana@host"))
    store.close()


def hourly(name: str = "watch", **more: object) -> se.ScheduleAdded:
    return se.ScheduleAdded(name, "0 * * * *", "UTC", WORK, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("point", ["schedule.due", "schedule.fire"])
def test_a_daemon_killed_there_leaves_one_firing(yard: Yard, point: str) -> None:
    add_long_ago(yard, hourly())
    first = yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": point})
    assert first.wait() < 0, "it was killed"
    yard.run()
    [fired] = yard.records(se.ScheduleFired)
    assert isinstance(fired.event, se.ScheduleFired)
    assert (fired.event.tasks, fired.event.missed) == (("t1",), 4)
    assert yard.task("t1").phase == "approval"


@pytest.mark.parametrize("point", ["schedule.skip", "schedule.queue"])
def test_a_daemon_killed_while_it_lets_times_wait_or_pass_loses_none(yard: Yard, point: str) -> None:
    add_long_ago(yard, hourly("kept", catch_up=se.CatchUp.ALL), hourly("dropped", catch_up=se.CatchUp.SKIP))
    assert yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": point}).wait() < 0
    yard.run()
    [queued] = [record.event for record in yard.records(se.ScheduleQueued)]
    assert isinstance(queued, se.ScheduleQueued)
    assert len(queued.dues) == 5
    assert {record.event.times for record in yard.records(se.ScheduleSkipped)} <= {4, 5}  # type: ignore[attr-defined]
    kept = yard.board().schedules.by_name["kept"]
    assert (kept.firings, len(kept.waiting)) == (1, 4), "the others wait for the first to land"


def test_a_workflow_that_vanishes_is_told_of_and_tried_again(yard: Yard) -> None:
    gone = se.ScheduledWork(se.WorkSort.WORKFLOW, "nightly")
    add_long_ago(yard, se.ScheduleAdded("nightly", "0 * * * *", "UTC", gone))
    yard.run()
    [failed] = yard.records(se.ScheduleFailed)
    assert "`nightly`" in failed.event.reason  # type: ignore[attr-defined]
    listed = json.loads(yard.paddock("schedule", "list", "--json"))["schedules"][0]
    assert listed["failure"]["in_a_row"] == 1
    assert "`nightly`" in listed["problem"]
    assert listed["forecast"] is None


def test_what_a_person_runs_now_is_done_by_the_fleet(yard: Yard) -> None:
    brief = play(write("a.txt"), commit("Look around"))
    yard.paddock("schedule", "add", "@yearly", "--task", brief, "--title", "Look", "--name", "watch", "--tz", "UTC")
    assert json.loads(yard.paddock("schedule", "run", "watch", "--json"))["ids"] == ["t1"]
    yard.run()
    assert yard.task("t1").phase == "approval"
    shown = json.loads(yard.paddock("schedule", "show", "watch", "--json"))["schedule"]
    assert (shown["last"]["tasks"], shown["firings"], shown["behind"]) == (["t1"], 1, "t1")
    assert shown["forecast"]["evidence"][0]["circle"] == "series", "its own run counts from now on"
