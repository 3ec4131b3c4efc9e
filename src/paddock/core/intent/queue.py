"""What people ask of the merge queue: stop and resume, move, cancel or retry a change; and which one they mean."""

from collections.abc import Sequence
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId, branch_change, printable
from paddock.core.merge import events as qe
from paddock.core.merge.model import Decided, Ending, Entry
from paddock.core.merge.prospects import front_priority
from paddock.core.tasks.task import SATISFIED


class QueueSwitch(StrEnum):
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    PAUSE = "pause"
    RESUME = "resume"
    DRAIN = "drain"


def switch_queue(switch: QueueSwitch, reason: str = "") -> list[Draft]:
    """`reason` is shown to everyone; only a freeze and a pause have one."""
    match switch:
        case QueueSwitch.FREEZE:
            return [Draft(qe.QueueFrozen(reason))]
        case QueueSwitch.UNFREEZE:
            return [Draft(qe.QueueUnfrozen())]
        case QueueSwitch.PAUSE:
            return [Draft(qe.QueuePaused(reason))]
        case QueueSwitch.RESUME:
            return [Draft(qe.QueueResumed())]
        case QueueSwitch.DRAIN:
            return [Draft(qe.QueueDrained())]


def move_change(board: Board, said: str, by: str, priority: int | None) -> list[Draft]:
    """Without a priority it goes to the front: what it builds on may still go before it."""
    entry = _entry(board, said)
    wanted = front_priority(board.queue, entry.change.id) if priority is None else priority
    return [Draft(qe.ChangeMoved(entry.change.id, wanted, by), task=_task(entry))]


def cancel_change(board: Board, said: str, by: str, reason: str) -> list[Draft]:
    change = _entry(board, said).change
    event = qe.ChangeCancelled(change.id, change.version, reason or "cancelled", by)
    return [Draft(event, task=_task(board.queue.entries[change.id]))]


def retry_changes(board: Board, said: Sequence[str], by: str) -> list[Draft]:
    """Tests the named changes again, if they are queued."""
    names = dict.fromkeys(change_named(board, word) for word in said)
    waiting = [board.queue.entries[name].change for name in names if name in board.queue.entries]
    return [Draft(qe.ChangeRetried(change.id, change.version, by)) for change in waiting]


def change_named(board: Board, said: str) -> str:
    """The id of the change that a word names: a task, or a branch that was queued by name."""
    name = said.strip()
    queue = board.queue
    known = {*queue.entries, *(old.id for old in queue.decided)}
    meant = (name, name.lower(), branch_change(name))
    return next((one for one in meant if one in known), name)


def queued_branch(board: Board, said: str) -> str | None:
    """The branch that a word names, if it is or was in the queue by its own name."""
    waiting = board.queue.entries.get(change_named(board, said))
    end = last_end(board, said)
    return (waiting.change.branch if waiting is not None else end.branch if end is not None else "") or None


def branches_among(board: Board, words: Sequence[str]) -> tuple[str, ...]:
    """The words that name branches; raises Misuse if others name tasks."""
    branches = tuple(word for word in words if queued_branch(board, word))
    if branches and len(branches) < len(words):
        raise Misuse("tasks and branches cannot be retried together", "retry the tasks and the branches separately")
    return branches


def branches_gone(board: Board, words: Sequence[str]) -> tuple[str, ...]:
    """The named branches that have left the queue: to retry them, they must be queued again."""
    left = (word for word in words if change_named(board, word) not in board.queue.entries)
    return tuple(branch for word in left if (branch := queued_branch(board, word)) is not None)


def last_end(board: Board, said: str) -> Decided | None:
    """How the named branch last left the queue; None if it is not a branch or never did."""
    name = change_named(board, said)
    return next((old for old in reversed(board.queue.decided) if old.id == name and old.branch), None)


def base_named(board: Board, said: str) -> str | None:
    """What `land --after` means; None if it is already in main. Raises PaddockError when it is not queued."""
    name = change_named(board, said)
    if name in board.queue.entries:
        return name
    ends = [old.outcome for old in board.queue.decided if old.id == name]
    task = board.tasks.get(TaskId(name))
    if (ends and ends[-1] in (Ending.LANDED, Ending.NOOP)) or (task is not None and task.phase in SATISFIED):
        return None
    shown = printable(name, 60)
    if ends:
        raise PaddockError(
            f"`{shown}` is no longer in the merge queue ({ends[-1].value})",
            f"see `paddock queue why {shown}`; queue it again first",
        )
    first = f"`paddock land {shown}`" if task is not None else f"`paddock land --branch {shown}`"
    queued = ", ".join(list(board.queue.entries)[:10]) or "nothing"
    raise PaddockError(f"`{shown}` is not in the merge queue", f"queue it first with {first}; queued now: {queued}")


def _entry(board: Board, said: str) -> Entry:
    name = change_named(board, said)
    if name not in board.queue.entries:
        known = ", ".join(board.queue.entries) or "nothing"
        raise NotFound(f"`{printable(name, 40)}` is not in the merge queue", f"queued: {known}")
    return board.queue.entries[name]


def _task(entry: Entry) -> TaskId | None:
    return TaskId(entry.change.task) if entry.change.task else None
