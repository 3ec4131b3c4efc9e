"""The moments at which a schedule is due: a cron time by the clocks of a zone.

Clocks are put forward and back, so a local time may not exist, or exist twice. As RFC 5545 has it, one that does not
exist is the moment that it would have been had the clocks stayed as they were, and one that exists twice is the first.
So a schedule that names an hour is due exactly as often as a calendar without clock changes would have it, apart from
moments that fall together. One that names no hour (`*/15 * * * *`) means a pace: it goes on through the hour that
comes twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from heapq import heappop, heappush
from itertools import takewhile

from paddock.core.schedules.cron import Cron, parse_cron
from paddock.core.schedules.zones import find_zone

MINUTE = 60.0
DAY = 86400.0
_NEAR = 26 * 3600.0
"""How far around a moment a change of clocks matters: the largest there was left out a day."""


@dataclass(frozen=True, slots=True)
class DueTimes:
    """The last of the times that were due, in their order; `more` if there were others before them."""

    times: tuple[float, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Timetable:
    cron: Cron
    zone: tzinfo

    def after(self, moment: float) -> Iterator[float]:
        """Every moment at which it is due after this one, each once, in order."""
        told, ahead = moment, list[float]()
        start = datetime.fromtimestamp(moment, self.zone).replace(tzinfo=None)
        for local in self.cron.walk(start - timedelta(seconds=self._change_near(moment))):
            first, second = (local.replace(tzinfo=self.zone, fold=fold).timestamp() for fold in (0, 1))
            # Whatever local time comes later is no earlier moment than this.
            while ahead and ahead[0] <= min(first, second):
                if (due := heappop(ahead)) > told:
                    yield (told := due)
            heappush(ahead, first)
            if second > first and self.cron.keeps_pace:
                heappush(ahead, second)
        yield from sorted({due for due in ahead if due > told})

    def next(self, moment: float) -> float | None:
        """None if it is never due again."""
        return next(self.after(moment), None)

    def between(self, after: float, until: float, most: int) -> DueTimes:
        """The last `most` times after the one moment and up to the other. Looks back from there in growing strides, so
        a year of missed minutes costs no more than an hour of them."""
        width = most * MINUTE
        while True:
            start = max(after, until - width)
            found = tuple(takewhile(lambda due: due <= until, self.after(start)))
            if len(found) > most or start <= after:
                return DueTimes(found[-most:], len(found) > most or (start > after))
            width *= 4

    def count(self, after: float, until: float, most: int) -> int:
        """How many times that is, at most `most`."""
        return len(self.between(after, until, most).times)

    def _change_near(self, moment: float) -> float:
        """By how many seconds clocks are put forward or back around then."""
        moments = (moment - _NEAR, moment, moment + _NEAR)
        offsets = [datetime.fromtimestamp(at, self.zone).utcoffset() or timedelta() for at in moments]
        return (max(offsets) - min(offsets)).total_seconds()


@lru_cache(maxsize=512)
def timetable_of(cron: str, zone: str) -> Timetable:
    """Raises Misuse for a zone that this machine does not know."""
    return Timetable(parse_cron(cron), find_zone(zone))
