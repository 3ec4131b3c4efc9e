"""Our own planner behind the simulator's interface: real `plan`, real `evolve`, simulated git and CI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.queue.engine import Cancel, Drop, LandAll, Order, Start
from paddock.core.merge import events as ev
from paddock.core.merge.actions import Action, CancelRun, Facts, Land, StartRun
from paddock.core.merge.evolve import evolve
from paddock.core.merge.model import Change, Purpose, Queue, Result
from paddock.core.merge.passes import reusable_pass
from paddock.core.merge.plan import plan

CI = "ci"


class SieveAndTrain:
    def __init__(self, slots: int, authors: Sequence[int] = ()) -> None:
        self.slots = slots
        self.authors = authors
        self.queue = Queue()
        self.trees: dict[str, frozenset[int]] = {"c0": frozenset()}
        self.names: dict[frozenset[int], str] = {frozenset(): "t0"}
        self.main = "c0"
        self._record(ev.MainMoved("c0", "t0"), 0.0)
        self._record(ev.CiDefined(CI), 0.0)
        self._record(ev.RunStarted("r1", Purpose.BASELINE, "c0", "t0", (), "t0", "c0", CI), 0.0)
        self._record(ev.RunEnded("r1", Result.PASS, reused=None), 1.0)

    def _record(self, event: ev.QueueEvent, now: float) -> None:
        self.queue = evolve(self.queue, event, now)

    def arrived(self, change: int, now: float) -> None:
        author = f"agent{self.authors[change]}" if self.authors else ""
        made = Change(f"b{change}", 1, f"h{change}", "c0", author=author)
        self._record(ev.ChangeQueued(made), now)

    def ended(self, run: int, passed: bool, now: float) -> None:
        self._record(ev.RunEnded(f"r{run}", Result.PASS if passed else Result.FAIL), now)

    def orders(self, now: float) -> Iterator[Order]:
        while actions := plan(self.queue, self._facts(), now):
            for action in actions:
                yield from self._act(action, now)

    def _facts(self) -> Facts:
        return Facts(self.main, self._name(self.trees[self.main]), CI, self.slots)

    def _name(self, tree: frozenset[int]) -> str:
        return self.names.setdefault(tree, f"t{len(self.names)}")

    def _act(self, action: Action, now: float) -> Iterator[Order]:
        match action:
            case StartRun():
                yield from self._start(action, now)
            case CancelRun(run, reason):
                self._record(ev.RunCancelAsked(run, reason), now)
                self._record(ev.RunEnded(run, Result.CANCELLED), now)
                yield Cancel(int(run[1:]))
            case Land(run, old, new, _, members):
                self._record(ev.LandingStarted(run, old, new), now)
                self.main = new
                self._record(ev.TrainLanded(run, old, new), now)
                yield LandAll(tuple(int(member.id[1:]) for member in members))
            case _:
                self._record(action, now)
                if isinstance(action, ev.ChangeRejected):
                    yield Drop(int(action.id[1:]))

    def _start(self, action: StartRun, now: float) -> Iterator[Order]:
        tree = self.trees[action.base] | {int(member.id[1:]) for member in action.members}
        commit = f"c{len(self.trees)}" if action.members else action.base
        self.trees[commit] = tree
        name = self._name(tree)
        started = ev.RunStarted(
            action.run,
            action.purpose,
            action.base,
            action.base_tree,
            action.members,
            name,
            commit,
            CI,
            "",
            action.confirms,
        )
        self._record(started, now)
        reused = reusable_pass(self.queue, action.purpose, name, CI)
        if reused is not None:
            self._record(ev.RunEnded(action.run, Result.PASS, reused=reused), now)
        else:
            yield Start(int(action.run[1:]), tree)
