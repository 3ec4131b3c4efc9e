"""Where attempts that only read leave their answers: one file for each turn, in a folder that they may write to."""

from pathlib import Path

from paddock.core.tasks.task import Attempt
from paddock.fleet.site import Site

ANSWER_VARIABLE = "PADDOCK_ANSWER"
_NOTES_SUFFIX = ".findings"


def answer_file(site: Site, attempt: Attempt) -> Path:
    """For the answer of its open turn, or of its last one."""
    return _answer_file(site, attempt, attempt.turn)


def notes_beside(answer: Path) -> Path:
    """In which a reviewer notes findings as it goes."""
    return Path(f"{answer}{_NOTES_SUFFIX}")


def notes_files(site: Site, attempt: Attempt) -> list[Path]:
    """Of all its turns."""
    return [notes_beside(_answer_file(site, attempt, turn)) for turn in range(1, attempt.turn + 1)]


def _answer_file(site: Site, attempt: Attempt, turn: int) -> Path:
    return site.attempt_folder(attempt.id) / "answers" / f"turn-{turn}"
