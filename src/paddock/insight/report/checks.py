"""Which checks take longest, and which cannot be relied on: those of reviews, and the runs of CI."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

import msgspec

from paddock.core.events import Record
from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.core.review import events as rv
from paddock.core.review.checks import ACCEPT

KINDS = (rv.CheckEnded.kind, qe.RunStarted.kind, qe.RunEnded.kind)
MOST_CHECKS = 8
_UNTOLD = frozenset({Result.INFRA, Result.CANCELLED})


class SlowCheck(msgspec.Struct, frozen=True):
    """`kind` is `review` for a fast check of a delivered change, and `ci` for a run of the merge queue. `slowest` is
    where it took `longest_seconds`: a run, or a task. `flaked` are failures that meant nothing."""

    name: str
    kind: str
    runs: int
    seconds: float
    median_seconds: float
    longest_seconds: float
    slowest: str
    failed: int
    flaked: int


@dataclass
class _Timed:
    times: list[tuple[float, str]] = field(default_factory=list)
    failed: int = 0
    flaked: int = 0


def find_slow_checks(records: Iterable[Record]) -> list[SlowCheck]:
    """Those that took most time in all first. `records` are those of KINDS, in order."""
    found: dict[tuple[str, str], _Timed] = {}
    started: dict[str, float] = {}
    for record in records:
        match record.event:
            case rv.CheckEnded() as check:
                mine = found.setdefault(("review", "acceptance" if check.name == ACCEPT else check.name), _Timed())
                mine.times.append((check.seconds, record.task or ""))
                mine.failed += not check.passed
            case qe.RunStarted(run=run):
                started[run] = record.at
            case qe.RunEnded(run=run) as ended if run in started:
                _count_run(found, ended, max(0.0, record.at - started.pop(run)))
            case _:
                pass
    rows = [_row(*key, timed) for key, timed in found.items() if timed.times]
    return sorted(rows, key=lambda row: (-row.seconds, row.name))[:MOST_CHECKS]


def _count_run(found: dict[tuple[str, str], _Timed], ended: qe.RunEnded, seconds: float) -> None:
    """Nobody writes down how long one check of several took, so they are told together."""
    if ended.reused is not None or ended.cannot_run or ended.result in _UNTOLD:
        return
    mine = found.setdefault(("ci", " + ".join(sorted(ended.ran)) or "ci"), _Timed())
    mine.times.append((seconds, ended.run))
    mine.failed += ended.result is not Result.PASS
    mine.flaked += bool(ended.flaked)


def _row(kind: str, name: str, timed: _Timed) -> SlowCheck:
    seconds = [one for one, _ in timed.times]
    longest, where = max(timed.times)
    return SlowCheck(
        name, kind, len(seconds), sum(seconds), median(seconds), longest, where, timed.failed, timed.flaked
    )
