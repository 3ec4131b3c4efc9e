"""Which conversation a task goes on with, and the folders conversations live in.

Most CLIs bind a conversation to the folder it began in: some find it only there, some go on working there
wherever they are started, and all of them remember its path. So a conversation is resumed in its own folder
or not at all, and a folder that one may come back to is given to others last.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import task_of
from paddock.core.tasks.task import FINISHED, Attempt, Phase, Task
from paddock.core.tasks.vocabulary import CONTINUES, RESUMED, UNBEGUN, Outcome

LIKELIHOOD = {Phase.QUEUED: 0, Phase.FAILED: 1, Phase.REVIEWING: 2, Phase.BLOCKED: 3, Phase.APPROVAL: 4}
"""How likely a person or the merge queue is to send a task in that phase back to its agent."""


@dataclass(frozen=True, slots=True)
class Homes:
    """Folders of conversations that may go on: `due` at the task's next start or already under way; `kept` perhaps,
    the least likely first."""

    due: frozenset[str] = frozenset()
    kept: tuple[str, ...] = ()


NOWHERE = Homes()


def find_homes(board: Board) -> Homes:
    """The folders of all unfinished tasks: a task that landed or was cancelled frees its folder."""
    due: set[str] = set()
    kept: dict[str, tuple[int, float]] = {}
    for task in board.open_tasks():
        last = task.worker
        if last is None or not last.worktree or not (last.session or last.live):
            continue
        if last.live or task.phase in (Phase.READY, Phase.WAITING):
            due.add(last.worktree)
        else:
            worth = (LIKELIHOOD.get(task.phase, 0), task.since)
            kept[last.worktree] = max(worth, kept.get(last.worktree, worth))
    return Homes(frozenset(due), tuple(sorted(kept.keys() - due, key=kept.__getitem__)))


def memory_of_turn(attempt: Attempt, *, begins: bool) -> str:
    """Where the conversation of the attempt's next turn is kept: with the one it goes on with. One that begins gets a
    place of its own, so that it finds nothing of any other; so does a copy."""
    if attempt.memory and not begins and not is_copied(attempt):
        return attempt.memory
    return attempt.id if attempt.turn == 0 else f"{attempt.id}-{attempt.turn + 1}"


def origin_of(board: Board, task: Task) -> Task | None:
    """The task that it forks."""
    return board.tasks.get(task_of(task.forks)) if task.forks is not None else None


def is_copied(attempt: Attempt) -> bool:
    """Whether what is kept of its conversation is another task's until its first turn, which goes on with a copy."""
    return attempt.fork and attempt.turn == 0


def memories_in_use(board: Board) -> Mapping[str, bool]:
    """What is kept of conversations that may go on, and whether they are going on now."""
    used: dict[str, bool] = {}
    for task in board.open_tasks():
        origin = origin_of(board, task) if not task.started else None
        if origin is not None and origin.worker is not None and origin.worker.memory:
            used.setdefault(origin.worker.memory, False)
        for attempt in {task.worker, task.live_attempt} - {None}:
            if attempt is not None and attempt.memory:
                used[attempt.memory] = used.get(attempt.memory, False) or attempt.live
    return used


def memories_of_finished(board: Board) -> Mapping[str, float]:
    """What is kept of conversations whose task has finished, and since when: a person may have more to say."""
    kept: dict[str, float] = {}
    for task in board.tasks.values():
        worker = task.worker if task.phase in FINISHED else None
        if worker is not None and worker.memory:
            kept[worker.memory] = max(task.since, kept.get(worker.memory, task.since))
    return kept


def continued_attempt(task: Task, engine: str, *, fresh: bool = False) -> Attempt | None:
    """The attempt whose branch the next one goes on with, None for a start from main.

    With `fresh`, failures start from main. People's messages and providers' refusals never throw work away.
    """
    last = task.worker
    if last is None:
        return None
    if task.inbox:
        return last
    if last.engine != engine:
        return None
    interrupted = last.turn > 0 and (last.outcome in CONTINUES or (last.outcome in RESUMED and not fresh))
    return last if interrupted or (last.outcome in UNBEGUN and last.continues is not None) else None


def resumable_session(attempt: Attempt) -> str | None:
    """Its conversation, None where that could not be resumed the last time.

    Known phrases for "no such session" are recognised; this is for CLIs that say it differently, or hang.
    """
    was_resumed = attempt.turn > 1 or attempt.continues is not None or attempt.inlined != ""
    did_nothing = attempt.steps == 0 and attempt.output_tokens == 0
    failed = attempt.outcome in (Outcome.NEVER_RAN, Outcome.MISCONFIGURED, Outcome.CRASHED) and not attempt.ended_by
    return None if was_resumed and did_nothing and failed else attempt.session
