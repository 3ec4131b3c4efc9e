"""A view of the queue, computed once per plan: what is busy, what builds on what, what may go next."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from paddock.core.merge import estimate, guards
from paddock.core.merge.actions import Facts, StartRun
from paddock.core.merge.model import Entry, Main, Purpose, Queue, RefusalCause, Run
from paddock.core.merge.stacks import bases_first
from paddock.core.merge.standing import Stage, Standing, standing_of
from paddock.core.merge.tallies import Stats

# One step of priority is worth this many runs of waiting, so age wins in the end.
PRIORITY_HEAD_START_RUNS = 8
UNKNOWN_RUN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Eligible:
    """An eligible change that is in no run."""

    entry: Entry
    standing: Standing
    rank: float
    risk: float

    @property
    def id(self) -> str:
        return self.entry.change.id


@dataclass(frozen=True, slots=True)
class Tip:
    """Where the next train stands: main, or the last train of the chain.

    `ids` are the changes on the way, `commits` those of the trains that carry them.
    """

    commit: str
    tree: str
    ids: frozenset[str]
    closed: bool
    commits: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class View:
    queue: Queue
    facts: Facts
    main: Main
    now: float
    slots: int
    tip: Tip
    trains_running: int
    candidates: tuple[Eligible, ...]

    @property
    def free(self) -> int:
        return max(0, self.slots - len(self.queue.running))

    def at(self, *stages: Stage) -> list[Eligible]:
        return [candidate for candidate in self.candidates if candidate.standing.stage in stages]

    def start(
        self, purpose: Purpose, members: Sequence[Eligible], confirms: str | None = None, nth: int = 0
    ) -> StartRun:
        """A train stands on the tip of the chain, everything else on main; `nth` counts those started together."""
        base = self.tip if purpose is Purpose.TRAIN else self.main
        held = tuple(candidate.entry.change.member for candidate in members)
        return StartRun(f"r{self.queue.next_run + nth}", purpose, base.commit, base.tree, held, confirms)


def look(queue: Queue, main: Main, facts: Facts, now: float) -> View:
    live = guards.live_bases(queue)
    chain = train_chain(queue, main)
    busy = _busy_ids(queue, chain)
    idle = [entry for name, entry in queue.entries.items() if name not in busy and not is_late(queue, entry)]
    head_start = head_start_seconds(queue.stats)
    risks = _risks(queue.stats, {entry.change.author for entry in idle})
    standings = [(entry, standing_of(queue, entry, live)) for entry in idle]
    candidates = [
        Eligible(entry, standing, place_in_line(queue, entry, standing, head_start), risks[entry.change.author])
        for entry, standing in standings
    ]
    candidates.sort(key=lambda candidate: (candidate.rank, candidate.id))
    if any(entry.waits_on for entry in idle):
        candidates = bases_first(candidates)
    return View(
        queue,
        facts,
        main,
        now,
        estimate.effective_slots(queue.stats, facts.slots),
        _tip_of(queue, main, chain),
        sum(1 for run in queue.running.values() if run.purpose is Purpose.TRAIN),
        tuple(candidates),
    )


def _risks(stats: Stats, authors: set[str]) -> dict[str, float]:
    """Of each author the share of bad changes; the same for all while nothing shows that they differ."""
    if not estimate.agents_differ(stats):
        return dict.fromkeys(authors, estimate.bad_share(stats))
    return {author: estimate.bad_share_of(stats, author) for author in authors}


def head_start_seconds(stats: Stats) -> float:
    """What one step of priority is worth."""
    return PRIORITY_HEAD_START_RUNS * (estimate.run_seconds(stats, 0.5) or UNKNOWN_RUN_SECONDS)


def rank_of(entry: Entry, head_start: float) -> float:
    """Lower goes first. Priority is a head start in time, so a change that waits long enough overtakes any."""
    return entry.queued_at - entry.priority * head_start


def place_in_line(queue: Queue, entry: Entry, standing: Standing, head_start: float) -> float:
    """What failed twice is most likely bad: a third try, where one is needed, waits at the end of the line."""
    rank = rank_of(entry, head_start)
    if standing.stage is Stage.CONFIRM and len(standing.blame) >= guards.FAILURES_TO_REJECT:
        return max(rank, queue.ended[standing.blame[-1]].ended_at or rank)
    return rank


def is_late(queue: Queue, entry: Entry) -> bool:
    """The queue is draining, and the change came after that began."""
    return queue.draining_since is not None and entry.queued_at > queue.draining_since


def _busy_ids(queue: Queue, chain: Sequence[Run]) -> frozenset[str]:
    runs = [run for run in queue.running.values() if not run.cancelling]
    return frozenset(member.id for run in (*runs, *chain) for member in run.members)


def train_chain(queue: Queue, main: Main) -> list[Run]:
    """The trains in landing order, from main outwards. A suspect unit is tried beside the chain, not in it."""
    runs = [run for run in queue.running.values() if not run.cancelling]
    runs += [queue.ended[i] for i in queue.landable]
    by_base = {run.base: run for run in runs if run.purpose is Purpose.TRAIN and run.confirms is None}
    chain: list[Run] = []
    commit = main.commit
    while commit in by_base:
        chain.append(by_base[commit])
        commit = chain[-1].commit
    return chain


def _tip_of(queue: Queue, main: Main, chain: list[Run]) -> Tip:
    ids = frozenset(member.id for run in chain for member in run.members)
    if not chain:
        return Tip(main.commit, main.tree, ids, closed=False)
    closed = any(queue.entries[i].change.touches_ci for i in ids)
    return Tip(chain[-1].commit, chain[-1].tree, ids, closed, frozenset(run.commit for run in chain))


def by_suspicion(candidates: Iterable[Eligible]) -> dict[str, list[Eligible]]:
    """The candidates by the failed run that each may have broken."""
    groups: dict[str, list[Eligible]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.standing.suspected_in or "", []).append(candidate)
    return groups


def may_join(candidate: Eligible, base: str, ids: frozenset[str] | set[str]) -> bool:
    """Git did not already refuse to merge the change onto this base or with one of these changes."""
    return not _was_refused(candidate, (base,), ids)


def waits_for_a_train(candidate: Eligible, tip: Tip) -> bool:
    """It does not merge with what is on its way: if that lands, whatever a run says now is of no use."""
    return _was_refused(candidate, tip.commits, tip.ids)


def _was_refused(candidate: Eligible, bases: Collection[str], ids: Collection[str]) -> bool:
    return any(
        refusal.against in ids if refusal.against is not None else refusal.base in bases
        for refusal in candidate.entry.refusals
        if refusal.cause is not RefusalCause.MISSING
    )


def dependencies_met(candidate: Eligible, ids: frozenset[str] | set[str]) -> bool:
    waits_on = candidate.entry.waits_on
    return not waits_on or all(needed in ids for needed in waits_on)
