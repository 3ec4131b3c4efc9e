"""What the merge queue decided lately, and why: one row for each landing, failure and end of a change."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.merge import events as qe
from paddock.core.merge.model import Purpose, Result
from paddock.core.merge.recent import RecentRun
from paddock.core.money.spending import day_of
from paddock.views.document import iso

SHOWN_VERDICTS = 40
KEPT_VERDICTS = 5_000
WORDS = 240


class VerdictRow(msgspec.Struct, frozen=True):
    """`run` is the CI run that says so, and whose output tells more; `change` is the one it is about, where one is.

    `outcome`: landed, failed, rejected, flake, conflict, noop, cancelled, lost (a CI run), moved (main, by others).
    """

    seq: int
    at: str
    outcome: str
    run: str | None
    change: str | None
    words: str


class DecidedToday(msgspec.Struct, frozen=True):
    """Since midnight in UTC; `landed` and `rejected` count changes, `flakes` CI runs."""

    landed: int
    rejected: int
    flakes: int


@dataclass(frozen=True, slots=True)
class _Kept:
    row: VerdictRow
    day: str
    changes: int


@dataclass
class Verdicts:
    _kept: deque[_Kept] = field(default_factory=lambda: deque(maxlen=KEPT_VERDICTS))

    def fold(self, record: Record, run_of: Callable[[str], RecentRun | None]) -> None:
        """`run_of` knows the runs as they are after the record."""
        told = _tell(record, run_of)
        if told is not None:
            outcome, run, change, words, changes = told
            row = VerdictRow(record.seq, iso(record.at), outcome, run, change, printable(words, WORDS))
            self._kept.append(_Kept(row, day_of(record.at), changes))

    def rows(self) -> list[VerdictRow]:
        """Newest first."""
        newest = list(self._kept)[-SHOWN_VERDICTS:]
        return [kept.row for kept in reversed(newest)]

    def today(self, now: float) -> DecidedToday:
        day = day_of(now)
        counts = {"landed": 0, "rejected": 0, "flake": 0}
        for kept in reversed(self._kept):
            if kept.day != day:
                break
            if kept.row.outcome in counts:
                counts[kept.row.outcome] += kept.changes
        return DecidedToday(counts["landed"], counts["rejected"], counts["flake"])


_Told = tuple[str, str | None, str | None, str, int]


def _tell(record: Record, run_of: Callable[[str], RecentRun | None]) -> _Told | None:
    match record.event:
        case qe.TrainLanded(run=name, new=new):
            run = run_of(name)
            members = run.members if run is not None else ()
            one = members[0] if len(members) == 1 else None
            return "landed", name, one, f"{_count(len(members))}, main {new[:7]}", len(members)
        case qe.RunEnded(run=name):
            run = run_of(name)
            return _tell_run(run) if run is not None else None
        case qe.ChangeRejected(id=name, reason=reason, runs=runs, by=by):
            words = f"rejected by {by}: {reason}" if by else reason
            return "rejected", runs[-1] if runs else None, name, words, 1
        case qe.ChangeConflicted(id=name, paths=paths, against=against):
            where = f" in {', '.join(paths[:3])}" if paths else ""
            return "conflict", None, name, f"with {against or 'landed work'}{where}; back to its agent", 1
        case qe.ChangeFoundEmpty(id=name):
            return "noop", None, name, "main has all of it already", 1
        case qe.ChangeCancelled(id=name, reason=reason, by=by):
            return "cancelled", None, name, f"{reason}{f', by {by}' if by and by not in reason else ''}", 1
        case qe.MainMoved(commit=commit, by=by) if by:
            return "moved", None, None, f"main is at {commit[:7]}, not by the queue: {by}", 0
        case qe.MainRestored(commit=commit):
            return "moved", None, None, f"main restored to {commit[:7]} by {record.actor}", 0
        case _:
            return None


def _tell_run(run: RecentRun) -> _Told | None:
    one = run.members[0] if len(run.members) == 1 else None
    if run.result is Result.PASS:
        flaked = run.purpose is Purpose.CONFIRM and not run.reused
        return ("flake", run.id, one, "failed, then passed; nobody is blamed", 1) if flaked else None
    what = why_failed(run)
    if run.result is Result.INFRA:
        return "lost", run.id, one, f"{what}; nobody is blamed, it is run again", 0
    if run.result is Result.CANCELLED or run.result is None:
        return None
    return "failed", run.id, one, f"{what}; {_consequence(run)}", len(run.members)


def why_failed(run: RecentRun) -> str:
    """What CI said, in a few words."""
    said = run.note or ", ".join(run.failed)
    ended = {Result.TIMEOUT: "did not end in time", Result.INFRA: "lost", Result.FAIL: "failed"}
    return said or (ended.get(run.result, "") if run.result is not None else "")


def _consequence(run: RecentRun) -> str:
    if not run.members:
        return "main itself"
    if len(run.members) > 1:
        return f"{len(run.members)} suspects"
    tries = run.tries[0] if run.tries else 0
    return "failed again alone" if tries else "alone for the first time, to be confirmed"


def _count(changes: int) -> str:
    return f"{changes} change{'s' * (changes != 1)}"
