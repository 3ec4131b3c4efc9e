"""Short histories, each ending in a claim that needs one particular guard of the merge queue."""

from __future__ import annotations

from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge.branch import main_to_restore
from paddock.core.merge.health import INFRA_BEFORE_CONTROL, LOST_BEFORE_HALT
from paddock.core.merge.model import Ending, HaltCause, Purpose, RefusalCause, Result, pass_key
from paddock.core.merge.passes import reusable_pass
from paddock.core.merge.screens import screen_units
from paddock.core.merge.tallies import Tally
from paddock.core.merge.view import look
from tests.core.merge.audit import audit
from tests.core.merge.lab import Lab, change, refused, running, started_lab


def outcome(lab: Lab, name: str) -> Ending | None:
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


CONCERNS = ("touches what CI runs: Makefile",)


def what_is_protected_is_not_queued_without_a_person() -> None:
    lab = started_lab()
    assert refused(lab, ev.ChangeQueued(change("t1", concerns=CONCERNS)))
    assert refused(lab, ev.ChangeQueued(change("t1", concerns=CONCERNS, approved_by="agent:t1.1")))
    lab.submit(change("t1", concerns=CONCERNS, approved_by="ana@desk"))
    lab.settle()
    assert outcome(lab, "t1") is Ending.LANDED


def what_is_protected_does_not_land_without_a_person() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    run, entry = lab.queue.ended[lab.queue.landable[0]], lab.queue.entries["t1"]
    lab.queue = replace(lab.queue, entries={"t1": replace(entry, change=replace(entry.change, concerns=CONCERNS))})
    assert refused(lab, ev.LandingStarted(run.id, run.base, run.commit))


def a_run_without_the_acceptance_of_a_member_is_no_fact() -> None:
    lab = started_lab()
    lab.submit(change("t1", accept=7))
    lab.wake()
    (run,) = (run for run in lab.queue.running.values() if run.holds("t1"))
    assert run.accepts == ("t1@7",)
    fields = (run.purpose, run.base, run.base_tree, run.members, run.tree, run.commit, run.ci)
    assert refused(lab, ev.RunStarted("r99", *fields))


def a_run_without_the_acceptance_of_a_member_does_not_land() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    run, entry = lab.queue.ended[lab.queue.landable[0]], lab.queue.entries["t1"]
    lab.queue = replace(lab.queue, entries={"t1": replace(entry, change=replace(entry.change, accept=7))})
    assert refused(lab, ev.LandingStarted(run.id, run.base, run.commit))


def a_pass_without_the_acceptance_is_not_used_again() -> None:
    """The same tree passed in a run that had no such member."""
    lab = started_lab()
    lab.submit(change("t1", accept=7))
    lab.wake()
    (run,) = (run for run in lab.queue.running.values() if run.holds("t1"))
    key = pass_key(run.tree, run.ci)
    verified = lab.queue.main.verified_by if lab.queue.main is not None else None
    lab.queue = replace(lab.queue, passes={**lab.queue.passes, key: verified})
    assert verified is not None
    assert reusable_pass(lab.queue, run.purpose, run.tree, run.ci) == verified
    assert reusable_pass(lab.queue, run.purpose, run.tree, run.ci, run.accepts) is None
    assert refused(lab, ev.RunEnded(run.id, Result.PASS, reused=verified))


def landed_work_is_not_taken_back_unasked() -> None:
    lab = started_lab()
    assert refused(lab, ev.ChangeQueued(change("t2", undoes=("t1: a.py",), approved_by="ana@desk")))
    lab.submit(change("t2", undoes=("t1: a.py",), approved_by="ana@desk", may_undo=True))
    lab.settle()
    assert outcome(lab, "t2") is Ending.LANDED


def a_reversal_that_nobody_wants_does_not_land() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    run, entry = lab.queue.ended[lab.queue.landable[0]], lab.queue.entries["t1"]
    lab.queue = replace(lab.queue, entries={"t1": replace(entry, change=replace(entry.change, undoes=("t0: a",)))})
    assert refused(lab, ev.LandingStarted(run.id, run.base, run.commit))


def what_turns_out_to_take_landed_work_back_leaves_the_queue() -> None:
    lab = started_lab()
    made = change("t2")
    lab.record(ev.ChangeQueued(made))
    cause = RefusalCause.UNDOES
    lab.record(ev.CompositionRefused(lab.main, (made.member,), "t2", 1, cause, ("t1: a.py",)))
    lab.wake()
    [end] = lab.queue.decided
    assert (end.outcome, end.reason) == (Ending.CANCELLED, "undoes t1: a.py")


def a_foreign_main_is_put_back_to_the_last_tested_one_and_nothing_else() -> None:
    lab = with_changes(started_lab(), "t1")
    answer(lab, run_of(lab, "t1"))
    tested = lab.queue.main
    assert tested is not None
    lab.push_foreign("x", bad=True)
    lab.submit(change("t2"))
    lab.wake()
    assert main_to_restore(lab.queue) == tested
    foreign = lab.main
    assert refused(lab, ev.MainRestored(foreign, lab.tree_name(foreign), foreign))
    for _ in range(2):
        answer(lab, next(iter(lab.queue.running)))
    assert lab.queue.halted is not None
    lab.main = tested.commit
    lab.record(ev.MainRestored(tested.commit, tested.tree, foreign, "refs/paddock/kept/main"))
    resumed = lab.queue
    assert resumed.halted is None
    assert resumed.main == tested
    lab.settle()
    assert outcome(lab, "t2") is Ending.LANDED


def a_rewound_main_is_put_back_to_where_it_was() -> None:
    lab = with_changes(started_lab(), "t1")
    answer(lab, run_of(lab, "t1"))
    tested = lab.queue.main
    assert tested is not None
    assert lab.rewind()
    lab.submit(change("t2"))
    lab.wake()
    assert lab.queue.halted is not None
    assert lab.queue.halted.rewound
    assert main_to_restore(lab.queue) == tested


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
    assert outcome(lab, "t2") is Ending.LANDED
    assert outcome(lab, "t1") is Ending.REJECTED


def one_failure_rejects_nobody() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    answer(lab, run_of(lab, "t1"), Result.FAIL)
    lab.settle()
    assert outcome(lab, "t1") is Ending.LANDED


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
    assert outcome(lab, "t1") is Ending.LANDED


def lose_everything(lab: Lab, incidents: int) -> None:
    """One run after the other is lost until that has happened so often, and nothing runs any more."""
    for _ in range(100):
        if lab.queue.infra_streak >= incidents and not lab.processes:
            return
        if lab.processes:
            answer(lab, min(lab.processes, key=lambda run: int(run[1:])), Result.INFRA)
        else:
            lab.now += 3600.0
            lab.wake()
    raise AssertionError("nothing is lost any more")


def a_lost_machine_starts_no_new_work() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    while lab.queue.infra_streak < INFRA_BEFORE_CONTROL:
        lab.tick()
        lab.wake()
        lab.finish(min(lab.processes, key=lambda run: int(run[1:])), Result.INFRA)
    began = lab.queue.next_run
    lose_everything(lab, INFRA_BEFORE_CONTROL)
    assert all(not lab.answers[f"r{number}"][0].members for number in range(began, lab.queue.next_run))
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


def what_passed_under_an_old_definition_holds_nobody_up() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    lab.ci = "ci2"
    lab.record(ev.QueueUnfrozen())
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is Ending.LANDED


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
    lab.settle()
    assert not lab.moves
    lab.submit(change("t2"))
    lab.settle()
    landed = [d.id for d in lab.queue.decided]
    assert landed == ["t2", "t1"]


def stacked_lab(slots: int = 4, *, bad: tuple[str, ...] = ()) -> Lab:
    """t3 builds on t2, which builds on t1."""
    lab = started_lab(slots)
    lab.truth.bad |= {(name, 1) for name in bad}
    lab.submit(change("t1"))
    lab.submit_on("t1", change("t2"))
    lab.submit_on("t2", change("t3"))
    return lab


def a_stack_lands_in_order() -> None:
    for slots in (1, 2, 4):
        lab = stacked_lab(slots)
        lab.settle()
        audit(lab)
        assert [d.id for d in lab.queue.decided if d.outcome is Ending.LANDED] == ["t1", "t2", "t3"]


def a_stack_may_land_in_one_train() -> None:
    lab = stacked_lab(slots=4)
    lab.wake()
    assert len(running(lab, Purpose.TRAIN)) == 3
    for run in list(lab.queue.running):
        lab.tick()
        lab.finish(run)
    lab.wake()
    audit(lab)
    assert [outcome(lab, name) for name in ("t1", "t2", "t3")] == [Ending.LANDED] * 3


def dependents_fall_with_a_rejected_base() -> None:
    for slots in (1, 2, 4):
        lab = stacked_lab(slots, bad=("t1",))
        with_changes(lab, "t4")
        lab.settle()
        audit(lab)
        assert outcome(lab, "t1") is Ending.REJECTED
        assert outcome(lab, "t4") is Ending.LANDED
        ends = {d.id: (d.outcome, d.against, d.reason) for d in lab.queue.decided}
        fell = (Ending.CANCELLED, "t1", "it is stacked on `t1`, which was rejected")
        assert (ends.get("t2"), ends.get("t3")) == (fell, fell)


def dependents_fall_while_the_queue_is_halted() -> None:
    lab = on_a_red_main("t1")
    lab.submit_on("t1", change("t2"))
    lab.record(ev.ChangeCancelled("t1", 1, by="someone"))
    lab.wake()
    assert lab.queue.halted is not None
    assert outcome(lab, "t2") is Ending.CANCELLED


def a_bad_dependent_is_rejected_and_its_base_lands() -> None:
    for slots in (1, 2, 4):
        lab = stacked_lab(slots, bad=("t2",))
        lab.settle()
        audit(lab)
        ends = [outcome(lab, name) for name in ("t1", "t2", "t3")]
        assert ends == [Ending.LANDED, Ending.REJECTED, Ending.CANCELLED]


def dependents_of_a_rewritten_base_leave() -> None:
    lab = stacked_lab()
    lab.wake()
    lab.submit(change("t1", 2))
    lab.settle()
    audit(lab)
    assert lab.commits[lab.main].tree == {("t1", 2)}
    assert outcome(lab, "t2") is Ending.CANCELLED
    assert any(d.id == "t2" and "whose version 2 does not include" in d.reason for d in lab.queue.decided)


def late_base_lab(*, bad: bool = False) -> Lab:
    """t2 is being tested alone when t1 is queued, whose commits it has."""
    lab = started_lab(slots=1)
    lab.truth.builds_on["t2", 1] = frozenset({("t1", 1)})
    lab.truth.bad |= {("t1", 1)} if bad else set()
    with_changes(lab, "t2")
    lab.tick()
    return lab


def queue_late_base(lab: Lab) -> None:
    lab.submit(change("t1"))
    lab.record(ev.ChangeRestacked("t2", 1, ("t1",), (change("t1").member,)))


def what_was_tested_without_its_base_is_not_landed() -> None:
    lab = late_base_lab()
    lab.record(ev.QueueFrozen())
    lab.finish(run_of(lab, "t2"))
    queue_late_base(lab)
    lab.record(ev.QueueUnfrozen())
    lab.settle()
    audit(lab)
    assert [d.id for d in lab.queue.decided] == ["t1", "t2"]


def a_run_without_the_base_is_stopped() -> None:
    lab = late_base_lab()
    alone = run_of(lab, "t2")
    queue_late_base(lab)
    lab.wake()
    assert alone not in lab.queue.running
    lab.settle()
    audit(lab)
    assert [d.id for d in lab.queue.decided] == ["t1", "t2"]


def a_failure_without_the_base_is_nobodys_blame() -> None:
    lab = late_base_lab(bad=True)
    alone = run_of(lab, "t2")
    queue_late_base(lab)
    lab.finish(alone)
    assert not lab.queue.entries["t2"].evidence
    lab.settle()
    audit(lab)
    assert (outcome(lab, "t1"), outcome(lab, "t2")) == (Ending.REJECTED, Ending.CANCELLED)


def a_run_without_the_base_is_no_fact() -> None:
    lab = started_lab()
    lab.submit(change("t1"))
    lab.submit_on("t1", change("t2"))
    main = lab.queue.main
    assert main is not None
    alone = (lab.queue.entries["t2"].change.member,)
    assert refused(lab, ev.RunStarted("r9", Purpose.SCREEN, main.commit, main.tree, alone, "tree", "c9", "ci1"))


def changes_that_would_wait_for_each_other_are_refused() -> None:
    lab = started_lab()
    lab.submit(change("t1", depends_on=("t2",)))
    lab.submit(change("t2", depends_on=("t3",)))
    assert refused(lab, ev.ChangeQueued(change("t3", depends_on=("t1",))))
    lab.submit(change("t3"))
    assert refused(lab, ev.ChangeRestacked("t3", 1, ("t1",)))


def a_base_goes_as_early_as_its_most_urgent_dependent() -> None:
    lab = started_lab(slots=1)
    lab.submit(change("t1"))
    lab.submit(change("t2"))
    lab.submit_on("t2", change("t3", priority=3))
    assert first_in_line(lab) == "t2"


def a_base_that_main_has_already_holds_nobody_up() -> None:
    lab = started_lab()
    lab.truth.empty.add(("t1", 1))
    lab.submit(change("t1"))
    lab.submit(change("t2", depends_on=("t1",)))
    lab.settle()
    assert (outcome(lab, "t1"), outcome(lab, "t2")) == (Ending.NOOP, Ending.LANDED)


def conflicting_work_in_flight_is_waited_for() -> None:
    lab = started_lab(slots=4)
    lab.truth.conflicts.add(frozenset({("t1", 1), ("t2", 1)}))
    with_changes(lab, "t1", "t2", "t3")
    assert outcome(lab, "t2") is None
    lab.settle()
    audit(lab)
    assert outcome(lab, "t2") is Ending.CONFLICTED
    assert outcome(lab, "t3") is Ending.LANDED


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
    assert ends == {Ending.LANDED, Ending.REJECTED}


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


def runs_lost_at_once_are_one_incident() -> None:
    """The machine goes down with all its runs, time and again: nobody is given up, nothing halts."""
    lab = with_changes(started_lab(slots=8), *(f"t{n}" for n in range(1, 17)))
    for _ in range(6):
        assert len(lab.processes) > 1
        lab.tick()
        for run in sorted(lab.processes):
            lab.finish(run, Result.INFRA)
        assert lab.queue.infra_streak == 1
        lab.wake()
        audit(lab)
        assert lab.queue.halted is None
        lab.tick()
        lab.finish(min(lab.processes))
        lab.wake()
    lab.settle()
    assert len(lab.commits[lab.main].tree) == 16


def a_change_whose_runs_alone_are_lost_is_not_tried_for_ever() -> None:
    lab = with_changes(started_lab(slots=2), "t1")
    for _ in range(20):
        if "t1" not in lab.queue.entries:
            break
        lab.tick()
        for run in sorted(lab.processes):
            lab.finish(run, Result.INFRA if lab.queue.running[run].members else None)
        lab.now += 3600.0
        lab.wake()
    assert not lab.processes
    assert outcome(lab, "t1") is Ending.CANCELLED
    assert lab.queue.decided[-1].reason.startswith("its CI was lost 4 times while main passes")


def an_outage_that_is_over_is_gone_on_with() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    lose_everything(lab, LOST_BEFORE_HALT + 1)
    halted = lab.queue.halted
    assert halted is not None
    assert halted.cause is HaltCause.OUTAGE
    lab.now += 3600.0
    lab.settle()
    audit(lab)
    assert lab.queue.halted is None
    assert outcome(lab, "t1") is outcome(lab, "t2") is Ending.LANDED


def a_red_main_that_passes_again_is_gone_on_with() -> None:
    """Nobody moved it: a server the tests need was down, and they failed with it."""
    lab = with_changes(started_lab(), "t1", "t2")
    for _ in range(20):
        if lab.queue.halted is None:
            answer(lab, min(lab.processes, key=lambda run: int(run[1:])), Result.FAIL)
    assert lab.queue.halted is not None
    assert lab.queue.halted.cause is HaltCause.MAIN_RED
    for run in sorted(lab.processes):
        answer(lab, run, Result.FAIL)
    pauses = []
    for _ in range(12):
        began = lab.now
        while not lab.processes:
            lab.now += 5.0
            lab.wake()
        pauses.append(lab.now - began)
        (run,) = lab.processes
        assert not lab.queue.running[run].members
        answer(lab, run, Result.FAIL)
    assert pauses == sorted(pauses)
    assert pauses[0] <= 60.0 < 1700.0 < pauses[-1] <= 1810.0
    lab.now += 3600.0
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is outcome(lab, "t2") is Ending.LANDED


def a_clock_that_is_set_back_does_not_keep_a_red_main_from_being_asked() -> None:
    lab = started_lab()
    lab.push_foreign("f1", bad=True)
    lab.submit(change("t1"))
    lab.wake()
    while lab.queue.halted is None:
        (run,) = lab.processes
        answer(lab, run)
    lab.now -= 86400.0
    for _ in range(3):
        began = lab.now
        while not lab.processes and lab.now < began + 100.0:
            lab.wake()
            lab.now += 5.0
        (run,) = lab.processes
        answer(lab, run)
    assert lab.queue.halted is not None
    assert lab.queue.halted.probed_at < lab.queue.halted.at


def a_ci_that_cannot_run_halts_after_one_run_and_is_not_mains_fault() -> None:
    lab = Lab()
    with_changes(lab, "t1")
    cannot_run(lab)
    halted = lab.queue.halted
    assert halted is not None
    assert halted.cause is HaltCause.CI_CANNOT_RUN
    assert halted.reason == "CI cannot run on main: `pytest` was not found"
    assert not lab.processes


def a_ci_that_stops_working_rejects_nobody() -> None:
    """A run that had begun before passes in between; a change that breaks CI itself is still found out."""
    lab = with_changes(started_lab(slots=4), "t1", "t2")
    cannot_run(lab, run_of(lab, "t1"))
    answer(lab, run_of(lab, "t2"))
    for _ in range(4):
        if lab.queue.halted is None and lab.processes:
            cannot_run(lab, min(lab.processes, key=lambda run: int(run[1:])))
    assert lab.queue.halted is not None
    assert outcome(lab, "t1") is None
    lab.now += 3600.0
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is outcome(lab, "t2") is Ending.LANDED


def a_change_that_breaks_ci_itself_is_rejected() -> None:
    lab = with_changes(started_lab(slots=4), "t1")
    for _ in range(6):
        if outcome(lab, "t1") is None:
            run = min(lab.processes)
            cannot_run(lab, run) if lab.queue.running[run].members else answer(lab, run)
    assert outcome(lab, "t1") is Ending.REJECTED


def cannot_run(lab: Lab, run: str = "") -> None:
    run = run or min(lab.processes)
    lab.tick()
    lab.processes.discard(run)
    lab.answers[run] = (lab.queue.running[run], Result.FAIL)
    lab.record(ev.RunEnded(run, Result.FAIL, 127, cannot_run="`pytest` was not found"))
    lab.wake()


def a_fixed_command_is_tried_at_once() -> None:
    lab = Lab()
    with_changes(lab, "t1")
    cannot_run(lab)
    lab.ci = "ci2"
    lab.settle()
    audit(lab)
    assert lab.queue.halted is None
    assert outcome(lab, "t1") is Ending.LANDED


def a_command_that_is_edited_while_main_is_tested_is_tried_without_waiting() -> None:
    lab = Lab()
    with_changes(lab, "t1")
    (hanging,) = lab.processes
    lab.ci = "ci2"
    lab.wake()
    (run,) = lab.processes
    assert run != hanging
    assert lab.queue.running[run].ci == "ci2"
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is Ending.LANDED


def a_new_daemon_asks_a_halted_main_at_once() -> None:
    lab = Lab()
    with_changes(lab, "t1")
    cannot_run(lab)
    lab.watched_since = lab.now + 1.0
    lab.now += 2.0
    lab.wake()
    assert len(lab.processes) == 1
    cannot_run(lab)
    assert not lab.processes, "once"


def two_timeouts_of_main_are_a_ci_that_cannot_run() -> None:
    lab = Lab()
    with_changes(lab, "t1")
    for _ in range(2):
        assert lab.queue.halted is None
        answer(lab, min(lab.processes), Result.TIMEOUT)
    assert lab.queue.halted is not None
    assert lab.queue.halted.cause is HaltCause.CI_CANNOT_RUN


def what_ci_could_not_run_may_turn_out_to_be_red() -> None:
    lab = Lab()
    lab.truth.bad.add(("slip", 1))
    lab.push_foreign("slip", bad=True)
    with_changes(lab, "t1")
    cannot_run(lab)
    lab.now += 60.0
    lab.wake()
    answer(lab, min(lab.processes))
    assert lab.processes, "it is asked again without a pause"
    answer(lab, min(lab.processes))
    assert lab.queue.halted is not None
    assert lab.queue.halted.cause is HaltCause.MAIN_RED


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
    lab.truth.fixes["fixed", 1] = ("slip", 1)
    lab.push_foreign("fixed")
    lab.settle()
    audit(lab)
    assert lab.queue.halted is None
    assert outcome(lab, "t1") is outcome(lab, "t2") is Ending.LANDED


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
    lab.truth.fixes["t2", 1] = ("slip", 1)
    lab.submit(change("t2", repairs=True))
    lab.settle()
    audit(lab)
    landed = [d.id for d in lab.queue.decided if d.outcome is Ending.LANDED]
    assert landed == ["t2", "t1"]


def a_repair_that_passed_while_nothing_may_land_is_not_tried_again() -> None:
    lab = on_a_red_main("t1")
    lab.truth.fixes["t2", 1] = ("slip", 1)
    lab.record(ev.QueueFrozen())
    lab.submit(change("t2", repairs=True))
    lab.settle()
    assert not lab.moves
    assert not lab.processes
    lab.record(ev.QueueUnfrozen())
    lab.settle()
    audit(lab)
    assert outcome(lab, "t2") is Ending.LANDED


def a_change_that_does_not_repair_a_red_main_leaves_the_queue_unblamed() -> None:
    lab = on_a_red_main("t1")
    lab.submit(change("t2", repairs=True))
    lab.settle()
    audit(lab)
    assert outcome(lab, "t2") is Ending.CANCELLED
    assert lab.queue.halted is not None
    assert outcome(lab, "t1") is None


def with_areas(lab: Lab, **seen_by: str) -> Lab:
    """Changes that only the named check looks at."""
    for name, check in seen_by.items():
        lab.truth.seen_by[name, 1] = frozenset({check})
    return lab


def only_what_a_train_touches_is_run() -> None:
    lab = with_areas(started_lab(), t1="lint", t2="unit")
    with_changes(lab, "t1", "t2")
    first, second = (lab.queue.running[run_of(lab, name)] for name in ("t1", "t2"))
    assert first.checks == ("lint",)
    assert second.checks == ("lint", "unit"), "it stands on the first, whose checks have not passed yet"
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is outcome(lab, "t2") is Ending.LANDED


def main_itself_is_tested_whole() -> None:
    lab = with_areas(started_lab(), t1="lint", hotfix="unit")
    lab.push_foreign("hotfix")
    with_changes(lab, "t1")
    assert [(run.purpose, run.since) for run in lab.queue.running.values()] == [(Purpose.BASELINE, "")]
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is Ending.LANDED


def checks_that_never_passed_are_not_left_out() -> None:
    lab = with_changes(started_lab(), "t1")
    lab.settle()
    assert lab.queue.main is not None
    main = lab.queue.main
    run = ev.RunStarted("r90", Purpose.SCREEN, main.commit, main.tree, (), main.tree, main.commit, "ci1")
    assert refused(lab, replace(run, checks=("lint",), since="a tree nobody tested"))


def a_red_control(lab: Lab) -> None:
    """CI is asked about main once more and says no."""
    assert lab.queue.main is not None
    main = lab.queue.main
    lab.record(ev.RunStarted("r90", Purpose.CONTROL, main.commit, main.tree, (), main.tree, main.commit, "ci1"))
    lab.tick()
    lab.record(ev.RunEnded("r90", Result.FAIL))


def what_left_out_checks_of_a_doubted_main_does_not_land() -> None:
    lab = with_areas(started_lab(), t1="lint")
    lab.record(ev.QueueFrozen())
    with_changes(lab, "t1")
    answer(lab, run_of(lab, "t1"))
    landable = lab.queue.landable
    assert landable
    a_red_control(lab)
    assert not lab.queue.landable
    assert refused(lab, ev.LandingStarted(landable[0], "c0", lab.queue.ended[landable[0]].commit))
    lab.record(ev.QueueUnfrozen())
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is Ending.LANDED


def a_run_that_left_out_checks_of_a_doubted_main_says_nothing() -> None:
    lab = with_areas(started_lab(), t1="lint")
    with_changes(lab, "t1")
    run = run_of(lab, "t1")
    a_red_control(lab)
    lab.tick()
    lab.finish(run)
    assert not lab.queue.landable
    assert run not in lab.queue.entries["t1"].evidence
    lab.settle()
    audit(lab)
    assert outcome(lab, "t1") is Ending.LANDED


def a_flaky_suite_takes_more_failures_to_reject() -> None:
    lab = started_lab()
    lab.queue = replace(lab.queue, stats=replace(lab.queue.stats, verdicts=200.0, flakes=10.0))
    with_changes(lab, "t1", "t2")
    answer_without_audit(lab, run_of(lab, "t2"), Result.PASS)
    for _ in range(2):
        answer_without_audit(lab, run_of(lab, "t1"), Result.FAIL)
    assert outcome(lab, "t1") is None
    answer_without_audit(lab, run_of(lab, "t1"), Result.FAIL)
    while outcome(lab, "t1") is None and lab.processes:
        answer_without_audit(lab, min(lab.processes), None)
    rejected = next(event for event, _ in lab.log if isinstance(event, ev.ChangeRejected))
    assert rejected.needed == len(rejected.runs) == 3


def answer_without_audit(lab: Lab, run: str, result: Result | None) -> None:
    """For a lab whose estimators were set by hand, so that its log does not give its state."""
    lab.tick()
    lab.finish(run, result)
    lab.wake()


def what_conflicts_with_a_train_in_flight_is_not_screened() -> None:
    lab = started_lab(slots=4)
    lab.truth.conflicts.add(frozenset({("t1", 1), ("t2", 1)}))
    with_changes(lab, "t1", "t2")
    assert lab.queue.entries["t2"].refusals
    assert not any(run.holds("t2") for run in lab.queue.running.values())
    answer(lab, run_of(lab, "t1"), Result.FAIL)
    assert any(run.holds("t2") for run in lab.queue.running.values()), "nothing is in its way any more"
    lab.settle()
    audit(lab)


def pools_of_agents(*, bad: float) -> list[set[str]]:
    """Who shares a pool when one agent's record is this bad and another's is spotless."""
    lab = started_lab(slots=1)
    records = {"careless": Tally(40.0 * (1 - bad), 40.0 * bad), "careful": Tally(120.0, 0.0)}
    overall = Tally(sum(t.good for t in records.values()), sum(t.bad for t in records.values()))
    lab.queue = replace(lab.queue, stats=replace(lab.queue.stats, by_author=records, overall=overall))
    for number in range(24):
        lab.submit(change(f"t{number}", author=("careless", "careful")[number % 2]))
    assert lab.queue.main is not None
    units = screen_units(look(lab.queue, lab.queue.main, lab.facts(), lab.now), 4)
    return [{candidate.entry.change.author for candidate in unit} for unit in units]


def a_careless_agent_is_screened_apart() -> None:
    assert all(len(authors) == 1 for authors in pools_of_agents(bad=0.8))


def agents_that_may_be_alike_share_pools() -> None:
    assert any(len(authors) == 2 for authors in pools_of_agents(bad=0.05))


CLAIMS = (
    only_what_a_train_touches_is_run,
    main_itself_is_tested_whole,
    checks_that_never_passed_are_not_left_out,
    what_left_out_checks_of_a_doubted_main_does_not_land,
    a_run_that_left_out_checks_of_a_doubted_main_says_nothing,
    a_flaky_suite_takes_more_failures_to_reject,
    a_clock_that_is_set_back_does_not_keep_a_red_main_from_being_asked,
    what_conflicts_with_a_train_in_flight_is_not_screened,
    a_careless_agent_is_screened_apart,
    agents_that_may_be_alike_share_pools,
    a_tree_without_a_pass_never_lands,
    a_foreign_main_is_put_back_to_the_last_tested_one_and_nothing_else,
    a_rewound_main_is_put_back_to_where_it_was,
    what_is_protected_is_not_queued_without_a_person,
    what_is_protected_does_not_land_without_a_person,
    landed_work_is_not_taken_back_unasked,
    a_reversal_that_nobody_wants_does_not_land,
    what_turns_out_to_take_landed_work_back_leaves_the_queue,
    a_train_waits_for_the_one_it_stands_on,
    a_superseded_version_does_not_land,
    nothing_is_judged_on_an_unverified_main,
    a_failure_on_a_red_base_is_nobodys_blame,
    one_failure_rejects_nobody,
    a_rejection_needs_runs_that_prove_it,
    there_are_never_more_runs_than_slots,
    a_broken_machine_rejects_nobody,
    a_lost_machine_starts_no_new_work,
    an_old_definition_of_ci_lands_nothing,
    what_passed_under_an_old_definition_holds_nobody_up,
    a_change_to_the_definition_is_screened_alone,
    a_change_to_the_definition_rides_alone,
    a_dependent_lands_after_what_it_needs,
    a_stack_lands_in_order,
    a_stack_may_land_in_one_train,
    dependents_fall_with_a_rejected_base,
    dependents_fall_while_the_queue_is_halted,
    a_bad_dependent_is_rejected_and_its_base_lands,
    dependents_of_a_rewritten_base_leave,
    what_was_tested_without_its_base_is_not_landed,
    a_run_without_the_base_is_stopped,
    a_failure_without_the_base_is_nobodys_blame,
    a_run_without_the_base_is_no_fact,
    changes_that_would_wait_for_each_other_are_refused,
    a_base_goes_as_early_as_its_most_urgent_dependent,
    a_base_that_main_has_already_holds_nobody_up,
    conflicting_work_in_flight_is_waited_for,
    age_beats_priority,
    a_suspected_half_is_smaller,
    a_train_without_its_base_is_stopped,
    a_landing_that_keeps_failing_halts,
    a_main_that_somebody_mends_is_gone_on_with,
    a_main_that_stays_red_stays_untouched,
    a_change_that_repairs_a_red_main_lands_on_it,
    a_repair_that_passed_while_nothing_may_land_is_not_tried_again,
    a_change_that_does_not_repair_a_red_main_leaves_the_queue_unblamed,
    runs_lost_at_once_are_one_incident,
    a_change_whose_runs_alone_are_lost_is_not_tried_for_ever,
    an_outage_that_is_over_is_gone_on_with,
    a_red_main_that_passes_again_is_gone_on_with,
    a_ci_that_cannot_run_halts_after_one_run_and_is_not_mains_fault,
    a_fixed_command_is_tried_at_once,
    a_command_that_is_edited_while_main_is_tested_is_tried_without_waiting,
    a_new_daemon_asks_a_halted_main_at_once,
    two_timeouts_of_main_are_a_ci_that_cannot_run,
    what_ci_could_not_run_may_turn_out_to_be_red,
    a_ci_that_stops_working_rejects_nobody,
    a_change_that_breaks_ci_itself_is_rejected,
)
