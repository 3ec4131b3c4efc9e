"""The symbols that steps are told in: a phase, and of files which sort."""

import re
from dataclasses import dataclass
from enum import StrEnum

from paddock.insight.file_class import class_of_file
from paddock.insight.trace import TARGET_CHARS


class Phase(StrEnum):
    SEARCH = "SEARCH"
    READ = "READ"
    EDIT = "EDIT"
    CREATE = "CREATE"
    RUN = "RUN"
    TEST = "TEST"
    BUILD = "BUILD"
    GIT_READ = "GIT_READ"
    GIT_WRITE = "GIT_WRITE"
    FS = "FS"
    NET = "NET"
    PLAN = "PLAN"
    DELEGATE = "DELEGATE"
    ASK = "ASK"
    SUBMIT = "SUBMIT"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Activity:
    """`symbol` is a phase, of files with their class (`EDIT:test`). `target` is a file or the family of a command."""

    symbol: str
    target: str = ""


# Of what is done to a file it matters to which sort.
FILE_PHASES = frozenset({Phase.READ, Phase.EDIT, Phase.CREATE})
# An editor of SWE-agent is told which lines of the open file it changes.
_LINES = re.compile(r"\d+(?::\d+)?\Z")


def on_file(phase: Phase, path: str) -> Activity:
    path = "" if _LINES.match(path) else one_word(path)
    if not path or phase not in FILE_PHASES:
        return Activity(phase.value, path)
    return Activity(f"{phase}:{class_of_file(path)}", path)


def of_family(phase: Phase, *words: str) -> Activity:
    """Of a command that is told by its first words, such as `git commit`."""
    return Activity(phase.value, one_word(" ".join(word for word in words if word)))


def phase_of(symbol: str) -> str:
    """Without the class of file."""
    return symbol.partition(":")[0]


def one_word(text: str) -> str:
    """On one line, bounded, always encodable; of what is too long the end is kept, where a path has its name."""
    if not text.isprintable():
        text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return text if len(text) <= TARGET_CHARS else "…" + text[1 - TARGET_CHARS :]
