"""Comments that are collected in the log, one at a time, until somebody sends them together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.comments import (
    MOST_COMMENTS,
    QUOTE_CHARS,
    CommentsRequest,
    LineComment,
    check_comment,
    comment_on,
)
from paddock.core.intent.landing import require_seen
from paddock.core.tasks.task import FINISHED, Task


@dataclass(frozen=True, slots=True)
class DraftedComment:
    """`seq` is its record; `by` has written it."""

    seq: int
    by: str
    at: float
    comment: LineComment


def draft_comment(board: Board, name: TaskId, comment: LineComment) -> list[ev.Draft]:
    """Raises PaddockError if nothing of the task can be commented on."""
    version_to_comment(board.task(name))
    check_comment(comment)
    if len(board.task(name).comments) >= MOST_COMMENTS:
        hint = f"send them: `paddock comment {name} --send`"
        raise PaddockError(f"{MOST_COMMENTS} comments on `{name}` are waiting to be sent", hint)
    quote = comment.quote[:QUOTE_CHARS]
    drafted = ev.CommentDrafted(comment.path, comment.line, comment.text, comment.side, quote, comment.head)
    return [ev.Draft(drafted, task=name)]


def version_to_comment(task: Task) -> str:
    """The commit that comments would be about. Raises PaddockError if there is none, or it is too late."""
    if task.phase in FINISHED:
        hint = "add a task for what should change" if task.head else f"see `paddock show {task.id}`"
        raise PaddockError(f"task `{task.id}` {task.phase.words}: its agent would not hear of it", hint)
    if task.head is None:
        raise PaddockError(
            f"task `{task.id}` {task.phase.words}: it has delivered nothing yet",
            f'to tell its agent something now: `paddock message {task.id} "…"`',
        )
    return task.head


def drop_comments(board: Board, name: TaskId, numbers: Sequence[int]) -> list[ev.Draft]:
    """`numbers` count from 1, in the order in which the comments were written."""
    waiting = board.task(name).comments
    for number in numbers:
        if not 1 <= number <= len(waiting):
            known = f"there are {len(waiting)}" if waiting else "there is none"
            raise Misuse(f"there is no comment {number} on `{name}`: {known}", f"`paddock comment {name}` lists them")
    chosen = dict.fromkeys(waiting[number - 1] for number in numbers)
    return [ev.Draft(ev.CommentDropped(seq), task=name) for seq in chosen]


def send_comments(
    board: Board,
    name: TaskId,
    drafted: Sequence[DraftedComment],
    *,
    message: str = "",
    rejects: bool = False,
    seen: str | None = None,
) -> list[ev.Draft]:
    """All of them in one message, or as why the change is rejected. `drafted` are those that were read before, `seen`
    is the version that was. Raises PaddockError if somebody has written or dropped one meanwhile, and Outdated."""
    task = board.task(name)
    if not drafted:
        hint = f'write one: `paddock comment {name} FILE:LINE "…"`'
        raise Misuse(f"there is no comment on `{name}` to send", hint)
    if tuple(one.seq for one in drafted) != task.comments:
        hint = f"look at them: `paddock comment {name}`, then send them"
        raise PaddockError(f"the comments on `{name}` have changed meanwhile", hint)
    require_seen(name, seen, task.head or "")
    then: Literal["message", "reject"] = "reject" if rejects else "message"
    request = CommentsRequest(tuple(one.comment for one in drafted), task.head, then, message)
    return [ev.Draft(ev.CommentsSent(task.comments), task=name), *comment_on(board, name, request)]
