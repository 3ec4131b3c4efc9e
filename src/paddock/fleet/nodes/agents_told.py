"""How the agents of a node are doing, in a file for the daemon, which shows them with its own."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.lead import Succeeded
from paddock.fleet.attempts.progress import ProgressBook
from paddock.fleet.attempts.runs import AttemptRuns
from paddock.fleet.glance import FILE, AgentGlance, Glance, remove_glance, write_glance
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.sessions.hints import read_hint
from paddock.store.protocol import LogUnavailable

LOOK_SECONDS = 1.0


@dataclass
class AgentsTold:
    """Written at most once a second, and only when something has changed."""

    site: Site
    ledger: Ledger
    attempts: AttemptRuns
    folder: Path
    _told: dict[str, AgentGlance] = field(default_factory=dict, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._progress = ProgressBook(self.site)

    def stir(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        with contextlib.suppress(OSError, Succeeded, LogUnavailable):
            agents = self._progress.look(self.ledger.board, self.attempts.by_task)
            if agents == self._told:
                return
            self.site.lead.require()
            write_glance(self.folder, Glance(at=self.site.clock.now(), agents=agents, running=len(agents)))
            self._told = agents

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        remove_glance(self.folder)


def agents_of(folder: Path) -> dict[str, AgentGlance]:
    """However long nothing has changed there."""
    told = read_hint(folder / FILE, Glance)
    return told.agents if told is not None else {}
