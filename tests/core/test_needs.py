"""Who needs a person, in the order in which people are asked."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import cancel_tasks
from paddock.core.tasks.needs import Need, need_of, needs_of
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import Ledger
from tests.core.test_board_machine import HEAD, Fleet


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def refuse(ledger: Ledger, task: TaskId) -> None:
    attempt = ledger.start(task)
    ended = ev.AttemptEnded(Outcome.REFUSED, Step.BLOCK, True, reason="the model refused: which entity?")
    ledger.write(ev.Draft(ended, task=task, attempt=attempt))


def test_what_one_word_settles_comes_first_and_then_what_has_waited_longest(ledger: Ledger) -> None:
    ends = ["fail", "block", "approval", "refuse", "approval", "fail", "block"]
    for _ in ends:
        ledger.add()
    for number in (5, 1, 2, 3, 4, 7, 6):
        task, how = TaskId(f"t{number}"), ends[number - 1]
        if how == "refuse":
            refuse(ledger, task)
        else:
            ledger.attempt(task, how, head=HEAD)
    assert needs_of(ledger.board) == ["t5", "t3", "t4", "t2", "t7", "t1", "t6"]
    assert [need_of(ledger.board.tasks[name]) for name in needs_of(ledger.board)] == [
        *(Need.APPROVE, Need.APPROVE, Need.ANSWER, Need.BLOCKED, Need.BLOCKED, Need.FAILED, Need.FAILED)
    ]
    assert needs_of(ledger.board, {TaskId("t6"), TaskId("t3")}) == ["t3", "t6"]


def test_what_was_refused_and_then_blocked_by_something_else_needs_no_answer(ledger: Ledger) -> None:
    task = ledger.add()
    refuse(ledger, task)
    assert need_of(ledger.task(task)) is Need.ANSWER
    ledger.write(ev.Draft(ev.TaskBlocked("needs a key", "export KEY"), task=task))
    assert need_of(ledger.task(task)) is Need.BLOCKED


def test_a_task_that_another_one_blocks_needs_nobody(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    ledger.write(*cancel_tasks(ledger.board, [first], ""))
    assert need_of(ledger.task(second)) is None
    assert needs_of(ledger.board) == []


class Needing(Fleet):
    @invariant()
    def all_that_wait_for_a_person_are_listed_once(self) -> None:
        board = self.board
        listed = needs_of(board)
        assert sorted(listed) == sorted(board.needy)
        assert set(listed) == {name for name in board.tasks if need_of(board.tasks[name]) is not None}


TestNeeding = Needing.TestCase
TestNeeding.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
