"""How many findings of a task are open, as rows tell it. Imports little: `paddock status` is asked for all day."""

from paddock.core.board import Board
from paddock.core.tasks.task import Task


def count_open(board: Board, task: Task) -> tuple[int, int]:
    """Its open findings, and how many of these block it."""
    if board.review_part.is_nothing:
        return 0, 0
    found = [one for one in board.reviews.findings_of(task.id) if one.is_open]
    return len(found), sum(one.blocks for one in found)


def open_words(board: Board, task: Task) -> str:
    return findings_words(*count_open(board, task))


def findings_words(count: int, blocking: int) -> str:
    """`3 findings, 1 blocks`; empty where none is open."""
    told = f"finding{'s' if count != 1 else ''}"
    if blocking in (0, count):
        return f"{count} {'blocking ' if blocking else ''}{told}" if count else ""
    return f"{count} {told}, {blocking} block{'s' if blocking == 1 else ''}"
