"""Why a task stands where it does, for every edge: of one under review, how far that is."""

from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.outlook import Outlook

if TYPE_CHECKING:
    from paddock.fleet.review.policy import Configured


def reason_of(workspace: "Configured", board: Board, outlook: Outlook | None, task: Task) -> str:
    """In the words of now, which are more recent than the log's."""
    if task.phase is not Phase.REVIEWING:
        return outlook.reason_of(task) if outlook is not None else task.reason
    from paddock.core.review.standing import standing_of
    from paddock.fleet.review.policy import review_policy

    try:
        policy = review_policy(workspace, task)
    except PaddockError:
        policy = None
    return standing_of(board, task, policy)
