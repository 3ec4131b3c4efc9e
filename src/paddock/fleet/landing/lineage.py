"""Which queued changes are built on which: git is asked, `core.merge.stacks` draws the conclusions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Change, Queue
from paddock.core.merge.stacks import Ancestry, circle, restack, stack
from paddock.fleet.site import Site
from paddock.git.landing.history import history_beyond
from paddock.git.landing.workbench import open_workbench


@dataclass
class Lineage:
    """Reads each head once. `main` is the commit from which everything that counts as a change's own is beyond."""

    site: Site
    main: str
    ancestry: Ancestry = field(default_factory=Ancestry)

    def learn(self, heads: Iterable[str]) -> None:
        unread = tuple(dict.fromkeys(head for head in heads if head not in self.ancestry.tips))
        if unread:
            self.ancestry.parents.update(history_beyond(open_workbench(self.site.repo), self.main, unread))
            self.ancestry.tips.update(unread)

    def queue(self, queue: Queue, change: Change, note: str = "") -> Sequence[Draft]:
        """The events that queue `change` where it belongs: after what it is built on, before what is built on it.

        Raises PaddockError when it would wait for itself.
        """
        self.learn((change.head, *(entry.change.head for entry in queue.entries.values())))
        stacked = stack(queue, change, self.ancestry)
        _refuse_circle(queue, stacked, change.depends_on)
        drafts = [Draft(ChangeQueued(stacked, note), task=_task(stacked.task))]
        for moved in restack(queue, stacked, self.ancestry):
            task = _task(queue.entries[moved.id].change.task)
            drafts.append(Draft(moved, task=task))
        return drafts


def _task(name: str | None) -> TaskId | None:
    return TaskId(name) if name else None


def _refuse_circle(queue: Queue, change: Change, asked: tuple[str, ...]) -> None:
    found = circle(queue.entries, change.id, change.depends_on)
    if not found:
        return
    if len(found) == 1:
        raise PaddockError(f"`{change.id}` cannot wait for itself", "name another change with --after")
    way = " → ".join(f"`{name}`" for name in (change.id, *found))
    why = "as asked" if found[0] in asked else f"because it is built on `{found[0]}`"
    raise PaddockError(
        f"`{change.id}` would wait for `{found[0]}` {why}, which waits for it in turn: {way}",
        f"`paddock queue cancel {found[-2]}` removes that one from the queue",
    )
