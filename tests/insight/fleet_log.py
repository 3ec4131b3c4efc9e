"""A synthetic log of a fleet at work, with what everything has cost."""

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.events import Record
from paddock.core.ids import AttemptId, TaskId, attempt_id, task_id
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Member, Purpose, Result
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from tests.core.ledger import Ledger

HEADS = "0123456789abcdef"


class FleetLog:
    """One second passes per record; `wait` lets more pass. Work is delivered at a head of its own each time."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.heads = 0
        self.runs = 0
        self.main = "m0"

    @property
    def board(self) -> Board:
        return self.ledger.board

    @property
    def records(self) -> list[Record]:
        return self.ledger.records

    def wait(self, seconds: float) -> None:
        self.ledger.waited_seconds += seconds

    def write(self, event: ev.Event, task: TaskId | None = None, attempt: AttemptId | None = None) -> Record:
        return self.ledger.write(ev.Draft(event, task=task, attempt=attempt))[0]

    def add(
        self,
        title: str = "do it",
        *,
        agent: str | None = None,
        attempts: int = 5,
        brief: str = "do it",
        labels: tuple[str, ...] = (),
    ) -> TaskId:
        new = task_id(self.board.next_task)
        self.write(ev.TaskAdded(title, brief, agent=agent, attempts=attempts, labels=labels), new)
        return new

    def new_head(self) -> str:
        self.heads += 1
        return f"{self.heads:040x}"

    def attempt(
        self,
        task: TaskId,
        outcome: Outcome = Outcome.DELIVERED,
        then: Step = Step.APPROVAL,
        *,
        cost: float | None = 1.0,
        startup: float | None = 0.25,
        startup_tokens: int = 40_000,
        engine: str = "claude",
        agent: str | None = None,
        model: str = "claude-opus-5",
        role: Role = Role.WORK,
        continues: AttemptId | None = None,
        source: str = "engine",
        seconds: float = 60.0,
        reason: str = "",
    ) -> AttemptId:
        """One attempt of one turn, from its start to its end. With no cost its turn is `unpriced`."""
        name = attempt_id(task, self.board.task(task).newest + 1)
        source = source if cost is not None else "unpriced"
        start = ev.AttemptStarted(
            engine, "b" * 40, f"paddock/{task}", agent=agent, model=model, role=role, continues=continues
        )
        self.write(start, task, name)
        self.write(ev.TurnStarted(1), task, name)
        self.wait(seconds)
        turn = ev.TurnEnded(
            1,
            exit=0,
            steps=5,
            input_tokens=1_000,
            cache_read_tokens=200_000,
            output_tokens=2_000,
            cost_usd=cost,
            cost_source=source,
            startup_usd=startup if cost is not None else None,
            startup_tokens=startup_tokens,
            model=model,
        )
        self.write(turn, task, name)
        head = self.new_head() if outcome in (Outcome.DELIVERED, Outcome.UNSAVED) else None
        ended = ev.AttemptEnded(outcome, then, counted=False, head=head, base="b" * 40, reason=reason)
        self.write(ended, task, name)
        return name

    def begin_queue(self) -> None:
        self.write(qe.MainMoved("m0", "tree-m0"))
        self.write(qe.CiDefined("ci"))
        self._run(Purpose.BASELINE, (), "m0", "tree-m0")

    def land(self, task: TaskId, seconds: float = 30.0) -> None:
        """Approve what the task has delivered, and land it with a train of its own."""
        if self.main == "m0" and not self.runs:
            self.begin_queue()
        head = self.board.task(task).head or ""
        self.write(ev.TaskApproved(head), task)
        change = Change(task, 1, head, "b" * 40, title="", task=task)
        self.write(qe.ChangeQueued(change), task)
        new = f"m-{task}"
        run = self._run(Purpose.TRAIN, (Member(task, 1, head),), new, f"tree-{new}", seconds)
        self.write(qe.LandingStarted(run, self.main, new))
        self.write(qe.TrainLanded(run, self.main, new))
        self.main = new

    def _run(self, purpose: Purpose, members: tuple[Member, ...], commit: str, tree: str, seconds: float = 30.0) -> str:
        self.runs += 1
        run = f"r{self.runs}"
        base_tree = f"tree-{self.main}"
        self.write(qe.RunStarted(run, purpose, self.main, base_tree, members, tree, commit, "ci", checks=("test",)))
        self.wait(seconds)
        self.write(qe.RunEnded(run, Result.PASS, ran=("test",)))
        return run
