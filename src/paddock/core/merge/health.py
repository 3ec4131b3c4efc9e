"""Is main green and the machine sound? Nothing else starts while either is in doubt."""

from __future__ import annotations

from paddock.core.merge import estimate, guards
from paddock.core.merge.actions import Action, Halt, StartRun
from paddock.core.merge.groups import INFRA_RETRIES
from paddock.core.merge.model import Purpose, Result
from paddock.core.merge.standing import Stage
from paddock.core.merge.view import View

FAILURES_OF_MAIN_BEFORE_HALT = 2
FAILURES_BEFORE_CONTROL = 8
INFRA_BEFORE_CONTROL = 3
LOST_BEFORE_HALT = INFRA_BEFORE_CONTROL + INFRA_RETRIES
CONTROL_BACKOFF_SECONDS = 30.0
LOST = "CI runs fail for reasons outside the changes"


def may_start(view: View) -> bool:
    return not view.queue.paused and guards.slot_is_free(len(view.queue.running), view.slots)


def start_run_of_main(view: View, purpose: Purpose) -> StartRun:
    main = view.main
    return StartRun(
        f"r{view.queue.next_run}",
        purpose,
        main.commit,
        main.tree,
        (),
        estimate.timeout_seconds(view.queue.stats, view.facts.timeout_floor_seconds),
    )


def verify_main(view: View) -> tuple[Action, ...]:
    """Rule 1. A main nobody verified, first seen or pushed by somebody else, gets a baseline run of its own."""
    if guards.main_is_verified(view.main):
        return ()
    red = tuple(
        run.id
        for run in view.queue.ended.values()
        if not run.members and run.commit == view.main.commit and run.result in guards.BLAMING
    )
    if len(red) >= FAILURES_OF_MAIN_BEFORE_HALT:
        return (Halt(f"main is red at `{view.main.commit}` without any queued change", red, until_main_moves=True),)
    if _runs_on_main(view):
        return ()
    if view.queue.infra_streak > LOST_BEFORE_HALT:
        return (Halt(LOST, _last_infra(view)),)
    rests = view.queue.infra_streak >= INFRA_BEFORE_CONTROL and not _waited_enough(view)
    if rests or not may_start(view):
        return ()
    return (start_run_of_main(view, Purpose.BASELINE),)


def check_health(view: View) -> tuple[Action, ...]:
    """Ask main itself when everything fails, or when a verdict has nothing that passed to compare with."""
    if not guards.main_is_verified(view.main) or _runs_on_main(view):
        return ()
    queue = view.queue
    if queue.infra_streak > LOST_BEFORE_HALT:
        return (Halt(LOST, _last_infra(view)),)
    doubted = [c for c in view.at(Stage.CONVICTED) if not guards.machine_is_healthy(queue, c.standing.blame)]
    asked = bool(doubted) or queue.failure_streak >= FAILURES_BEFORE_CONTROL
    asked = asked or (queue.infra_streak >= INFRA_BEFORE_CONTROL and _waited_enough(view))
    if not asked or not may_start(view):
        return ()
    return (start_run_of_main(view, Purpose.CONTROL),)


def is_sound(view: View) -> bool:
    """Work may start: main is verified and the last runs were not all lost to the machine."""
    return guards.main_is_verified(view.main) and view.queue.infra_streak < INFRA_BEFORE_CONTROL


def _runs_on_main(view: View) -> bool:
    return any(not run.members and not run.cancelling for run in view.queue.running.values())


def _last_infra(view: View) -> tuple[str, ...]:
    lost = [run.id for run in view.queue.ended.values() if run.result is Result.INFRA]
    return tuple(lost[-view.queue.infra_streak :])


def _waited_enough(view: View) -> bool:
    ended = [run.ended_at or 0.0 for run in view.queue.ended.values() if run.result is Result.INFRA]
    doublings = view.queue.infra_streak - INFRA_BEFORE_CONTROL
    pause = CONTROL_BACKOFF_SECONDS * float(2**doublings - 1)
    return view.now - max(ended, default=0.0) >= pause
