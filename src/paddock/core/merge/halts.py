"""A queue that has stopped: what ends the halt, and when main is asked again.

A halt that is about main or the machine is over when a run of main passes. Such a run is started after pauses that
grow, at once when another daemon takes over, and nothing else is tested meanwhile but what is said to repair main.
"""

from msgspec.structs import replace

from paddock.core.merge.actions import Facts
from paddock.core.merge.events import QueueHalted
from paddock.core.merge.model import Entry, HaltCause, Halted, Queue, Result, Run

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 1800.0


def halt(before: Halted | None, event: QueueHalted, at: float) -> Halted:
    """The pauses go on growing when main fails for another reason than before."""
    now = Halted(event.reason, at, event.runs, event.until_main_moves, event.cause)
    return now if before is None else replace(now, probes=before.probes, probed_at=before.probed_at)


def heals_itself(halted: Halted) -> bool:
    """A run of main that passes ends this halt."""
    return halted.until_main_moves or halted.cause is not HaltCause.OTHER


def waits_for_main(queue: Queue) -> bool:
    return queue.halted is not None and queue.halted.until_main_moves


def next_probe_at(halted: Halted) -> float | None:
    """When main is tested again by itself; None when only a person ends this halt."""
    if not heals_itself(halted):
        return None
    return _last_asked(halted) + min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(halted.probes, 16))


def _last_asked(halted: Halted) -> float:
    return halted.probed_at if halted.probes else halted.at


def probe_is_due(halted: Halted, facts: Facts, now: float) -> bool:
    at = next_probe_at(halted)
    if at is None:
        return False
    was_set_back = at > now + LONGEST_PAUSE_SECONDS
    return now >= at or was_set_back or _last_asked(halted) < facts.watched_since


def ends_halt(queue: Queue, run: Run) -> bool:
    """Whether the pass of `run` shows that what halted the queue is over."""
    halted, main = queue.halted, queue.main
    if halted is None or main is None or run.reused is not None or not heals_itself(halted):
        return False
    if halted.cause is HaltCause.OUTAGE:
        return True
    return not run.members and run.commit == main.commit and run.ci == queue.ci


def count_probe(halted: Halted | None, run: Run, at: float) -> Halted | None:
    """After `run` did not pass."""
    if halted is None or run.members:
        return halted
    return replace(halted, probes=halted.probes + 1, probed_at=at)


def forget_failures(queue: Queue) -> Queue:
    """The halt is over; what failed before it may have failed because of what halted the queue."""
    on_main = {i for i, run in queue.ended.items() if not run.members}
    return replace(
        queue,
        halted=None,
        ended={i: run for i, run in queue.ended.items() if i not in on_main},
        entries={i: _without_failures(queue, entry) for i, entry in queue.entries.items()},
        failure_streak=0,
        infra_streak=0,
        landing_refusals=0,
    )


def _without_failures(queue: Queue, entry: Entry) -> Entry:
    passed = tuple(i for i in entry.evidence if queue.ended[i].result is Result.PASS)
    return replace(entry, evidence=passed, infra_failures=0, lost_in_company=0)
