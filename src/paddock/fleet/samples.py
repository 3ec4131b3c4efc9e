"""How the fleet was doing over the last days: one line a minute, and one where another limit binds.

Two files: the older one is dropped when the newer one is full. They are a picture for people and nobody decides by
them, so a torn or foreign line counts as missing. Nobody looks while no daemon runs: such times are gaps.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.sessions.regular import open_regular

FILE, OLDER = "samples.jsonl", "samples.old.jsonl"
EVERY_SECONDS = 60.0
SOONEST_SECONDS = 10.0
GAP_SECONDS = 150.0
"""A sample stands for the time after it, unless none follows for so long."""
FULL_BYTES = 950_000
"""About eight days: both files together stay below two megabytes."""
MOST_POINTS = 5_000

_Moment = Annotated[float, Meta(ge=0, le=1e11)]
_Count = Annotated[int, Meta(ge=0, le=2**62)]
_Figure = Annotated[float, Meta(ge=0, le=1e12)]
_Name = Annotated[str, Meta(max_length=40)]


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """`most` agents could have run, of the `cap` that may; `limit` is what kept ready tasks from starting, as in a
    `Glance`. `spent_usd` is what the day had cost by then, what is assumed included. `busy` is runnable processes per
    core; it and what was free are None where nobody had asked the machine.
    """

    at: _Moment
    running: _Count = 0
    ready: _Count = 0
    cap: _Count = 0
    most: _Count = 0
    limit: _Name = ""
    spent_usd: _Figure = 0.0
    busy: _Figure | None = None
    free_memory_bytes: _Count | None = None
    free_disk_bytes: _Count | None = None


class Series(msgspec.Struct, frozen=True):
    """One sample for each `step_seconds` from `since` on; None where no daemon looked."""

    since: float
    step_seconds: float
    samples: tuple[Sample | None, ...]


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Sample).decode


@dataclass
class SampleFile:
    """The daemon's. Raises OSError where nothing can be written."""

    state_dir: Path
    _latest: Sample | None = None

    def is_due(self, now: float, limit: str) -> bool:
        if self._latest is None:
            return True
        passed = now - self._latest.at
        return not 0 <= passed < EVERY_SECONDS or (limit != self._latest.limit and passed >= SOONEST_SECONDS)

    def keep(self, sample: Sample) -> None:
        path = self.state_dir / FILE
        line = _encode(sample) + b"\n"
        is_first, self._latest = self._latest is None, sample
        with open(open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if is_first and size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line  # the daemon before died in the middle of one
            file.write(line)
        if size + len(line) >= FULL_BYTES:
            os.replace(path, self.state_dir / OLDER)


def read_samples(state_dir: Path, since: float, until: float, points: int) -> Series:
    """From `since` to `until`, in that many steps; each shows the extremes of what was seen in it."""
    count = min(max(points, 1), MOST_POINTS)
    step = max(until - since, 1.0) / count
    kept = [sample for sample in _read_all(state_dir) if since - GAP_SECONDS <= sample.at <= until]
    return Series(since, step, tuple(_fill(sorted(kept, key=lambda sample: sample.at), since, step, count)))


def _read_all(state_dir: Path) -> Iterator[Sample]:
    for name in (OLDER, FILE):
        try:
            with open(open_regular(state_dir / name, os.O_RDONLY), "rb") as file:
                content = file.read(2 * FULL_BYTES)
        except OSError:
            continue
        for line in content.split(b"\n"):
            try:
                yield _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue


def _fill(samples: Sequence[Sample], since: float, step: float, count: int) -> Iterator[Sample | None]:
    position, latest = 0, None
    for number in range(count):
        start, end, seen = since + number * step, since + (number + 1) * step, []
        while position < len(samples) and samples[position].at < end:
            latest = samples[position]
            if latest.at >= start:
                seen.append(latest)
            position += 1
        if seen:
            yield _extremes(seen)
        else:
            yield latest if latest is not None and start - latest.at <= GAP_SECONDS else None


def _extremes(seen: Sequence[Sample]) -> Sample:
    """One for several: how many ran at most, how little there was left of everything, and what mostly bound."""
    last = seen[-1]
    limits = Counter(sample.limit for sample in seen if sample.limit)
    return Sample(
        at=last.at,
        running=max(sample.running for sample in seen),
        ready=max(sample.ready for sample in seen),
        cap=last.cap,
        most=min(sample.most for sample in seen),
        limit=limits.most_common(1)[0][0] if limits else "",
        spent_usd=last.spent_usd,
        busy=max((sample.busy for sample in seen if sample.busy is not None), default=None),
        free_memory_bytes=_least(sample.free_memory_bytes for sample in seen),
        free_disk_bytes=_least(sample.free_disk_bytes for sample in seen),
    )


def _least(amounts: Iterable[int | None]) -> int | None:
    return min((amount for amount in amounts if amount is not None), default=None)
