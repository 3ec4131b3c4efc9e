"""What comes next for a task, as far as anybody can say: estimates, and told as such."""

import msgspec

from paddock.core.ids import some_names
from paddock.core.merge.prospects import landing_seconds, state_words
from paddock.core.tasks.task import SATISFIED, Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.views.document import iso_or_none
from paddock.views.sight import Sight
from paddock.views.steady import keep_steady


class NextStep(msgspec.Struct, frozen=True):
    """`at` is an estimate of when, None where nobody knows."""

    icon: str
    words: str
    detail: str
    at: str | None = None


YOU = NextStep("approval", "you", "approve or reject it")
LANDED = NextStep("landed", "landed", "when its tests pass")


_ANSWERS = {Role.REVIEW: "findings", Role.PLAN: "plan", Role.REPORT: "report"}


def next_steps(sight: Sight, task: Task, lands_at: float | None = None) -> list[NextStep]:
    """`lands_at` is when a queued one may land, in epoch seconds."""
    match task.phase:
        case Phase.WAITING:
            return [NextStep("ready", "ready", _when_awaited_landed(sight, task))]
        case Phase.READY:
            return [NextStep("running", "an attempt", sight.outlook.reason_of(task) or "when an agent is free")]
        case Phase.RUNNING if task.question:
            return [NextStep("approval", "you", task.unblock)]
        case Phase.RUNNING if task.role.only_reads:
            return [NextStep("done", "done", f"when it has given its {_ANSWERS[task.role]}")]
        case Phase.RUNNING if sight.workspace.config.land.approval == "review":
            return [NextStep("reviewing", "review", "of what it delivers"), _decision(sight), LANDED]
        case Phase.RUNNING | Phase.REVIEWING:
            return [_decision(sight), LANDED]
        case Phase.APPROVAL:
            return [NextStep("queued", "queued", "when you approve it"), LANDED]
        case Phase.QUEUED:
            return _in_queue(sight, task, lands_at)
        case Phase.BLOCKED | Phase.FAILED:
            return [NextStep("approval", "you", task.unblock)] if task.unblock else []
        case _:
            return []


def _when_awaited_landed(sight: Sight, task: Task) -> str:
    missing = tuple(name for name in task.after if sight.board.tasks[name].phase not in SATISFIED)
    return f"when {some_names(missing)} {'has' if len(missing) == 1 else 'have'} finished"


def _decision(sight: Sight) -> NextStep:
    if sight.workspace.config.land.approval == "none":
        return NextStep("queued", "queued", "without approval, by policy")
    return YOU


def _in_queue(sight: Sight, task: Task, lands_at: float | None) -> list[NextStep]:
    queue = sight.board.queue
    entry = queue.entries.get(task.id)
    if entry is None:
        return [LANDED]
    return [NextStep("landed", "landed", state_words(queue, entry), iso_or_none(lands_at))]


def landing_estimate(sight: Sight, task: Task, before: float | None) -> float | None:
    """When a queued task may land, in epoch seconds; the estimate of `before` as long as that is about right."""
    if task.phase is not Phase.QUEUED:
        return None
    slots = sight.workspace.config.land.runs_at_once
    left = landing_seconds(sight.board.queue, slots, sight.now).get(task.id)
    return keep_steady(before, None if left is None else sight.now + left, sight.now)
