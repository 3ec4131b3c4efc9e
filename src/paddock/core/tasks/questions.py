"""Questions that agents put to people, in the words in which a task tells them."""

from paddock.core.ids import TaskId, printable

SHOWN_QUESTION = 300
"""Characters of it in the reason of a task; the log has all of it."""


def told_of_question(text: str) -> str:
    return f"asks: {printable(' '.join(text.split()), SHOWN_QUESTION)}"


def answer_command(task: TaskId) -> str:
    return f'paddock message {task} "…"'
