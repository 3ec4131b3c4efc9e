"""The merge queue takes only changes of tasks that are at rest; what landed may be lost from main again."""

import pytest

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import IllegalTransition
from paddock.core.ids import AttemptId, TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Member, Purpose, Result
from paddock.core.snapshot import decode_board, encode_board
from paddock.core.tasks.life import LOST
from paddock.core.tasks.task import Phase

T1, T1_1 = TaskId("t1"), AttemptId("t1.1")
ADDED = ev.TaskAdded("Fix it", "Fix it")
STARTED = ev.AttemptStarted(engine="scripted", base="b", branch="paddock/t1")
QUEUED = qe.ChangeQueued(Change("t1", 1, "head", "base", task="t1"))


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


class TestLostWork:
    """Main was moved from `m1` back to `m0`, which lacks what t1 had landed."""

    MAIN = qe.MainMoved("m0", "tree0")
    CI = qe.CiDefined("ci")
    MEMBERS = (Member("t1", 1, "head"),)
    BASELINE = qe.RunStarted("r1", Purpose.BASELINE, "m0", "tree0", (), "tree0", "m0", "ci")
    TRAIN = qe.RunStarted("r2", Purpose.TRAIN, "m0", "tree0", MEMBERS, "tree1", "m1", "ci")
    LANDED = (
        ADDED,
        ev.TaskAdded("Then this", "Then this", after=(T1,)),
        MAIN,
        CI,
        QUEUED,
        BASELINE,
        qe.RunEnded("r1", Result.PASS),
        TRAIN,
        qe.RunEnded("r2", Result.PASS),
        qe.LandingStarted("r2", "m0", "m1"),
        qe.TrainLanded("r2", "m0", "m1"),
    )
    LOST = qe.WorkLost("m0", ("t1", "b-unknown"))

    def fold(self, *more: ev.Event) -> Board:
        board = Board()
        for seq, event in enumerate((*self.LANDED, *more), 1):
            task = TaskId("t2") if seq == 2 else T1
            board.apply(ev.Record(seq, float(seq), "ana", 0, task, None, event, b""))
        return board

    def test_a_task_whose_work_main_lacks_is_not_landed_and_can_be_queued_again(self) -> None:
        assert self.fold().task(T1).phase is Phase.LANDED
        board = self.fold(self.LOST)
        task = board.task(T1)
        assert (task.phase, task.reason, task.unblock, task.lost) == (Phase.BLOCKED, LOST, "paddock land t1", True)
        assert T1 in board.needy
        assert [old.lost for old in board.queue.decided] == [True]
        again = qe.ChangeQueued(Change("t1", 2, "head", "base", task="t1"))
        queued = self.fold(self.LOST, again).task(T1)
        assert (queued.phase, queued.lost) == (Phase.QUEUED, False)

    def test_what_depends_on_it_waits_again(self) -> None:
        assert self.fold().task(TaskId("t2")).phase is Phase.READY
        assert self.fold(self.LOST).task(TaskId("t2")).phase is Phase.WAITING

    def test_work_that_main_has_again_is_landed_again(self) -> None:
        board = self.fold(self.LOST, qe.WorkFound("m1", ("t1",)))
        assert (board.task(T1).phase, board.task(T1).lost) == (Phase.LANDED, False)
        assert board.task(TaskId("t2")).phase is Phase.READY
        assert [old.lost for old in board.queue.decided] == [False]

    def test_finding_what_was_not_lost_and_losing_what_has_not_landed_changes_nothing(self) -> None:
        assert self.fold(qe.WorkFound("m1", ("t1", "t2"))).task(T1).reason == self.fold().task(T1).reason
        assert self.fold(qe.WorkLost("m0", ("t2",))).task(TaskId("t2")).phase is Phase.READY

    def test_a_snapshot_remembers_it(self) -> None:
        assert decode_board(encode_board(self.fold(self.LOST))).task(T1).lost
