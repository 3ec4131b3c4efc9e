"""What a queued change waits for, in words, and when it may land: an estimate from measured runs, or nothing."""

from collections.abc import Mapping
from math import floor, log2

from paddock.core.merge import estimate
from paddock.core.merge.guards import has_passed
from paddock.core.merge.health import INFRA_BEFORE_CONTROL
from paddock.core.merge.model import Entry, Purpose, Queue, Run
from paddock.core.merge.stacks import ranks_by_stack
from paddock.core.merge.trains import BAD_CHANGES_A_CHAIN_BEARS
from paddock.core.merge.view import head_start_seconds, is_late, rank_of


def in_order(queue: Queue) -> list[Entry]:
    """As the planner would take them: first come, first served, a step of priority being a head start, bases first."""
    head_start = head_start_seconds(queue.stats)
    ranks = {name: rank_of(entry, head_start) for name, entry in queue.entries.items()}
    waits = {name: entry.waits_on for name, entry in queue.entries.items()}
    return [queue.entries[name] for name in ranks_by_stack(ranks, waits)]


def front_priority(queue: Queue, name: str) -> int:
    """With which a queued change goes before all others, however long they have waited; but not before what it builds
    on."""
    entry, head_start = queue.entries[name], head_start_seconds(queue.stats)
    others = [other for other in queue.entries.values() if other is not entry]
    if not others:
        return entry.priority
    first = min(rank_of(other, head_start) for other in others)
    highest = max(other.priority for other in others)
    if rank_of(entry, head_start) < first and entry.priority > highest:
        return entry.priority
    return max(highest, floor((entry.queued_at - first) / head_start)) + 1


def state_words(queue: Queue, entry: Entry) -> str:
    """What a queued change is doing, in a few words."""
    return _state_words(queue, entry, _run_of(queue, entry))


def states_in_words(queue: Queue) -> dict[str, str]:
    """The same of every queued change, with one look at the runs."""
    holders: dict[str, Run] = {}
    runs = [run for run in queue.running.values() if not run.cancelling]
    for run in sorted(runs, key=lambda run: run.purpose is not Purpose.TRAIN):
        for member in run.members:
            holders.setdefault(member.id, run)
    return {name: _state_words(queue, entry, holders.get(name)) for name, entry in queue.entries.items()}


def _state_words(queue: Queue, entry: Entry, running: Run | None) -> str:
    if running is not None:
        return f"in {running.purpose.value} {running.id}"
    if entry.waits_on:
        return f"waits for {', '.join(entry.waits_on)}"
    if obstacle := _in_its_way(queue, entry):
        return f"waits for {obstacle}, which it conflicts with"
    passed = "passed, " if has_passed(queue, entry) else ""
    if (stopped := _why_stopped(queue, entry, passed=bool(passed))) is not None:
        return f"{passed}{stopped}"
    if passed:
        return "passed, waits for a train"
    if entry.evidence:
        return "failed once, will be retried"
    return "waits for a slot"


def _why_stopped(queue: Queue, entry: Entry, *, passed: bool) -> str | None:
    """Why it does not move although nothing is wrong with it."""
    if queue.halted is not None:
        return "waits: the queue is halted"
    if queue.paused:
        return "waits: the queue is paused"
    if is_late(queue, entry):
        return "waits: the queue is draining"
    if queue.frozen:
        return "lands when the queue is unfrozen" if passed else "waits for a slot, then for the queue to be unfrozen"
    if queue.lost_remote is not None:
        return f"waits for the remote `{queue.lost_remote.remote}`, which cannot be reached"
    if queue.infra_streak >= INFRA_BEFORE_CONTROL:
        return "waits until CI works again"
    if queue.main is not None and queue.main.verified_by is None:
        return "waits until main itself passes"
    return None


def _in_its_way(queue: Queue, entry: Entry) -> str:
    """The work in flight that git last refused to merge it with; empty if that has been decided."""
    if not entry.refusals:
        return ""
    last = entry.refusals[-1]
    if last.against is not None:
        return last.against if last.against in queue.entries else ""
    trains = (*queue.running.values(), *(queue.ended[i] for i in queue.landable))
    below = next((run for run in trains if run.commit == last.base and run.members), None)
    return "" if below is None else f"the train {below.id}"


def _run_of(queue: Queue, entry: Entry) -> Run | None:
    """The run that holds it, the one that would land it first."""
    runs = [run for run in queue.running.values() if run.holds(entry.change.id) and not run.cancelling]
    return min(runs, key=lambda run: run.purpose is not Purpose.TRAIN, default=None)


def landing_seconds(queue: Queue, slots: int, now: float) -> dict[str, float | None]:
    """Seconds until each queued change lands if it passes; None if unknown.

    It is unknown until a run was measured, while the queue stands still, and for changes that wait for a person or
    conflict with work in flight. In simulated drains and streams the median change takes 0.9 to 1.3 times as long.
    """
    typical = estimate.run_seconds(queue.stats, 0.5)
    if typical is None or _stands_still(queue):
        return dict.fromkeys(queue.entries)
    outlook = _Outlook(queue, estimate.effective_slots(queue.stats, slots), typical, now)
    found: dict[str, float | None] = {}
    for entry in in_order(queue):
        found[entry.change.id] = outlook.of(entry)
    for _ in range(len(found)):
        later = {name: outlook.behind_bases(queue.entries[name], found) for name in found}
        if later == found:
            break
        found = later
    return found


def _stands_still(queue: Queue) -> bool:
    stopped = queue.halted is not None or queue.paused or queue.frozen or queue.lost_remote is not None
    return stopped or queue.infra_streak >= INFRA_BEFORE_CONTROL


class _Outlook:
    """Hands out places in the order they are asked for."""

    def __init__(self, queue: Queue, slots: int, typical: float, now: float) -> None:
        self.queue = queue
        self.slots = slots
        self.typical = typical
        self.now = now
        self.free = max(0, slots - len(queue.running))
        few = min(slots, BAD_CHANGES_A_CHAIN_BEARS / estimate.bad_share(queue.stats))
        self.lands_with_its_first_run = len(queue.entries) <= few
        self.runs_per_change = _runs_per_change(estimate.bad_share(queue.stats))
        self.placed = 0

    def of(self, entry: Entry) -> float | None:
        queue = self.queue
        if is_late(queue, entry) or _in_its_way(queue, entry):
            return None
        run = _run_of(queue, entry)
        train = 0.0 if self.lands_with_its_first_run else self.typical
        if run is not None:
            left = self._left(run)
            return left if run.purpose is Purpose.TRAIN else left + self.typical
        if has_passed(queue, entry):
            return self._next_slot() + self.typical
        return self._wait_for_a_slot() + self.typical + train

    def behind_bases(self, entry: Entry, found: Mapping[str, float | None]) -> float | None:
        """Not before what it waits for; under load it is not even screened until that has landed."""
        own = found[entry.change.id]
        bases = [found.get(base) for base in entry.waits_on]
        under_way = self.lands_with_its_first_run or _run_of(self.queue, entry) is not None
        delay = 0.0 if under_way else 2 * self.typical
        known = [base + delay for base in bases if base is not None]
        return None if own is None or len(known) < len(bases) else max([own, *known])

    def _left(self, run: Run) -> float:
        """Of a train also what those it stands on still take."""
        left = max(0.0, run.started_at + self.typical - self.now)
        below = next((other for other in self.queue.running.values() if other.commit == run.base), None)
        return max(left, self._left(below)) if below is not None and run.purpose is Purpose.TRAIN else left

    def _next_slot(self) -> float:
        if self.free:
            return 0.0
        return min((self._left(run) for run in self.queue.running.values()), default=0.0)

    def _wait_for_a_slot(self) -> float:
        """The first go into the slots that are free; the others wait for the runs those before them take."""
        place, self.placed = self.placed, self.placed + 1
        if place < self.free:
            return 0.0
        runs = (place - self.free) * self.runs_per_change
        return self._next_slot() + self.typical * (runs / self.slots + bool(self.free))


def _runs_per_change(bad: float) -> float:
    """Under load: what finding the bad ones in pools tells, a confirming run for each, and a share of a train.

    Within a sixth of what `bench.queue` measures for a drain, from one bad change in twenty to one in five.
    """
    information = -bad * log2(bad) - (1.0 - bad) * log2(1.0 - bad)
    return 1.15 * information + bad + 0.1
