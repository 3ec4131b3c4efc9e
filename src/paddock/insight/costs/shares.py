"""How much of what runs read and cost was start-up context, by agent and engine and by how long they were."""

from collections.abc import Iterable, Sequence
from statistics import median

import msgspec

from paddock.insight.costs.runs import RunCost

COLD_BELOW, WARM_FROM = 0.1, 0.9
"""Shares of its first call's input that a cache had: what a start is called by. Between them it is neither."""
LENGTHS = ((5, "1–5"), (15, "6–15"), (40, "16–40"), (100, "41–100"))
LONGEST = "over 100"


class Spread(msgspec.Struct, frozen=True):
    """Of all values, one in twenty is below `p5`, and one above `p95`."""

    p5: float
    p50: float
    p95: float


class Warmth(msgspec.Struct, frozen=True):
    """Starts whose cache was cold, warm, or had a part; what the first call of a cold and of a warm one costs, the
    median in dollars. `unknown` are those of which nobody told."""

    cold: int
    partly: int
    warm: int
    unknown: int
    cold_usd: float | None
    warm_usd: float | None


class StartupShare(msgspec.Struct, frozen=True):
    """Of runs of one agent with one engine, or of all. `startup_usd + work_usd + unsplit_usd` is `cost_usd`, which is
    None if no run has a price; of `unsplit_usd` nobody can tell how much was start-up. Input tokens are those of runs
    that tell what their start-up was: `startup_input` of `known_input`. `unpriced` and `unknown` are left out of all
    money: they have no price, or not even tokens.
    """

    agent: str
    engine: str
    runs: int
    calls: int
    startup_tokens: Spread | None
    known_input: int
    startup_input: int
    cost_usd: float | None
    startup_usd: float
    work_usd: float
    unsplit_usd: float
    unpriced: int
    unknown: int
    starts: Warmth

    @property
    def share_of_input(self) -> float | None:
        return self.startup_input / self.known_input if self.known_input else None

    @property
    def share_of_cost(self) -> float | None:
        """Of the money of which it is known."""
        split = self.startup_usd + self.work_usd
        return self.startup_usd / split if split else None


class LengthShare(msgspec.Struct, frozen=True):
    """Runs of about as many model calls. `cost_usd` and `share` are medians."""

    calls: str
    runs: int
    cost_usd: float
    share: float


def share_of(runs: Sequence[RunCost], agent: str = "", engine: str = "") -> StartupShare:
    starts = [float(run.startup_tokens) for run in runs if run.startup_tokens]
    priced = [run for run in runs if run.cost_usd is not None]
    split = [run for run in priced if run.startup_usd is not None]
    startup = sum(run.startup_usd or 0.0 for run in split)
    work = sum(run.work_usd or 0.0 for run in split)
    unsplit = sum(run.cost_usd or 0.0 for run in priced if run.startup_usd is None)
    told = [run for run in runs if run.startup_input is not None]
    return StartupShare(
        agent=agent,
        engine=engine,
        runs=len(runs),
        calls=sum(run.calls or 0 for run in runs),
        startup_tokens=spread_of(starts),
        known_input=sum(run.input_tokens for run in told),
        startup_input=sum(run.startup_input or 0 for run in told),
        cost_usd=startup + work + unsplit if priced or not runs else None,
        startup_usd=startup,
        work_usd=work,
        unsplit_usd=unsplit,
        unpriced=sum(run.unpriced for run in runs),
        unknown=sum(run.unknown for run in runs),
        starts=_warmth(runs),
    )


def shares_by_agent(runs: Iterable[RunCost]) -> list[StartupShare]:
    """The dearest first."""
    groups: dict[tuple[str, str], list[RunCost]] = {}
    for run in runs:
        groups.setdefault((run.agent or run.engine, run.engine), []).append(run)
    shares = [share_of(group, *names) for names, group in groups.items()]
    return sorted(shares, key=lambda one: (-(one.cost_usd or 0.0), -one.runs, one.agent, one.engine))


def shares_by_length(runs: Iterable[RunCost]) -> list[LengthShare]:
    """Of runs whose calls, cost and start-up are known."""
    groups: dict[str, list[RunCost]] = {}
    for run in runs:
        if run.calls and run.cost_usd and run.startup_usd is not None:
            groups.setdefault(length_name(run.calls), []).append(run)
    names = [*(name for _, name in LENGTHS), LONGEST]
    return [_length_share(name, groups[name]) for name in names if name in groups]


def length_name(calls: int) -> str:
    return next((name for most, name in LENGTHS if calls <= most), LONGEST)


def spread_of(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    ordered = sorted(values)
    return Spread(*(ordered[round(share * (len(ordered) - 1))] for share in (0.05, 0.5, 0.95)))


def _length_share(name: str, runs: Sequence[RunCost]) -> LengthShare:
    costs = [run.cost_usd or 0.0 for run in runs]
    shares = [(run.startup_usd or 0.0) / cost for run, cost in zip(runs, costs, strict=True)]
    return LengthShare(name, len(runs), median(costs), median(shares))


def _warmth(runs: Iterable[RunCost]) -> Warmth:
    cold: list[RunCost] = []
    warm: list[RunCost] = []
    partly = unknown = 0
    for run in runs:
        share = run.cached_share
        if share is None:
            unknown += 1
        elif share < COLD_BELOW:
            cold.append(run)
        elif share >= WARM_FROM:
            warm.append(run)
        else:
            partly += 1
    return Warmth(len(cold), partly, len(warm), unknown, _middle_opening(cold), _middle_opening(warm))


def _middle_opening(runs: Iterable[RunCost]) -> float | None:
    paid = [run.opening_usd for run in runs if run.opening_usd is not None]
    return median(paid) if paid else None
