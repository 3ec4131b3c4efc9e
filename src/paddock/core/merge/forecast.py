"""What the queue does next if everything goes as usual: the planner itself, asked ahead of time.

Each run is taken to need the usual time and to pass, but for a change that failed by itself: a second run of it is
taken to fail as well. Nothing here is recorded; merges are assumed to succeed.
"""

from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.errors import IllegalTransition
from paddock.core.merge import estimate
from paddock.core.merge import events as qe
from paddock.core.merge.actions import Action, CancelRun, Facts, Land, StartRun
from paddock.core.merge.evolve import evolve
from paddock.core.merge.guards import has_passed
from paddock.core.merge.model import Purpose, Queue, Result
from paddock.core.merge.plan import plan
from paddock.core.merge.view import UNKNOWN_RUN_SECONDS

MOST_STEPS = 60
STEPS_BY_ENTRIES = 20_000
"""Planning ahead costs as much as there are changes: with very many of them fewer steps are looked at."""
TOGETHER = 0.05
"""Runs that end within this share of the usual time end together here: that many fewer plans are made."""
HORIZON_RUNS = 3.2
"""How far to look ahead, in usual runs: beyond that too much depends on what fails."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """`starts` and `ends` in epoch seconds, if everything passes. `confirms` is the failed run it looks into."""

    id: str
    purpose: Purpose
    members: tuple[str, ...]
    confirms: str | None
    starts: float
    ends: float


@dataclass(frozen=True, slots=True)
class PlannedLanding:
    """`run` is under way if `is_running`, and planned if not."""

    at: float
    run: str
    members: tuple[str, ...]
    is_running: bool
    suspects: bool = False


@dataclass(frozen=True, slots=True)
class Forecast:
    runs: tuple[PlannedRun, ...] = ()
    landings: tuple[PlannedLanding, ...] = ()


def look_ahead(queue: Queue, slots: int, now: float, most_runs: int = 24) -> Forecast:
    """Whatever stops the queue is taken to be over; whether that is so, its reader tells."""
    if queue.main is None or not (queue.entries or queue.running):
        return Forecast()
    typical = estimate.run_seconds(queue.stats, 0.5) or UNKNOWN_RUN_SECONDS
    going = replace(queue, paused=False, frozen=False, halted=None, lost_remote=None)
    facts = Facts(queue.main.commit, queue.main.tree, queue.ci, slots, watched_since=now)
    play = _Play(going, facts, typical, now)
    until = now + HORIZON_RUNS * typical
    for _ in range(max(12, min(MOST_STEPS, STEPS_BY_ENTRIES // (1 + len(queue.entries))))):
        if len(play.runs) >= most_runs or play.clock > until or not play.step():
            break
    return Forecast(tuple(play.runs), tuple(play.landings))


@dataclass
class _Play:
    """The queue as it may go on from here."""

    queue: Queue
    facts: Facts
    typical: float
    clock: float
    runs: list[PlannedRun] = field(default_factory=list)
    landings: list[PlannedLanding] = field(default_factory=list)

    def step(self) -> bool:
        """Whether anything is left to happen."""
        try:
            actions = plan(self.queue, self.facts, self.clock)
            if any(isinstance(action, qe.QueueHalted) for action in actions):
                return False
            for action in actions:
                self._perform(action)
            return bool(actions) or self._end_next_run()
        except IllegalTransition:
            return False

    def _record(self, event: qe.QueueEvent) -> None:
        self.queue = evolve(self.queue, event, self.clock)

    def _perform(self, action: Action) -> None:
        match action:
            case StartRun():
                self._start(action)
            case CancelRun(run=run):
                self._record(qe.RunCancelAsked(run))
                self._record(qe.RunEnded(run, Result.CANCELLED))
            case Land():
                self._land(action)
            case _:
                self._record(action)

    def _start(self, action: StartRun) -> None:
        commit = f"{action.run}:commit" if action.members else action.base
        tree = f"{action.run}:tree" if action.members else action.base_tree
        started = qe.RunStarted(
            action.run, action.purpose, action.base, action.base_tree, action.members, tree, commit, self.queue.ci
        )
        self._record(replace(started, confirms=action.confirms))
        members = tuple(member.id for member in action.members)
        ends = self.clock + self.typical
        self.runs.append(PlannedRun(action.run, action.purpose, members, action.confirms, self.clock, ends))

    def _land(self, action: Land) -> None:
        run = self.queue.ended[action.run]
        if self.queue.landing is None:
            self._record(qe.LandingStarted(action.run, action.old, action.new))
        self._record(qe.TrainLanded(action.run, action.old, action.new))
        self.facts = Facts(action.new, action.tree, self.facts.ci, self.facts.slots, watched_since=self.clock)
        members = tuple(member.id for member in action.members)
        planned = {one.id for one in self.runs}
        searched = run.purpose is Purpose.TRAIN and run.confirms is not None
        self.landings.append(PlannedLanding(self.clock, action.run, members, action.run not in planned, searched))

    def _end_next_run(self) -> bool:
        """And those that end at about the same time."""
        under_way = [run for run in self.queue.running.values() if not run.cancelling]
        first = min((run.started_at for run in under_way), default=None)
        if first is None:
            return False
        self.clock = max(self.clock, first + self.typical)
        for run in under_way:
            if run.started_at + self.typical <= self.clock + TOGETHER * self.typical:
                result = Result.FAIL if run.purpose is Purpose.CONFIRM else Result.PASS
                self._record(qe.RunEnded(run.id, result))
        return True


def odds_of_passing(queue: Queue, members: tuple[str, ...]) -> float:
    """How likely a run of these passes: what has passed before only clashes or flakes, anything else may be bad."""
    stats = queue.stats
    bad, clash = estimate.bad_share(stats), estimate.clash_share(stats)
    odds = 1.0 - estimate.flake_share(stats)
    for name in members:
        entry = queue.entries.get(name)
        odds *= 1.0 - (clash if entry is not None and has_passed(queue, entry) else bad)
    return odds
