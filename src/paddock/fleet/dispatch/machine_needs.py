"""Tasks that need what no machine has at the moment. They wait by themselves: those behind them go first."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from paddock.config.schema import Config
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Task
from paddock.fleet.nodes.needs import lacking_here, needs_of
from paddock.fleet.site import Site

PAUSE_SECONDS = 2.0
"""Until a slot is asked for again for tasks with the same needs; it stays asked for, and an autoscaler sees that."""

Labels = tuple[tuple[str, str], ...]
Wait = tuple[str, float | None]
"""Why a task waits, and until when at most; None where only a person can help."""


@dataclass
class UnmetNeeds:
    """One round's look: `waits` are the tasks that were asked about and wait. `here`: agents run on this machine."""

    config: Config
    here: bool
    missing: Mapping[Labels, tuple[str, float]]
    waits: dict[TaskId, Wait] = field(default_factory=dict)

    def holds(self, task: Task) -> bool:
        if self.here and (reason := lacking_here(self.config, task)):
            self.waits[task.id] = (reason, None)
        elif not self.here and self.missing and (wait := self.missing.get(_labels(self.config, task))) is not None:
            self.waits[task.id] = wait
        return task.id in self.waits


@dataclass
class MachineNeeds:
    site: Site
    _missing: dict[Labels, tuple[str, float]] = field(default_factory=dict)

    def begin_round(self, now: float, *, here: bool) -> UnmetNeeds:
        self._missing = {labels: wait for labels, wait in self._missing.items() if now < wait[1]}
        return UnmetNeeds(self.site.config, here, self._missing)

    def note(self, tasks: Collection[Task], unplaced: Mapping[TaskId, str], now: float) -> None:
        """No node had a slot for these. Those that need nothing are not held back by it: others may find one."""
        for task in tasks:
            if task.id in unplaced and (labels := _labels(self.site.config, task)):
                self._missing[labels] = (unplaced[task.id], now + PAUSE_SECONDS)


def _labels(config: Config, task: Task) -> Labels:
    return tuple(sorted(needs_of(config, task).items()))
