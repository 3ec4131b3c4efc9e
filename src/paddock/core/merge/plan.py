"""The planner: what the merge queue does next. Each function is one rule of docs/merge-queue.md.

`plan` returns the actions of the first rule that has any; once their outcome is recorded it is asked again, so every
rule sees the effects of those before it.
"""

from collections.abc import Callable

from paddock.core.merge import guards
from paddock.core.merge.actions import Action, CancelRun, Facts, Land
from paddock.core.merge.events import (
    ChangeCancelled,
    ChangeConflicted,
    ChangeFoundEmpty,
    ChangeRejected,
    CiDefined,
    MainMoved,
    QueueHalted,
)
from paddock.core.merge.halts import heals_itself
from paddock.core.merge.health import check_health, give_up_lost, probe_main, start_repairs, verify_main
from paddock.core.merge.model import Entry, Halted, Main, Purpose, Queue, RefusalCause, Run
from paddock.core.merge.screens import start_screens
from paddock.core.merge.stacks import leave_with_base
from paddock.core.merge.standing import Stage
from paddock.core.merge.trains import start_suspects, start_train
from paddock.core.merge.view import View, look, train_chain

LANDING_REFUSALS_BEFORE_HALT = 3


def plan(queue: Queue, facts: Facts, now: float) -> tuple[Action, ...]:
    """What to do next, in order; empty when there is nothing to do until something ends or arrives."""
    if queue.landing is not None:
        return (_land(queue.ended[queue.landing.run]),)
    moved = reconcile(queue, facts)
    if moved or queue.main is None:
        return moved
    if fallen := leave_with_base(queue):
        return fallen
    if queue.halted is not None:
        return _while_halted(queue, queue.main, queue.halted, facts, now)
    for rule in (land, settle_refusals, cancel_superseded):
        actions = rule(queue, queue.main)
        if actions:
            return actions
    view = look(queue, queue.main, facts, now)
    for step in _STEPS:
        actions = step(view)
        if actions:
            return actions
    return ()


def _while_halted(queue: Queue, main: Main, halted: Halted, facts: Facts, now: float) -> tuple[Action, ...]:
    """While main does not pass, only declared repairs are tested, and main itself after a while."""
    if not heals_itself(halted):
        return ()
    view = look(queue, main, facts, now)
    if halted.until_main_moves:
        actions = land(queue, main) or settle_refusals(queue, main) or start_repairs(view)
        if actions:
            return actions
    return probe_main(view)


def reconcile(queue: Queue, facts: Facts) -> tuple[Action, ...]:
    """Rule 1. Someone else moved main, or the CI definition changed: record that before anything else.

    A foreign commit is verified by `verify_main`; a main that was rewound halts the queue when it is recorded.
    """
    if queue.main is None or queue.main.commit != facts.main_commit:
        return (MainMoved(facts.main_commit, facts.main_tree, facts.main_descends),)
    if queue.ci != facts.ci:
        return (CiDefined(facts.ci),)
    return ()


def land(queue: Queue, main: Main) -> tuple[Action, ...]:
    """Rule 2. Move main to the first train that passed on it; with no train under way, to any passed screen."""
    if queue.frozen:
        return ()
    if queue.landing_refusals >= LANDING_REFUSALS_BEFORE_HALT:
        return (QueueHalted(f"moving main failed {queue.landing_refusals} times in a row"),)
    allowed = [queue.ended[i] for i in queue.landable if guards.landing_problem(queue, i) is None]
    chain = train_chain(queue, main)
    if chain:
        allowed = [run for run in allowed if run.id == chain[0].id]
    if not allowed:
        return ()
    return (_land(max(allowed, key=lambda run: len(run.members))),)


def _land(run: Run) -> Land:
    return Land(run.id, run.base, run.commit, run.tree, run.members)


def settle_refusals(queue: Queue, main: Main) -> tuple[Action, ...]:
    """Textual conflicts cost no CI run: with landed work the change goes back, with work in flight it waits."""
    actions = [_settle_refusal(entry, main) for entry in queue.entries.values() if entry.refusals]
    return tuple(action for action in actions if action is not None)


def _settle_refusal(entry: Entry, main: Main) -> Action | None:
    change = entry.change
    for refusal in entry.refusals:
        if refusal.cause is RefusalCause.MISSING:
            return ChangeCancelled(change.id, change.version, f"commit `{change.head}` is gone")
        if refusal.against is not None or refusal.base != main.commit:
            continue
        if refusal.cause is RefusalCause.EMPTY:
            return ChangeFoundEmpty(change.id, change.version, main.commit)
        if refusal.cause is RefusalCause.UNDOES:
            undone = "; ".join(refusal.paths)
            return ChangeCancelled(change.id, change.version, f"undoes {undone}", undoes=refusal.paths)
        return ChangeConflicted(change.id, change.version, main.commit, refusal.paths)
    return None


def cancel_superseded(queue: Queue, main: Main) -> tuple[Action, ...]:
    """Stop runs nobody needs any more: a train without its base, a version that is dead, an old definition."""
    live = guards.live_bases(queue)
    reasons = (
        (run.id, _why_superseded(queue, run, main, live)) for run in queue.running.values() if not run.cancelling
    )
    return tuple(CancelRun(run_id, reason) for run_id, reason in reasons if reason is not None)


def _why_superseded(queue: Queue, run: Run, main: Main, live: frozenset[str]) -> str | None:
    current = [guards.is_current(queue, member) for member in run.members]
    if not run.members and run.commit != main.commit:
        return "main moved"
    if not guards.ci_is_in_force(queue, run):
        return "the CI definition changed"
    if not run.members:
        return None
    if not guards.lean_holds(queue, run.since, run.ci):
        return "main is in doubt, and this run skips checks that main passed"
    if not guards.stacks_are_whole(queue, run):
        return "it lacks a change that one of its members waits for"
    if run.purpose is Purpose.TRAIN:
        if not all(current):
            return "one of its changes was decided"
        beside = run.confirms is not None and guards.base_is_verified(queue, run)
        return None if run.base in live or beside else "the train it was built on is gone"
    return None if any(current) else "all its changes were decided"


def convict(view: View) -> tuple[Action, ...]:
    """Rules 3 and 4. Reject what failed alone and again, on verified bases and a machine that passes others."""
    queue = view.queue
    needed = guards.failures_needed(queue.stats)
    return tuple(
        ChangeRejected(c.id, c.entry.change.version, _reason(queue, c.standing.blame), c.standing.blame, needed=needed)
        for c in view.at(Stage.CONVICTED)
        if guards.blame_is_enough(queue, c.id, c.standing.blame, needed)
        and guards.machine_is_healthy(queue, c.standing.blame)
    )


def _reason(queue: Queue, blame: tuple[str, ...]) -> str:
    results = ", ".join(f"{run_id} {queue.ended[run_id].result}" for run_id in blame)
    return f"CI fails with this change: {results}"


_STEPS: tuple[Callable[[View], tuple[Action, ...]], ...] = (
    convict,
    verify_main,
    check_health,
    start_train,
    start_suspects,
    start_screens,
    give_up_lost,
)
