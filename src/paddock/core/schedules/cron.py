"""When something is to happen, as cron writes it: `minute hour day month weekday`, or a word such as `@daily`.

cronsim knows which times that means. Here it is told what is wrong with the other texts people write, and what they
may have meant: cronsim says `Bad hour` and no more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cronsim import CronSim, CronSimError

from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.schedules.phrases import WORDS, meaning_of
from paddock.core.wording import nearest

EXAMPLE = 'write "minute hour day month weekday", such as "30 9 * * 1-5" for 09:30 from Monday to Friday'
LONGEST = 200
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_BEGIN = datetime(2024, 1, 1)
_ORDINAL = re.compile(r"\b[2-5](?P<last>[123])th\b")
_ENDINGS = {"1": "st", "2": "nd", "3": "rd"}
_TERM = re.compile(r"(?P<first>\*|[0-9A-Z]+)(?:-(?P<last>[0-9A-Z]+))?(?:/(?P<step>[0-9]+))?")
_LAST_OF = {"day": re.compile(r"L|LW"), "weekday": re.compile(r"[0-9A-Z]{1,3}(?:L|#[1-5])")}


@dataclass(frozen=True, slots=True)
class CronField:
    """The values from `first` to `last`, again in each `round`; `names` stand for those from `first` on."""

    name: str
    first: int
    last: int
    round: str
    names: tuple[str, ...] = ()


FIELDS = (
    CronField("minute", 0, 59, "hour"),
    CronField("hour", 0, 23, "day"),
    CronField("day", 1, 31, "month"),
    CronField("month", 1, 12, "year", MONTHS),
    CronField("weekday", 0, 7, "week", WEEKDAYS),
)


class _Wrong(Exception):
    """What is wrong with a field, and what it may have been meant to be."""

    def __init__(self, problem: str, meant: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.meant = meant


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields, as they are kept. Local times: which moments they are, a `Timetable` knows."""

    text: str

    @property
    def keeps_pace(self) -> bool:
        """Whether it names no hour: then it means a pace, and an hour that a clock shows twice is two hours."""
        return self.text.split()[1].startswith("*")

    @property
    def words(self) -> str:
        """`At 02:00 every day`."""
        return _explain(self.text)

    def walk(self, start: datetime) -> Iterator[datetime]:
        """The local times after `start`, which has no zone, as a calendar shows them. Ends where fifty years have
        none."""
        return iter(CronSim(self.text, start))


def parse_cron(text: str) -> Cron:
    """Raises Misuse with the field that is wrong, and the nearest thing that is right."""
    given = " ".join(text.split())
    if not given:
        raise Misuse("no time was given", EXAMPLE)
    if len(given) > LONGEST:
        raise Misuse(f"the cron time has {len(given):,} characters; the limit is {LONGEST}", EXAMPLE)
    fields = _word(given).upper().split()
    if len(fields) != len(FIELDS):
        raise _not_five(given, fields)
    for place, field in enumerate(FIELDS):
        _check_field(given, fields, place, field)
    return _require_times(given, " ".join(fields))


def _word(given: str) -> str:
    """A word such as `@daily` as fields."""
    if not given.startswith("@"):
        return given
    word = given.lower()
    if word in WORDS:
        return WORDS[word]
    near = meaning_of(given) or nearest(word, WORDS)
    hint = f"did you mean {_told(near)}? " if near else ""
    raise Misuse(f"there is no cron word `{printable(given, 40)}`", f"{hint}known: {', '.join(WORDS)}")


def _not_five(given: str, fields: list[str]) -> Misuse:
    shown = printable(given, 80)
    if near := meaning_of(given):
        return Misuse(f"`{shown}` is not a cron time", f"did you mean {_told(near)}?")
    if len(fields) == 6 and (rest := _valid(fields[1:])):
        said = f"`{shown}` has six fields: seconds are not possible, a schedule is due once a minute at most"
        return Misuse(said, f"did you mean {_told(rest)}?")
    count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
    return Misuse(f"`{shown}` has {count}; a cron time has five", EXAMPLE)


def _check_field(given: str, fields: list[str], place: int, field: CronField) -> None:
    try:
        _check_terms(fields[place], field)
    except _Wrong as wrong:
        shown = printable(given, 80)
        meant = None
        if wrong.meant is not None:
            meant = _valid([*fields[:place], wrong.meant, *fields[place + 1 :]])
        meant = meant or meaning_of(given)
        hint = f"did you mean {_told(meant)}?" if meant else EXAMPLE
        raise Misuse(f"`{shown}`: {field.name}: {wrong.problem}", hint) from None


def _check_terms(terms: str, field: CronField) -> None:
    for term in terms.split(","):
        _check_term(term, field)


def _check_term(term: str, field: CronField) -> None:
    if not term:
        raise _Wrong("there is nothing between two commas")
    if field.name in _LAST_OF and _LAST_OF[field.name].fullmatch(term):
        return
    if term == "?":
        raise _Wrong("cron has no `?`", "*")
    match = _TERM.fullmatch(term)
    if match is None:
        raise _Wrong(f"`{printable(term, 20)}` is none of `*`, a number, a range `1-5` or a step `*/15`")
    first = None if match["first"] == "*" else _value(match["first"], field)
    if match["last"] is not None:
        if first is None:
            raise _Wrong(f"`{term}` is both `*` and a range", match["last"])
        _check_range(term, first, _value(match["last"], field), field)
    if match["step"] is not None:
        _check_step(term, match["first"], int(match["step"][:6]), field)


def _check_step(term: str, first: str, step: int, field: CronField) -> None:
    """A step that is too long leaves one value, which is never what was meant."""
    if not step:
        raise _Wrong(f"`{printable(term, 20)}` has a step of 0", first)
    end = min(field.last, 6) if field.name == "weekday" else field.last
    if first == "*" and step > end - field.first:
        only = f"only {field.name} {field.first}, as steps begin again with each {field.round}"
        raise _Wrong(f"`{printable(term, 20)}` leaves {only}", str(field.first))


def _check_range(term: str, first: int, last: int, field: CronField) -> None:
    if last < first:
        end = min(field.last, 6) if field.name == "weekday" else field.last
        begin = f"{first}-{end}," if first <= end else ""
        raise _Wrong(f"the range `{printable(term, 20)}` goes backwards", f"{begin}{field.first}-{last}")


def _value(word: str, field: CronField) -> int:
    if not word.isdecimal():
        return _named(word, field)
    number = int(word) if len(word) < 6 else 10**6
    if not field.first <= number <= field.last:
        problem = f"{printable(word, 12)} is not between {field.first} and {field.last}"
        begins_again = number == field.last + 1 and not field.first
        raise _Wrong(problem, str(field.first) if begins_again else None)
    return number


def _named(word: str, field: CronField) -> int:
    if word in field.names:
        return field.names.index(word) + field.first
    near = nearest(word[:3], field.names, 0.6) or nearest(word, field.names, 0.4)
    known = f"; it has {', '.join(field.names)}" if field.names else ""
    raise _Wrong(f"`{printable(word, 20)}` is not a {field.name}{known}", near)


def _valid(fields: list[str]) -> str | None:
    """The fields as a text, if they are a cron time. What is wrong with a suggestion needs no suggestion."""
    text = " ".join(fields)
    try:
        for terms, field in zip(fields, FIELDS, strict=True):
            _check_terms(terms, field)
        return _require_times(text, text).text
    except (_Wrong, Misuse):
        return None


def _told(meant: str) -> str:
    words = _explain(WORDS.get(meant, meant))
    return f"`{meant}` ({words[:1].lower()}{words[1:]})"


def _explain(text: str) -> str:
    """cronsim writes `31th`."""
    words = CronSim(text, _BEGIN).explain()
    return _ORDINAL.sub(lambda found: f"{found[0][:-2]}{_ENDINGS[found['last']]}", words)


def _require_times(given: str, text: str) -> Cron:
    cron, shown = Cron(text), printable(given, 80)
    never = Misuse(f"`{shown}` never happens: no month that it names has such a day", "check day, month and weekday")
    try:
        if next(cron.walk(_BEGIN), None) is None:
            raise never
    except CronSimError as error:
        # Each field alone is right by now.
        if "day-of-month" in str(error):
            raise never from None
        raise Misuse(f"`{shown}` is not a cron time: {printable(str(error), 80)}", EXAMPLE) from None
    return cron
