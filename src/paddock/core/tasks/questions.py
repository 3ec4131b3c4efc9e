"""Questions that agents put to people, in the words in which a task tells them."""

from collections.abc import Sequence

from paddock.core.ids import TaskId, printable

SHOWN_OPTION = 60
SHOWN_QUESTION = 300
"""Characters of it in the reason of a task; the log has all of it."""


def told_of_question(text: str, options: Sequence[str] = ()) -> str:
    asked = f"asks: {printable(' '.join(text.split()), SHOWN_QUESTION)}"
    numbered = ", ".join(f"{place} {printable(option, SHOWN_OPTION)}" for place, option in enumerate(options, 1))
    return f"{asked} ({numbered})" if numbered else asked


def answer_command(task: TaskId) -> str:
    """For any answer: whoever pastes it as it is has not chosen one."""
    return f'paddock message {task} "…"'
