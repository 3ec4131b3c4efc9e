"""Is main green and the machine sound? Nothing else starts while either is in doubt, but what may repair main."""

from paddock.core.merge import guards
from paddock.core.merge.actions import Action
from paddock.core.merge.events import ChangeCancelled, QueueHalted
from paddock.core.merge.halts import probe_is_due
from paddock.core.merge.incidents import INFRA_RETRIES, lost_too_often
from paddock.core.merge.model import Entry, HaltCause, Purpose, Queue, Result, Run
from paddock.core.merge.standing import Stage
from paddock.core.merge.view import Eligible, View

FAILURES_OF_MAIN_BEFORE_HALT = 2
FAILURES_BEFORE_CONTROL = 8
INFRA_BEFORE_CONTROL = 3
LOST_BEFORE_HALT = INFRA_BEFORE_CONTROL + INFRA_RETRIES
CONTROL_BACKOFF_SECONDS = 30.0
CANNOT_RUN = "CI cannot run on main"
LOST = "CI runs are lost for reasons outside the changes"
# On a red main a failure proves nothing against a change, and it cannot be tried for ever either.
REPAIR_TRIES = 2


def may_start(view: View) -> bool:
    return not view.queue.paused and guards.slot_is_free(len(view.queue.running), view.slots)


def verify_main(view: View) -> tuple[Action, ...]:
    """Rule 1. A main nobody verified, first seen or pushed by somebody else, gets a baseline run of its own."""
    if guards.main_is_verified(view.main):
        return ()
    if (halt := why_halt(view)) is not None:
        return (halt,)
    rests = view.queue.infra_streak >= INFRA_BEFORE_CONTROL and not _waited_enough(view)
    if _runs_on_main(view) or rests or not may_start(view):
        return ()
    return (view.start(Purpose.BASELINE, ()),)


def check_health(view: View) -> tuple[Action, ...]:
    """Ask main itself when everything fails, or when a verdict has nothing that passed to compare with."""
    if not guards.main_is_verified(view.main) or _runs_on_main(view):
        return ()
    queue = view.queue
    # A verified main has not failed, so only runs that got lost can speak against it.
    if queue.infra_streak and (halt := why_halt(view)) is not None:
        return (halt,)
    doubted = [c for c in view.at(Stage.CONVICTED) if not guards.machine_is_healthy(queue, c.standing.blame)]
    asked = bool(doubted) or queue.failure_streak >= FAILURES_BEFORE_CONTROL
    asked = asked or (queue.infra_streak >= INFRA_BEFORE_CONTROL and _waited_enough(view))
    if not asked or not may_start(view):
        return ()
    return (view.start(Purpose.CONTROL, ()),)


def why_halt(view: View) -> QueueHalted | None:
    """What the last runs of main say: it is red, its CI cannot run, or runs do not come back at all."""
    failed = _failed_on_main(view)
    if failed and failed[-1].cannot_run:
        return _cannot_run(failed[-1], failed[-1].cannot_run)
    verdicts = [run for run in failed if run.result in guards.BLAMING and not run.cannot_run]
    if len(verdicts) >= FAILURES_OF_MAIN_BEFORE_HALT:
        last = verdicts[-1]
        if last.result is Result.TIMEOUT:
            return _cannot_run(last, last.note or "it did not end in time")
        red = tuple(run.id for run in verdicts)
        who = f"; it was moved there by {view.main.moved_by}, not by the queue" if view.main.moved_by else ""
        reason = f"main is red at `{view.main.commit}` without any queued change{who}"
        return QueueHalted(reason, red, until_main_moves=True, cause=HaltCause.MAIN_RED)
    if view.queue.infra_streak > LOST_BEFORE_HALT and not _runs_on_main(view):
        return _outage(view)
    return None


def probe_main(view: View) -> tuple[Action, ...]:
    """While the queue is halted: main is asked again after a while, and the halt is over when it passes."""
    halted = view.queue.halted
    if halted is None or _runs_on_main(view):
        return ()
    halt = why_halt(view)
    if halt is not None and (halt.cause, halt.reason) != (halted.cause, halted.reason):
        return (halt,)
    contradicted = halt is None and halted.cause is HaltCause.CI_CANNOT_RUN and bool(_failed_on_main(view))
    if not may_start(view) or not (contradicted or probe_is_due(halted, view.facts, view.now)):
        return ()
    purpose = Purpose.CONTROL if guards.main_is_verified(view.main) else Purpose.BASELINE
    return (view.start(purpose, ()),)


def _failed_on_main(view: View) -> list[Run]:
    """Runs of main as it is that did not pass, since one did."""
    queue, commit = view.queue, view.main.commit
    of_main = [run for run in queue.ended.values() if not run.members and run.commit == commit and run.ci == queue.ci]
    passed = max((n for n, run in enumerate(of_main) if run.result is Result.PASS), default=-1)
    return of_main[passed + 1 :]


def _cannot_run(run: Run, why: str) -> QueueHalted:
    return QueueHalted(f"{CANNOT_RUN}: {why}", (run.id,), until_main_moves=True, cause=HaltCause.CI_CANNOT_RUN)


def _outage(view: View) -> QueueHalted:
    lost = [run for run in view.queue.ended.values() if run.result is Result.INFRA]
    note = f": {lost[-1].note}" if lost and lost[-1].note else ""
    runs = tuple(run.id for run in lost[-view.queue.infra_streak :])
    return QueueHalted(f"{LOST}{note}", runs, cause=HaltCause.OUTAGE)


def is_sound(view: View) -> bool:
    """Work may start: main is verified and the last runs were not all lost to the machine."""
    return guards.main_is_verified(view.main) and view.queue.infra_streak < INFRA_BEFORE_CONTROL


def _runs_on_main(view: View) -> bool:
    return any(not run.members and not run.cancelling for run in view.queue.running.values())


def _waited_enough(view: View) -> bool:
    ended = [run.ended_at or 0.0 for run in view.queue.ended.values() if run.result is Result.INFRA]
    doublings = view.queue.infra_streak - INFRA_BEFORE_CONTROL
    pause = CONTROL_BACKOFF_SECONDS * float(2**doublings - 1)
    waited = view.now - ended[-1] if ended else pause
    return waited >= pause or waited < 0  # the clock was set back


def start_repairs(view: View) -> tuple[Action, ...]:
    """Try each change that is said to repair main on main as it is; give up those that do not."""
    passed = {member.id for i in view.queue.landable for member in view.queue.ended[i].members}
    able = [c for c in view.candidates if not c.entry.waits_on and c.standing.stage is not Stage.STUCK]
    repairs = [c for c in able if c.entry.change.repairs and c.id not in passed]
    for candidate in repairs:
        failed = _failures_on(view, candidate)
        if len(failed) >= REPAIR_TRIES:
            change = candidate.entry.change
            reason = f"it does not repair main: {', '.join(failed)} failed too"
            return (ChangeCancelled(change.id, change.version, reason),)
        if may_start(view):
            return (view.start(Purpose.SCREEN, (candidate,)),)
    return ()


def _failures_on(view: View, candidate: Eligible) -> list[str]:
    runs = [view.queue.ended[i] for i in candidate.entry.evidence if i in view.queue.ended]
    return [run.id for run in runs if _failed_on(run, view.main.commit)]


def _failed_on(run: Run, base: str) -> bool:
    return run.base == base and len(run.members) == 1 and run.result in guards.BLAMING


def give_up_lost(view: View) -> tuple[Action, ...]:
    """A change whose runs keep getting lost, on a machine that passes others, needs a person."""
    queue = view.queue
    if queue.infra_streak >= INFRA_BEFORE_CONTROL:
        return ()
    lost = [entry for entry in queue.entries.values() if lost_too_often(entry)]
    return tuple(ChangeCancelled(e.change.id, e.change.version, _why_lost(queue, e)) for e in lost)


def _why_lost(queue: Queue, entry: Entry) -> str:
    runs = [run for run in queue.ended.values() if run.result is Result.INFRA and run.holds(entry.change.id)]
    why = runs[-1].note if runs else "no verdict"
    return f"its CI was lost {entry.infra_failures} times while main passes: {why}"
