"""What became of versions of changes that entered the merge queue: a fold of its events, kept in the dataset."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import apsw
import msgspec

from paddock.core.events import Event, Record
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.insight.dataset.trouble import Explained

REMEMBERED_TRIALS = 10_000
_Version = tuple[str, int]


class Fate(Enum):
    LANDED = "landed"
    REJECTED = "rejected"


class ChangeFates:
    """By task and head. A change of no task is nobody's. What it changes belongs to the transaction that is open."""

    def __init__(self, connection: apsw.Connection, explained: Explained) -> None:
        self._db = connection
        self._explained = explained

    def of(self, task: TaskId, head: str) -> Fate | None:
        """Of the version that was decided last, if several had that head."""
        sql = "SELECT fate FROM change WHERE task=? AND head=? AND fate IS NOT NULL ORDER BY version DESC LIMIT 1"
        with self._explained:
            return next((Fate(fate) for (fate,) in self._db.execute(sql, (task, head))), None)

    def take(self, records: Iterable[Record]) -> list[TaskId]:
        """The tasks whose change got another fate."""
        changed: list[TaskId] = []
        with self._explained:
            for record in records:
                changed += self._take(record.seq, record.event)
        return changed

    def forget(self) -> None:
        with self._explained:
            self._db.execute("DELETE FROM change; DELETE FROM trial;").fetchall()

    def _take(self, seq: int, event: Event) -> Sequence[TaskId]:
        match event:
            case qe.ChangeQueued():
                change = event.change
                if change.task is not None:
                    row = (change.id, change.version, change.task, change.head)
                    self._db.execute("INSERT OR REPLACE INTO change(id, version, task, head) VALUES(?,?,?,?)", row)
            case qe.RunStarted() if event.members:
                members = msgspec.json.encode([(member.id, member.version) for member in event.members]).decode()
                self._db.execute(
                    "INSERT OR REPLACE INTO trial(seq, run, members) VALUES(?,?,?)", (seq, event.run, members)
                )
                oldest = "(SELECT seq FROM trial ORDER BY seq DESC LIMIT 1 OFFSET ?)"
                self._db.execute(f"DELETE FROM trial WHERE seq<={oldest}", (REMEMBERED_TRIALS,))
            case qe.TrainLanded():
                return self._decide(self._members(event.run), Fate.LANDED)
            case qe.ChangeRejected():
                return self._decide([(event.id, event.version)], Fate.REJECTED)
            case _:
                pass
        return ()

    def _members(self, run: str) -> list[_Version]:
        """They stay: who fails before it has told of a landing takes the same records again."""
        rows: list[Any] = self._db.execute("SELECT members FROM trial WHERE run=?", (run,)).fetchall()
        return msgspec.json.decode(rows[0][0], type=list[_Version]) if rows else []

    def _decide(self, versions: Sequence[_Version], fate: Fate) -> list[TaskId]:
        tasks: list[TaskId] = []
        for version in versions:
            rows = self._db.execute(
                "UPDATE change SET fate=? WHERE id=? AND version=? RETURNING task", (fate.value, *version)
            )
            tasks += [TaskId(str(task)) for (task,) in rows]
        return tasks
