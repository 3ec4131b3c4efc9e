"""Short histories, each ending in a claim that needs one particular guard of the merge queue."""

from __future__ import annotations

from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge.groups import INFRA_RETRIES
from paddock.core.merge.model import Outcome, Purpose, Result
from paddock.core.merge.view import look
from tests.core.merge.audit import audit
from tests.core.merge.lab import Lab, change, refused, running, started_lab


def outcome(lab: Lab, name: str) -> Outcome | None:
    return next((d.outcome for d in reversed(lab.queue.decided) if d.id == name), None)


def with_changes(lab: Lab, *names: str, bad: tuple[str, ...] = ()) -> Lab:
    lab.truth.bad |= {(name, 1) for name in bad}
    for name in names:
        lab.submit(change(name))
    lab.wake()
    return lab


def run_of(lab: Lab, name: str) -> str:
    return next(run.id for run in lab.queue.running.values() if run.holds(name))


def answer(lab: Lab, run: str, result: Result | None = None) -> None:
    lab.tick()
    lab.finish(run, result)
    lab.wake()
    audit(lab)


def a_tree_without_a_pass_never_lands() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    run = lab.queue.ended[lab.queue.landable[0]]
    lab.queue = replace(lab.queue, passes={})
    assert refused(lab, ev.LandingStarted(run.id, run.base, run.commit))


def a_train_waits_for_the_one_it_stands_on() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    second = run_of(lab, "t2")
    answer(lab, second)
    run = lab.queue.ended[second]
    assert refused(lab, ev.LandingStarted(run.id, run.base, run.commit))


def a_superseded_version_does_not_land() -> None:
    lab = with_changes(started_lab(), "t1")
    run = run_of(lab, "t1")
    lab.submit(change("t1", 2))
    lab.tick()
    lab.finish(run)
    lab.wake()
    assert not lab.moves
    lab.settle()
    audit(lab)
    assert lab.commits[lab.main].tree == {("t1", 2)}


def what_nobody_approved_is_not_run() -> None:
    lab = started_lab()
    lab.submit(change("t1"), approved=False)
    lab.settle()
    assert not any(isinstance(event, ev.RunStarted) and event.members for event, _ in lab.log)


def nothing_is_judged_on_an_unverified_main() -> None:
    lab = Lab()
    with_changes(lab, "t1", "t2")
    assert [run.purpose for run in lab.queue.running.values()] == [Purpose.BASELINE]


def a_failure_on_a_red_base_is_nobodys_blame() -> None:
    lab = with_changes(started_lab(), "t1", "t2", bad=("t1",))
    answer(lab, run_of(lab, "t2"))
    answer(lab, run_of(lab, "t1"))
    answer(lab, run_of(lab, "t2"), Result.FAIL)
    lab.settle()
    assert outcome(lab, "t2") is Outcome.LANDED
    assert outcome(lab, "t1") is Outcome.REJECTED


def one_failure_rejects_nobody() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    answer(lab, run_of(lab, "t1"), Result.FAIL)
    lab.settle()
    assert outcome(lab, "t1") is Outcome.LANDED


def a_rejection_needs_runs_that_prove_it() -> None:
    lab = with_changes(started_lab(), "t1")
    assert refused(lab, ev.ChangeRejected("t1", 1, "because"))


def there_are_never_more_runs_than_slots() -> None:
    lab = with_changes(started_lab(), "t1", "t2", "t3", "t4")
    assert len(lab.processes) == lab.slots
    lab.push_foreign("hotfix")
    lab.wake()
    audit(lab)


def a_broken_machine_rejects_nobody() -> None:
    lab = with_changes(started_lab(), "t1")
    for _ in range(20):
        if lab.queue.halted is not None or not lab.processes:
            break
        answer(lab, min(lab.processes), Result.FAIL)
    assert lab.queue.halted is not None
    assert outcome(lab, "t1") is None
    lab.record(ev.QueueResumed())
    lab.settle()
    assert outcome(lab, "t1") is Outcome.LANDED


def a_lost_machine_starts_no_new_work() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    for _ in range(INFRA_RETRIES):
        answer(lab, min(lab.processes), Result.INFRA)
    for run in sorted(lab.processes):
        answer(lab, run, Result.INFRA)
    lab.now += 3600.0
    lab.wake()
    assert [run.purpose for run in lab.queue.running.values()] == [Purpose.CONTROL]
    lab.settle()
    assert len(lab.commits[lab.main].tree) == 2


def an_old_definition_of_ci_lands_nothing() -> None:
    lab = with_changes(started_lab(), "t1")
    run = run_of(lab, "t1")
    lab.record(ev.CiDefined("ci2"))
    lab.ci = "ci2"
    lab.tick()
    lab.finish(run)
    lab.wake()
    assert not lab.moves


def a_change_to_the_definition_is_screened_alone() -> None:
    lab = started_lab(slots=1)
    lab.submit(change("t1", touches_ci=True))
    with_changes(lab, "t2", "t3", "t4")
    lab.settle()
    audit(lab)


def a_change_to_the_definition_rides_alone() -> None:
    lab = started_lab(slots=4)
    lab.record(ev.QueueFrozen())
    lab.submit(change("t0", touches_ci=True))
    with_changes(lab, *(f"t{n}" for n in range(1, 40)))
    lab.settle()
    lab.record(ev.QueueUnfrozen())
    lab.settle()
    audit(lab)
    assert len(lab.commits[lab.main].tree) == 40


def a_dependent_lands_after_what_it_needs() -> None:
    lab = started_lab(slots=4)
    lab.submit(change("t1", depends_on=("t2",)))
    with_changes(lab, "t2")
    lab.settle()
    landed = [d.id for d in lab.queue.decided]
    assert landed == ["t2", "t1"]


def conflicting_work_in_flight_is_waited_for() -> None:
    lab = started_lab(slots=4)
    lab.truth.conflicts.add(frozenset({("t1", 1), ("t2", 1)}))
    with_changes(lab, "t1", "t2", "t3")
    assert outcome(lab, "t2") is None
    lab.settle()
    audit(lab)
    assert outcome(lab, "t2") is Outcome.CONFLICTED
    assert outcome(lab, "t3") is Outcome.LANDED


def age_beats_priority() -> None:
    lab = started_lab(slots=1)
    lab.submit(change("old"))
    lab.submit(change("urgent", priority=1))
    assert first_in_line(lab) == "urgent"
    lab.now += 10_000.0
    lab.record(ev.ChangeCancelled("urgent", 1))
    lab.submit(change("late", priority=1))
    assert first_in_line(lab) == "old"


def first_in_line(lab: Lab) -> str:
    assert lab.queue.main is not None
    return look(lab.queue, lab.queue.main, lab.facts(), lab.now).candidates[0].id


def a_suspected_half_is_smaller() -> None:
    lab = started_lab(slots=4)
    pairs = [frozenset({(f"t{n}", 1), (f"t{n + 1}", 1)}) for n in range(1, 30, 7)]
    lab.truth.clashes |= set(pairs)
    with_changes(lab, *(f"t{n}" for n in range(1, 40)))
    lab.settle(limit=120)
    audit(lab)
    assert any(isinstance(e, ev.RunStarted) and e.purpose is Purpose.TRAIN and e.confirms for e, _ in lab.log)
    ends = {outcome(lab, "t1"), outcome(lab, "t2")}
    assert ends == {Outcome.LANDED, Outcome.REJECTED}


def a_train_without_its_base_is_stopped() -> None:
    lab = with_changes(started_lab(), "t1", "t2", bad=("t1",))
    orphan = run_of(lab, "t2")
    answer(lab, run_of(lab, "t1"))
    assert orphan not in lab.queue.running
    assert running(lab, Purpose.TRAIN)[0].base == lab.main


def a_landing_that_keeps_failing_halts() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    for _ in range(3):
        run = lab.queue.ended[lab.queue.landable[0]]
        lab.record(ev.LandingStarted(run.id, run.base, run.commit))
        lab.record(ev.LandingRefused(run.id, run.base, run.commit, "remote is away"))
        lab.wake()
    lab.record(ev.QueueUnfrozen())
    lab.wake()
    assert lab.queue.halted is not None
    assert not lab.moves


def on_a_red_main(*names: str) -> Lab:
    """Changes wait while main, pushed by somebody, has failed twice."""
    lab = started_lab()
    lab.push_foreign("slip", bad=True)
    with_changes(lab, *names)
    lab.settle()
    assert lab.queue.halted is not None
    assert not lab.moves
    return lab


def a_main_that_somebody_mends_is_gone_on_with() -> None:
    lab = on_a_red_main("t1", "t2")
    lab.truth.mends["mended", 1] = ("slip", 1)
    lab.push_foreign("mended")
    lab.settle()
    audit(lab)
    assert lab.queue.halted is None
    assert outcome(lab, "t1") is outcome(lab, "t2") is Outcome.LANDED


def a_main_that_stays_red_stays_untouched() -> None:
    lab = on_a_red_main("t1")
    runs = len(lab.answers)
    lab.push_foreign("another")
    lab.settle()
    assert lab.queue.halted is not None
    assert not lab.moves
    assert all(not run.members for run, _ in list(lab.answers.values())[runs:])


def a_change_that_repairs_a_red_main_lands_on_it() -> None:
    lab = on_a_red_main("t1")
    lab.truth.mends["t2", 1] = ("slip", 1)
    lab.submit(change("t2", repairs=True))
    lab.settle()
    audit(lab)
    landed = [d.id for d in lab.queue.decided if d.outcome is Outcome.LANDED]
    assert landed == ["t2", "t1"]


def a_change_that_does_not_repair_a_red_main_leaves_the_queue_unblamed() -> None:
    lab = on_a_red_main("t1")
    lab.submit(change("t2", repairs=True))
    lab.settle()
    audit(lab)
    assert outcome(lab, "t2") is Outcome.CANCELLED
    assert lab.queue.halted is not None
    assert outcome(lab, "t1") is None


CLAIMS = (
    a_tree_without_a_pass_never_lands,
    a_train_waits_for_the_one_it_stands_on,
    a_superseded_version_does_not_land,
    what_nobody_approved_is_not_run,
    nothing_is_judged_on_an_unverified_main,
    a_failure_on_a_red_base_is_nobodys_blame,
    one_failure_rejects_nobody,
    a_rejection_needs_runs_that_prove_it,
    there_are_never_more_runs_than_slots,
    a_broken_machine_rejects_nobody,
    a_lost_machine_starts_no_new_work,
    an_old_definition_of_ci_lands_nothing,
    a_change_to_the_definition_is_screened_alone,
    a_change_to_the_definition_rides_alone,
    a_dependent_lands_after_what_it_needs,
    conflicting_work_in_flight_is_waited_for,
    age_beats_priority,
    a_suspected_half_is_smaller,
    a_train_without_its_base_is_stopped,
    a_landing_that_keeps_failing_halts,
    a_main_that_somebody_mends_is_gone_on_with,
    a_main_that_stays_red_stays_untouched,
    a_change_that_repairs_a_red_main_lands_on_it,
    a_change_that_does_not_repair_a_red_main_leaves_the_queue_unblamed,
)
