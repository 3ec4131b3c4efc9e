"""When schedules are due, compared with a calendar that is walked minute by minute, over every change of clocks."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddock.core.schedules.cron import FIELDS, parse_cron
from paddock.core.schedules.thinning import values_of
from paddock.core.schedules.timetable import Timetable, timetable_of

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
CHANGES = {
    "an hour ahead": ("Europe/Berlin", "2026-03-29"),
    "an hour back": ("Europe/Berlin", "2026-10-25"),
    "ahead in America": ("America/New_York", "2026-03-08"),
    "back in America": ("America/New_York", "2026-11-01"),
    "half an hour back": ("Australia/Lord_Howe", "2026-04-05"),
    "half an hour ahead": ("Australia/Lord_Howe", "2026-10-04"),
    "a day left out": ("Pacific/Apia", "2011-12-30"),
    "ahead at midnight": ("America/Sao_Paulo", "2018-11-04"),
    "back at midnight": ("America/Sao_Paulo", "2018-02-18"),
    "twice a year around Ramadan": ("Africa/Casablanca", "2026-02-15"),
    "never": ("UTC", "2026-03-29"),
}
TIMES = [
    "0 * * * *", "*/15 * * * *", "*/7 * * * *", "30 2 * * *", "0 2 * * *", "15 1-3 * * *", "0 0 * * *", "59 23 * * *",
    "0 */2 * * *", "45 1 * * *", "0 12 30 12 *", "5 0 * * SUN", "* 2 * * *", "* * * * *", "30 0,1,2 * * 0,6",
]  # fmt: skip


def matches(text: str, local: datetime) -> bool:
    """The test's own reading of a cron time without `L`, `#` and names in ranges."""
    minute, hour, day, month, weekday = text.replace("SUN", "0").split()
    on_day = local.day in values_of(day, 1, 31)
    on_weekday = local.isoweekday() % 7 in {value % 7 for value in values_of(weekday, 0, 7)}
    both = on_day and on_weekday if "*" in (day[0], weekday[0]) else on_day or on_weekday
    fields = (minute, local.minute, FIELDS[0]), (hour, local.hour, FIELDS[1]), (month, local.month, FIELDS[3])
    return both and all(value in values_of(field, known.first, known.last) for field, value, known in fields)


def brute_force(text: str, zone: str, begin: float, end: float) -> list[float]:
    """Every minute of the zone's clocks, and every minute that they left out."""
    place, keeps_pace, found = ZoneInfo(zone), text.split()[1].startswith("*"), set[float]()
    before: datetime | None = None
    at = begin - 2 * DAY
    while at <= end:
        there = datetime.fromtimestamp(at, place)
        local = there.replace(tzinfo=None, fold=0)
        if before is not None:
            for missing in left_out(before, local):
                if matches(text, missing):
                    found.add(at + (missing - before).total_seconds() - MINUTE)
        if matches(text, local) and (keeps_pace or not there.fold):
            found.add(at)
        before, at = local, at + MINUTE
    return sorted(due for due in found if begin < due <= end)


def left_out(before: datetime, after: datetime) -> Iterator[datetime]:
    missing = before + timedelta(minutes=1)
    while missing < after:
        yield missing
        missing += timedelta(minutes=1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("text", ["0 * * * *", "30 2 * * *", "*/15 * * * *", "0 0 * * *", "15 1-3 * * *"])
def test_times_around_a_change_of_clocks_are_those_of_a_calendar_walked_by_hand(change: str, text: str) -> None:
    zone, day = CHANGES[change]
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() - DAY
    end = begin + 2.5 * DAY
    found = list(takewhile(lambda due: due <= end, timetable_of(text, zone).after(begin)))
    assert found == brute_force(text, zone, begin, end)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(CHANGES)), st.sampled_from(TIMES), st.integers(-1800, 900), st.integers(0, 59))
@example("an hour back", "* 2 * * *", -30, 0)
@example("a day left out", "0 12 30 12 *", -600, 0)
def test_times_from_any_moment_are_those_of_a_calendar_walked_by_hand(
    change: str, text: str, minutes: int, seconds: int
) -> None:
    zone, day = CHANGES[change]
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() + minutes * MINUTE + seconds
    end = begin + 0.75 * DAY
    found = list(takewhile(lambda due: due <= end, timetable_of(text, zone).after(begin)))
    expected = [due for due in brute_force(text, zone, begin - seconds - MINUTE, end) if due > begin]
    assert found == expected


def test_a_time_that_the_clocks_leave_out_is_not_left_out() -> None:
    [due] = timetable_of("30 2 29 3 *", "Europe/Berlin").between(*day_of(2026, 3, 29), 9).times
    assert datetime.fromtimestamp(due, ZoneInfo("Europe/Berlin")).strftime("%H:%M") == "03:30"


def test_a_time_that_the_clocks_show_twice_is_due_once() -> None:
    [due] = timetable_of("30 2 25 10 *", "Europe/Berlin").between(*day_of(2026, 10, 25), 9).times
    assert datetime.fromtimestamp(due, UTC).strftime("%H:%M") == "00:30", "the first of the two"


@pytest.mark.parametrize(("day", "hours"), [((2026, 3, 29), 23), ((2026, 10, 25), 25), ((2026, 6, 1), 24)])
def test_every_hour_is_as_often_as_the_day_is_long(day: tuple[int, int, int], hours: int) -> None:
    place = ZoneInfo("Europe/Berlin")
    begin = datetime(*day, tzinfo=place).timestamp()
    end = (datetime(*day, tzinfo=place) + timedelta(days=1)).timestamp()
    assert timetable_of("0 * * * *", "Europe/Berlin").count(begin - 1, end - 1, 100) == hours


def test_what_is_due_only_on_a_day_that_a_zone_left_out_is_due_all_the_same() -> None:
    begin = datetime(2011, 12, 1, tzinfo=UTC).timestamp()
    [due] = timetable_of("0 12 30 12 *", "Pacific/Apia").between(begin, begin + 60 * DAY, 5).times
    assert datetime.fromtimestamp(due, ZoneInfo("Pacific/Apia")).strftime("%m-%d %H:%M") == "12-31 12:00"


@given(st.sampled_from(TIMES), st.integers(0, 400), st.integers(1, 30), st.floats(0.0, 40 * DAY))
@settings(max_examples=30, deadline=None)
def test_the_last_times_of_a_span_are_the_end_of_all_of_them(text: str, hours: int, most: int, length: float) -> None:
    table = timetable_of(text, "Europe/Berlin")
    begin = 1_790_000_000.0 + hours * HOUR
    length = min(length, 2 * DAY if text.startswith("*") else length)
    whole = list(takewhile(lambda due: due <= begin + length, table.after(begin)))
    found = table.between(begin, begin + length, most)
    assert found.times == tuple(whole[-most:])
    assert found.more or len(whole) <= most


def test_a_year_of_missed_minutes_is_looked_at_from_its_end() -> None:
    table = timetable_of("* * * * *", "Europe/Berlin")
    found = table.between(1_760_000_000.0, 1_790_000_000.0, 24)
    assert (len(found.times), found.more) == (24, True)
    assert found.times[-1] == 1_790_000_000.0 - 1_790_000_000.0 % 60


def test_what_is_never_due_again_says_so() -> None:
    table = Timetable(parse_cron("0 0 29 2 *"), UTC)
    found = table.next(1_790_000_000.0)
    assert found is not None
    assert datetime.fromtimestamp(found, UTC).date().isoformat() == "2028-02-29"


def day_of(year: int, month: int, day: int) -> tuple[float, float]:
    begin = datetime(year, month, day, tzinfo=UTC).timestamp() - 3 * HOUR
    return begin, begin + 30 * HOUR
