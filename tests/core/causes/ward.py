"""A log of attempts that fail, and of what is found out about them."""

from paddock.core import events as ev
from paddock.core.causes.decide import Diagnosis, record_diagnosis
from paddock.core.causes.model import Cause
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import AttemptId, TaskId, attempt_id
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import Ledger


class Ward(Ledger):
    def begin(self, task: str, engine: str = "claude", account: str = "claude") -> AttemptId:
        name = attempt_id(TaskId(task), self.task(task).newest + 1)
        started = ev.AttemptStarted(engine, "b" * 40, f"paddock/{task}", host="box", account=account)
        self.write(ev.Draft(started, TaskId(task), name))
        return name

    def finish(self, name: str, outcome: Outcome = Outcome.CRASHED, *, counted: bool = True) -> AttemptId:
        """As the policy would have it go on: tried again, unless its attempts are used up."""
        task = self.task(name.partition(".")[0])
        spent = counted and task.counted + 1 >= task.allowed
        then = Step.APPROVAL if outcome is Outcome.DELIVERED else Step.FAIL if spent else Step.RETRY
        head = "c" * 40 if outcome is Outcome.DELIVERED else None
        ended = ev.AttemptEnded(outcome, then, counted, "exit 1", head=head, base="b" * 40)
        self.write(ev.Draft(ended, task.id, AttemptId(name)))
        return AttemptId(name)

    def fail(
        self, task: str, outcome: Outcome = Outcome.CRASHED, *, counted: bool = True, engine: str = "claude"
    ) -> AttemptId:
        return self.finish(self.begin(task, engine), outcome, counted=counted)

    def tasks(self, many: int, attempts: int = 3) -> list[TaskId]:
        return [self.add(attempts=attempts) for _ in range(many)]

    def diagnose(self, cause: FailureCause, *attempts: str, signature: str = "f1", **more: object) -> list[ev.Record]:
        names = [AttemptId(name) for name in attempts]
        diagnosis = Diagnosis(signature, cause, names, **{"symptom": "it broke", **more})  # type: ignore[arg-type]
        return self.write(*record_diagnosis(self.board, diagnosis))

    def cause(self, name: str = "c1") -> Cause:
        found = self.board.causes.find(name)
        assert found is not None, name
        return found
