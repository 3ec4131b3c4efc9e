"""Tasks of a plan that may change the same files: one of them comes first, or a person is told.

The rule: two tasks whose paths overlap, and of which neither waits for the other, get a dependency: the one that comes
later in the plan waits for the earlier one. "Later" is by the order in which the plan could be done one by one, where
a task that waits for nothing keeps its place in the list; so no dependency that is added can close a cycle. A task
without paths may change anything: it is flagged, because to make it wait for all others would be a guess.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core.ids import TaskId
from paddock.core.leases.globs import globs_overlap
from paddock.core.plan.plan import Plan, PlannedTask

_EMPTY = frozenset({"", "."})
"""Segments that stand for none."""
_WILD = re.compile(r"[*?\[{\\]")


@dataclass(frozen=True, slots=True)
class AddedOrder:
    """`task` was made to wait for `after`, because both change `path`."""

    task: str
    after: str
    path: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """What nobody has put in order: `task` and `other`, a task of the plan or an open one, may both change `path`. No
    `other` means that `task` names no paths, so that it may touch what any other does."""

    task: str
    other: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class ArrangedPlan:
    plan: Plan
    added: tuple[AddedOrder, ...] = ()
    overlaps: tuple[Overlap, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that is under way or waiting, whoever has added it."""

    id: TaskId
    title: str = ""
    paths: tuple[str, ...] = ()


def arrange_plan(plan: Plan, others: Iterable[OpenTask] = ()) -> ArrangedPlan:
    """The plan with the dependencies that its overlaps ask for. `others` are open tasks: with those it is only
    flagged."""
    added: list[AddedOrder] = []
    before: dict[str, set[str]] = {}
    ordered = in_order(plan.tasks)
    for place, task in enumerate(ordered):
        before[task.key] = _before(task, before)
        for earlier in reversed(ordered[:place]):
            if earlier.key not in before[task.key] and (shared := shared_path(earlier.paths, task.paths)):
                added.append(AddedOrder(task.key, earlier.key, shared))
                before[task.key] |= {earlier.key} | before[earlier.key]
    more: dict[str, list[str]] = {}
    for one in added:
        more.setdefault(one.task, []).append(one.after)
    tasks = tuple(replace(task, after=(*task.after, *more.get(task.key, ()))) for task in plan.tasks)
    arranged = replace(plan, tasks=tasks)
    return ArrangedPlan(arranged, tuple(added), (*_pathless(arranged, before), *_with_others(arranged, before, others)))


def take_as_it_is(plan: Plan, others: Iterable[OpenTask] = ()) -> ArrangedPlan:
    """The plan with the order that a person gave it: what overlaps is flagged."""
    before: dict[str, set[str]] = {}
    for task in in_order(plan.tasks):
        before[task.key] = _before(task, before)
    found = [
        Overlap(task.key, earlier.key, shared)
        for place, task in enumerate(plan.tasks)
        for earlier in plan.tasks[:place]
        if not _are_ordered(task.key, earlier.key, before) and (shared := shared_path(earlier.paths, task.paths))
    ]
    return ArrangedPlan(plan, (), (*found, *_pathless(plan, before), *_with_others(plan, before, others)))


def _pathless(plan: Plan, before: Mapping[str, set[str]]) -> Iterator[Overlap]:
    """Tasks that may change anything while others work."""
    for task in plan.tasks:
        if not task.paths and any(
            one is not task and not _are_ordered(task.key, one.key, before) for one in plan.tasks
        ):
            yield Overlap(task.key)


def _with_others(plan: Plan, before: Mapping[str, set[str]], others: Iterable[OpenTask]) -> Iterator[Overlap]:
    for other in others:
        for task in plan.tasks:
            if other.id not in before[task.key] and (shared := shared_path(other.paths, task.paths)):
                yield Overlap(task.key, other.id, shared)


def shared_path(first: Sequence[str], second: Sequence[str]) -> str:
    """A glob of the second that overlaps with one of the first; empty if none does."""
    return next((path for path in second for other in first if _may_overlap(other, path)), "")


def _may_overlap(first: str, second: str) -> bool:
    """As `globs_overlap`, which a look at how both begin often spares."""
    return not _begin_differently(first, second) and globs_overlap(first, second)


def _begin_differently(first: str, second: str) -> bool:
    if not (first.isascii() and second.isascii()) or not _EMPTY.isdisjoint(f"{first}/{second}".split("/")):
        return False
    one, other = (_WILD.split(path, maxsplit=1)[0].lower() for path in (first, second))
    return not one.startswith(other) and not other.startswith(one)


def in_order(tasks: Sequence[PlannedTask]) -> list[PlannedTask]:
    """Each behind what it waits for, and otherwise as they are listed. They must not wait for each other."""
    known = {task.key for task in tasks}
    left, placed, ordered = list(tasks), set[str](), list[PlannedTask]()
    while left:
        ready = next(task for task in left if all(name in placed or name not in known for name in task.after))
        left.remove(ready)
        placed.add(ready.key)
        ordered.append(ready)
    return ordered


def _before(task: PlannedTask, before: Mapping[str, set[str]]) -> set[str]:
    """All that it waits for, directly or not: keys, and ids of tasks that exist."""
    return set(task.after).union(*(before.get(name, ()) for name in task.after))


def _are_ordered(one: str, other: str, before: Mapping[str, set[str]]) -> bool:
    return one in before[other] or other in before[one]
