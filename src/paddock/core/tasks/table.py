"""The tasks of a board, decoded only when somebody looks at them.

A snapshot holds them as one run of bytes and the length of each: ten thousand tasks open in no time, and
those that nobody changed are written back unread, in runs. Ids are given one after the other and never reused, so
a task's place follows from its number.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import msgspec

from paddock.core.ids import TaskId, task_id, task_number
from paddock.core.tasks.task import Task

_decode = msgspec.msgpack.Decoder(Task).decode
_encode = msgspec.msgpack.Encoder().encode


class TaskTable(Mapping[TaskId, Task]):
    __slots__ = ("_bounds", "_changed", "_count", "_encoded", "_lengths", "_tasks")

    def __init__(self, lengths: Sequence[int] = (), encoded: bytes | memoryview = b"") -> None:
        self._encoded = memoryview(encoded)
        self._lengths = list(lengths)
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
            found = self._tasks[task] = _decode(self._encoded[self._bounds[number - 1] : self._bounds[number]])
        return found

    def add(self, task: Task) -> None:
        """The task whose number comes next; the board has made sure that it is that one."""
        self._count += 1
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
        lengths, bounds, had = self._lengths.copy(), self._bounds, len(self._lengths)
        parts: list[bytes | memoryview] = []
        done = 0
        for number in sorted(map(task_number, self._changed)):
            encoded = _encode(self._tasks[task_id(number)])
            if number > had:
                parts.append(self._encoded[bounds[done] :])
                done = had
                lengths.append(len(encoded))
            else:
                parts.append(self._encoded[bounds[done] : bounds[number - 1]])
                done = number
                lengths[number - 1] = len(encoded)
            parts.append(encoded)
        parts.append(self._encoded[bounds[done] :])
        whole = b"".join(parts)
        self._encoded = memoryview(whole)
        self._lengths = lengths
        self._bounds = list(accumulate(lengths, initial=0))
        self._changed.clear()
        return lengths, whole

    def _number(self, task: object) -> int | None:
        """The place of a task that is there; people may ask for any text."""
        if not isinstance(task, str) or task[:1] != "t" or not task[1:].isdecimal():
            return None
        number = int(task[1:])
        return number if 1 <= number <= self._count and task == f"t{number}" else None
