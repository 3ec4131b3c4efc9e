"""Whether the merge queue goes on, and what else `status` tells of it; all of a large queue takes long to decode."""

import msgspec

from paddock.core.merge.model import Halted, Main, Queue
from paddock.core.merge.tallies import RunCompany


class KnownRuns(msgspec.Struct, frozen=True):
    company: RunCompany = RunCompany()


class QueueSwitches(msgspec.Struct, frozen=True):
    """Those fields of `Queue` that stop it, main as it knows it, and whether runs get in each other's way; decodes from
    a whole encoded queue.

    Of `entries` only the names are read.
    """

    frozen: bool = False
    paused: bool = False
    draining_since: float | None = None
    halted: Halted | None = None
    main: Main | None = None
    entries: dict[str, msgspec.Raw] = {}
    trusted: Main | None = None
    stats: KnownRuns = KnownRuns()

    @property
    def state(self) -> str:
        if self.halted is not None:
            return "halted"
        if self.frozen:
            return "frozen"
        if self.paused:
            return "paused"
        return "draining" if self.draining_since is not None else "open"

    @property
    def foreign_main(self) -> Main | None:
        """Main where somebody else has put it, and as it has not passed yet; None if it is the queue's own."""
        main, trusted = self.main, self.trusted
        if main is None or trusted is None or main.commit == trusted.commit:
            return None
        return main if main.moved_by and main.verified_by is None else None


def switches_of(queue: Queue) -> QueueSwitches:
    return QueueSwitches(
        queue.frozen,
        queue.paused,
        queue.draining_since,
        queue.halted,
        queue.main,
        dict.fromkeys(queue.entries, msgspec.Raw()),
        queue.trusted,
        KnownRuns(queue.stats.company),
    )
