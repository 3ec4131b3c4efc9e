"""Short ids that are never reused: tasks `t41`, attempts `t41.2`, CI runs `r7`."""

import re
from typing import NewType

from paddock.core.errors import Misuse

TaskId = NewType("TaskId", str)
AttemptId = NewType("AttemptId", str)

_TASK = re.compile(r"t[1-9][0-9]{0,8}")
_ATTEMPT = re.compile(r"(t[1-9][0-9]{0,8})\.([1-9][0-9]{0,5})")
_RUN = re.compile(r"r[1-9][0-9]{0,8}")
_CHECK_RUN = re.compile(r"(t[1-9][0-9]{0,8})-([0-9a-f]{10})-[0-9a-f]{8}")
_TASK_RANGE = re.compile(r"t([1-9][0-9]{0,8})(?:-|\.\.)t?([1-9][0-9]{0,8})")
_PLAIN_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,63}")
_TAKEN = re.compile(r"main|[tr][0-9]+(\.[0-9]+)?", re.IGNORECASE)
_SLUG_GAP = re.compile(r"[^a-z0-9]+")

MOST_MARKS = 4
_ODD_RUN = re.compile(rf"[^\w\s\x00-\u02ff]{{{MOST_MARKS + 1},}}")
"""Neither letters nor digits: marks that are piled up, or drawings."""

MOST_IN_A_RANGE = 10_000
CHANGES = "refs/paddock/changes"
RUN_OWNER = "run-"
"""Before the id of a CI run where owners of processes and output are named."""
RESOLVE_SUFFIX = ".resolve"
"""Of names under which a person, rather than an attempt, has a worktree."""


def task_id(number: int) -> TaskId:
    return TaskId(f"t{number}")


def attempt_id(task: TaskId, number: int) -> AttemptId:
    return AttemptId(f"{task}.{number}")


def task_number(task: TaskId) -> int:
    return int(task[1:])


def attempt_number(attempt: AttemptId) -> int:
    return int(attempt.partition(".")[2])


def task_of(attempt: AttemptId) -> TaskId:
    return TaskId(attempt.partition(".")[0])


def parse_task(text: str) -> TaskId:
    """Accepts `t41` and, because people paste them, `T41` and `t41.2`. Raises Misuse."""
    word = text.strip().lower()
    if _TASK.fullmatch(word):
        return TaskId(word)
    if match := _ATTEMPT.fullmatch(word):
        return TaskId(match[1])
    raise Misuse(f"`{printable(text, 40)}` is not a task id", "task ids look like `t41`; `paddock status` lists them")


def parse_task_span(text: str) -> tuple[int, int]:
    """The first and the last number of one id or of a range: `t3-t7`, `t3..t7`, `t3-7`. Raises Misuse."""
    match = _TASK_RANGE.fullmatch(text.strip().lower())
    if match is None:
        number = task_number(parse_task(text))
        return number, number
    first, last = int(match[1]), int(match[2])
    if first > last:
        raise Misuse(
            f"`{printable(text, 40)}` is not a range: t{first} comes after t{last}", f"write `t{last}-t{first}`"
        )
    return first, last


def parse_task_range(text: str) -> list[TaskId]:
    """All tasks of such a span. Raises Misuse."""
    first, last = parse_task_span(text)
    if last - first >= MOST_IN_A_RANGE:
        raise Misuse(
            f"`{printable(text, 40)}` spans {last - first + 1:,} tasks", f"name at most {MOST_IN_A_RANGE:,} at once"
        )
    return [task_id(number) for number in range(first, last + 1)]


def parse_attempt(text: str) -> AttemptId:
    """Raises Misuse."""
    word = text.strip().lower()
    if _ATTEMPT.fullmatch(word):
        return AttemptId(word)
    raise Misuse(f"`{printable(text, 40)}` is not an attempt", "attempts look like `t41.2`; `paddock show` lists them")


def is_run(text: str) -> bool:
    """Whether it names a CI run, such as `r7`."""
    return _RUN.fullmatch(text.strip().lower()) is not None


def parse_run(text: str) -> str:
    """Raises Misuse."""
    word = text.strip().lower()
    if _RUN.fullmatch(word):
        return word
    raise Misuse(f"`{printable(text, 40)}` is not a CI run", "CI runs look like `r7`; `paddock queue` lists them")


def check_run(task: TaskId, head: str, digest: str) -> str:
    """The run that checks a delivered change; the digest is of all that it runs."""
    return f"{task}-{head[:10]}-{digest[:8]}"


def checked_by(run: str) -> tuple[TaskId, str] | None:
    """The task whose change the run checks, and how its head begins; None for a run of the merge queue."""
    found = _CHECK_RUN.fullmatch(run)
    return (TaskId(found[1]), found[2]) if found is not None else None


WORKERS = ("agent:", "ci:")
"""What the name of an actor begins with when it is no person: an agent's attempt, or a CI run."""


def is_task(text: str) -> bool:
    return _TASK.fullmatch(text) is not None


def branch_change(branch: str) -> str:
    """The id of the change that a branch queued by name becomes: that name, wherever it can be an id.

    A name that looks like a task or a run, is too long, or has letters a ref of ours cannot have is shortened and
    gets a number of its own.
    """
    if _PLAIN_BRANCH.fullmatch(branch) and not _TAKEN.fullmatch(branch):
        return branch
    return f"{branch_slug(branch) or 'branch'}-{_number_of(branch)}"


def resolve_folder(change: str) -> str:
    """The name of the worktree in which a person resolves a change's conflict."""
    return f"{change if is_task(change) else f'{branch_slug(change)}-{_number_of(change)}'}{RESOLVE_SUFFIX}"


def change_folder(change_id: str) -> str:
    return f"{CHANGES}/{change_id.replace('/', '+')}"


def _number_of(branch: str) -> str:
    from hashlib import blake2b  # imports OpenSSL, which would slow down every command

    return blake2b(branch.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


def branch_slug(title: str) -> str:
    """`Fix: the parser!` becomes `fix-the-parser`; empty when no ASCII letter or digit is left."""
    return _SLUG_GAP.sub("-", title.lower())[:40].strip("-")


def branch_name(task: TaskId, title: str, label: str = "") -> str:
    """`label` is the log's, where the repository had another log before, whose tasks had branches too."""
    return f"paddock/{'-'.join(part for part in (task, branch_slug(title), label) if part)}"


def printable(text: str, limit: int = 200) -> str:
    """One safe line for a terminal: control characters become `�`, piles of marks are cut, and so is long text."""
    line = text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)
    line = line if line.isascii() else _ODD_RUN.sub(_without_piles, line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def recordable(name: str) -> str:
    """A file's name as it can be written down: bytes that are not UTF-8 become `�`."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def harmless(text: str) -> str:
    """Text of any length for a terminal: lines and tabs stay, other control characters become `�`."""
    shown = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
    return shown if shown.isascii() else _ODD_RUN.sub(_without_piles, shown)


def _without_piles(run: re.Match[str]) -> str:
    """Accents and other marks on one letter, up to as many as everyday writing has: more would cover other lines."""
    from unicodedata import category

    kept, marks = [], 0
    for letter in run.group():
        marks = marks + 1 if category(letter) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    return "".join(kept)


def some_names(names: tuple[str, ...], most: int = 8) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(printable(name, 80) for name in names[:most])}{more}"
