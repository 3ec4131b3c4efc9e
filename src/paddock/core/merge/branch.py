"""Facts about main: moved by the queue, moved by someone else, tested under another definition."""

from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge import guards, stats
from paddock.core.merge.changes import decide
from paddock.core.merge.halts import forget_failures, heals_itself, waits_for_main
from paddock.core.merge.legal import refusal
from paddock.core.merge.model import Ending, Halted, Landing, Main, Queue, Run, pass_key
from paddock.core.merge.passes import drop_dead_passes, withdraw_pass


def move_main(queue: Queue, event: ev.MainMoved, at: float) -> Queue:
    if queue.landing is not None:
        raise refusal(event, f"the landing of `{queue.landing.run}` is not settled")
    if queue.main is not None and queue.main.commit == event.commit:
        raise refusal(event, f"main is at `{event.commit}` already")
    main = Main(event.commit, event.tree, queue.passes.get(pass_key(event.tree, queue.ci)), event.by)
    if waits_for_main(queue) and event.descends:
        queue = forget_failures(queue)
    halted = queue.halted
    if not event.descends and queue.main is not None:
        reason = f"main was rewound: `{event.commit}` does not descend from `{queue.main.commit}`"
        who = f"; moved by {event.by}" if event.by else ""
        halted = Halted(f"{reason}{who}", at, rewound=True)
    trusted = main_to_restore(queue)
    return drop_dead_passes(replace(queue, main=main, halted=halted, landing_refusals=0, trusted=trusted))


def main_to_restore(queue: Queue) -> Main | None:
    """Where main goes back to when somebody else has moved it; None before it was seen at all."""
    rewound = queue.halted is not None and queue.halted.rewound
    if queue.main is not None and guards.main_is_verified(queue.main) and not rewound:
        return queue.main
    return queue.trusted or queue.main


def restore_main(queue: Queue, event: ev.MainRestored) -> Queue:
    if queue.landing is not None:
        raise refusal(event, f"the landing of `{queue.landing.run}` is not settled")
    known = main_to_restore(queue)
    if known is None or known.commit != event.commit:
        raise refusal(event, f"main is restored to `{known.commit if known else 'nothing'}`")
    # What was wrong with the main that is gone does not stop the queue.
    main = Main(event.commit, event.tree, queue.passes.get(pass_key(event.tree, queue.ci)))
    if queue.halted is not None and (waits_for_main(queue) or queue.halted.rewound):
        queue = forget_failures(queue)
    return drop_dead_passes(replace(queue, main=main, landing_refusals=0))


def define_ci(queue: Queue, event: ev.CiDefined) -> Queue:
    """After an edit to a CI command that did not pass on main, main is tested again at once."""
    if queue.halted is not None and heals_itself(queue.halted):
        queue = forget_failures(queue)
    main = queue.main
    if main is not None:
        main = replace(main, verified_by=queue.passes.get(pass_key(main.tree, event.ci)))
    return drop_dead_passes(replace(queue, ci=event.ci, main=main))


def start_landing(queue: Queue, event: ev.LandingStarted) -> Queue:
    if queue.landing is not None:
        raise refusal(event, f"the landing of `{queue.landing.run}` is not settled")
    problem = guards.landing_problem(queue, event.run)
    if problem is not None:
        raise refusal(event, problem)
    run = queue.ended[event.run]
    if (event.old, event.new) != (run.base, run.commit):
        raise refusal(event, f"`{event.run}` tested `{run.base}`→`{run.commit}`")
    return replace(queue, landing=Landing(event.run, event.old, event.new))


def _settled(queue: Queue, event: ev.TrainLanded | ev.LandingRefused) -> Run:
    if queue.landing != Landing(event.run, event.old, event.new):
        raise refusal(event, f"no landing of `{event.run}` from `{event.old}` to `{event.new}` was started")
    return queue.ended[event.run]


def land_train(queue: Queue, event: ev.TrainLanded, at: float) -> Queue:
    run = _settled(queue, event)
    if waits_for_main(queue):
        queue = forget_failures(queue)
    queue = replace(
        queue,
        main=Main(run.commit, run.tree, run.id if run.ci == queue.ci else None),
        landing=None,
        landing_refusals=0,
    )
    for member in run.members:
        entry = queue.entries.get(member.id)
        if entry is None or entry.change.version != member.version:
            raise refusal(event, f"`{member.id}` was decided while it landed")
        queue = decide(queue, entry, Ending.LANDED, at, runs=(run.id,), commit=run.commit)
    landed = frozenset(member.id for member in run.members)
    return drop_dead_passes(replace(queue, stats=stats.after_landing(queue, landed)))


def refuse_landing(queue: Queue, event: ev.LandingRefused, at: float) -> Queue:
    _settled(queue, event)
    halted = Halted(event.reason, at, (event.run,)) if event.audit_failed else queue.halted
    landable = tuple(i for i in queue.landable if i != event.run)
    refusals = queue.landing_refusals + 1
    queue = replace(queue, landing=None, landable=landable, halted=halted, landing_refusals=refusals)
    return drop_dead_passes(queue)


def resume_queue(queue: Queue) -> Queue:
    queue = replace(queue, paused=False, draining_since=None)
    main = queue.main
    if queue.halted is None or main is None:
        return replace(queue, halted=None)
    queue = withdraw_pass(forget_failures(queue), pass_key(main.tree, queue.ci))
    return drop_dead_passes(replace(queue, main=replace(main, verified_by=None)))
