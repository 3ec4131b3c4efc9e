"""What is told of a cluster of failures: the cause, what Paddock did about it, and what to run."""

import dataclasses
from typing import Any

from msgspec.structs import replace

from paddock.core.causes.model import Cause, Causes, Streak, key_of
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import AttemptId, TaskId
from paddock.insight.failures.cluster import Cluster, Evidence
from paddock.insight.report.findings import CauseCount, FailurePart
from paddock.views.insight.failures import ClusterView, Situation, view_cluster
from paddock.views.insight.findings import view_failure_part

NOW = 1_790_000_000.0


def a_cluster(cause: FailureCause, **told: Any) -> Cluster:
    fields: dict[str, Any] = {
        "id": "f1234567",
        "symptom": "it broke\x1b[31m",
        "cause": cause,
        "title": "",
        "because": cause,
        "runs": ("t1.1", "t2.1"),
        "keys": (1, 2),
        "tasks": ("t1", "t2"),
        "evidence": (Evidence("a line", "output", "t1.1", "fleet"),),
        "labels": ("fleet",),
        **told,
    }
    return Cluster(**fields)


def known(cause: FailureCause, **told: Any) -> Cause:
    fields: dict[str, Any] = {
        "host": "h1",
        "struck": NOW - 5,
        "strikes": 1,
        "tasks": (TaskId("t1"), TaskId("t2")),
        **told,
    }
    return Cause("c7", key_of("f1234567", cause), cause, NOW - 60, NOW - 5, **fields)


def standing(cause: Cause, **more: Any) -> Causes:
    return Causes(standing={cause.key: cause}, newest=7, **more)


def told_of(cluster: Cluster, causes: Causes) -> ClusterView:
    return view_cluster(cluster, Situation(causes, NOW))


def test_what_was_requeued_free_is_told() -> None:
    limit = FailureCause.RATE_LIMIT
    view = told_of(a_cluster(limit), standing(known(limit, forgiven=2)))
    assert view.causes == ["c7"]
    assert view.done == [
        "2 attempts were requeued and count as no failure of their tasks",
        "new starts are held back, and its tasks are tried again after a pause",
    ]
    assert view.next[0] == "paddock limits"


def test_a_stopped_engine_is_told_with_when_it_may_try_again() -> None:
    silent = FailureCause.NEVER_RAN
    streak = Streak("1.2", "", "c7", "no call", 3, (TaskId("t1"), TaskId("t2")), NOW)
    view = told_of(a_cluster(silent, engine="claude"), standing(known(silent), streaks={"claude": streak}))
    assert view.done == ["engine claude is stopped after 3 attempts in a row that never ran; one may try again in 10m"]
    assert view.next == ["paddock engines check claude", "paddock traces show t2.1", "paddock failures clear c7"]


def test_tasks_that_take_turns_are_told_with_what_they_fought_over() -> None:
    fight = FailureCause.CONTENTION
    view = told_of(a_cluster(fight), standing(known(fight, resource="port:8080")))
    assert view.done == ["2 tasks take turns on port:8080"]


def test_fewer_agents_on_a_host_and_a_pause_are_told_while_they_last() -> None:
    full, cut_off = FailureCause.SATURATION, FailureCause.NETWORK
    fewer = told_of(a_cluster(full), standing(known(full, slots=4, at_work=8, struck=NOW)))
    assert fewer.done == ["at most 4 agents at a time on h1, instead of 8"]
    assert told_of(a_cluster(cut_off), standing(known(cut_off))).done == ["nothing starts on h1 for 10s"]
    assert told_of(a_cluster(cut_off), standing(known(cut_off, struck=NOW - 9_000))).done == []


def test_what_somebody_settled_counts_and_is_part_of_the_evidence() -> None:
    tie = a_cluster(FailureCause.UNKNOWN, tied=(FailureCause.NETWORK, FailureCause.DEPENDENCY))
    open_one = known(FailureCause.UNKNOWN)
    assert told_of(tie, standing(open_one)).next[0] == "paddock failures probe c7"
    settled = replace(open_one, cause=FailureCause.NETWORK, is_settled=True, settled=("a second host had it too",))
    evidence = (Evidence("nothing tells why", "runs"), Evidence("fetch failed", "error"))
    view = told_of(dataclasses.replace(tie, evidence=evidence), standing(settled))
    assert (view.cause, view.tied) == ("network", [])
    assert [one.line for one in view.evidence] == ["a second host had it too", "fetch failed"]


def test_what_somebody_settled_counts_as_that_in_a_report_as_well() -> None:
    unknown, network = FailureCause.UNKNOWN, FailureCause.NETWORK
    part = FailurePart(
        runs=9, failed=5, clusters=2, causes=(CauseCount(unknown, 5),), top=(a_cluster(unknown),), times=((2,),)
    )
    settled = known(unknown, is_settled=True, settled=("ann says so",))
    view = view_failure_part(part, Situation(standing(replace(settled, cause=network)), NOW))
    assert [(one.cause, one.runs) for one in view.causes] == [("unknown", 3), ("network", 2)]
    assert view.top[0].cause == "network"


def test_what_was_cleared_is_told_as_that() -> None:
    missing = FailureCause.DEPENDENCY
    gone = replace(known(missing), ended=NOW - 3600, by="ann")
    view = told_of(a_cluster(missing), Causes(ended=(gone,), newest=7))
    assert view.done == ["cleared by ann 1h ago"]
    assert view.next == ["paddock traces show t2.1"]


def test_where_a_cause_came_back_it_is_told_what_was_done_about_which() -> None:
    missing = FailureCause.DEPENDENCY
    gone = replace(known(missing), id="c3", ended=NOW - 3600, by="ann")
    again = known(missing)
    view = told_of(a_cluster(missing), Causes(standing={again.key: again}, ended=(gone,), newest=7))
    assert view.done == ["c7: its tasks are blocked until somebody says that it is fixed", "c3: cleared by ann 1h ago"]


def test_a_cause_is_found_by_its_attempts_where_clusters_have_shifted() -> None:
    missing = FailureCause.DEPENDENCY
    other = replace(known(missing, runs=(AttemptId("t2.1"),)), key=key_of("f9999999", missing))
    assert told_of(a_cluster(missing), standing(other)).causes == ["c7"]


def test_nothing_is_done_about_imported_runs_and_lines_of_agents_are_data() -> None:
    imported = a_cluster(FailureCause.MODEL, labels=("night",), runs=("a b",), keys=(1,))
    view = told_of(imported, standing(known(FailureCause.MODEL, runs=(AttemptId("a b"),))))
    assert (view.causes, view.done, view.runs) == ([], [], ["a b"])
    assert view.next == ["paddock drift --batch night", "paddock traces show 'a b'"]
    assert "\x1b" not in view.symptom
