"""Telling the outside world what became of a change: the command of `[land] notify`, detached, best effort.

A notifier that is missing, fails or hangs disturbs nothing. What was decided while no daemon lived is not told.
"""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

from paddock.core.merge.model import Decided, Ending, Queue
from paddock.fleet.site import Site

MOST_AT_ONCE = 32
TOLD = (Ending.LANDED, Ending.REJECTED, Ending.CONFLICTED)


@dataclass
class Notices:
    """`before` are decisions that were there already; `halted_at` is the last halt that was, or that has been told."""

    site: Site
    before: frozenset[tuple[str, float]]
    halted_at: float = 0.0
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @classmethod
    def since(cls, site: Site, queue: Queue) -> "Notices":
        halted_at = queue.halted.at if queue.halted is not None else 0.0
        return cls(site, frozenset((old.id, old.at) for old in queue.decided), halted_at)

    def tell(self, queue: Queue, decisions: Sequence[Decided]) -> str | None:
        """Starts a notifier for each new decision; why one could not be started, "" when all were, None without any."""
        told: list[str] = []
        halted = queue.halted if queue.halted is not None and queue.halted.at != self.halted_at else None
        self.halted_at = halted.at if halted is not None else self.halted_at
        if not self.site.config.land.notify:
            return None
        self.running = [process for process in self.running if process.poll() is None]
        for decided in (new for new in decisions if new.outcome in TOLD and (new.id, new.at) not in self.before):
            commit = decided.commit or decided.head
            told.append(self._start(decided.id, decided.outcome.value, commit, decided.reason))
        if halted is not None and queue.main is not None:
            told.append(self._start("", "halted", queue.main.commit, halted.reason))
        return max(told, default=None)

    def _start(self, change: str, outcome: str, commit: str, reason: str) -> str:
        if len(self.running) >= MOST_AT_ONCE:
            return f"{MOST_AT_ONCE} notifiers are still running: {change} {outcome} was not announced"
        env = {
            **os.environ,
            "PADDOCK_CHANGE": change,
            "PADDOCK_OUTCOME": outcome,
            "PADDOCK_COMMIT": commit,
            "PADDOCK_REASON": reason.replace("\0", ""),
        }
        place = self.site.repo.main or self.site.repo.common_dir
        quiet = subprocess.DEVNULL
        argv = self.site.config.land.notify
        try:
            process = subprocess.Popen(
                argv, cwd=place, env=env, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        except OSError as error:
            return f"the notifier `{argv[0]}` cannot be started: {error.strerror or error}"
        self.running.append(process)
        return ""
