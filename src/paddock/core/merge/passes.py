"""Trees that have passed: which of those runs may still land, and what need not be tested once more."""

from msgspec.structs import replace

from paddock.core.merge import guards
from paddock.core.merge.model import Purpose, Queue, pass_key


def drop_dead_passes(queue: Queue) -> Queue:
    """Forget passed runs that can no longer land: their base is neither main nor a live train, a member is
    another version now, or it turned out to build on something the run lacks."""
    if not queue.landable or queue.main is None:
        return queue
    live = guards.live_bases(queue)
    kept = tuple(i for i in queue.landable if queue.ended[i].base in live and _may_land(queue, i))
    return queue if kept == queue.landable else drop_dead_passes(replace(queue, landable=kept))


def _may_land(queue: Queue, run_id: str) -> bool:
    """Otherwise it would stay at the head of the chain for ever."""
    run = queue.ended[run_id]
    current = guards.members_are_current(queue, run_id) and guards.ci_is_in_force(queue, run)
    return current and guards.tree_has_passed(queue, run) and guards.stacks_are_whole(queue, run)


def withdraw_pass(queue: Queue, key: str) -> Queue:
    """Forget a pass that was contradicted, and every one that left out checks because of it."""
    gone = {key}
    while more := {leaning for leaning, on in queue.leans.items() if on in gone} - gone:
        gone |= more
    return replace(
        queue,
        passes={k: run for k, run in queue.passes.items() if k not in gone},
        leans={k: on for k, on in queue.leans.items() if k not in gone},
    )


def reusable_pass(queue: Queue, purpose: Purpose, tree: str, ci: str, accepts: tuple[str, ...] = ()) -> str | None:
    """The run that already passed exactly this tree under this CI definition, and these acceptances, or None.

    A control run asks whether the machine still gives the same answer, so it is never answered from memory.
    """
    if purpose is Purpose.CONTROL:
        return None
    passed = queue.passes.get(pass_key(tree, ci))
    return passed if passed is not None and guards.pass_covers(queue, passed, accepts) else None


def tree_to_lean_on(queue: Queue, purpose: Purpose, ci: str) -> str:
    """The tree against which a run may leave out checks: main's, if all of CI has passed on it. Empty for none.

    A run of main itself leaves out nothing.
    """
    if purpose in (Purpose.BASELINE, Purpose.CONTROL) or queue.main is None:
        return ""
    return queue.main.tree if pass_key(queue.main.tree, ci) in queue.passes else ""
