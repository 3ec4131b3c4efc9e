"""What can be taken back, and what that says about its review."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.reverts import LandedChange, blame_review, landed_to_revert, reverted_by
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Purpose, Result
from paddock.core.review import events as rv
from tests.core.ledger import Ledger

MAIN, TREE = "0" * 40, "e" * 40


class Queue:
    """A log in which changes land one after the other."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.main, self.runs = MAIN, 0
        self.write(qe.MainMoved(MAIN, TREE), qe.CiDefined("ci"))

    def write(self, *events: ev.Event, task: str | None = None) -> None:
        self.ledger.write(*(ev.Draft(event, task=TaskId(task) if task else None) for event in events))

    def task(self) -> TaskId:
        name = self.ledger.add()
        self.ledger.attempt(name, "approval", head="a" * 40)
        return name

    def queue(self, name: str, version: int = 1, *, reverts: str = "") -> Change:
        is_task = TaskId(name) in self.ledger.board.tasks
        change = Change(
            name, version, f"{version:040x}", MAIN, name if is_task else None, title=f"Title of {name}",
            branch="" if is_task else name, reverts=reverts, approved_by="ana@host",
        )  # fmt: skip
        self.write(qe.ChangeQueued(change), task=change.task)
        return change

    def land(self, name: str, version: int = 1, *, reverts: str = "") -> None:
        change = self.queue(name, version, reverts=reverts)
        self.runs += 1
        run, new = f"r{self.runs}", f"{self.runs:040x}"
        members, tree = (change.member,), f"{self.runs + 1000:040x}"
        self.write(
            qe.RunStarted(run, Purpose.TRAIN, self.main, TREE, members, tree, new, "ci"),
            qe.RunEnded(run, Result.PASS),
            qe.LandingStarted(run, self.main, new),
            qe.TrainLanded(run, self.main, new),
        )
        self.main = new


def refusal(queue: Queue, said: str) -> PaddockError:
    with pytest.raises(PaddockError) as raised:
        landed_to_revert(queue.ledger.board, said)
    return raised.value


def test_only_what_has_landed_can_be_taken_back() -> None:
    queue = Queue()
    name = queue.task()
    assert "is waiting for approval: only what has landed" in refusal(queue, name).message
    queue.queue(name)
    assert refusal(queue, name).hint == "`paddock queue cancel t1` takes it out of the queue"
    assert isinstance(refusal(queue, "t9"), NotFound)
    assert isinstance(refusal(queue, "what"), Misuse)


def test_a_task_and_a_branch_are_taken_back_on_branches_named_after_them() -> None:
    queue = Queue()
    name = queue.task()
    queue.land(name)
    queue.land("feature/x")
    found = landed_to_revert(queue.ledger.board, "T1")
    assert (found.id, found.task, found.branch) == (name, name, "paddock/revert-t1")
    assert landed_to_revert(queue.ledger.board, "feature/x").branch == "paddock/revert-feature-x"


def test_what_is_lost_or_taken_back_already_is_refused_until_it_lands_again() -> None:
    queue = Queue()
    name = queue.task()
    queue.land(name)
    queue.queue("paddock/revert-t1", reverts=name)
    assert "is in the merge queue already" in refusal(queue, name).message
    queue.write(qe.ChangeCancelled("paddock/revert-t1", 1))
    assert landed_to_revert(queue.ledger.board, name).id == name
    queue.land("paddock/revert-t1", 2, reverts=name)
    told = refusal(queue, name)
    assert told.message.startswith("`t1` was reverted by `paddock/revert-t1`, which landed in `")
    assert told.hint == "`paddock revert paddock/revert-t1` would bring it back"
    queue.write(qe.WorkLost(queue.main, ("paddock/revert-t1",)))
    assert reverted_by(queue.ledger.board, name) is None
    queue.write(qe.WorkLost(queue.main, (name,)))
    assert "was lost from main" in refusal(queue, name).message


def test_findings_that_nobody_heeded_were_true_and_who_had_none_missed_it() -> None:
    queue = Queue()
    name = queue.task()
    change = LandedChange(name, "x", name)
    head = "a" * 40
    for number, (by, how) in enumerate(
        [("one", "fixed"), ("two", "waived"), ("three", "refuted"), ("four", "outvoted"), ("five", "")], 1
    ):
        queue.write(rv.FindingReported(f"f{number}", head, by, rv.Claim("wrong")), task=name)
        if how:
            queue.write(rv.FindingSettled(f"f{number}", rv.Settlement(how), head), task=name)
    drafts = blame_review(queue.ledger.board, change, ("one", "two", "one", "six"), "it broke")
    assert [draft.event for draft in drafts] == [
        *(rv.FindingConfirmed(f"f{number}", rv.ConfirmedBy.REVERT, "it broke") for number in (2, 3, 4)),
        rv.ReviewMissed(("one", "six"), "it broke"),
    ]
    queue.ledger.write(*drafts)
    assert blame_review(queue.ledger.board, change, (), "") == []
    assert blame_review(queue.ledger.board, LandedChange("feature/x", "x"), ("one",), "") == []
