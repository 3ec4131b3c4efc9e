"""Telling others, in a file, how the agents are doing: at most once a second, and only what has changed."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.lead import Succeeded
from paddock.core.money.budget import DayCost
from paddock.core.money.spending import day_of
from paddock.fleet.attempts.progress import ProgressBook
from paddock.fleet.attempts.runs import AttemptRuns
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.glance import NOTHING, RENEWED_SECONDS, AgentGlance, Glance, cost_of_day, remove_glance, write_glance
from paddock.fleet.ledger import Ledger
from paddock.fleet.samples import Sample, SampleFile
from paddock.fleet.site import Site
from paddock.store.protocol import LogUnavailable

LOOK_SECONDS = 1.0


class Elsewhere(Protocol):
    """The agents on other machines, as these tell of them."""

    def agents(self) -> dict[str, AgentGlance]: ...

    def count(self, board: Board) -> Counter[str]: ...


@dataclass
class Lookout:
    """`cap` is how many agents the daemon was asked to run at most."""

    site: Site
    ledger: Ledger
    gate: Gate
    attempts: AttemptRuns
    cap: Callable[[], int]
    elsewhere: "Elsewhere | None" = None
    _told: Glance = NOTHING
    _looked_at: float = field(default=float("-inf"), init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._progress = ProgressBook(self.site)
        self._samples = SampleFile(self.site.state_dir)
        self._remove()

    def stir(self) -> None:
        """Something may have changed: it is told at once, or soon if something was told just now."""
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = self._looked_at + LOOK_SECONDS - loop.time()
        if wait <= 0:
            self._look()
        else:
            self._timer = loop.call_later(wait, self._look)

    def _look(self) -> None:
        self._timer = None
        self._looked_at = asyncio.get_running_loop().time()
        with contextlib.suppress(LogUnavailable):  # the rounds say so
            self._tell_changes()

    def _tell_changes(self) -> None:
        seen, told = self._see(), self._told
        is_due = not 0 <= seen.at - told.at < RENEWED_SECONDS and not _is_idle(seen)
        if is_due or replace(seen, at=told.at) != told:
            self._tell(seen)
        if self._samples.is_due(seen.at, seen.limit):
            self._keep(seen)

    def _keep(self, seen: Glance) -> None:
        """As `_tell`. An idle machine is not asked how it is doing for this alone."""
        board, host = self.ledger.board, self.gate.host
        spent = cost_of_day(board, seen, day_of(seen.at)) or DayCost()
        sample = Sample(
            at=round(seen.at, 1),
            running=seen.running,
            ready=len(board.ready),
            cap=seen.cap,
            most=seen.most,
            limit=seen.limit,
            spent_usd=round(spent.known + spent.assumed, 4),
            busy=round(host.busy, 3) if host is not None else None,
            free_memory_bytes=host.free_memory_bytes if host is not None else None,
            free_disk_bytes=host.free_disk_bytes if host is not None else None,
        )
        with contextlib.suppress(OSError, Succeeded):
            self.site.lead.require()
            self._samples.keep(sample)

    def _see(self) -> Glance:
        board, bound = self.ledger.board, self.gate.bound
        running, cap = self.attempts.count(board), self.cap()
        agents = self._progress.look(board, self.attempts.by_task)
        if self.elsewhere is not None:
            running += self.elsewhere.count(board)
            agents |= self.elsewhere.agents()
        return Glance(
            at=self.site.clock.now(),
            agents=agents,
            running=running.total(),
            cap=cap,
            most=self.gate.bears(board, running, cap),
            limit=bound.by.value if bound is not None else "",
            limit_reason=bound.reason[:2000] if bound is not None else "",
            limit_until=bound.until if bound is not None else None,
            limit_on=bound.on[:2000] if bound is not None else "",
        )

    def _tell(self, seen: Glance) -> None:
        """If it can be written: the disk may be full, or the repository gone."""
        with contextlib.suppress(OSError, Succeeded):
            self.site.lead.require()
            write_glance(self.site.state_dir, seen)
            self._told = seen

    def close(self) -> None:
        """The daemon ends, and there is nobody who knows any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(Succeeded):
            self.site.lead.require()
            remove_glance(self.site.state_dir)


def _is_idle(glance: Glance) -> bool:
    return not glance.agents and not glance.limit
