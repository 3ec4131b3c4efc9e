"""Logs to measure with: tasks in convoys, three attempts each, and as many turns as the size asks for."""

from collections.abc import Iterator
from pathlib import Path

from paddock.core import events as ev
from paddock.core.ids import TaskId, attempt_id, task_id
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author
from paddock.store.snapshots import newest_snapshot, snapshot_distance
from paddock.store.sqlite import SqliteStore

AUTHOR = Author("bench")
_BATCH = 1000
_CONVOY = 100
_BRIEF = "Make this part of the parser faster without changing what it accepts. Measure before and after.\n" * 3


def write_history(path: Path, tasks: int, events: int) -> int:
    """Fills a new log; one task in 35 stays open. Returns how many records it has.

    As many of them follow its snapshot as ever may: what a reader has to fold is the most there can be.
    """
    store = SqliteStore(path, create=True)
    left: list[ev.Draft] = []
    tail = snapshot_distance(tasks)
    for draft in _history(tasks, events):
        left.append(draft)
        if len(left) == 2 * _BATCH + tail:
            append(store, left[:_BATCH])
            del left[:_BATCH]
    append(store, left[:-tail])
    append(store, left[-tail:])
    head = store.head()
    store.close()
    assert head - newest_snapshot(path) == tail
    return head


def append(store: SqliteStore, drafts: list[ev.Draft]) -> None:
    store.append(lambda _: drafts, AUTHOR)


def _history(tasks: int, events: int) -> Iterator[ev.Draft]:
    convoys = -(-tasks // _CONVOY)
    for number in range(convoys):
        yield ev.Draft(ev.ConvoyAdded(f"convoy-{number}", f"Convoy number {number}"))
    for number in range(1, tasks + 1):
        yield ev.Draft(added(number), task=task_id(number))
    each = (events - tasks - convoys) // tasks
    for number in range(1, tasks + 1):
        yield from _attempts(task_id(number), each, finish=number % 35 != 1)


def added(number: int) -> ev.TaskAdded:
    after = (task_id(number - 1),) if number % 5 == 0 else ()
    convoy = f"convoy-{(number - 1) // _CONVOY}"
    return ev.TaskAdded(title=f"Make part {number} of the parser faster", brief=_BRIEF, convoy=convoy, after=after)


def _attempts(task: TaskId, events: int, *, finish: bool) -> Iterator[ev.Draft]:
    """About `events` events: three attempts of as many turns as it takes, or as many as there is room for."""
    count = min(3, events // 4)
    for number in range(1, count + 1):
        attempt = attempt_id(task, number)
        started = ev.AttemptStarted(
            engine="claude", base="a" * 40, branch=f"paddock/{task}", host="host", worktree=f"/trees/{task}"
        )
        yield ev.Draft(started, task=task, attempt=attempt)
        for turn in range(1, (events // count - 2) // 2 + 1):
            yield ev.Draft(ev.TurnStarted(turn, session="5" * 36), task=task, attempt=attempt)
            ended = ev.TurnEnded(turn, exit=0, steps=12, input_tokens=12345, output_tokens=678, cost_usd=0.12)
            yield ev.Draft(ended, task=task, attempt=attempt)
        then = Step.NOOP if finish and number == count else Step.RETRY
        verdict = ev.AttemptEnded(Outcome.DELIVERED, then, True, head="b" * 40, base="a" * 40, commits=2, files=3)
        yield ev.Draft(verdict, task=task, attempt=attempt)
