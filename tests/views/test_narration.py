"""What is said of a record, in one line."""

from paddock.core import events as ev
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.views.log.narration import describe
from tests.core.ledger import Ledger


def _ended(ledger: Ledger) -> str:
    """The line about the end of t1's only attempt, which somebody has stopped."""
    task = ledger.task("t1")
    stopped = ev.AttemptEnded(Outcome.KILLED, Step.RETRY, counted=False, reason="stopped by ana")
    assert task.last is not None
    (record,) = ledger.write(ev.Draft(stopped, task=task.id, attempt=task.last.id))
    return describe(record, ledger.board)


def test_an_attempt_that_was_stopped_is_said_to_be_retried() -> None:
    ledger = Ledger()
    ledger.start(ledger.add())
    assert _ended(ledger) == "killed: stopped by ana; will be retried"


def test_a_cancelled_task_is_not_said_to_be_retried() -> None:
    ledger = Ledger()
    task = ledger.add()
    ledger.start(task)
    ledger.write(ev.Draft(ev.TaskCancelled(), task=task))
    assert _ended(ledger) == "killed: stopped by ana"


def test_an_answer_that_cannot_be_used_is_told_with_what_is_wrong() -> None:
    record = ev.Record(1, 0.0, "daemon", 1, None, None, ev.AnswerRefused("no \x1b\nJSON"), b"")
    assert describe(record, Ledger().board) == "asked again: no � JSON"
