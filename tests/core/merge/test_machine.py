"""Random histories: every invariant after every step, with crashes anywhere, and rest in the end."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge.model import Change, Member, Result
from tests.core.merge.audit import audit
from tests.core.merge.lab import CHECKS, Crashed, Lab, change, refused

KINDS = st.sampled_from(["good", "good", "good", "bad", "clash", "conflict", "empty", "ci", "repair"])


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.lab = Lab()
        self.made = 0
        self.foreign = 0

    @initialize(slots=st.sampled_from([1, 2, 3, 4, 6]))
    def open(self, slots: int) -> None:
        self.lab.slots = slots
        self._work(None)

    def _work(self, crash_after: int | None) -> None:
        self.lab.steps_until_crash = crash_after
        try:
            self.lab.wake()
        except Crashed:
            self.lab.recover()
        self.lab.steps_until_crash = None

    @rule(
        kinds=st.lists(KINDS, min_size=1, max_size=9),
        priority=st.integers(0, 2),
        stacked=st.booleans(),
        area=st.none() | st.sampled_from(sorted(CHECKS)),
    )
    def queue_changes(self, kinds: list[str], priority: int, stacked: bool, area: str | None) -> None:
        for kind in kinds:
            self._queue(kind, priority, stacked, area)
        self._work(None)

    def _queue(self, kind: str, priority: int, stacked: bool, area: str | None) -> None:
        self.made += 1
        name, earlier = f"t{self.made}", sorted(self.lab.queue.entries)
        atom = (name, 1)
        slips = sorted({atom for atom in self.lab.truth.bad if atom[0].startswith("foreign")})
        if kind == "repair" and slips:
            self.lab.truth.fixes[atom] = slips[-1]
        if kind == "bad":
            self.lab.truth.bad.add(atom)
        if area is not None:
            self.lab.truth.seen_by[atom] = frozenset({area})
        if kind == "empty":
            self.lab.truth.empty.add(atom)
        if kind in ("clash", "conflict") and self.lab.queued:
            pair = frozenset({atom, self.lab.queued[-1 - self.made % min(4, len(self.lab.queued))]})
            (self.lab.truth.clashes if kind == "clash" else self.lab.truth.conflicts).add(pair)
        accept = self.made % 3  # 0 is none
        made = change(name, priority=priority, touches_ci=kind == "ci", repairs=kind == "repair", accept=accept)
        if stacked and earlier and kind in ("good", "bad"):
            self.lab.submit_on(earlier[-1], made)
        elif stacked and earlier and kind == "ci":
            self.lab.submit(replace(made, depends_on=(earlier[0],)))
        else:
            self.lab.submit(made)

    @precondition(lambda self: self.lab.queue.entries and self.lab.queue.landing is None)
    @rule(data=st.data())
    def queue_new_version(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lab.queue.entries)))
        version = self.lab.queue.entries[name].change.version + 1
        if data.draw(st.booleans()):
            self.lab.truth.bad.add((name, version))
        grown = data.draw(st.booleans())
        standing_on_it = [e.change for e in self.lab.queue.entries.values() if self._stands_on(e.change, name)]
        old = self.lab.queue.entries[name].change
        if grown:
            self.lab.truth.builds_on[name, version] = self.lab.truth.commits_of((name, version - 1))
            self.lab.submit(replace(old, version=version, head=f"{name}@{version}"))
        else:
            self.lab.submit(change(name, version))
        for other in standing_on_it if grown else ():
            bases = tuple(m for m in other.stacked_on if m.id != name)
            now = (*bases, Member(name, version, f"{name}@{version}"))
            self.lab.record(ev.ChangeRestacked(other.id, other.version, other.depends_on, now))

    def _stands_on(self, made: Change, name: str) -> bool:
        return any(member.id == name for member in made.stacked_on)

    @precondition(lambda self: self.lab.queue.entries and self.lab.queue.landing is None)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lab.queue.entries)))
        self.lab.record(ev.ChangeCancelled(name, self.lab.queue.entries[name].change.version, by="someone"))

    @rule(crash_after=st.none() | st.integers(0, 12))
    def work(self, crash_after: int | None) -> None:
        self._work(crash_after)

    @precondition(lambda self: self.lab.processes)
    @rule(data=st.data(), count=st.integers(1, 9), crash_after=st.none() | st.integers(0, 12))
    def ci_answers(self, data: st.DataObject, count: int, crash_after: int | None) -> None:
        """Mostly the truth; the last answer of a series may be a flake, a timeout or a lost machine."""
        for left in reversed(range(count)):
            if not self.lab.processes:
                return
            run = data.draw(st.sampled_from(sorted(self.lab.processes)))
            lies = [None, None, Result.FAIL, Result.TIMEOUT, Result.INFRA]
            self.lab.tick()
            self.lab.finish(run, None if left else data.draw(st.sampled_from(lies)))
            self._work(crash_after)

    @precondition(lambda self: self.lab.processes)
    @rule(crash_after=st.none() | st.integers(0, 12))
    def the_machine_goes_down(self, crash_after: int | None) -> None:
        """Every run is lost at once, which is one incident."""
        before = self.lab.queue.infra_streak
        self.lab.tick()
        for run in sorted(self.lab.processes):
            self.lab.finish(run, Result.INFRA)
        assert self.lab.queue.infra_streak <= before + 1
        self._work(crash_after)

    @precondition(lambda self: self.lab.queue.landing is None)
    @rule(bad=st.sampled_from([False, False, False, True]))
    def somebody_pushes(self, bad: bool) -> None:
        self.foreign += 1
        self.lab.push_foreign(f"foreign{self.foreign}", bad=bad)

    @precondition(lambda self: self.lab.queue.landing is None and len(self.lab.moves) > 1)
    @rule()
    def somebody_rewinds(self) -> None:
        known = self.lab.queue.main
        if known is not None and self.lab.main == known.commit and self.lab.rewind():
            self._work(None)
            assert self.lab.queue.halted is not None
            self.lab.main = known.commit

    @rule(
        switch=st.sampled_from(
            [
                ev.QueueFrozen(),
                ev.QueueUnfrozen(),
                ev.QueuePaused(),
                ev.QueueDrained(),
                ev.QueueResumed(),
                ev.QueueResumed(),
                ev.QueueResumed(),
                None,
            ]
        )
    )
    def switch(self, switch: ev.QueueEvent | None) -> None:
        if switch is None:
            self.lab.ci = f"ci{int(self.lab.ci[2:]) + 1}"
        else:
            self.lab.record(switch)
        self._work(None)

    @invariant()
    def all_invariants_hold(self) -> None:
        audit(self.lab)

    def teardown(self) -> None:
        """From anywhere, with a person at hand and an honest CI, everything queued comes to an end."""
        lab = self.lab
        for _ in range(6):
            lab.record(ev.QueueResumed())
            lab.record(ev.QueueUnfrozen())
            for entry in list(lab.queue.entries.values()):
                refused(lab, ev.ChangeRetried(entry.change.id, entry.change.version))
            lab.tick()
            lab.settle()
            if lab.queue.halted is not None and not lab.truth.is_green(lab.commits[lab.main].tree):
                lab.truth.bad -= lab.commits[lab.main].tree
        audit(lab)
        assert not lab.queue.entries, lab.queue.entries


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
