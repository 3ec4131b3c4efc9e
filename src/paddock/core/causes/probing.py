"""Telling apart by trying: a task that failed is repeated, with one thing changed each time. What goes well then, and
what fails again, tells which of several classes it was."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.causes.events import CauseLeftOpen, CauseSettled
from paddock.core.causes.model import Cause
from paddock.core.causes.vocabulary import PASSING, FailureCause
from paddock.core.events import Draft, TaskCancelled
from paddock.core.tasks.task import FINISHED, Phase, Task
from paddock.core.tasks.vocabulary import NO_FAILURE, PROVIDERS_DOING, USEFUL, Outcome

PROBE = "failure-probe"
"""The label of tasks that only probe. What they deliver lands only if a person wants it."""


class Repeat(StrEnum):
    """What is changed. `UNCHANGED` tells whether it passes by itself."""

    UNCHANGED = "unchanged"
    HOST = "another-host"
    ACCOUNT = "another-account"

    @property
    def label(self) -> str:
        return f"{PROBE}:{self.value}"


_OF_THE_HOST = (FailureCause.SATURATION, FailureCause.NETWORK, FailureCause.DEPENDENCY)
_OF_THE_ACCOUNT = (FailureCause.RATE_LIMIT, FailureCause.OVERLOAD)
_AT_WORK = frozenset({Phase.READY, Phase.WAITING, Phase.RUNNING, Phase.REVIEWING})
_REPEATED_NOTHING = NO_FAILURE | PROVIDERS_DOING | {Outcome.NEVER_RAN, Outcome.MISCONFIGURED}


def settle_probed(board: Board) -> list[Draft]:
    """For every cause all of whose probes are over. What they delivered is not wanted any more."""
    if board.cause_part.is_nothing:
        return []
    drafts: list[Draft] = []
    for cause in board.causes.standing.values():
        probes = [board.tasks[name] for name in cause.probes if name in board.tasks]
        if cause.is_settled or not probes or any(is_at_work(task) for task in probes):
            continue
        drafts.append(Draft(end_probes(cause, told_by(probes))))
        why = TaskCancelled(f"the probes of {cause.id} are over")
        drafts += [Draft(why, task=task.id) for task in probes if task.phase not in FINISHED]
    return drafts


def is_at_work(task: Task) -> bool:
    return task.phase in _AT_WORK


def told_by(probes: Iterable[Task]) -> dict[Repeat, bool]:
    """Of each repeat whether it went well; those that tell nothing are left out."""
    told = ((repeat_of(task), went_well(task)) for task in probes)
    return {repeat: well for repeat, well in told if repeat is not None and well is not None}


def went_well(task: Task) -> bool | None:
    """None where it repeated nothing: it did not get that far, a provider refused it, or somebody ended it."""
    outcome = task.worker.outcome if task.worker is not None else None
    if outcome in USEFUL:
        return True
    return None if outcome is None or outcome in _REPEATED_NOTHING else False


def repeat_of(task: Task) -> Repeat | None:
    return next((repeat for repeat in Repeat if repeat.label in task.labels), None)


def end_probes(cause: Cause, ended: Mapping[Repeat, bool]) -> CauseSettled | CauseLeftOpen:
    """`ended` says of each repeat that told something whether it went well."""
    evidence = tuple(_told(repeat, well=well) for repeat, well in ended.items())
    told = next(_classes(cause, ended), None)
    return CauseLeftOpen(cause.id, evidence) if told is None else CauseSettled(cause.id, told, evidence)


def _classes(cause: Cause, ended: Mapping[Repeat, bool]) -> Iterator[FailureCause]:
    """Those that it may be, the likeliest first. A class that was not in question is no answer: where none was, only
    another account can tell."""
    asked = cause.tied or (_OF_THE_ACCOUNT if cause.cause is FailureCause.UNKNOWN else (cause.cause,))
    if ended.get(Repeat.UNCHANGED):
        yield from (one for one in asked if one in PASSING and cause.tied)
        return
    if ended.get(Repeat.ACCOUNT):
        yield from (one for one in _OF_THE_ACCOUNT if one in asked)
    if ended.get(Repeat.HOST):
        yield from (one for one in _OF_THE_HOST if one in asked)
    if ended and not any(ended.values()):
        yield from (one for one in asked if one not in PASSING)


def _told(repeat: Repeat, *, well: bool) -> str:
    how = "unchanged" if repeat is Repeat.UNCHANGED else f"with {repeat.value.replace('-', ' ')}"
    return f"repeated {how}, it {'went well' if well else 'failed again'}"
