"""A log in memory for tests of the core: drafts in, records and a board out."""

from collections.abc import Iterable, Sequence

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId, attempt_id, task_id
from paddock.core.snapshot import decode_board, encode_board
from paddock.core.tasks.task import FINISHED, NEEDS_HUMAN, Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Role, Step

START = 1_800_000_000.0


class Ledger:
    """One second passes per record, and what is added to `waited_seconds`."""

    def __init__(self) -> None:
        self.board = Board()
        self.records: list[ev.Record] = []
        self.waited_seconds = 0.0

    def write(self, *drafts: ev.Draft, generation: int = 0, actor: str = "ana@host") -> list[ev.Record]:
        written = []
        for draft in drafts:
            seq = self.board.seq + 1
            at = START + seq + self.waited_seconds
            record = ev.Record(seq, at, actor, generation, draft.task, draft.attempt, draft.event, bytes(20))
            self.board.apply(record)
            self.records.append(record)
            written.append(record)
        return written

    def add(self, *, after: Sequence[str] = (), convoy: str | None = None, attempts: int = 3) -> TaskId:
        new = task_id(self.board.next_task)
        event = ev.TaskAdded(
            f"task {new}", "do it", convoy=convoy, after=tuple(TaskId(name) for name in after), attempts=attempts
        )
        self.write(ev.Draft(event, task=new))
        return new

    def task(self, task: str) -> Task:
        return self.board.tasks[TaskId(task)]

    def start(self, task: TaskId, *, generation: int = 0, role: Role = Role.WORK) -> AttemptId:
        attempt = attempt_id(task, self.task(task).started + 1)
        started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", role=role)
        self.write(ev.Draft(started, task=task, attempt=attempt), generation=generation)
        return attempt

    def end(self, task: TaskId, then: str, *, head: str | None = None, counted: bool = True) -> None:
        live = self.task(task).live_attempt
        assert live is not None
        ended = ev.AttemptEnded(Outcome.DELIVERED, Step(then), counted, head=head, base="b" * 40)
        self.write(ev.Draft(ended, task=task, attempt=live.id))

    def attempt(self, task: TaskId, then: str, *, head: str | None = None) -> None:
        self.start(task)
        self.end(task, then, head=head)


def fold(records: Iterable[ev.Record], board: Board | None = None) -> Board:
    board = board if board is not None else Board()
    for record in records:
        board.apply(record)
    return board


def fold_from_snapshot(records: Sequence[ev.Record], cut: int) -> Board:
    return fold(records[cut:], decode_board(encode_board(fold(records[:cut]))))


def assert_sound(board: Board) -> None:
    """Everything the board keeps beside its tasks equals a recount over the tasks."""
    tasks = [board.tasks[name] for name in board.tasks]
    assert [task.id for task in tasks] == [task_id(number) for number in range(1, board.next_task)]
    assert _counted(board.counts) == _recount(tasks)
    assert set(board.open) == {task.id for task in tasks if task.phase not in FINISHED}
    assert set(board.ready) == {task.id for task in tasks if task.phase is Phase.READY}
    assert set(board.live) == {task.id for task in tasks if task.live_attempt is not None}
    assert set(board.needy) == {task.id for task in tasks if task.phase in NEEDS_HUMAN and task.blocked_on is None}
    for convoy, members in board.members.items():
        inside = [task for task in tasks if task.convoy == convoy]
        assert members == [task.id for task in inside]
        assert _counted(board.convoy_counts[convoy]) == _recount(inside)
    for task in tasks:
        dependents = [other.id for other in tasks if task.id in other.after]
        assert sorted(board.dependents.get(task.id, [])) == sorted(dependents)
        _assert_settled(board, task)


def _assert_settled(board: Board, task: Task) -> None:
    phases = {other: board.tasks[other].phase for other in task.after}
    dead = [name for name, phase in phases.items() if phase in (Phase.FAILED, Phase.CANCELLED)]
    unsatisfied = [name for name, phase in phases.items() if phase not in (Phase.LANDED, Phase.NOOP)]
    if task.phase is Phase.READY:
        assert not unsatisfied, task
    if task.phase is Phase.WAITING:
        assert unsatisfied, task
        assert not dead, task
    if task.blocked_on is not None:
        assert task.phase is Phase.BLOCKED
        assert task.blocked_on in dead
    assert (task.phase is Phase.RUNNING) <= (task.live_attempt is not None)
    queued = {entry.change.task for entry in board.queue.entries.values()}
    assert (task.phase is Phase.QUEUED) <= (task.id in queued), task


def _counted(counts: dict[Phase, int]) -> dict[Phase, int]:
    return {phase: count for phase, count in counts.items() if count}


def _recount(tasks: Sequence[Task]) -> dict[Phase, int]:
    counts: dict[Phase, int] = {}
    for task in tasks:
        counts[task.phase] = counts.get(task.phase, 0) + 1
    return counts
