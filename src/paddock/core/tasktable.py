"""The tasks of a board, decoded only when somebody looks at them.

A snapshot of ten thousand tasks opens in a millisecond or two because each stays encoded until it
is read, and is written back unread if nobody changed it.
"""

from collections.abc import Iterator, Mapping

import msgspec

from paddock.core.ids import TaskId
from paddock.core.task import Task

_decode = msgspec.msgpack.Decoder(Task).decode
_encode = msgspec.msgpack.Encoder().encode


class TaskTable(Mapping[TaskId, Task]):
    __slots__ = ("_encoded", "_tasks")

    def __init__(self, encoded: dict[TaskId, msgspec.Raw] | None = None) -> None:
        self._encoded: dict[TaskId, msgspec.Raw | None] = dict(encoded or {})
        self._tasks: dict[TaskId, Task] = {}

    def __getitem__(self, task: TaskId) -> Task:
        found = self._tasks.get(task)
        if found is None:
            raw = self._encoded[task]
            assert raw is not None, "a task is encoded, decoded or both"
            found = self._tasks[task] = _decode(raw)
        return found

    def put(self, task: Task) -> None:
        self._tasks[task.id] = task
        self._encoded[task.id] = None

    def __iter__(self) -> Iterator[TaskId]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def __contains__(self, task: object) -> bool:
        return task in self._encoded

    def encoded(self) -> dict[TaskId, msgspec.Raw]:
        """Every task as it goes into a snapshot; what was changed is encoded again and remembered."""
        for name, raw in self._encoded.items():
            if raw is None:
                self._encoded[name] = msgspec.Raw(_encode(self._tasks[name]))
        return self._encoded  # type: ignore[return-value]
