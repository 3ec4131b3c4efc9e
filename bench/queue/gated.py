"""The strongest rival: every change is checked by itself first, and only what passed enters the gate.

The gate tests units of up to `batch` changes as speculative prefixes. Written as kindly as the other rivals: one
failure rejects, nobody waits, the gate goes before the checks, and a batch leaves when it is full or the gate empty.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from bench.queue.engine import Cancel, Drop, LandAll, Order, Start

Unit = tuple[int, ...]


class CheckThenGate:
    def __init__(self, slots: int, batch: int) -> None:
        self.slots, self.batch = slots, batch
        self.main: frozenset[int] = frozenset()
        self.waiting: deque[int] = deque()
        self.checks: dict[int, int] = {}
        self.passed: list[int] = []
        self.failed: list[int] = []
        self.gate: list[Unit] = []
        self.tests: dict[Unit, tuple[int, frozenset[int]]] = {}
        self.verdicts: dict[Unit, tuple[frozenset[int], bool]] = {}
        self.run = 0

    def arrived(self, change: int, now: float) -> None:
        self.waiting.append(change)

    def ended(self, run: int, passed: bool, now: float) -> None:
        if run in self.checks:
            (self.passed if passed else self.failed).append(self.checks.pop(run))
            return
        unit = next(unit for unit, (key, _) in self.tests.items() if key == run)
        _, tree = self.tests.pop(unit)
        self.verdicts[unit] = (tree, passed)

    def orders(self, now: float) -> Iterator[Order]:
        yield from (Drop(change) for change in self.failed)
        self.failed = []
        yield from self._settle_head()
        self._form_units()
        yield from self._retest()
        while self.waiting and len(self.tests) + len(self.checks) < self.slots:
            change = self.waiting.popleft()
            self.run += 1
            self.checks[self.run] = change
            yield Start(self.run, self.main | {change})

    def _settle_head(self) -> Iterator[Order]:
        while self.gate:
            unit = self.gate[0]
            verdict = self.verdicts.get(unit)
            if verdict is None or verdict[0] != self.main | set(unit):
                return
            self.gate.pop(0)
            del self.verdicts[unit]
            if verdict[1]:
                self.main = verdict[0]
                yield LandAll(unit)
            elif len(unit) == 1:
                yield Drop(unit[0])
            else:
                middle = len(unit) // 2
                self.gate[:0] = [unit[:middle], unit[middle:]]

    def _form_units(self) -> None:
        while len(self.passed) >= self.batch or (self.passed and not self.gate):
            self.gate.append(tuple(self.passed[: self.batch]))
            self.passed = self.passed[self.batch :]

    def _retest(self) -> Iterator[Order]:
        wanted: dict[Unit, frozenset[int]] = {}
        tree = self.main
        for unit in self.gate:
            here = tree | set(unit)
            verdict = self.verdicts.get(unit)
            if verdict is not None and verdict[0] != here:
                del self.verdicts[unit]
                verdict = None
            wanted[unit] = here
            if verdict is None or verdict[1]:
                tree = here
        for unit, (run, tested) in list(self.tests.items()):
            if wanted.get(unit) != tested:
                del self.tests[unit]
                yield Cancel(run)
        for unit, here in wanted.items():
            if len(self.tests) + len(self.checks) >= self.slots:
                return
            if unit not in self.tests and unit not in self.verdicts:
                self.run += 1
                self.tests[unit] = (self.run, here)
                yield Start(self.run, here)
