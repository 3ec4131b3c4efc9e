"""What comes next for a task, as far as anybody can say: estimates, and told as such."""

import msgspec

from paddock.core.ids import some_names
from paddock.core.merge.prospects import landing_seconds, state_words
from paddock.core.tasks.task import Phase, Task
from paddock.views.sight import Sight


class NextStep(msgspec.Struct, frozen=True):
    """`seconds` is an estimate of when, None where nobody knows."""

    icon: str
    words: str
    detail: str
    seconds: float | None = None


YOU = NextStep("approval", "you", "approve or reject it")
LANDED = NextStep("landed", "landed", "when its tests pass")


def next_steps(sight: Sight, task: Task) -> list[NextStep]:
    match task.phase:
        case Phase.WAITING:
            return [NextStep("ready", "ready", f"when {some_names(task.after)} landed")]
        case Phase.READY:
            return [NextStep("running", "an attempt", sight.outlook.reason_of(task) or "when an agent is free")]
        case Phase.RUNNING | Phase.REVIEWING:
            return [_decision(sight), LANDED]
        case Phase.APPROVAL:
            return [NextStep("queued", "queued", "when you approve it"), LANDED]
        case Phase.QUEUED:
            return _in_queue(sight, task)
        case Phase.BLOCKED | Phase.FAILED:
            return [NextStep("approval", "you", task.unblock)] if task.unblock else []
        case _:
            return []


def _decision(sight: Sight) -> NextStep:
    if sight.workspace.config.land.approval == "none":
        return NextStep("queued", "queued", "without approval, by policy")
    return YOU


def _in_queue(sight: Sight, task: Task) -> list[NextStep]:
    queue = sight.board.queue
    entry = queue.entries.get(task.id)
    if entry is None:
        return [LANDED]
    slots = sight.workspace.config.land.runs_at_once
    seconds = landing_seconds(queue, slots, sight.now).get(task.id)
    return [NextStep("landed", "landed", state_words(queue, entry), None if seconds is None else round(seconds, -1))]
