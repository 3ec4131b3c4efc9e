"""The tasks of a board, decoded only when somebody looks at them.

A snapshot holds them as one run of bytes and the length of each: ten thousand tasks open in no time, and
those that nobody changed are written back unread, in runs. Ids are given one after the other and never reused, so
a task's place follows from its number.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import msgspec

from paddock.core.ids import TaskId, task_id, task_number
from paddock.core.task import Task

_decode = msgspec.msgpack.Decoder(Task).decode
_encode = msgspec.msgpack.Encoder().encode


class TaskTable(Mapping[TaskId, Task]):
    __slots__ = ("_bounds", "_changed", "_count", "_encoded", "_tasks")

    def __init__(self, lengths: Sequence[int] = (), encoded: bytes | memoryview = b"") -> None:
        self._encoded = memoryview(encoded)
        self._bounds = list(accumulate(lengths, initial=0))
        self._count = len(lengths)
        self._tasks: dict[TaskId, Task] = {}
        self._changed: set[TaskId] = set()

    def __getitem__(self, task: TaskId) -> Task:
        found = self._tasks.get(task)
        if found is None:
            number = self._number(task)
            if number is None:
                raise KeyError(task)
            found = self._tasks[task] = _decode(self._slice(number - 1, number))
        return found

    def add(self, task: Task) -> None:
        """The task whose number comes next."""
        self._count += 1
        assert task.id == task_id(self._count), "ids are given one after the other"
        self._tasks[task.id] = task
        self._changed.add(task.id)

    def put(self, task: Task) -> None:
        """Replaces a task that is there."""
        self._tasks[task.id] = task
        self._changed.add(task.id)

    def __iter__(self) -> Iterator[TaskId]:
        return map(task_id, range(1, self._count + 1))

    def __len__(self) -> int:
        return self._count

    def __contains__(self, task: object) -> bool:
        return task in self._tasks or self._number(task) is not None

    def encode(self) -> tuple[list[int], bytes]:
        """Lengths and bytes as they go into a snapshot.

        They are what the next one starts from: only tasks that change from now on are encoded again.
        """
        lengths = [after - before for before, after in pairwise(self._bounds)]
        parts: list[bytes | memoryview] = []
        done = 0
        for name in sorted(self._changed, key=task_number):
            place = task_number(name) - 1
            encoded = _encode(self._tasks[name])
            parts += (self._slice(done, place), encoded)
            lengths[place : place + 1] = (len(encoded),)
            done = place + 1
        parts.append(self._slice(done, self._count))
        whole = b"".join(parts)
        self._encoded = memoryview(whole)
        self._bounds = list(accumulate(lengths, initial=0))
        self._changed.clear()
        return lengths, whole

    def _slice(self, first: int, end: int) -> memoryview:
        """The bytes of the tasks at these places, empty for those the snapshot did not have."""
        had = len(self._bounds) - 1
        return self._encoded[self._bounds[min(first, had)] : self._bounds[min(end, had)]]

    def _number(self, task: object) -> int | None:
        """The place of a task that is there; people may ask for any text."""
        if not isinstance(task, str) or task[:1] != "t" or not task[1:].isdecimal():
            return None
        number = int(task[1:])
        return number if 1 <= number <= self._count and task == f"t{number}" else None
