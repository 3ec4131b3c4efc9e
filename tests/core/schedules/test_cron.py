"""Cron times: what is read, and what is said of what cannot be."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse
from paddock.core.schedules.cron import FIELDS, parse_cron
from paddock.core.schedules.phrases import WORDS, meaning_of
from paddock.core.schedules.thinning import sparser, values_of, write_values
from paddock.core.schedules.zones import find_zone

BAD = {
    "": ("no time was given", "minute hour day month weekday"),
    "0 0 31 2 *": ("never happens", "check day, month and weekday"),
    "0 0 30 feb *": ("never happens", "check day, month and weekday"),
    "0 0 31 4,6,9,11 *": ("never happens", "check day, month and weekday"),
    "* * * * * *": ("seconds are not possible", "`* * * * *`"),
    "*/5 * * * * *": ("seconds are not possible", "`* * * * *`"),
    "60 * * * *": ("minute: 60 is not between 0 and 59", "`0 * * * *`"),
    "0 24 * * *": ("hour: 24 is not between 0 and 23", "`0 0 * * *`"),
    "0 0 * * fry": ("weekday: `FRY` is not a weekday", "`0 0 * * FRI`"),
    "0 0 * janu *": ("month: `JANU` is not a month", "`0 0 * JAN *`"),
    "0 22-4 * * *": ("hour: the range `22-4` goes backwards", "`0 22-23,0-4 * * *`"),
    "0 0 * * 7-5": ("weekday: the range `7-5` goes backwards", "`0 0 * * 0-5`"),
    "0 0 * * 7-2": ("weekday: the range `7-2` goes backwards", "`0 0 * * 0-2`"),
    "0 0 31-10 * *": ("day: the range `31-10` goes backwards", "the 31st day"),
    "*/0 * * * *": ("minute: `*/0` has a step of 0", "`* * * * *`"),
    "*/90 * * * *": ("minute: `*/90` leaves only minute 0", "`0 * * * *`"),
    "0 */24 * * *": ("hour: `*/24` leaves only hour 0, as steps begin again with each day", "`0 0 * * *`"),
    "0 0 * * */7": ("weekday: `*/7` leaves only weekday 0", "`0 0 * * 0`"),
    "0 9 ? * 1": ("cron has no `?`", "`0 9 * * 1`"),
    "0 9 * *": ("has 4 fields", "minute hour day month weekday"),
    "every 15 minutes": ("is not a cron time", "`*/15 * * * *`"),
    "every 60 minutes": ("is not a cron time", "`@hourly`"),
    "every 40 minutes": ("has 3 fields", "minute hour day month weekday"),
    "every 5 hours": ("has 3 fields", "minute hour day month weekday"),
    "every 31 days": ("has 3 fields", "minute hour day month weekday"),
    "weekdays at 9:30": ("is not a cron time", "`30 9 * * 1-5`"),
    "@dayly": ("there is no cron word", "`@daily`"),
    "1,,2 * * * *": ("nothing between two commas", ""),
    "99999999999999999999 * * * *": ("is not between 0 and 59", ""),
    "0 0 * * \x1b[31m": ("weekday", ""),
    "x" * 500: ("the limit is 200", ""),
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20] or "nothing")
def test_what_is_wrong_is_named_and_what_was_meant_is_offered(text: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse_cron(text)
    said, hint = BAD[text]
    assert said in refused.value.message
    assert hint in (refused.value.hint or "")
    assert "\x1b" not in refused.value.message


@given(st.text(max_size=60))
def test_any_text_is_a_cron_time_or_misuse(text: str) -> None:
    try:
        cron = parse_cron(text)
    except Misuse:
        return
    assert parse_cron(cron.text) == cron
    assert cron.words


def test_ordinals_end_as_people_write_them() -> None:
    assert "the 11th, the 12th, the 13th, and the 20th" in parse_cron("0 0 11,12,13,20 * *").words
    assert "the 21st, the 22nd, the 23rd, and the 31st" in parse_cron("0 0 21,22,23,31 * *").words


@pytest.mark.parametrize("word", WORDS)
def test_words_are_kept_as_fields(word: str) -> None:
    assert parse_cron(f" {word.upper()} ").text == WORDS[word]


@given(st.integers(1, 99), st.sampled_from(["minute", "hour", "day", "m", "h", "d", "min"]))
def test_what_is_offered_for_a_phrase_is_a_cron_time(count: int, unit: str) -> None:
    meant = meaning_of(f"every {count} {unit}")
    assert meant is None or parse_cron(meant).words


ZONES = {
    "Europe/Berlim": "`Europe/Berlin`",
    "berlin": "`Europe/Berlin`",
    "europe/berlin": "`Europe/Berlin`",
    "New York": "`America/New_York`",
    "UTC+2": "name a place",
    "+02:00": "name a place",
    "PDT": "several zones share such letters",
    "../../etc/passwd": "names are those of the tz database",
    "": "names are those of the tz database",
    "Mars/Olympus": "names are those of the tz database",
}


@pytest.mark.parametrize("name", ZONES)
def test_a_zone_that_does_not_exist_is_refused_with_those_that_are_near(name: str) -> None:
    with pytest.raises(Misuse, match="there is no time zone") as refused:
        find_zone(name)
    assert ZONES[name] in (refused.value.hint or "")


@st.composite
def dense_times(draw: st.DrawFn) -> str:
    minute = draw(st.sampled_from(["0", "*", "*/5", "*/10", "*/15", "5,35", "7-59/4", "0-30"]))
    hour = draw(st.sampled_from(["*", "*/2", "*/5", "9-17", "6,12,18", "3"]))
    return f"{minute} {hour} * * {draw(st.sampled_from(['*', '1-5', 'MON']))}"


@given(dense_times())
def test_sparser_times_are_among_the_dense_ones_and_as_many_fewer_as_they_say(text: str) -> None:
    cron = parse_cron(text)
    begin, end = datetime(2023, 12, 31, 23, 59), datetime(2024, 1, 1, 23, 59)

    def on_a_day(times: str) -> set[datetime]:
        found = set[datetime]()
        for at in parse_cron(times).walk(begin):
            if at > end:
                return found
            found.add(at)
        return found

    dense, before = on_a_day(text), 1
    for one in sparser(cron):
        thin = on_a_day(one.cron.text)
        assert thin <= dense
        assert len(thin) * one.merged == len(dense)
        assert one.merged > before, "sparser and sparser"
        before = one.merged
    assert before == len(dense), "down to once a day"


@given(st.sets(st.integers(0, 59), min_size=1), st.sampled_from([60, 24]))
def test_values_are_written_so_that_they_are_read_again(values: set[int], span: int) -> None:
    wanted = sorted(value % span for value in values)
    wanted = sorted(set(wanted))
    field = FIELDS[0] if span == 60 else FIELDS[1]
    assert values_of(write_values(wanted, span), field.first, field.last) == wanted
