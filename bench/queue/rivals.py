"""The policies other queues use, written as kindly as possible: they reject on one failure and never wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from bench.queue.engine import Cancel, Drop, LandAll, Order, Start
from bench.queue.world import World


class Batches:
    """Serial (`size` 1) and batch-and-bisect: one slot, a failed batch is halved."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting: deque[int] = deque()
        self.halves: deque[tuple[int, ...]] = deque()
        self.unit: tuple[int, ...] = ()
        self.main: frozenset[int] = frozenset()
        self.run = 0
        self.verdict: bool | None = None

    def arrived(self, change: int, now: float) -> None:
        self.waiting.append(change)

    def ended(self, run: int, passed: bool, now: float) -> None:
        self.verdict = passed

    def orders(self, now: float) -> Iterator[Order]:
        if self.unit and self.verdict is None:
            return
        if self.unit:
            yield from self._settle()
        if self.halves:
            self.unit = self.halves.popleft()
        else:
            self.unit = tuple(self.waiting.popleft() for _ in range(min(self.size, len(self.waiting))))
        self.verdict = None
        if self.unit:
            self.run += 1
            yield Start(self.run, self.main | set(self.unit))

    def _settle(self) -> Iterator[Order]:
        if self.verdict:
            self.main |= set(self.unit)
            yield LandAll(self.unit)
        elif len(self.unit) == 1:
            yield Drop(self.unit[0])
        else:
            middle = len(self.unit) // 2
            self.halves.extendleft((self.unit[middle:], self.unit[:middle]))


class Zuul:
    """Speculative prefixes: each change is tested on all before it; a failure restarts those behind.

    With `adapt` the window starts at 20, grows by one for each landed change, halves for each rejected one and
    is never below 3, as Zuul ships it.
    """

    def __init__(self, slots: int, *, adapt: bool) -> None:
        self.slots, self.adapt = slots, adapt
        self.window = 20 if adapt else slots
        self.queue: list[int] = []
        self.main: frozenset[int] = frozenset()
        self.tests: dict[int, tuple[int, frozenset[int]]] = {}
        self.verdicts: dict[int, tuple[frozenset[int], bool]] = {}
        self.run = 0

    def arrived(self, change: int, now: float) -> None:
        self.queue.append(change)

    def ended(self, run: int, passed: bool, now: float) -> None:
        for change, (key, tree) in self.tests.items():
            if key == run:
                del self.tests[change]
                self.verdicts[change] = (tree, passed)
                return

    def orders(self, now: float) -> Iterator[Order]:
        yield from self._settle_head()
        wanted: list[tuple[int, frozenset[int]]] = []
        tree = self.main
        for change in self.queue[: self.window]:
            here = tree | {change}
            verdict = self.verdicts.get(change)
            if verdict is not None and verdict[0] != here:
                del self.verdicts[change]
                verdict = None
            wanted.append((change, here))
            if verdict is None or verdict[1]:
                tree = here
        yield from self._retest(wanted)

    def _settle_head(self) -> Iterator[Order]:
        while self.queue:
            head = self.queue[0]
            verdict = self.verdicts.get(head)
            if verdict is None or verdict[0] != self.main | {head}:
                return
            self.queue.pop(0)
            del self.verdicts[head]
            if verdict[1]:
                self.main = verdict[0]
                self._resize(self.window + 1)
                yield LandAll((head,))
            else:
                self._resize(self.window // 2)
                yield Drop(head)

    def _resize(self, window: int) -> None:
        if self.adapt:
            self.window = max(3, window)

    def _retest(self, wanted: list[tuple[int, frozenset[int]]]) -> Iterator[Order]:
        trees = dict(wanted)
        for change, (run, tree) in list(self.tests.items()):
            if trees.get(change) != tree:
                del self.tests[change]
                yield Cancel(run)
        for change, tree in wanted:
            if len(self.tests) >= self.slots:
                return
            if change not in self.tests and change not in self.verdicts:
                self.run += 1
                self.tests[change] = (self.run, tree)
                yield Start(self.run, tree)


class Oracle:
    """Knows which changes are good and spends one build on each of those: the bound for one build per change."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.slots = world.scenario.slots
        self.waiting: deque[int] = deque()
        self.flying: deque[tuple[int, int]] = deque()
        self.over: set[int] = set()
        self.planned: frozenset[int] = frozenset()
        self.run = 0

    def arrived(self, change: int, now: float) -> None:
        self.waiting.append(change)

    def ended(self, run: int, passed: bool, now: float) -> None:
        self.over.add(run)

    def orders(self, now: float) -> Iterator[Order]:
        for run, change in [pair for pair in self.flying if pair[0] in self.over]:
            self.flying.remove((run, change))
            yield LandAll((change,))
        while self.waiting and len(self.flying) < self.slots:
            change = self.waiting.popleft()
            if not self.world.is_green(self.planned | {change}):
                yield Drop(change)
                continue
            self.planned |= {change}
            self.run += 1
            self.flying.append((self.run, change))
            yield Start(self.run, self.planned)
