"""The merge queue takes only changes of tasks that are neither over nor being worked on."""

import pytest

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.task import IllegalTransition, Phase

T1, T1_1 = TaskId("t1"), AttemptId("t1.1")
ADDED = ev.TaskAdded("Mend it", "Mend it")
STARTED = ev.AttemptStarted(engine="scripted", base="b", branch="paddock/t1")
QUEUED = qe.ChangeQueued(Change("t1", 1, "head", "base", task="t1"), "ana")


def fold(*events: tuple[ev.Event, AttemptId | None]) -> Board:
    board = Board()
    for seq, (event, attempt) in enumerate(events, 1):
        board.apply(ev.Record(seq, float(seq), "ana", 0, T1, attempt, event, b""))
    return board


def test_a_task_at_rest_can_be_queued() -> None:
    assert fold((ADDED, None), (QUEUED, None)).task(T1).phase is Phase.QUEUED


@pytest.mark.parametrize("before", [(ev.TaskCancelled(), None), (STARTED, T1_1)])
def test_a_task_that_is_over_or_at_work_cannot_be_queued(before: tuple[ev.Event, AttemptId | None]) -> None:
    with pytest.raises(IllegalTransition):
        fold((ADDED, None), before, (QUEUED, None))
