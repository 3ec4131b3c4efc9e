"""Whose process asks? The marks this process carries, and those of the processes it descends from.

A mark that a command was started without (`env -u`, `env -i`) is still in its parents' environments, which they
cannot change for others to see. What stays hidden is a process whose marked ancestors have all ended. Every command
asks, so little is loaded.
"""

import os
from collections.abc import Iterator, Mapping

from paddock.sessions.identity import HAS_PROCFS, read_proc, read_stat

MARK_VARIABLE = "PADDOCK_MARKER"
ATTEMPT_VARIABLE = "PADDOCK_ATTEMPT"
MOST_ANCESTORS = 64


INHERITED_MARKS = 8


def marked_variables(marker: str, owner: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """What the processes of an attempt or a CI run have in their environment. Marks pile up: see sessions/marks.py."""
    marks = [*inherited.get(MARK_VARIABLE, "").split()[-INHERITED_MARKS:], f"{marker}:{owner}"]
    return {MARK_VARIABLE: " ".join(marks), ATTEMPT_VARIABLE: owner}


def owner_of_caller(marks: tuple[str, ...], marker: str) -> str:
    """The attempt or CI run of the log `marker` that marks name, the nearest first; empty if none does."""
    prefix = f"{marker}:"
    owners = (text.removeprefix(prefix) for text in marks if text.startswith(prefix))
    return next((owner for owner in owners if owner and ":" not in owner), "")


def marks_of_caller(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Every mark of this process and its ancestors, the innermost first."""
    return (*reversed(environment.get(MARK_VARIABLE, "").split()), *marks_of_process(os.getppid()))


def marks_of_process(pid: int) -> tuple[str, ...]:
    """As `marks_of_caller`, of another process."""
    return tuple(_upwards(pid))


def _upwards(pid: int) -> Iterator[str]:
    for _ in range(MOST_ANCESTORS):
        stat = read_stat(pid)
        if stat is None:
            return
        yield from reversed(_marks_of(pid))
        pid = stat.parent


def _marks_of(pid: int) -> tuple[str, ...]:
    """None where another user's process does not show them."""
    try:
        return marks_in(read_proc(f"/proc/{pid}/environ") if HAS_PROCFS else _psutil_environment(pid))
    except OSError:
        return ()


def marks_in(environment: bytes) -> tuple[str, ...]:
    """The marks in an environment as the kernel keeps it."""
    _, found, rest = (b"\0" + environment).partition(b"\0" + MARK_VARIABLE.encode() + b"=")
    return tuple(os.fsdecode(rest.split(b"\0", 1)[0]).split()) if found else ()


def _psutil_environment(pid: int) -> bytes:
    import psutil

    try:
        variables = psutil.Process(pid).environ()
    except psutil.Error:
        return b""
    return b"\0".join(os.fsencode(f"{name}={value}") for name, value in variables.items())
