"""What became of versions of changes that entered the merge queue: a fold of its events."""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

from paddock.core.events import Event
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe

REMEMBERED_RUNS = 10_000


class Fate(Enum):
    LANDED = "landed"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class _Queued:
    task: TaskId
    head: str


class ChangeFates:
    """By task and head. A change of no task is nobody's."""

    def __init__(self) -> None:
        self._queued: dict[tuple[str, int], _Queued] = {}
        self._members: OrderedDict[str, tuple[tuple[str, int], ...]] = OrderedDict()
        self._fates: dict[_Queued, Fate] = {}

    def of(self, task: TaskId, head: str) -> Fate | None:
        return self._fates.get(_Queued(task, head))

    def take(self, event: Event) -> tuple[TaskId, ...]:
        """The tasks whose change got another fate."""
        match event:
            case qe.ChangeQueued():
                change = event.change
                if change.task is not None:
                    self._queued[change.id, change.version] = _Queued(TaskId(change.task), change.head)
                return ()
            case qe.RunStarted():
                self._members[event.run] = tuple((member.id, member.version) for member in event.members)
                if len(self._members) > REMEMBERED_RUNS:
                    self._members.popitem(last=False)
                return ()
            case qe.TrainLanded():
                return self._decide(self._members.pop(event.run, ()), Fate.LANDED)
            case qe.ChangeRejected():
                return self._decide(((event.id, event.version),), Fate.REJECTED)
            case _:
                return ()

    def _decide(self, versions: tuple[tuple[str, int], ...], fate: Fate) -> tuple[TaskId, ...]:
        queued = [found for version in versions if (found := self._queued.pop(version, None)) is not None]
        self._fates.update(dict.fromkeys(queued, fate))
        return tuple(one.task for one in queued)
