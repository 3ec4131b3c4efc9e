"""What the rules of alerts remember from look to look, so that none of them reads the whole dataset at any look."""

import time
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from paddock.fleet.clock import WallClock
from paddock.insight.alerts.batches import BatchVerdicts
from paddock.insight.alerts.ended import MOST_REMEMBERED, REMEMBERED_SECONDS, EndedRuns, ended_run
from paddock.insight.alerts.gaps import GapBook
from paddock.insight.alerts.known_causes import KnownCauses
from paddock.insight.alerts.scene import Scene, UsageRatio
from paddock.insight.alerts.working import WorkingRuns
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.drift.hard_rules import find_hard_cases
from paddock.insight.look import Look
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace

if TYPE_CHECKING:
    from paddock.fleet.site import Site
    from paddock.insight.drift.report import HardCase

DAY = 86_400.0
MOST_FOUND = 300
"""Runs that are looked up one by one; of more, the last days are read as a whole."""
MOST_WORKING = 200
"""Agents at work whose steps are read for one evaluation."""
MOST_STUDIED = 10
"""Runs that ended whose steps and calls are read for one evaluation; the others tell nothing new of what is usual."""
FIRST_STUDIED = 40
MOST_STEPS = 3_000
KEPT_RATIOS = 400


class AlertMemory:
    """For one thread. `waits`: causes of failures are being recorded, and the rules wait a moment for them."""

    def __init__(self, *, waits: bool = True) -> None:
        self._waits = waits
        self.ended = EndedRuns()
        self.working = WorkingRuns()
        self.gaps = GapBook()
        self.batches = BatchVerdicts()
        self._ratios: deque[UsageRatio] = deque(maxlen=KEPT_RATIOS)
        self._hard: dict[str, tuple[float, tuple[HardCase, ...]]] = {}
        self._unread: dict[str, None] = {}
        self._unstudied: deque[tuple[int, str]] = deque(maxlen=FIRST_STUDIED)
        self._is_new = True
        self._awake: float | None = None

    def hear(self, look: Look) -> None:
        """Notes what has changed. Cheap, for every look."""
        self.working.look(look.board, look.changed, set(look.ended), look.now, self._slept(look.site.clock))
        self._unread.update(dict.fromkeys(look.ended))
        self._unread.update(dict.fromkeys(name for name in look.changed if name in self.ended))

    def _slept(self, clock: WallClock) -> float:
        """How long the machine was suspended since the last look: one clock stands still meanwhile."""
        before, self._awake = self._awake, clock.boottime() - time.monotonic()
        return max(0.0, self._awake - before) if before is not None else 0.0

    def gather(self, look: Look) -> Scene:
        """Reads what was noted, and puts together what the rules look at."""
        now, dataset = look.now, look.dataset
        self._take_ended(dataset, now)
        self.working.read(lambda name: dataset.find(name, FLEET), MOST_WORKING)
        self._settle_pending(dataset)
        self._study(dataset, look.site)
        self.ended.forget_before(now - REMEMBERED_SECONDS)
        self._hard = {name: one for name, one in self._hard.items() if one[0] >= now - DAY}
        self.batches.judge(dataset, self.ended.taken, now)
        return Scene(
            now=now,
            board=look.board,
            config=look.site.config,
            ended=self.ended,
            causes=KnownCauses(look.board, waits=self._waits),
            working=self.working,
            gaps=self.gaps,
            ratios=tuple(self._ratios),
            prices=look.site.prices,
            hard_cases=[(ended, case) for ended, cases in self._hard.values() for case in cases],
            verdicts=self.batches.verdicts,
            sure=self.batches.sure,
            why_none=self.batches.why_none,
        )

    def _take_ended(self, dataset: Dataset, now: float) -> None:
        if self._is_new or len(self._unread) > MOST_FOUND:
            where = Selection(label=FLEET, since=now - REMEMBERED_SECONDS)
            self._take(dataset.runs(where, limit=MOST_REMEMBERED), now)
        else:
            found = (dataset.find(name, FLEET) for name in self._unread)
            self._take((kept for kept in found if kept is not None), now)
        self._unread.clear()
        self._is_new = False

    def _take(self, runs: Iterable[KeptTrace], now: float) -> None:
        for kept in runs:
            run = ended_run(kept, now)
            if run is None or run.ended < now - REMEMBERED_SECONDS:
                continue
            self.working.pending.pop(run.run, None)
            if self.ended.take(run):
                self._unstudied.append((run.key, run.run))
            cases = find_hard_cases((kept,)) if run.ended >= now - DAY else ()
            if cases or run.run in self._hard:
                self._hard[run.run] = run.ended, cases

    def _settle_pending(self, dataset: Dataset) -> None:
        """Those that ended before this memory began are in the dataset without being told of."""
        for name in list(islice(self.working.pending, MOST_FOUND)):
            kept = dataset.find(name, FLEET)
            if name in self.ended or (kept is not None and kept.trace.ended is not None):
                del self.working.pending[name]

    def _study(self, dataset: Dataset, site: "Site") -> None:
        """What is usual, from the steps and calls of some that have ended. What an engine that bills nothing reports
        need not add up."""
        first = not len(self.gaps)
        for _ in range(FIRST_STUDIED if first else MOST_STUDIED):
            if not self._unstudied:
                return
            key, name = self._unstudied.popleft()
            run = self.ended.find(name)
            if run is None or run.steps > MOST_STEPS:
                continue
            self.gaps.learn(dataset.steps(key))
            calls = [call.usage for call in dataset.calls(key) if call.usage is not None]
            if calls and run.tokens > 0 and not site.capabilities_of(run.engine).free:
                total = sum(usage.input_total + usage.output for usage in calls)
                self._ratios.append(UsageRatio(run.run, run.engine, run.ended, total / run.tokens))
