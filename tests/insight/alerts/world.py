"""A fleet in memory, led by a clock of the test's own: its log, its dataset on the disk, and the watch for alerts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from paddock.config.schema import Config
from paddock.core import events as ev
from paddock.core.alerts.events import AlertRaised, AlertResolved
from paddock.core.alerts.model import Alert, AlertState
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId, attempt_id, task_id, task_of
from paddock.core.intent.alerts import acknowledge_alerts
from paddock.core.tasks.vocabulary import Outcome, Role
from paddock.core.tasks.vocabulary import Step as Next
from paddock.core.trace import TokenUsage
from paddock.fleet.site import Site
from paddock.git.repo import Repo
from paddock.insight.alerts.watch import watch_alerts
from paddock.insight.causes.watch import observe_causes
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.look import Look, Observe
from paddock.insight.trace import CostSource, EndState, Facts, ModelCall, Result, Step, StepStatus, Trace

START = 20_000 * 86_400.0
"""The first second of a day."""
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
ACTIVITIES = ("SEARCH", "READ:src", "EDIT:src", "TEST", "RUN", "GIT_READ")
_ENDS = {
    Outcome.DELIVERED: (Result.SUCCESS, EndState.OK),
    Outcome.EMPTY: (Result.FAILURE, EndState.GAVE_UP),
    Outcome.CRASHED: (Result.FAILURE, EndState.CRASHED),
    Outcome.TIMEOUT: (Result.FAILURE, EndState.TIMEOUT),
    Outcome.NEVER_RAN: (Result.FAILURE, EndState.NEVER_RAN),
    Outcome.THROTTLED: (Result.UNKNOWN, EndState.THROTTLED),
    Outcome.KILLED: (Result.UNKNOWN, EndState.KILLED),
}


def steps_of(random: Random, begun: float, count: int, *, odd: bool = False) -> tuple[Step, ...]:
    at, steps = begun, []
    for _ in range(count):
        at += random.uniform(5.0, 60.0)
        activity = "OTHER" if odd else random.choice(ACTIVITIES)
        steps.append(Step(tool="T", activity=activity, target="a.py", at=at, seconds=random.uniform(0.1, 4.0)))
    return tuple(steps)


class World:
    """`look` is what the keeper does, and records what follows. Costs, steps and models are plausible unless told."""

    def __init__(self, top: Path, config: Config | None = None, seed: int = 0, *, with_causes: bool = True) -> None:
        place = top / ".git"
        self.config = config or Config()
        self.site = Site(Repo(place, place, top, top), self.config, place, "m")
        self.board = Board()
        self.records: list[ev.Record] = []
        self.now = START
        self.random = Random(seed)
        self.writer = DatasetWriter.open(top / "traces.db")
        self.dataset = Dataset.open(top / "traces.db")
        self.with_causes = with_causes
        self.changed: set[str] = set()
        self.ended: set[str] = set()
        self.begin_watch()

    def begin_watch(self) -> None:
        """Another keeper, which remembers nothing."""
        self.observers: Sequence[Observe] = (*((observe_causes,) if self.with_causes else ()), watch_alerts())
        self.changed, self.ended = set(), set()

    def close(self) -> None:
        self.writer.close()
        self.dataset.close()

    # the log

    def write(self, event: ev.Event, task: TaskId | None = None, attempt: AttemptId | None = None) -> None:
        self.record([ev.Draft(event, task=task, attempt=attempt)])

    def record(self, drafts: Iterable[ev.Draft], actor: str = "daemon") -> list[ev.Event]:
        written = []
        for draft in drafts:
            seq = self.board.seq + 1
            record = ev.Record(seq, self.now, actor, 0, draft.task, draft.attempt, draft.event, bytes(20))
            self.board.apply(record)
            self.records.append(record)
            written.append(draft.event)
        return written

    # agents

    def start(self, engine: str = "claude", *, task: TaskId | None = None, labels: tuple[str, ...] = ()) -> AttemptId:
        if task is None:
            task = task_id(self.board.next_task)
            self.write(ev.TaskAdded(f"task {task}", "do it", attempts=50, labels=labels), task)
        name = attempt_id(task, self.board.task(task).newest + 1)
        started = ev.AttemptStarted(engine, "b" * 40, f"paddock/{task}", role=Role.WORK, host="h1", reserved_usd=0.01)
        self.write(started, task, name)
        self.write(ev.TurnStarted(1), task, name)
        self.changed.add(name)
        return name

    def step(self, name: AttemptId, steps: Sequence[Step]) -> None:
        """All that it has done so far."""
        self._put(self._trace(name, ended=None, steps=tuple(steps)))
        self.changed.add(name)

    def end(
        self,
        name: AttemptId,
        outcome: Outcome = Outcome.DELIVERED,
        error: str = "",
        *,
        then: Next | None = None,
        steps: Sequence[Step] | None = None,
        **fields: object,
    ) -> None:
        attempt = self.board.task(task_of(name)).live_attempt
        assert attempt is not None
        if attempt.turn_open:
            self.write(ev.TurnEnded(1, exit=0), task_of(name), name)
        default = Next.APPROVAL if outcome is Outcome.DELIVERED else Next.RETRY
        head = "a" * 40 if outcome is Outcome.DELIVERED else None
        ended = ev.AttemptEnded(outcome, then or default, True, head=head, base="b" * 40, reason=error)
        self.write(ended, task_of(name), name)
        made = steps_of(self.random, attempt.started, 8) if steps is None else tuple(steps)
        made = () if outcome is Outcome.NEVER_RAN else made
        self._put(self._trace(name, ended=self.now, outcome=outcome, error=error, steps=made, **fields))
        self.changed.add(name)
        self.ended.add(name)

    def run(
        self, outcome: Outcome = Outcome.DELIVERED, error: str = "", *, seconds: float = 0.0, **more: object
    ) -> str:
        """One from its start to its end, so many seconds later."""
        engine, labels = str(more.pop("engine", "claude")), more.pop("labels", ())
        name = self.start(engine, labels=labels)  # type: ignore[arg-type]
        self.now += seconds
        self.end(name, outcome, error, **more)  # type: ignore[arg-type]
        return name

    def _trace(
        self,
        name: AttemptId,
        *,
        ended: float | None,
        outcome: Outcome = Outcome.DELIVERED,
        error: str = "",
        steps: tuple[Step, ...] = (),
        **fields: object,
    ) -> Trace:
        task = self.board.task(task_of(name))
        attempt = next(one for one in task.attempts if one.id == name)
        result, state = _ENDS[outcome] if ended is not None else (Result.UNKNOWN, EndState.UNKNOWN)
        ran = outcome is not Outcome.NEVER_RAN
        usage = TokenUsage(1_000, 0, 40_000, 2_000, cost_usd=1.0)
        told: dict[str, object] = {
            "usage": usage if ran else None,
            "cost_source": CostSource.TOLD if ran else CostSource.UNKNOWN,
            "model": "claude-opus-4-5",
            "model_spoke": ran,
            "calls": (ModelCall(id="1", usage=usage),) if ran else (),
            "facts": Facts(),
            "attributes": {"outcome": outcome.value, "labels": ",".join(task.labels)} if ended is not None else {},
            **fields,
        }
        return Trace(
            run=name,
            task=str(task.id),
            engine=attempt.engine,
            label=FLEET,
            host="h1",
            started=attempt.started,
            ended=ended,
            outcome=result,
            end_state=state,
            error=error,
            tail=error,
            steps=steps,
            **told,  # type: ignore[arg-type]
        )

    def _put(self, trace: Trace) -> None:
        self.writer.add(trace)
        self.writer.commit()

    # the keeper

    def look(self, *, after: float = 30.0) -> list[ev.Event]:
        """What was recorded."""
        self.now += after
        look = Look(
            self.site, self.dataset, self.board, tuple(sorted(self.changed)), tuple(sorted(self.ended)), self.now
        )
        self.changed, self.ended = set(), set()
        decided = [decide for observe in self.observers for decide in observe(look)]
        return [event for decide in decided for event in self.record(decide(self.board), "keeper")]

    def looks(self, seconds: float, *, every: float = 30.0, do: Callable[[], None] | None = None) -> None:
        """For so long, with something done before each."""
        until = self.now + seconds
        while self.now < until:
            if do is not None:
                do()
            self.look(after=every)

    def ack(self, *names: str) -> None:
        self.record(acknowledge_alerts(self.board, names), "ana@host")

    def alerts(self, *states: AlertState) -> list[Alert]:
        return [one for one in self.board.alerts.standing.values() if not states or one.state in states]

    def open(self) -> list[Alert]:
        return self.alerts(AlertState.OPEN)

    def raised(self, since: float = 0.0) -> list[AlertRaised]:
        return [one.event for one in self.records if isinstance(one.event, AlertRaised) and one.at >= since]

    def resolved(self) -> int:
        return sum(isinstance(one.event, AlertResolved) for one in self.records)

    def rules_raised(self) -> Counter[str]:
        return Counter(one.rule for one in self.raised())


def failed_step(error: str = "boom", target: str = "make") -> Step:
    return Step(tool="T", activity="RUN", target=target, status=StepStatus.ERROR, error=error)
