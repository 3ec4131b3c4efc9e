"""Small decisions for tests of the store."""

from collections.abc import Sequence

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import task_id
from paddock.store.protocol import Author, Decide

ANA = Author("ana@host")


def add(title: str = "x", count: int = 1) -> Decide:
    """Adds `count` tasks with whatever ids come next."""

    def decide(board: Board) -> Sequence[ev.Draft]:
        first = board.next_task
        return [ev.Draft(ev.TaskAdded(title, "do it"), task=task_id(first + offset)) for offset in range(count)]

    return decide


def refuse(message: str = "no") -> Decide:
    def decide(_: Board) -> Sequence[ev.Draft]:
        raise PaddockError(message)

    return decide


def break_halfway(board: Board) -> Sequence[ev.Draft]:
    """Its first event folds, its second cannot."""
    new = task_id(board.next_task)
    return [ev.Draft(ev.TaskAdded("half", "do it"), task=new), ev.Draft(ev.TaskAdded("again", "do it"), task=new)]


def write(*drafts: ev.Draft) -> Decide:
    return lambda _: drafts
