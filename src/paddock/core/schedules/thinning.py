"""Sparser forms of a cron time: every second, third … of its times on a day, as cron can write them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paddock.core.schedules.cron import FIELDS, Cron, parse_cron

_MINUTE, _HOUR = FIELDS[0], FIELDS[1]


@dataclass(frozen=True, slots=True)
class SparserCron:
    """`merged` of the times of the cron time that it is made from become one of these."""

    cron: Cron
    merged: int


def sparser(cron: Cron) -> Iterator[SparserCron]:
    """From the densest to one that happens once a day. Times that are left keep their distance from each other."""
    minute, hour, *rest = cron.text.split()
    minutes, hours = values_of(minute, _MINUTE.first, _MINUTE.last), values_of(hour, _HOUR.first, _HOUR.last)
    for every in _divisors(len(minutes)):
        fields = (write_values(minutes[::every], 60), hour, *rest)
        yield SparserCron(parse_cron(" ".join(fields)), every)
    for every in _divisors(len(hours)):
        fields = (str(minutes[0]), write_values(hours[::every], 24), *rest)
        yield SparserCron(parse_cron(" ".join(fields)), every * len(minutes))


def values_of(field: str, first: int, last: int) -> list[int]:
    """Of a field of numbers that `parse_cron` has accepted."""
    values = set[int]()
    for term in field.split(","):
        span, _, step = term.partition("/")
        low, _, high = span.partition("-")
        begin = first if span == "*" else int(low)
        end = int(high) if high else last if span == "*" or step else begin
        values |= set(range(begin, end + 1, int(step) if step else 1))
    return sorted(values)


def write_values(values: Sequence[int], span: int) -> str:
    """As people write them: `*`, `*/15`, or the values."""
    gaps = {after - before for before, after in pairwise(values)}
    if len(gaps) == 1 and values[0] == 0:
        gap = gaps.pop()
        if span % gap == 0 and len(values) == span // gap:
            return "*" if gap == 1 else f"*/{gap}"
    return ",".join(map(str, values))


def _divisors(count: int) -> list[int]:
    """Above 1."""
    return [number for number in range(2, count + 1) if count % number == 0]
