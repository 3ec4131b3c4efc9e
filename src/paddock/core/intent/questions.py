"""What an agent says about its own task in the middle of its work: a question for a person, or that there is nothing
to do."""

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import AttemptId, task_of
from paddock.core.intent.workers import Worker
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import check_brief

MOST_QUESTION_BYTES = 4_000
MOST_QUESTIONS = 8
"""In one attempt: an agent that asks more often needs a better brief."""
LONGEST_WAIT_SECONDS = 600.0
"""For an answer in the middle of a turn: less than a desk, or a deadline for tools, allows."""


def ask_person(board: Board, worker: Worker | None, text: str) -> list[ev.Draft]:
    """Raises PaddockError where it may not ask, or not now."""
    task, live = _own_attempt(board, worker, "ask")
    _check_words(text, "the question")
    if live.role is not task.role:
        raise PaddockError(
            f"`{live.id}` reviews the work of another agent: it cannot ask", "say in your findings what is unclear"
        )
    if task.question:
        raise PaddockError(
            "your last question has not been answered yet", "end your turn: the answer comes as your next message"
        )
    if live.questions >= MOST_QUESTIONS:
        raise PaddockError(
            f"`{live.id}` has asked {live.questions} questions, which is the limit",
            "decide by what you know, and say in your answer what you assumed",
        )
    return [ev.Draft(ev.QuestionAsked(text), task=task.id, attempt=live.id)]


def find_answer(board: Board, attempt: AttemptId, question: int) -> tuple[int, ...] | None:
    """The messages since the question, once a person has answered it; None before. Empty if a turn has them already,
    or if the task was moved on without an answer."""
    task = board.task(task_of(attempt))
    if task.question == question:
        return None
    return tuple(seq for seq in task.inbox if seq > question)


def read_answer(board: Board, attempt: AttemptId, messages: tuple[int, ...]) -> list[ev.Draft]:
    """Those of the messages that still wait are not delivered again."""
    task = board.task(task_of(attempt))
    live = task.live_attempt
    waiting = tuple(seq for seq in messages if seq in task.inbox)
    if live is None or live.id != attempt or not waiting:
        return []
    return [ev.Draft(ev.MessagesRead(waiting), task=task.id, attempt=attempt)]


def declare_noop(board: Board, worker: Worker | None, reason: str) -> list[ev.Draft]:
    """Judged when the turn ends: commits that are there count for more. Raises PaddockError."""
    task, live = _own_attempt(board, worker, "noop")
    _check_words(reason, "the reason")
    if live.role is not Role.WORK:
        raise PaddockError(f"`{live.id}` only reads: it has no change to leave out", "give your answer instead")
    return [ev.Draft(ev.NoopDeclared(" ".join(reason.split())), task=task.id, attempt=live.id)]


def _own_attempt(board: Board, worker: Worker | None, command: str) -> tuple[Task, Attempt]:
    if worker is None or worker.is_run:
        hint = (
            'people send messages: `paddock message t3 "…"`'
            if command == "ask"
            else "people cancel: `paddock cancel t3`"
        )
        raise Misuse(f"`paddock {command}` is for agents, inside their attempt", hint)
    task = board.task(task_of(AttemptId(worker.attempt)))
    live = task.live_attempt
    if live is None or live.id != worker.attempt:
        raise PaddockError(f"attempt `{worker.attempt}` has ended", "there is nobody to answer")
    return task, live


def _check_words(text: str, what: str) -> None:
    check_brief(text, what)
    if (size := len(text.encode())) > MOST_QUESTION_BYTES:
        raise Misuse(f"{what} has {size:,} bytes; the limit is {MOST_QUESTION_BYTES:,}", "say it in fewer words")
