"""The clock and the slots: drives any policy through one scenario and audits what it does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol, TypeAlias

from bench.queue.world import Scenario, World


@dataclass(frozen=True, slots=True)
class Start:
    """Test `tree`, the set of changes that main would hold."""

    run: int
    tree: frozenset[int]


@dataclass(frozen=True, slots=True)
class Cancel:
    run: int


@dataclass(frozen=True, slots=True)
class LandAll:
    changes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    change: int


Order: TypeAlias = Start | Cancel | LandAll | Drop


class Policy(Protocol):
    def arrived(self, change: int, now: float) -> None: ...

    def ended(self, run: int, passed: bool, now: float) -> None: ...

    def orders(self, now: float) -> Iterable[Order]: ...


@dataclass(slots=True)
class Report:
    """`latencies` are of landed changes, from arrival to landing, in runs."""

    landed: int = 0
    dropped: int = 0
    wrongly_dropped: int = 0
    red_tips: int = 0
    untested_tips: int = 0
    runs: int = 0
    busiest: int = 0
    last_landing: float = 0.0
    finished: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def landed_per_run(self) -> float:
        return self.landed / self.last_landing if self.last_landing else 0.0

    @property
    def median_latency(self) -> float:
        return median(self.latencies) if self.latencies else float("inf")

    @property
    def late_latency(self) -> float:
        """P95."""
        return sorted(self.latencies)[int(0.95 * len(self.latencies))] if self.latencies else float("inf")


class Engine:
    def __init__(self, world: World, policy: Policy) -> None:
        self.world, self.policy = world, policy
        self.report = Report()
        self.main: frozenset[int] = frozenset()
        self.passed: set[frozenset[int]] = set()
        self.running: dict[int, frozenset[int]] = {}
        self.agenda: list[tuple[float, int, int]] = []
        self.undecided: set[int] = set()

    def run(self) -> Report:
        for change, at in enumerate(self.world.arrivals):
            heapq.heappush(self.agenda, (at, 0, change))
        now = 0.0
        while self.agenda:
            now, kind, key = heapq.heappop(self.agenda)
            if kind == 0:
                self.undecided.add(key)
                self.policy.arrived(key, now)
            elif key in self.running:
                self._end(key, now)
            else:
                continue
            if not (self.agenda and self.agenda[0][0] == now):
                self._obey(now)
        self.report.finished = now
        if self.undecided:
            raise AssertionError(f"{len(self.undecided)} changes were lost: {sorted(self.undecided)[:5]}")
        return self.report

    def _end(self, run: int, now: float) -> None:
        tree = self.running.pop(run)
        verdict = self.world.answer(tree)
        if verdict:
            self.passed.add(tree)
        self.policy.ended(run, verdict, now)

    def _obey(self, now: float) -> None:
        for order in self.policy.orders(now):
            match order:
                case Start(run, tree):
                    self.running[run] = tree
                    self.report.runs += 1
                    heapq.heappush(self.agenda, (now + self.world.duration(), 1, run))
                case Cancel(run):
                    del self.running[run]
                case LandAll(changes):
                    self._land(changes, now)
                case Drop(change):
                    self._drop(change)
            self.report.busiest = max(self.report.busiest, len(self.running))
        if len(self.running) > self.world.scenario.slots:
            raise AssertionError("more runs than slots")

    def _land(self, changes: tuple[int, ...], now: float) -> None:
        self.main |= set(changes)
        report = self.report
        report.untested_tips += self.main not in self.passed
        report.red_tips += not self.world.is_green(self.main)
        report.landed += len(changes)
        report.last_landing = now
        for change in changes:
            self.undecided.remove(change)
            report.latencies.append(now - self.world.arrivals[change])

    def _drop(self, change: int) -> None:
        self.undecided.remove(change)
        self.report.dropped += 1
        self.report.wrongly_dropped += self.world.is_green(self.main | {change})


def simulate(scenario: Scenario, policy: Policy, world: World | None = None) -> Report:
    return Engine(world or World.draw(scenario), policy).run()
