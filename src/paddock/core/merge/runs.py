"""Facts about CI runs: what a verdict adds to the queue."""

from msgspec.structs import replace

from paddock.core.given import Given
from paddock.core.merge import events as ev
from paddock.core.merge import guards, stats
from paddock.core.merge.halts import count_probe, ends_halt, forget_failures
from paddock.core.merge.incidents import entries_after_loss, incident_after, joins_incident
from paddock.core.merge.legal import refusal
from paddock.core.merge.model import Entry, Queue, Result, Run, pass_key
from paddock.core.merge.passes import drop_dead_passes, withdraw_pass

KEPT_PASSES = 1024
ENDED_RUNS_PRUNED_ABOVE = 1024
DECIDED_WITH_RUNS_KEPT = 64


def skip_lost(queue: Queue, given: Given) -> Queue:
    """Runs and versions count on above those of records that are lost."""
    return replace(
        queue,
        next_run=max(queue.next_run, given.runs + 1),
        lost_version=max(queue.lost_version, given.versions),
    )


def start_run(queue: Queue, event: ev.RunStarted, at: float) -> Queue:
    if event.run in queue.running or event.run in queue.ended:
        raise refusal(event, f"run `{event.run}` already exists")
    for member in event.members:
        if not guards.is_current(queue, member):
            raise refusal(event, f"version {member.version} of `{member.id}` is not in the queue")
    if not guards.lean_holds(queue, event.since, event.ci):
        raise refusal(event, f"it skips checks that never passed on tree `{event.since}`")
    if not guards.acceptances_are_run(queue, event.members, event.accepts):
        raise refusal(event, "it leaves out what a member of it has to pass")
    run = Run(
        event.run,
        event.purpose,
        event.base,
        event.base_tree,
        event.members,
        event.tree,
        event.commit,
        event.ci,
        event.log,
        at,
        event.confirms,
        slots_busy=len(queue.running) + 1,
        checks=event.checks,
        since=event.since,
        policy=event.policy,
        host=event.host,
        host_id=event.host_id,
        accepts=event.accepts,
    )
    if not guards.stacks_are_whole(queue, run):
        raise refusal(event, f"`{event.run}` lacks what a member of it waits for")
    number = int(event.run[1:]) if event.run[1:].isdigit() else queue.next_run
    return replace(queue, running={**queue.running, run.id: run}, next_run=max(queue.next_run, number + 1))


def ask_cancel(queue: Queue, event: ev.RunCancelAsked) -> Queue:
    run = queue.running.get(event.run)
    if run is None:
        raise refusal(event, f"run `{event.run}` is not running")
    return replace(queue, running={**queue.running, run.id: replace(run, cancelling=True)})


def end_run(queue: Queue, event: ev.RunEnded, at: float) -> Queue:
    run = queue.running.get(event.run)
    if run is None:
        raise refusal(event, f"run `{event.run}` is not running")
    if event.reused is not None and queue.passes.get(pass_key(run.tree, run.ci)) != event.reused:
        raise refusal(event, f"`{event.reused}` is not a recorded pass of tree `{run.tree}`")
    if event.reused is not None and not guards.pass_covers(queue, event.reused, run.accepts):
        raise refusal(event, f"`{event.reused}` has not run what a member has to pass")
    running = {i: r for i, r in queue.running.items() if i != event.run}
    if event.reused is None and running:
        run = replace(run, beside=True)
        running = {i: replace(r, beside=True) for i, r in running.items()}
    if event.result is Result.CANCELLED or not guards.lean_holds(queue, run.since, run.ci):
        # What it left out is in doubt, so even a pass says too little.
        return drop_dead_passes(replace(queue, running=running))
    run = _ended(run, event, at)
    if event.result is Result.PASS and ends_halt(queue, run):
        queue = forget_failures(queue)
    counted = stats.after_run(queue, run)
    queue = replace(
        queue,
        running=running,
        ended={**queue.ended, run.id: run},
        entries=_entries_after(queue, run),
        stats=counted,
    )
    queue = _record_pass(queue, run) if event.result is Result.PASS else _record_failure(queue, run)
    return _prune_ended(drop_dead_passes(queue))


def _ended(run: Run, event: ev.RunEnded, at: float) -> Run:
    return replace(
        run,
        ended_at=at,
        result=event.result,
        exit=event.exit,
        reused=event.reused,
        note=event.note,
        cannot_run=event.cannot_run,
        ran=event.ran,
        failed=event.failed,
        flaked=event.flaked,
        quarantined=event.quarantined,
    )


def _entries_after(queue: Queue, run: Run) -> dict[str, Entry]:
    if run.result is Result.INFRA:
        return entries_after_loss(queue, run)
    entries = dict(queue.entries)
    for member in run.members:
        entry = entries.get(member.id)
        if entry is None or entry.change.version != member.version:
            continue
        if guards.stands_on_its_base(queue, run, member.id):
            evidence = (*entry.evidence, run.id)
            entries[member.id] = replace(entry, evidence=evidence, infra_failures=0, lost_in_company=0)
    return entries


def _record_pass(queue: Queue, run: Run) -> Queue:
    key = pass_key(run.tree, run.ci)
    passes, leans = {**queue.passes, key: run.id}, queue.leans
    if run.since and run.reused is None:
        leans = {**leans, key: pass_key(run.since, run.ci)}
    elif not run.since:
        leans = {k: on for k, on in leans.items() if k != key}
    if len(passes) > KEPT_PASSES:
        passes = dict(list(passes.items())[-KEPT_PASSES // 2 :])
        leans = {k: on for k, on in leans.items() if k in passes}
    main = queue.main
    if main is not None and main.tree == run.tree and run.ci == queue.ci:
        main = replace(main, verified_by=run.id)
    landable = (*queue.landable, run.id) if run.members else queue.landable
    return replace(
        queue,
        passes=passes,
        leans=leans,
        main=main,
        landable=landable,
        failure_streak=0,
        infra_streak=0,
        last_pass_at=queue.last_pass_at if run.reused else run.ended_at or 0.0,
        last_pass_began=queue.last_pass_began if run.reused else max(queue.last_pass_began, run.started_at),
    )


def _record_failure(queue: Queue, run: Run) -> Queue:
    """A red run of main itself takes main's verification back: either it flaked or the machine is broken."""
    infra = run.result is Result.INFRA
    main = queue.main
    if main is not None and not run.members and not infra and run.commit == main.commit:
        main = replace(main, verified_by=None)
        queue = withdraw_pass(queue, pass_key(run.tree, run.ci))
    more = 0 if infra and joins_incident(queue, run) else 1
    return replace(
        queue,
        main=main,
        failure_streak=queue.failure_streak + more,
        infra_streak=queue.infra_streak + more if infra else 0,
        incident=incident_after(queue, run) if infra else queue.incident,
        halted=count_probe(queue.halted, run, run.ended_at or 0.0),
    )


def _prune_ended(queue: Queue) -> Queue:
    if len(queue.ended) <= ENDED_RUNS_PRUNED_ABOVE:
        return queue
    needed = set(queue.landable)
    for entry in queue.entries.values():
        needed.update(entry.evidence)
    for decided in queue.decided[-DECIDED_WITH_RUNS_KEPT:]:
        needed.update(decided.runs)
    if queue.main is not None and queue.main.verified_by is not None:
        needed.add(queue.main.verified_by)
    return replace(queue, ended={i: r for i, r in queue.ended.items() if i in needed})
