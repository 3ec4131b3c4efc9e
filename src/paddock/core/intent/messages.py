"""Messages that people, and within bounds agents, send to the agents of tasks: pure decisions over the board.

A message is named by the number of its record, `m12`. One to a task whose engine waits for an answer is that answer,
and has to be one of its options.
"""

import re
from collections.abc import Iterable

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import TaskId, printable
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.tasks.questions import find_option
from paddock.core.tasks.task import Task
from paddock.core.wording import check_brief

_NUMBER = re.compile(r"m?([1-9][0-9]{0,17})")


def message_name(number: int) -> str:
    return f"m{number}"


def parse_message(text: str) -> int:
    """The number of `m12`. Raises Misuse."""
    match = _NUMBER.fullmatch(text.strip().lower())
    if match is None:
        raise Misuse(
            f"`{printable(text, 40)}` is not a message", "messages look like `m12`; `paddock messages` lists them"
        )
    return int(match[1])


def text_to_repeat(record: ev.Record | None, number: int) -> str:
    """The text of the message in that record. Raises NotFound."""
    if record is None or not isinstance(record.event, ev.MessageSent):
        raise NotFound(f"there is no message `{message_name(number)}`", "`paddock messages` lists them")
    return record.event.text


def send_message(
    board: Board, tasks: Iterable[TaskId], text: str, *, now: bool = False, like: int = 0, by_agent: bool = False
) -> list[ev.Draft]:
    """To each of the tasks. With `now` it interrupts the turn that runs; `like` is the message whose text it is.

    An agent answers no questions: those are for people. Raises PaddockError.
    """
    check_brief(text, "the message")
    drafts = []
    for name in dict.fromkeys(tasks):
        task = board.task(name)
        require_possible(board, task, TaskAction.MESSAGE)
        if by_agent or now:
            said, answers = text, 0
        else:
            said, answers = _as_answer(task, text), task.question
        drafts.append(ev.Draft(ev.MessageSent(said, now=now, like=like, answers=answers), task=name))
    return drafts


def _as_answer(task: Task, text: str) -> str:
    """The text, or the option that it names: by its number, its name or the beginning of that."""
    if not task.options:
        return text
    chosen = find_option(task.options, text)
    if chosen is None:
        listed = ", ".join(f"{number} {printable(one, 40)}" for number, one in enumerate(task.options, 1))
        raise PaddockError(
            f"`{task.id}` waits for an answer, and `{printable(text, 40)}` is not one of: {listed}",
            f"answer with a number or a name: `paddock message {task.id} 1`; `--now` interrupts it instead",
        )
    return chosen
