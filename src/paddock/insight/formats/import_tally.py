"""What an import has read so far, and what it could not read."""

from collections import Counter
from dataclasses import dataclass, field

from paddock.core.money.prices import PriceBook, find_price
from paddock.core.money.spending import day_of
from paddock.insight.formats.bounds import MOST_STEPS, STEPS_LEFT_OUT
from paddock.insight.formats.unreadable import Shortened, Unreadable
from paddock.insight.paths import ODD
from paddock.insight.trace import Trace

PLACES_SHOWN = 3
MOST_REASONS = 200
MANY_STEPS = f"has more than {MOST_STEPS:,} steps: those after them were left out"
MOST_TOOLS = 1_000
ODD_SHARE = 0.05
"""More steps than this that no table knows are a sign that a table is too short."""


@dataclass
class Skipped:
    """`places` are the first of them."""

    count: int = 0
    places: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        self.count += 1
        if len(self.places) < PLACES_SHOWN:
            self.places.append(place)


@dataclass
class ImportTally:
    """`doubled` records told nothing of their run that was not there already, and `merged` ones more of a run that was
    counted by then; `renamed` runs had the name of another one. `unpriced` are models without a price of runs whose
    cost nobody told; `without_usage` are runs without tokens. `shortened` is what was read, but not kept whole."""

    files: int = 0
    runs: int = 0
    steps: int = 0
    odd_steps: int = 0
    without_usage: int = 0
    doubled: int = 0
    merged: int = 0
    renamed: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    odd_tools: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    shortened: dict[str, Skipped] = field(default_factory=dict)

    @property
    def odd_share(self) -> float:
        return self.odd_steps / self.steps if self.steps else 0.0

    @property
    def skipped_count(self) -> int:
        return sum(one.count for one in self.skipped.values())

    def skip(self, problem: Unreadable) -> None:
        reason = problem.reason if len(self.skipped) < MOST_REASONS else "other reasons"
        self.skipped.setdefault(reason, Skipped()).add(problem.place)

    def shorten(self, one: Shortened) -> None:
        self.shortened.setdefault(one.what, Skipped()).add(one.place)

    def count(self, trace: Trace, format: str, prices: PriceBook) -> None:
        self.runs += 1
        self.formats[format] += 1
        self.labels[trace.label] += 1
        if STEPS_LEFT_OUT in trace.attributes:
            self.shorten(Shortened(trace.source, MANY_STEPS))
        self._add(trace, prices, 1)

    def count_merged(self, before: Trace, now: Trace, prices: PriceBook) -> None:
        """Another record tells of a run that is counted as it was before."""
        self.merged += 1
        self._add(before, prices, -1)
        self._add(now, prices, 1)

    def _add(self, trace: Trace, prices: PriceBook, sign: int) -> None:
        self.steps += sign * len(trace.steps)
        for step in trace.steps:
            if not step.activity or step.activity.startswith(ODD):
                self.odd_steps += sign
                if step.tool in self.odd_tools or len(self.odd_tools) < MOST_TOOLS:
                    _shift(self.odd_tools, step.tool, sign)
        usage = trace.usage
        if usage is None:
            self.without_usage += sign
        elif usage.cost_usd is None:
            day = day_of(trace.ended or trace.started or 0.0)
            if not trace.model or find_price(prices, trace.model, day) is None:
                _shift(self.unpriced, trace.model or "(model not told)", sign)


def _shift(counter: Counter[str], name: str, sign: int) -> None:
    counter[name] += sign
    if counter[name] <= 0:
        del counter[name]
