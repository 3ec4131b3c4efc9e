"""Questions that agents and engines put to people: the words in which a task tells them, and what answers mean."""

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


def find_option(options: Sequence[str], text: str) -> str | None:
    """The option that a person means: by its number, its name, or a beginning that only one has; None for any other."""
    word = text.strip().casefold()
    if word.isdecimal() and len(word) < 9 and 1 <= int(word) <= len(options):
        return options[int(word) - 1]
    if text in options:
        return text
    names = {option: option.strip().casefold() for option in options}
    exact = [option for option, name in names.items() if name == word]
    begun = [option for option, name in names.items() if word and name.startswith(word)]
    found = exact or begun
    return found[0] if len(found) == 1 else None


def recorded_option(options: Sequence[str], text: str) -> str | None:
    """The option that an answer from the log names. Its name as it stands comes first: an agent may call its options by
    each other's numbers."""
    return text if text in options else find_option(options, text)
