"""A red main: the queue stands still until someone fixes it, which a queued change may do too."""

from __future__ import annotations

from paddock.core.merge import guards
from paddock.core.merge.actions import Action, StartRun, Withdraw
from paddock.core.merge.health import may_start
from paddock.core.merge.model import Purpose, Run
from paddock.core.merge.standing import Stage
from paddock.core.merge.view import Eligible, View

# On a red main a failure proves nothing against a change, and it cannot be tried for ever either.
TRIES = 2


def start_repairs(view: View) -> tuple[Action, ...]:
    """Try each change that is said to repair main on main as it is; give up those that do not."""
    passed = {member.id for i in view.queue.landable for member in view.queue.ended[i].members}
    able = [c for c in view.candidates if not c.entry.waits_on and c.standing.stage is not Stage.STUCK]
    repairs = [c for c in able if c.entry.change.repairs and c.id not in passed]
    for candidate in repairs:
        failed = _failures_on(view, candidate)
        if len(failed) >= TRIES:
            change = candidate.entry.change
            return (Withdraw(change.id, change.version, f"it does not repair main: {', '.join(failed)} failed too"),)
        if may_start(view):
            return (_start(view, candidate),)
    return ()


def _failures_on(view: View, candidate: Eligible) -> list[str]:
    runs = [view.queue.ended[i] for i in candidate.entry.evidence if i in view.queue.ended]
    return [run.id for run in runs if _failed_on(run, view.main.commit)]


def _failed_on(run: Run, base: str) -> bool:
    return run.base == base and len(run.members) == 1 and run.result in guards.BLAMING


def _start(view: View, candidate: Eligible) -> StartRun:
    return StartRun(
        f"r{view.queue.next_run}",
        Purpose.SCREEN,
        view.main.commit,
        view.main.tree,
        (candidate.entry.change.member,),
    )
