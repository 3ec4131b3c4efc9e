"""Continuing without records that are lost: recorded, with every number they gave skipped."""

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.given import Given
from paddock.core.ids import task_id

LOST_TITLE = "lost"


def accept_loss(board: Board, last: int, given: Given, reason: str = "") -> list[ev.Draft]:
    """`last` is the newest record known to have been there, `given` the highest numbers known to have been given.

    A task whose records are lost gets its id back, cancelled: nobody can bring back its brief, and no other task
    may have that id.
    """
    first = board.seq + 1
    drafts: list[ev.Draft] = []
    for number in range(board.next_task, given.tasks + 1):
        name = task_id(number)
        brief = f"The records of {name} are lost: they were among the records {first} to {last}."
        drafts.append(ev.Draft(ev.TaskAdded(LOST_TITLE, brief), task=name))
        drafts.append(ev.Draft(ev.TaskCancelled("its records are lost"), task=name))
    # Last, so that the numbers of attempts are skipped for lost tasks too: they may be tried again.
    return [*drafts, ev.Draft(ev.LogLossAccepted(first, last, given, reason))]
