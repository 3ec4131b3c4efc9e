"""Telling the outside world what became of a change: the command of `[land] notify`, detached, best effort.

A notifier that is missing, fails or hangs disturbs nothing. What was decided while no daemon lived is not told.
"""

import os
import subprocess
from dataclasses import dataclass, field

from paddock.core.merge.model import Decided, Outcome, Queue
from paddock.fleet.site import Site

MOST_AT_ONCE = 32
TOLD = (Outcome.LANDED, Outcome.REJECTED, Outcome.CONFLICTED)


@dataclass
class Notices:
    """`seen` are decisions that have been told, or were there before."""

    site: Site
    seen: set[tuple[str, int]]
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @classmethod
    def since(cls, site: Site, queue: Queue) -> "Notices":
        return cls(site, {(old.id, old.version) for old in queue.decided})

    def tell(self, queue: Queue) -> str:
        """Starts a notifier for each new decision; why one could not be started, empty when all were."""
        trouble = ""
        fresh = [new for new in queue.decided if (new.id, new.version) not in self.seen]
        self.seen.update((new.id, new.version) for new in fresh)
        if not self.site.config.land.notify:
            return ""
        self.running = [process for process in self.running if process.poll() is None]
        for decided in (new for new in fresh if new.outcome in TOLD):
            trouble = self._start(decided) or trouble
        return trouble

    def _start(self, decided: Decided) -> str:
        if len(self.running) >= MOST_AT_ONCE:
            return f"{MOST_AT_ONCE} notifiers are still at work: {decided.id} {decided.outcome} was not told"
        env = {
            **os.environ,
            "PADDOCK_CHANGE": decided.id,
            "PADDOCK_OUTCOME": decided.outcome.value,
            "PADDOCK_COMMIT": decided.commit or decided.head,
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
