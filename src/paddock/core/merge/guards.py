"""The conditions that keep main green and blame fair, one predicate each.

The planner asks them before it acts and the reducer asks them again before a fact is recorded, so an action that
became stale in between is refused. Tests switch each one off and expect to notice.
"""

from paddock.core.ids import WORKERS
from paddock.core.merge.estimate import extra_failures
from paddock.core.merge.model import Change, Entry, Main, Member, Purpose, Queue, Result, Run, pass_key
from paddock.core.merge.tallies import Stats

BLAMING = (Result.FAIL, Result.TIMEOUT)
FAILURES_TO_REJECT = 2


def person_has_seen(change: Change) -> bool:
    """What touches the tests, the configuration or other protected paths is in the queue because a person said so."""
    return not change.concerns or (bool(change.approved_by) and not change.approved_by.startswith(WORKERS))


def reversal_is_wanted(change: Change) -> bool:
    """Landed work is taken back only where the task is about it, or a person said so."""
    return not change.undoes or change.may_undo


def is_current(queue: Queue, member: Member) -> bool:
    """The queue still holds exactly these bytes, undecided."""
    entry = queue.entries.get(member.id)
    return entry is not None and entry.change.member == member


def members_are_current(queue: Queue, run_id: str) -> bool:
    return all(is_current(queue, member) for member in queue.ended[run_id].members)


def tree_has_passed(queue: Queue, run: Run) -> bool:
    """A pass of exactly this tree under the run's CI definition is recorded."""
    return pass_key(run.tree, run.ci) in queue.passes


def has_passed(queue: Queue, entry: Entry) -> bool:
    """A run that held the change has passed."""
    return any(queue.ended[i].result is Result.PASS for i in entry.evidence if i in queue.ended)


def lean_holds(queue: Queue, since: str, ci: str) -> bool:
    """The checks that a run leaves out have passed on tree `since`, and nobody has contradicted that."""
    return not since or pass_key(since, ci) in queue.passes


def acceptances_are_run(queue: Queue, members: tuple[Member, ...], accepts: tuple[str, ...]) -> bool:
    """What each member has to pass by itself is run with it."""
    changes = [queue.entries[member.id].change for member in members if member.id in queue.entries]
    return {change.acceptance for change in changes if change.acceptance} <= set(accepts)


def pass_covers(queue: Queue, passed: str, accepts: tuple[str, ...]) -> bool:
    """The run that passed the tree has run these acceptances too. What CI accepts, a member's own may not."""
    return not accepts or (passed in queue.ended and set(accepts) <= set(queue.ended[passed].accepts))


def base_is_main(queue: Queue, run: Run) -> bool:
    return queue.main is not None and run.base == queue.main.commit


def main_is_verified(main: Main) -> bool:
    return main.verified_by is not None


def base_is_verified(queue: Queue, run: Run) -> bool:
    """Without its members the run's tree passes, so a failure says something about the members."""
    return pass_key(run.base_tree, run.ci) in queue.passes


def ci_is_in_force(queue: Queue, run: Run) -> bool:
    """The run used today's CI definition, or its one member brings a definition of its own."""
    if run.ci == queue.ci:
        return True
    entries = [queue.entries.get(member.id) for member in run.members]
    return len(entries) == 1 and entries[0] is not None and entries[0].change.touches_ci


def slot_is_free(running: int, slots: int) -> bool:
    """`running` counts runs that are being cancelled too: their processes still hold the slot."""
    return running < slots


def machine_is_healthy(queue: Queue, blame: tuple[str, ...]) -> bool:
    """Something passed since the first failure began, so the machine was able to pass things.

    Where CI could not even run, something that began after that: a run that was under way proves nothing.
    """
    unable = [run.ended_at or 0.0 for i in blame if (run := queue.ended[i]).cannot_run]
    if unable and queue.last_pass_began < max(unable):
        return False
    return queue.last_pass_at > queue.ended[blame[0]].started_at


def failures_needed(stats: Stats) -> int:
    """How many failures reject a change: the more often CI fails for no reason, the more."""
    return FAILURES_TO_REJECT + extra_failures(stats)


def blame_is_enough(queue: Queue, change_id: str, blame: tuple[str, ...], needed: int) -> bool:
    """Several failures on verified bases, one of them of the change alone."""
    runs = [queue.ended[i] for i in dict.fromkeys(blame) if i in queue.ended]
    return (
        len(runs) >= max(needed, FAILURES_TO_REJECT)
        and all(run.holds(change_id) and run.result in BLAMING for run in runs)
        and all(base_is_verified(queue, run) for run in runs)
        and any(len(run.members) == 1 for run in runs)
    )


def stands_on_its_base(queue: Queue, run: Run, change_id: str) -> bool:
    """All that a member waits for goes before it in the run, or in a train the run stands on."""
    entry = queue.entries.get(change_id)
    if entry is None or not entry.waits_on:
        return True
    ids = [member.id for member in run.members]
    before = set(ids[: ids.index(change_id)])
    by_commit = {other.commit: other for other in (*queue.ended.values(), *queue.running.values()) if other.members}
    base = run.base
    while base in by_commit:
        before.update(member.id for member in by_commit[base].members)
        base = by_commit[base].base
    return before.issuperset(entry.waits_on)


def stacks_are_whole(queue: Queue, run: Run) -> bool:
    return all(stands_on_its_base(queue, run, member.id) for member in run.members)


def landing_problem(queue: Queue, run_id: str) -> str | None:
    """Why main may not be moved to this run's commit; None when it may."""
    if run_id not in queue.landable:
        return f"run `{run_id}` is not a live passed run"
    run = queue.ended[run_id]
    if not tree_has_passed(queue, run):
        return f"tree `{run.tree}` has no recorded pass"
    if not base_is_main(queue, run):
        return f"run `{run_id}` was built on `{run.base}`, which is not main"
    if not members_are_current(queue, run_id):
        return f"a member of run `{run_id}` changed or was decided"
    if not ci_is_in_force(queue, run):
        return f"run `{run_id}` used an old CI definition"
    if not acceptances_are_run(queue, run.members, run.accepts):
        return f"run `{run_id}` leaves out what a member of it has to pass"
    if not stacks_are_whole(queue, run):
        return f"run `{run_id}` lacks what a member of it waits for"
    changes = [queue.entries[member.id].change for member in run.members]
    if (unseen := next((one.id for one in changes if not person_has_seen(one)), None)) is not None:
        return f"no person has approved `{unseen}`, which {queue.entries[unseen].change.concerns[0]}"
    if (unwanted := next((one.id for one in changes if not reversal_is_wanted(one)), None)) is not None:
        return f"`{unwanted}` undoes {queue.entries[unwanted].change.undoes[0]}"
    return None


def live_bases(queue: Queue) -> frozenset[str]:
    """Commits a train may stand on: main, and every train that still may land there."""
    if queue.main is None:
        return frozenset()
    trains = [run for run in queue.running.values() if run.purpose is Purpose.TRAIN and not run.cancelling]
    trains += [queue.ended[i] for i in queue.landable if queue.ended[i].purpose is Purpose.TRAIN]
    live = {queue.main.commit}
    grew = True
    while grew:
        grew = False
        for run in trains:
            if run.base in live and run.commit not in live:
                live.add(run.commit)
                grew = True
    return frozenset(live)
