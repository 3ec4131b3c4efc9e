"""How many days stay below the p90 that was forecast for them: nine out of ten should, and p90 should not be far above
what such days cost on average.

Days that were: sessions of people with Claude Code, each day forecast from all the days before it. Days made of real
runs: some runs of an agent are known, others of the same agent are the day. Days made of numbers drawn from
distributions with heavy tails, two humps or none: no constant was chosen on those seeds.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, lgamma, log
from pathlib import Path
from statistics import fmean, median
from typing import TypeAlias

from bench.insight.data import Data
from bench.insight.targets import Measured
from paddock.core.money.prices import PriceBook, price_book, read_table
from paddock.core.money.pricetable import TABLE
from paddock.core.schedules.timetable import DAY, timetable_of
from paddock.insight.costs.runs import RunCost, cost_of_run
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.forecast.evidence import Evidence, Wanted, find_evidence
from paddock.insight.forecast.figures import Figures
from paddock.insight.forecast.past import PastWork, SortOfWork, past_of_runs
from paddock.insight.forecast.simulation import play
from paddock.insight.forecast.starts import Plan, StartKey
from paddock.insight.formats.importing import Importer, origin_of

LOW, HIGH = 0.85, 0.95
KNOWN, RUNS_A_DAY = (3, 10, 40), (1, 6, 24)
DAYS, QUICK_DAYS = 60, 5
DAYS_PLAYED = 1_000
FIRST_DAYS = 6
"""Real days that are only learnt from."""
GUESS_USD, GUESS_TOKENS = 1.3, 441_000.0
SORT = SortOfWork("bench", series="schedule:bench")
OTHER = SortOfWork("bench", kind="another sort")
FILES = {
    "Claude Code": "claude_code_entire/sessions.jsonl.gz",
    "SWE-agent": "swe_agent_lite_x3/trajectories.jsonl.gz",
    "TRAIL": "trail/traces.jsonl.gz",
}


Row: TypeAlias = tuple[float, float, float, float]
"""Of one day its p50, its p90 and its mean as they were forecast, and what it was."""


@dataclass(frozen=True, slots=True)
class Days:
    rows: tuple[Row, ...]

    @property
    def covered(self) -> float:
        return fmean(real <= p90 for _, p90, _, real in self.rows)

    @property
    def below_p50(self) -> float:
        return fmean(real <= p50 for p50, _, _, real in self.rows)

    @property
    def width(self) -> float:
        """p90 as a multiple of what such days really cost on average; of several sorts of days, the median."""
        return median(p90 for _, p90, _, _ in self.rows) / fmean(real for *_, real in self.rows)


def measure(data: Data, *, quick: bool) -> list[Measured]:
    drawn = {name: _past_of([draw(random.Random(f"{name} {n}")) for n in range(4_000)]) for name, draw in DRAWN.items()}
    if quick:
        return [_row("numbers drawn, two humps", _made_days(drawn["two humps"], QUICK_DAYS))]
    prices = price_book(read_table(TABLE), ())
    costs = {name: _import(data, file, prices) for name, file in FILES.items()}
    claude, swe_agent, trail = (past_of_runs(one, prices) for one in costs.values())
    trials = _mini_trials(data)
    mini = _past_of([usd for _, usd in trials])
    real = _real_days(claude)
    rows = [
        _row("real days of Claude Code", real, f"{len(real.rows)} days in their order, each from all before it"),
        _row("the same in tokens", _real_days(claude, in_tokens=True)),
        *_table("runs of Claude Code", claude),
        *_table("runs of SWE-agent", swe_agent),
        *_table("runs of mini-SWE-agent", mini),
        *_table("runs of TRAIL's agent", trail),
        *(row for name, past in drawn.items() for row in _table(f"numbers drawn, {name}", past)),
    ]
    tasks = [(run.task, run.cost_usd or 0.0) for run in costs["SWE-agent"]]
    again = [("SWE-agent", _same_tasks(tasks)), ("mini-SWE-agent", _same_tasks(trials))]
    projects = [(task.partition("__")[0], usd) for task, usd in tasks]
    new = [("a project that SWE-agent has not seen", _new_sorts(projects))]
    new += [
        (
            "a model that Claude Code has not used",
            _new_sorts([(r.model, r.cost_usd or 0.0) for r in costs["Claude Code"]]),
        )
    ]
    rows += [
        _row(f"the same task once more, {name}", days, f"p90 is {days.width:.2f} x the mean") for name, days in again
    ]
    return rows + [
        Measured(f"p90 covers, {name}", days.covered, how=f"p90 is {days.width:.2f} x the mean") for name, days in new
    ]


def _table(name: str, past: Sequence[PastWork]) -> list[Measured]:
    """All days together, for which there is a target, then how wide the forecasts are."""
    cells = {(known, runs): _made_days(past, DAYS, (known,), (runs,)) for known in KNOWN for runs in RUNS_A_DAY}
    every = Days(tuple(row for days in cells.values() for row in days.rows))
    told = ", ".join(f"{known}/{runs}: {days.covered:.0%}" for (known, runs), days in cells.items())
    widths = ", ".join(f"{known}/{runs}: {days.width:.2f}" for (known, runs), days in cells.items())
    return [
        _row(name, every, f"known runs/runs a day: {told}"),
        Measured(f"p90 as a multiple of the mean, {name}", median(d.width for d in cells.values()), "x", how=widths),
    ]


def _row(name: str, days: Days, how: str = "") -> Measured:
    count = len(days.rows)
    low, high = binomial_limits(count, 0.9)
    told = f"{count} days, of which {low:.1%} to {high:.1%} would be chance; p50 covers {days.below_p50:.0%}"
    return Measured(f"p90 covers, {name}", days.covered, low=LOW, high=HIGH, how=f"{told}. {how}" if how else told)


def _real_days(past: Sequence[PastWork], *, in_tokens: bool = False) -> Days:
    by_day: dict[float, list[PastWork]] = {}
    for one in sorted(past, key=lambda one: one.at):
        by_day.setdefault(one.at // DAY, []).append(one)
    rows, before = list[Row](), list[PastWork]()
    for number, (_, runs) in enumerate(sorted(by_day.items())):
        if number >= FIRST_DAYS:
            rows.append(_forecast(before, runs, number, in_tokens=in_tokens))
        before += runs
    return Days(tuple(rows))


def _made_days(
    past: Sequence[PastWork], days: int, known: Sequence[int] = KNOWN, runs_a_day: Sequence[int] = RUNS_A_DAY
) -> Days:
    rows = list[Row]()
    for seen in known:
        for runs in runs_a_day:
            chance = random.Random(f"{seen} {runs}")
            for number in range(days):
                picked = chance.sample(past, min(len(past), seen + runs))
                rows.append(_forecast(picked[:seen], picked[seen:], number))
    return Days(tuple(rows))


def _same_tasks(trials: Sequence[tuple[str, float]]) -> Days:
    """A day of one run at a task: all earlier runs at it are known, and 60 at other tasks."""
    tasks = _by_name(trials)
    chance, rows = random.Random("again"), list[Row]()
    for name, runs in tasks.items():
        if len(runs) > 1:
            others = [one for other, group in tasks.items() if other != name for one in group]
            strangers = [replace(one, sort=OTHER) for one in chance.sample(others, min(60, len(others)))]
            rows.append(_forecast(runs[:-1], runs[-1:], len(rows), others=strangers))
    return Days(tuple(rows))


def _new_sorts(trials: Sequence[tuple[str, float]]) -> Days:
    """Days of six runs of a sort of which none is known, after 60 runs of other sorts."""
    sorts = {name: runs for name, runs in _by_name(trials).items() if len(runs) >= 12}
    chance, rows = random.Random("new"), list[Row]()
    for name, runs in sorts.items():
        others = [one for other, group in sorts.items() if other != name for one in group]
        for number in range(DAYS // 3):
            strangers = [replace(one, sort=OTHER) for one in chance.sample(others, min(60, len(others)))]
            rows.append(_forecast([], chance.sample(runs, 6), number, others=strangers))
    return Days(tuple(rows))


def _by_name(trials: Sequence[tuple[str, float]]) -> dict[str, list[PastWork]]:
    found: dict[str, list[PastWork]] = {}
    for name, usd in trials:
        if usd > 0:
            found.setdefault(name, []).append(PastWork(SORT, 0.0, usd, usd * 300_000))
    return found


def _forecast(
    known: Sequence[PastWork],
    day: Sequence[PastWork],
    seed: int,
    *,
    others: Sequence[PastWork] = (),
    in_tokens: bool = False,
) -> Row:
    evidence = _evidence([*others, *(replace(one, sort=SORT) for one in known)])
    plan = Plan("bench", timetable_of("@daily", "UTC"), (evidence,))
    told: Figures = play([plan], [(StartKey("bench", 0), len(day))], seed, DAYS_PLAYED).total
    figures = told.tokens if in_tokens else told.usd
    real = sum(one.tokens if in_tokens else one.usd for one in day)
    return figures.p50, figures.p90, figures.mean, real


def _evidence(past: Sequence[PastWork]) -> Evidence:
    return find_evidence(Wanted(SORT, GUESS_USD, GUESS_TOKENS, most_usd=60.0), past)


def _past_of(costs: Sequence[float]) -> list[PastWork]:
    return [PastWork(SORT, 0.0, usd, usd * 300_000) for usd in costs if usd > 0]


def _import(data: Data, name: str, prices: PriceBook) -> list[RunCost]:
    """Through the importer that users have."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "dataset.db"
        with DatasetWriter.open(database) as writer:
            Importer(writer, prices).take(origin_of(data.path(name), "auto", "bench"))
        with Dataset.open(database) as dataset:
            runs = [cost_of_run(kept.trace, prices) for kept in dataset.runs()]
    return [run for run in runs if run.cost_usd]


def _mini_trials(data: Data) -> list[tuple[str, float]]:
    """Its steps tell what it has cost so far."""
    return [
        (record["task_id"], max((step.get("cost_usd") or 0.0 for step in record["steps"] or ()), default=0.0))
        for record in data.lines("terminal_bench_lb/mini_swe_agent_steps.jsonl.gz")
    ]


def binomial_limits(count: int, share: float) -> tuple[float, float]:
    """Between which 95 of 100 samples lie."""
    total, low, high = 0.0, None, count
    for hits in range(count + 1):
        ways = lgamma(count + 1) - lgamma(hits + 1) - lgamma(count - hits + 1)
        total += exp(ways + hits * log(share) + (count - hits) * log(1 - share))
        if low is None and total > 0.025:
            low = hits
        if total >= 0.975:
            high = hits
            break
    return (low or 0) / count, high / count


DRAWN: dict[str, Callable[[random.Random], float]] = {
    "log-normal, heavy": lambda draw: draw.lognormvariate(0.0, 1.5),
    "two humps": lambda draw: draw.lognormvariate(0.0, 0.4) if draw.random() < 0.8 else draw.lognormvariate(2.5, 0.4),
    "Pareto 2": lambda draw: draw.paretovariate(2.0),
    "gamma": lambda draw: draw.gammavariate(2.0, 1.0),
    "nearly constant": lambda draw: draw.uniform(0.9, 1.1),
}
