"""The agents at work, as the rules of alerts look at them: what each did last, and how long ago.

Time in which nobody looked does not count as silence: a machine that slept has no stuck agents.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice

from paddock.core.board import Board
from paddock.core.tasks.task import Attempt, Task
from paddock.core.trace import clip, one_line
from paddock.insight.trace import KeptTrace, Step, StepStatus

LONGEST_LOOK_SECONDS = 900.0
"""Longer than that between two looks, and nobody looked in between, whatever the reason."""
MOST_STEPS = 2_000
"""Of the last steps of an agent."""
MOST_PENDING = 10_000
ERROR_CHARS = 160
_BAD = (StepStatus.ERROR, StepStatus.DENIED)

Find = Callable[[str], KeptTrace | None]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A step that failed in the same way, again and again."""

    activity: str
    target: str
    error: str
    times: int


@dataclass(slots=True)
class WorkingRun:
    """`heard` is when something of it was last seen, or later if nobody looked for a while. `is_excused`: it need not
    do anything, because it waits for a person, or a person works with it. `is_dated` is False as long as `heard` only
    tells when this was begun. `failed` are its last steps, None for one that was fine."""

    run: str
    task: str
    engine: str
    agent: str
    started: float
    heard: float
    is_dated: bool = True
    is_excused: bool = False
    steps: int = 0
    last: Step | None = None
    failed: deque[Repeated | None] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))

    def repeated(self, among: int) -> Repeated | None:
        """The failure that comes most often among so many of the last steps."""
        counts = Counter(one for one in islice(reversed(self.failed), among) if one is not None)
        if not counts:
            return None
        one, times = counts.most_common(1)[0]
        return Repeated(one.activity, one.target, one.error, times)


class WorkingRuns:
    """Follows the agents of the board from look to look. `pending` are those that have ended since, by when that was
    noticed, until somebody says that the dataset has them."""

    def __init__(self) -> None:
        self.pending: dict[str, float] = {}
        self._runs: dict[str, WorkingRun] = {}
        self._unread: set[str] = set()
        self._looked: float | None = None

    def __len__(self) -> int:
        return len(self._runs)

    def all(self) -> list[WorkingRun]:
        return list(self._runs.values())

    def look(
        self, board: Board, changed: Iterable[str], ended: Collection[str], now: float, slept: float = 0.0
    ) -> None:
        """Cheap: it reads nothing of the dataset. `slept` is how long the machine was suspended since the last look."""
        is_first = self._looked is None
        self._bridge(now, slept)
        for name in ended:
            self.pending.pop(name, None)
        live = dict(_live(board))
        for name in self._runs.keys() - live.keys():
            del self._runs[name]
            if len(self.pending) < MOST_PENDING and name not in ended:
                self.pending[name] = now
        for name, (task, attempt) in live.items():
            known = self._runs.get(name)
            if known is None:
                told = (name, task.id, attempt.engine, attempt.agent or "", attempt.started)
                heard = now if is_first else min(now, attempt.started)
                known = self._runs[name] = WorkingRun(*told, heard=heard, is_dated=not is_first)
                self._unread.add(name)
            is_excused = _is_excused(task, attempt)
            if known.is_excused and not is_excused:
                known.heard = now
            known.is_excused = is_excused
        if not is_first:
            for name in changed:
                if name in self._runs:
                    self._runs[name].heard = now
        self._unread.update(name for name in changed if name in self._runs)

    def read(self, find: Find, most: int) -> None:
        """What those that have moved on did, as many of them as that."""
        for name in [*islice(self._unread, most)]:
            self._unread.discard(name)
            run = self._runs.get(name)
            kept = find(name) if run is not None else None
            if run is not None:
                _take(run, kept)

    def _bridge(self, now: float, slept: float) -> None:
        """The keeper's clock may jump."""
        before, self._looked = self._looked, now
        if before is None:
            return
        missed = now - before if now - before > LONGEST_LOOK_SECONDS else slept
        for run in self._runs.values():
            run.heard = min(run.heard + missed, now)
        if now < before:
            self.pending = {name: min(since, now) for name, since in self.pending.items()}


def _live(board: Board) -> Iterable[tuple[str, tuple[Task, Attempt]]]:
    for name in list(board.live):
        task = board.tasks[name]
        attempt = task.live_attempt
        if attempt is not None:
            yield attempt.id, (task, attempt)


def _is_excused(task: Task, attempt: Attempt) -> bool:
    return not attempt.turn_open or attempt.held is not None or attempt.interactive or task.question > 0


def _take(run: WorkingRun, kept: KeptTrace | None) -> None:
    closing, count = (kept.closing, kept.step_count) if kept is not None else ((), 0)
    new = min(count - run.steps, len(closing))
    for step in closing[len(closing) - new :] if new > 0 else ():
        error = clip(_without_numbers(one_line(step.error, ERROR_CHARS)), ERROR_CHARS)
        run.failed.append(Repeated(step.activity, step.target, error, 1) if step.status in _BAD else None)
    run.last = closing[-1] if closing else None
    if not run.is_dated:
        run.is_dated = True
        run.heard = min(run.heard, max(run.started, _ended_at(run.last, run.heard)))
    run.steps = count


def _ended_at(step: Step | None, unknown: float) -> float:
    """0 where there was none, `unknown` where nobody has noted when."""
    if step is None:
        return 0.0
    return unknown if step.at is None else step.at + (step.seconds or 0.0)


def _without_numbers(text: str) -> str:
    return "".join("0" if char.isdigit() else char for char in text)
