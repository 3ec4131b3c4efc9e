"""How far the review of a change is, in a few words: the same on every edge."""

from typing import assert_never

from paddock.core.board import Board
from paddock.core.ids import printable, some_names
from paddock.core.review import plan as act
from paddock.core.review.plan import ReviewPolicy, next_action
from paddock.core.tasks.task import Phase, Task

WHENEVER = float("inf")
"""Pauses are over by then: what is told must not change while nothing happens."""


def standing_of(board: Board, task: Task, policy: ReviewPolicy | None) -> str:
    """Of a task under review. Without a policy, which settings may not give any more, it tells what the log has."""
    assert task.phase is Phase.REVIEWING
    number = board.reviews.of(task.id).round
    words = f"round {number} of {policy.rounds}" if policy is not None else f"round {number}"
    return f"{words}: {_words(board, task, policy)}"


def _words(board: Board, task: Task, policy: ReviewPolicy | None) -> str:
    if (live := task.live_attempt) is not None:
        return f"{printable(live.agent or live.engine, 40)} reviews it"
    if policy is None:
        return "under review"
    action = next_action(board, task, policy, WHENEVER)
    match action:
        case act.RunChecks(names=names):
            return f"at its checks: {some_names(names)}"
        case act.StartReview(reviewer=name):
            return f"next, {printable(name, 40)} reviews it"
        case act.SendBack(findings=names):
            return f"{some_names(names)} {'go' if len(names) != 1 else 'goes'} back to its worker"
        case act.RouteFindings(owners=owners):
            names = tuple(name for name, _ in owners)
            return f"{some_names(names)} {'go' if len(names) != 1 else 'goes'} to whoever owns the path"
        case act.Wait():
            return _waits(board, task)
        case act.Pass() | act.SettleFindings():
            return "all have spoken"
        case act.Block(reason=reason):
            return printable(reason, 120)
        case _:
            assert_never(action)


def _waits(board: Board, task: Task) -> str:
    routed = [one for one in board.reviews.blocking_of(task.id) if one.routed is not None]
    tasks = tuple(dict.fromkeys(str(one.routed) for one in routed))
    return f"waits for {some_names(tasks)}, about {some_names(tuple(one.id for one in routed))}"
