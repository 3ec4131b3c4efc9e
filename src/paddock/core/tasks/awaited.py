"""What people and scripts wait for: whether a task is where they want it, or will not get there by itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, printable
from paddock.core.tasks.needs import Need, need_of
from paddock.core.tasks.task import FINISHED, SATISFIED, Phase, Task
from paddock.core.wording import did_you_mean

UNDER_WAY = frozenset({Phase.WAITING, Phase.READY, Phase.RUNNING, Phase.REVIEWING, Phase.QUEUED})
_AT_REST = frozenset({Phase.LANDED, Phase.NOOP, Phase.DONE, Phase.APPROVAL})
_WITHOUT_US = UNDER_WAY | {Phase.APPROVAL}


class Until(StrEnum):
    """`SETTLED`: nothing more happens to it without a person. `FINISHED`: it landed, is done, failed, was cancelled or
    needed no change."""

    SETTLED = "settled"
    FINISHED = "finished"

    def holds(self, task: Task) -> bool:
        if self is Until.FINISHED:
            return task.phase in FINISHED or task.phase is Phase.FAILED
        return task.phase not in UNDER_WAY or need_of(task) is not None


class GoalStanding(StrEnum):
    UNDER_WAY = "under way"
    REACHED = "reached"
    ELSEWHERE = "elsewhere"
    """It has come to rest where nobody wanted it, or needs a person to go on."""


class WaitStatus(IntEnum):
    """What a wait has come to, as the exit status of a command."""

    REACHED = 0
    ELSEWHERE = 1
    TIMED_OUT = 124


@dataclass(frozen=True, slots=True)
class Goal:
    """`phases` to get to. Without any, until it has finished, waits for approval or needs a person otherwise."""

    phases: frozenset[Phase] = frozenset()

    def standing(self, task: Task, before: Task | None = None) -> GoalStanding:
        """`before` is how it stood when the wait began: what it has passed through since counts as reached."""
        if self.phases:
            return self._on_the_way(task, before or task)
        if not Until.SETTLED.holds(task):
            return GoalStanding.UNDER_WAY
        good = task.phase in _AT_REST and need_of(task) in (None, Need.APPROVE)
        return GoalStanding.REACHED if good else GoalStanding.ELSEWHERE

    def _on_the_way(self, task: Task, before: Task) -> GoalStanding:
        """People approve and answer while others wait: only what needs more than that ends the wait."""
        if task.phase in self.phases or self._has_passed(task, before):
            return GoalStanding.REACHED
        waits = task.phase in _WITHOUT_US or (task.phase is Phase.BLOCKED and need_of(task) is Need.ANSWER)
        return GoalStanding.UNDER_WAY if waits else GoalStanding.ELSEWHERE

    def _has_passed(self, task: Task, before: Task) -> bool:
        ran = Phase.RUNNING in self.phases and task.started > before.started
        was_queued = task.phase is Phase.LANDED is not before.phase
        return ran or (Phase.QUEUED in self.phases and was_queued)


def parse_goal(words: Sequence[str]) -> Goal:
    """Raises Misuse."""
    known = {phase.value: phase for phase in Phase}
    for word in words:
        if word not in known:
            raise Misuse(
                f"there is no phase `{printable(word, 40)}`", did_you_mean(word, known, f"phases: {', '.join(known)}")
            )
    return Goal(frozenset(known[word] for word in words))


def status_of(standings: Iterable[GoalStanding], *, any_of_them: bool = False) -> WaitStatus | None:
    """None while there is something to wait for. With `any_of_them` one that has reached its goal is enough."""
    found = list(standings)
    if any_of_them and GoalStanding.REACHED in found:
        return WaitStatus.REACHED
    if GoalStanding.UNDER_WAY in found:
        return None
    return WaitStatus.ELSEWHERE if GoalStanding.ELSEWHERE in found else WaitStatus.REACHED


def standings_of(
    goal: Goal,
    tasks: Mapping[TaskId, Task],
    names: Iterable[TaskId],
    before: Mapping[TaskId, Task],
    *,
    people_approve: bool = False,
) -> dict[TaskId, GoalStanding]:
    """Who names no phase does not wait for a task behind one that rests, either. What waits for approval is that only
    where `people_approve`: elsewhere the fleet is about to queue it."""
    found = {name: goal.standing(tasks[name], before.get(name)) for name in names}
    if goal.phases:
        return found
    behind = {name for name in found if waits_for_a_person(tasks[name], tasks, people_approve=people_approve)}
    return {name: GoalStanding.ELSEWHERE if name in behind else standing for name, standing in found.items()}


def waits_for_a_person(task: Task, tasks: Mapping[TaskId, Task], *, people_approve: bool) -> bool:
    """Whether it waits for tasks of which one goes no further without a person."""
    seen, ahead = {task.id}, [task]
    while ahead:
        one = ahead.pop()
        if one.phase is Phase.WAITING:
            missing = [name for name in one.after if tasks[name].phase not in SATISFIED and name not in seen]
            seen.update(missing)
            ahead += [tasks[name] for name in missing]
        elif one is not task and Until.SETTLED.holds(one) and (people_approve or one.phase is not Phase.APPROVAL):
            return True
    return False
