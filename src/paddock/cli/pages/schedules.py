"""Schedules as text: when they are due, what came of them, and what a day of them may cost."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.core.durations import format_duration, rough_duration
from paddock.core.schedules.cron import Cron
from paddock.core.schedules.model import Schedule
from paddock.core.schedules.zones import find_zone
from paddock.insight.forecast.figures import EvidenceFigures, Range, ScheduleForecast
from paddock.insight.forecast.outlook import Judgement, amount_words, excess_words, thinning_words
from paddock.views.schedules import DayForecastView, SchedulesView, ScheduleView, view_day

NAME = 24
WIDE = 140
_CIRCLES = {
    "series": "{runs} of this schedule",
    "kind": "{runs} of kind {kind} by {by}",
    "agent": "{runs} by {by}",
    "model": "{runs} of other work with {by}: none of this sort yet, so the spread is wide",
    "engine": "{runs} of other work with {engine}: none of this sort yet, so the spread is wide",
    "imported": "{runs} with {engine} that were imported: none of this sort yet, so the spread is wide",
    "none": "no past task with {engine}: a guess from other agents' sessions, and the spread is wide",
    "free": "{engine} bills nothing",
}


def when_words(cron: Cron, zone: str) -> str:
    """`0 2 * * *: at 02:00 every day (Europe/Berlin)`."""
    words = cron.words
    return f"{cron.text}: {words[:1].lower()}{words[1:]} ({cut(zone, 40)})"


def judgement_lines(judgement: Judgement) -> Iterator[str]:
    """Of one that is about to be added."""
    forecast = judgement.forecast
    if forecast.fullest is None:
        return
    yield from _day_lines(view_day(forecast.fullest), forecast)


def excess_lines(judgement: Judgement) -> Iterator[str]:
    """Of one that is above a budget, and is not refused here."""
    if judgement.excess is not None:
        yield paint(f"  {excess_words(judgement.excess)}", "yellow")
        yield f"  to fit: {thinning_words(judgement)}"


def list_lines(view: SchedulesView, now: float) -> Iterator[str]:
    """What matters most comes first: a narrow terminal cuts lines at their end."""
    longest = min(NAME, max(len(one.name) for one in view.schedules))
    rows = [(one, _next(one, now), _when(one)) for one in view.schedules]
    soon, when = max(len(row[1]) for row in rows), max(len(row[2]) for row in rows)
    head = f"{'':<{longest}}  {'next':<{soon}} {'p50 a day':>10} {'p90':>10}  {'due':<{when}}  last"
    yield cut(head, width())
    for one, soon_words, due in rows:
        half, most = _money_of(one)
        line = f"{cut(one.name, NAME):<{longest}}  {soon_words:<{soon}} {half:>10} {most:>10}  {due:<{when}}  "
        yield cut(f"{line}{_last(one, now)}", width())
        for note in _notes(one):
            yield f"{'':<{longest}}  {cut(note, WIDE)}"
    dearest = max(view.total, key=lambda day: day.usd.p90, default=None)
    if dearest is not None and len(view.schedules) > 1:
        yield f"\nall together, on {dearest.day}: {_range_words(dearest.usd)}, {_tokens(dearest.tokens)}"
    if any(one.forecast is not None and one.forecast.is_guess for one in view.schedules):
        yield paint("~ is a wide guess: no task of this sort has run yet", dim=True)


def show_lines(view: ScheduleView, schedule: Schedule, now: float) -> Iterator[str]:
    yield f"{paint(cut(view.name, 60), bold=True)}  {when_words(Cron(schedule.cron), schedule.zone)}"
    work = view.work
    facts = (
        ("next", _next(view, now)),
        (work.sort, cut(" ".join(work.text.split()), width() - 12)),
        ("with", ", ".join(f"{name}={value}" for name, value in work.variables.items())),
        ("agent", work.agent or ""),
        ("engine", work.engine or ""),
        ("jitter", f"up to {format_duration(view.jitter_seconds)}" if view.jitter_seconds else ""),
        ("missed", _CATCH_UP[view.catch_up]),
        ("overlap", _OVERLAP[view.overlap]),
        ("budget", f"{amount_words(view.budget_usd)} a day" if view.budget_usd is not None else ""),
        ("forced", f"added although {view.forced}" if view.forced else ""),
        ("added", f"by {view.by}"),
        ("last", _last(view, now)),
        ("waiting", plural(len(view.waiting), "time") if view.waiting else ""),
        *(("", note) for note in _notes(view)),
    )
    yield from (f"  {name:<9} {cut(value, WIDE)}" for name, value in facts if value)
    forecast = view.forecast
    if forecast is not None and forecast.fullest is not None:
        yield from _day_lines(forecast.fullest, ScheduleForecast(view.name, None, (), forecast.evidence))


_CATCH_UP = {
    "skip": "times without a daemon are forgotten",
    "once": "one run for all times without a daemon",
    "all": "a run for each of the last times without a daemon",
}
_OVERLAP = {
    "skip": "left out while tasks of an earlier time are unfinished",
    "queue": "waits until tasks of an earlier time are finished",
}


def forecast_lines(view: SchedulesView) -> Iterator[str]:
    """A table of days, then on what it rests."""
    head = f"{'day (UTC)':<10} {'runs':>5}  {'p50':>10} {'p90':>10}  {'start-up p50–p90':>21}  {'work p50–p90':>21}"
    yield cut(f"{head}  {'tokens':>13}", width())
    for day in view.total:
        runs = str(day.firings) if day.firings == day.due else f"{day.firings}/{day.due}"
        yield cut(
            f"{day.day:<10} {runs:>5}  {amount_words(day.usd.p50):>10} {amount_words(day.usd.p90):>10}  "
            f"{_span(day.startup_usd):>21}  {_span(day.work_usd):>21}  {_token_span(day.tokens):>13}",
            width(),
        )
    for one in view.schedules:
        if one.forecast is not None:
            yield ""
            yield f"{paint(cut(one.name, 60), bold=True)} rests on"
            yield from _evidence_lines(one.forecast.evidence)
        for note in _notes(one):
            yield f"{paint(cut(one.name, 60), bold=True)}: {cut(note, WIDE)}"


def _day_lines(day: DayForecastView, forecast: ScheduleForecast) -> Iterator[str]:
    runs = plural(day.firings, "run")
    left_out = day.due - day.firings
    skips = f" ({left_out:,} of {day.due:,} times come while earlier tasks are at work)" if left_out else ""
    yield f"  a day of {runs}{skips}: {_range_words(day.usd)}, {_tokens(day.tokens)}"
    yield f"  start-up context {_span(day.startup_usd)}, work {_span(day.work_usd)} (p50–p90 each)"
    yield "  from"
    yield from _evidence_lines(forecast.evidence)


def _evidence_lines(evidence: Iterable[EvidenceFigures]) -> Iterator[str]:
    """Each once, however many tasks rest on it."""
    for words in dict.fromkeys(_evidence_words(one) for one in evidence):
        yield f"    {cut(words, WIDE)}"


def _evidence_words(one: EvidenceFigures) -> str:
    by = " ".join(filter(None, (one.agent or one.engine, f"({one.model})" if one.model else "")))
    told = _CIRCLES[one.circle].format(runs=plural(one.runs, "past task"), kind=one.kind, by=by, engine=one.engine)
    tries = f", {one.attempts:.1f} attempts and reviews each" if one.runs and one.attempts > 1 else ""
    priced = "; some have no price and count at a dear one" if one.assumed else ""
    split = "" if one.split_known or one.circle == "free" else "; start-up is taken to be the usual share"
    return f"{told}{tries}{priced}{split}"


def _when(one: ScheduleView) -> str:
    return f"{one.cron} {cut(one.zone, 30)}"


def _next(one: ScheduleView, now: float) -> str:
    if one.paused is not None:
        return "paused"
    if one.next is None:
        return "never again" if not one.waiting else "after its tasks"
    at = datetime.fromisoformat(one.next).timestamp()
    local = datetime.fromtimestamp(at, find_zone(one.zone)).strftime("%m-%d %H:%M")
    return f"{local} (in {rough_duration(at - now)})" if at > now else f"{local} (now)"


def _last(one: ScheduleView, now: float) -> str:
    if one.last is None:
        return "-"
    ago = rough_duration(now - datetime.fromisoformat(one.last.at).timestamp())
    what = one.last.convoy or ", ".join(one.last.tasks[:3])
    return f"{ago} ago: {what}"


def _notes(one: ScheduleView) -> Iterator[str]:
    """What a person should know."""
    if one.paused:
        yield f"paused: {one.paused}"
    if one.behind is not None and one.paused is None:
        yield (
            f"waits for {one.behind}, which is unfinished"
            if one.overlap == "queue"
            else (f"left out as long as {one.behind} is unfinished")
        )
    if one.failure is not None:
        yield f"failed {plural(one.failure.in_a_row, 'time')} in a row: {one.failure.reason}"
    if one.problem:
        yield f"cannot fire as it is: {one.problem}"
    if one.over is not None:
        whose = "its own budget" if one.over.scope == "schedule" else "the day's budget, with all schedules,"
        in_tokens = one.over.unit == "tokens"
        p90, limit = (amount_words(value, in_tokens=in_tokens) for value in (one.over.p90, one.over.limit))
        yield f"above {whose} of {limit}: p90 {p90}"


def _money_of(one: ScheduleView) -> tuple[str, str]:
    if one.forecast is None or one.forecast.fullest is None:
        return "-", "-"
    usd = one.forecast.fullest.usd
    mark = "~" if one.forecast.is_guess else ""
    return f"{mark}{amount_words(usd.p50)}", f"{mark}{amount_words(usd.p90)}"


def _range_words(usd: Range) -> str:
    return f"p50 {amount_words(usd.p50)}, p90 {amount_words(usd.p90)}"


def _span(usd: Range) -> str:
    return f"{amount_words(usd.p50)}–{amount_words(usd.p90)}"


def _tokens(tokens: Range) -> str:
    return f"{_token_span(tokens)} tokens"


def _token_span(tokens: Range) -> str:
    return f"{_short(tokens.p50)}–{_short(tokens.p90)}"


def _short(count: float) -> str:
    if count >= 1e6:
        return f"{count / 1e9:,.1f}B" if count >= 1e9 else f"{count / 1e6:,.1f}M"
    return f"{count / 1e3:,.0f}k" if count >= 1e3 else f"{count:,.0f}"
