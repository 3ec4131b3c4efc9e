"""The ways that work takes: how many attempts go from each step to the next, and where they are lost.

A course is one attempt at a task's own work, from its start to main, or as far as it came. Reviews have no courses of
their own: what they said of a course is a step of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId
from paddock.core.merge import events as qe
from paddock.core.review import events as rv
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import PROVIDERS_DOING, Outcome, Role, Step

KINDS = ("attempt.*", "review.*", "task.*", "queue.change_*")
STAGES = ("task", "attempt", "what the judge saw", "review", "you", "merge queue", "main")
MOST_NAMED = 50

_GROUPS: dict[Outcome, str] = {
    Outcome.DELIVERED: "delivered",
    Outcome.UNSAVED: "unsaved, rescued",
    Outcome.NOOP: "needs no change",
    Outcome.ANSWERED: "answered",
    Outcome.EMPTY: "empty",
    Outcome.UNCHANGED: "empty",
    Outcome.CRASHED: "crashed",
    Outcome.NEVER_RAN: "never ran",
    Outcome.SETUP_FAILED: "never ran",
    Outcome.MISCONFIGURED: "never ran",
    Outcome.TIMEOUT: "timeout, stalled",
    Outcome.STALLED: "timeout, stalled",
    Outcome.LOOPING: "timeout, stalled",
    Outcome.KILLED: "stopped",
    Outcome.LEFT: "stopped",
    Outcome.ASKED: "asked you",
    **dict.fromkeys(PROVIDERS_DOING, "refused by a provider"),
}
_STATES = {
    "delivered": "landed",
    "unsaved, rescued": "approval",
    "needs no change": "noop",
    "answered": "landed",
    "asked you": "approval",
    "refused by a provider": "waiting",
    "stopped": "waiting",
    "clean": "reviewing",
    "no review": "plain",
    "findings": "reviewing",
    "tried again": "plain",
    "approved": "approval",
    "not asked": "plain",
    "rejected": "blocked",
    "queued": "queued",
    "landed": "landed",
    "conflict": "blocked",
    "left the queue": "waiting",
    "added": "plain",
    "attempts": "running",
}
"""The class that colours a step; what is not here has failed."""


class Place(msgspec.Struct, frozen=True):
    """A step of courses: `stage` is its number in STAGES, `state` its colour. `attempts` are the newest."""

    stage: int
    name: str
    state: str
    count: int
    attempts: tuple[AttemptId, ...]


class Band(msgspec.Struct, frozen=True):
    """Courses that go from one place to the next; places are numbers in `Ways.places`. `attempts` are the newest."""

    source: int
    target: int
    count: int
    attempts: tuple[AttemptId, ...]


class Ways(msgspec.Struct, frozen=True):
    """`again` attempts were further ones at a task that had one before."""

    tasks: int
    attempts: int
    again: int
    stages: tuple[str, ...]
    places: tuple[Place, ...]
    bands: tuple[Band, ...]


@dataclass
class _Course:
    attempt: AttemptId
    first: bool
    steps: dict[int, str] = field(default_factory=dict)


def find_ways(board: Board, records: Iterable[ev.Record]) -> Ways:
    """`records` are those of KINDS in the time asked about, in order; what began earlier is left out."""
    courses: list[_Course] = []
    latest: dict[TaskId, _Course] = {}
    for record in records:
        if isinstance(record.event, ev.AttemptStarted):
            _begin(record, record.event, courses, latest)
        elif (course := latest.get(_subject(record))) is not None:
            _follow(course, record.event)
    for name, course in latest.items():
        task = board.tasks.get(name)
        if task is not None and task.phase is Phase.LANDED and STAGES.index("merge queue") in course.steps:
            course.steps[6] = "landed"
    return _count(courses)


def _subject(record: ev.Record) -> TaskId:
    event = record.event
    if isinstance(event, qe.ChangeQueued):
        return TaskId(event.change.id)
    if isinstance(event, qe.ChangeRejected | qe.ChangeConflicted | qe.ChangeCancelled):
        return TaskId(event.id)
    return record.task or TaskId("")


def _begin(record: ev.Record, event: ev.AttemptStarted, courses: list[_Course], latest: dict[TaskId, _Course]) -> None:
    if event.role is Role.REVIEW or record.task is None or record.attempt is None:
        return
    course = _Course(record.attempt, first=record.task not in latest)
    course.steps[1] = "attempts"
    if course.first:
        course.steps[0] = "added"
    courses.append(course)
    latest[record.task] = course


def _follow(course: _Course, event: ev.Event) -> None:
    steps = course.steps
    match event:
        case ev.AttemptEnded() if 2 not in steps:
            steps[2] = _GROUPS.get(event.outcome, event.outcome.value.replace("_", " "))
            if event.next is Step.RETRY:
                steps[3] = "tried again"
            elif event.next in (Step.FAIL, Step.BLOCK):
                steps[3] = "failed" if event.next is Step.FAIL else "waits for you"
        case rv.ReviewSentBack():
            steps[3] = "findings"
        case rv.ReviewPassed():
            steps[3] = "clean"
        case ev.TaskApproved():
            steps[4] = "approved"
        case ev.TaskRejected():
            steps[4] = "rejected"
        case qe.ChangeQueued():
            steps[5] = "queued"
            steps.pop(6, None)
        case qe.ChangeRejected():
            steps[6] = "rejected by CI" if event.runs else "rejected by a person"
        case qe.ChangeConflicted():
            steps[6] = "conflict"
        case qe.ChangeCancelled():
            steps[6] = "left the queue"
        case _:
            pass


def _count(courses: list[_Course]) -> Ways:
    through: dict[tuple[int, str], list[AttemptId]] = {}
    bands: dict[tuple[tuple[int, str], tuple[int, str]], list[AttemptId]] = {}
    for course in courses:
        way = _whole(course.steps)
        for place in way:
            through.setdefault(place, []).append(course.attempt)
        for pair in pairwise(way):
            bands.setdefault(pair, []).append(course.attempt)
    order = sorted(through, key=lambda place: (place[0], _rank(place[1]), -len(through[place]), place[1]))
    number = {place: at for at, place in enumerate(order)}
    return Ways(
        tasks=sum(course.first for course in courses),
        attempts=len(courses),
        again=sum(not course.first for course in courses),
        stages=STAGES,
        places=tuple(_place(*place, through[place]) for place in order),
        bands=tuple(
            Band(number[source], number[target], len(attempts), _newest(attempts))
            for (source, target), attempts in sorted(
                bands.items(), key=lambda one: (number[one[0][0]], number[one[0][1]])
            )
        ),
    )


def _whole(steps: Mapping[int, str]) -> list[tuple[int, str]]:
    """With what it went by: nobody reviewed it, or nobody was asked."""
    told = dict(steps)
    if max(told, default=0) > 3:
        told.setdefault(3, "no review")
    if max(told, default=0) > 4:
        told.setdefault(4, "not asked")
    return sorted(told.items())


def _place(stage: int, name: str, attempts: list[AttemptId]) -> Place:
    return Place(stage, name, _STATES.get(name, "failed"), len(attempts), _newest(attempts))


def _newest(attempts: list[AttemptId]) -> tuple[AttemptId, ...]:
    return tuple(attempts[: -MOST_NAMED - 1 : -1])


def _rank(name: str) -> int:
    """What went well is drawn on top, what was lost below."""
    return list(_STATES).index(name) if name in _STATES else len(_STATES)
