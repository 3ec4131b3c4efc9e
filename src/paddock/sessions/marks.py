"""Whose process is this? The mark an attempt's processes carry, and one pass over all processes to find it.

A mark is in the environment, which every child inherits and keeps through `setsid`, double forks and the
death of its parents. Marks pile up: a fleet started inside an attempt of another fleet adds its own to the one
it inherited, so ending the outer attempt finds the inner one's processes too.

What a mark cannot find: a process that was given an empty environment *and* has lost all marked ancestors.
While an ancestor lives, it is found as a descendant.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import psutil

from paddock.sessions.ancestry import MARK_VARIABLE, marked_variables, marks_in
from paddock.sessions.identity import HAS_PROCFS, ProcessIdentity, ProcessStat, identify, read_proc, read_stat
from paddock.sessions.protocol import LiveProcess

COMMAND_CHARACTERS = 200
LIST_PASSES = 10
EXEC_PAUSES = 200
EXEC_PAUSE_SECONDS = 0.001
"""How often one pass waits, in all, for processes that are just being started. Counted, because a machine that stalls
stalls them too."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The log an attempt belongs to (`marker`, one word unique to it) and the attempt's id."""

    marker: str
    attempt: str

    def __post_init__(self) -> None:
        for word in (self.marker, self.attempt):
            if not word or ":" in word or any(character.isspace() for character in word):
                raise ValueError(f"a mark is made of words without blanks and colons, not {word!r}")

    def as_text(self) -> str:
        return f"{self.marker}:{self.attempt}"

    def variables(self, inherited: str = "") -> dict[str, str]:
        """The environment of the attempt's processes; `inherited` is the starter's own mark variable."""
        return marked_variables(self.marker, self.attempt, {MARK_VARIABLE: inherited})


@dataclass(frozen=True, slots=True)
class MarkedProcess:
    """A running process and the attempt it belongs to. `command` is cut and holds no control characters."""

    mark: Mark
    identity: ProcessIdentity
    group: int
    age_seconds: float
    command: str


def describe(process: MarkedProcess) -> LiveProcess:
    """As those see it who know nothing of pids."""
    return LiveProcess(process.mark.attempt, f"pid {process.identity.pid}", process.age_seconds, process.command)


def find_marked(marker: str) -> tuple[MarkedProcess, ...]:
    """Every process of every attempt of one log, from one pass over the process table.

    This process and its ancestors are never among them.
    """
    prefix = f"{marker}:"

    def attempt_of(texts: tuple[str, ...]) -> Mark | None:
        ours = [text.removeprefix(prefix) for text in texts if text.startswith(prefix)]
        # An agent may write what it likes into its environment.
        names = [name for name in ours if name and ":" not in name]
        return Mark(marker, names[-1]) if names else None

    return _find(attempt_of)


def find_attempts(marks: Collection[Mark]) -> tuple[MarkedProcess, ...]:
    """As `find_marked`, but only the processes of these attempts."""
    wanted = {mark.as_text(): mark for mark in marks}

    def attempt_of(texts: tuple[str, ...]) -> Mark | None:
        return next((wanted[text] for text in reversed(texts) if text in wanted), None)

    return _find(attempt_of)


@dataclass(frozen=True, slots=True)
class _Row:
    stat: ProcessStat
    marks: tuple[str, ...]


def _find(attempt_of: Callable[[tuple[str, ...]], Mark | None]) -> tuple[MarkedProcess, ...]:
    rows = {row.stat.identity.pid: row for row in _scan()}
    owners: dict[int, Mark | None] = {}

    def owner_of(pid: int) -> Mark | None:
        lineage = []
        while pid in rows and pid not in owners:
            lineage.append(pid)
            owners[pid] = attempt_of(rows[pid].marks)
            if owners[pid] is not None:
                break
            pid = rows[pid].stat.parent
        owner = owners.get(pid)
        owners.update(dict.fromkeys(lineage, owner))
        return owner

    spared = _lineage(rows, os.getpid())
    found = ((owner_of(pid), row) for pid, row in rows.items() if pid not in spared)
    now = _process_clock()
    return tuple(_describe(mark, row.stat, now) for mark, row in found if mark is not None)


def _lineage(rows: Mapping[int, _Row], pid: int) -> frozenset[int]:
    pids: set[int] = set()
    while pid in rows and pid not in pids:
        pids.add(pid)
        pid = rows[pid].stat.parent
    return frozenset(pids)


def _pids() -> Iterator[int]:
    """All there are, then those that came meanwhile: one that forks and ends would be missed together with its child,
    the one for being gone when it is looked at, the other for not being there when the list was made."""
    seen: set[int] = set()
    for _ in range(LIST_PASSES):
        listed = (int(name) for name in os.listdir("/proc") if name.isdecimal()) if HAS_PROCFS else psutil.pids()
        fresh = [pid for pid in listed if pid not in seen]
        if not fresh:
            return
        seen.update(fresh)
        yield from fresh


def _scan() -> Iterator[_Row]:
    pauses = iter(range(EXEC_PAUSES))
    for pid in _pids():
        stat = read_stat(pid)
        if stat is None:
            continue
        marks = () if stat.kernel else _read_marks(pid, pauses)
        # A pid may change hands between the two reads; marks count only when it provably did not.
        if marks and identify(pid) != stat.identity:
            continue
        yield _Row(stat, marks)


def _read_marks(pid: int, pauses: Iterator[int]) -> tuple[str, ...]:
    try:
        return marks_in(_settled_environment(pid, pauses))
    except (OSError, psutil.Error):
        return ()


def _settled_environment(pid: int, pauses: Iterator[int]) -> bytes:
    """Both the environment and the arguments read as empty while a process is inside `execve`, so one that shows
    neither is asked again: a process must not be missed because it was just starting."""
    while True:
        environment = _environment(pid)
        if environment:
            return environment
        if _arguments(pid):
            return _environment(pid)
        if next(pauses, None) is None:
            return b""
        time.sleep(EXEC_PAUSE_SECONDS)


def _environment(pid: int) -> bytes:
    if HAS_PROCFS:
        return read_proc(f"/proc/{pid}/environ")
    variables = psutil.Process(pid).environ()
    return b"\0".join(os.fsencode(f"{name}={value}") for name, value in variables.items())


def _arguments(pid: int) -> bytes:
    if HAS_PROCFS:
        return read_proc(f"/proc/{pid}/cmdline")
    return b"\0".join(os.fsencode(argument) for argument in psutil.Process(pid).cmdline())


def _describe(mark: Mark, stat: ProcessStat, now: float) -> MarkedProcess:
    age = max(0.0, now - stat.identity.started / _TICKS_PER_SECOND)
    return MarkedProcess(mark, stat.identity, stat.group, age, _command(stat.identity.pid))


_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if HAS_PROCFS else 1_000_000


def _process_clock() -> float:
    """Seconds, by the clock that the starts of processes are counted by."""
    return float(read_proc("/proc/uptime").split()[0]) if HAS_PROCFS else time.time()


def _command(pid: int) -> str:
    try:
        return cut_command(os.fsdecode(_arguments(pid).rstrip(b"\0").replace(b"\0", b" ")))
    except (OSError, psutil.Error):
        return ""


def cut_command(text: str) -> str:
    """A command line as evidence shows it: short, on one line, harmless to a terminal."""
    cut = text[:COMMAND_CHARACTERS]
    return cut if cut.isprintable() else "".join(c if c.isprintable() else "?" for c in cut)
