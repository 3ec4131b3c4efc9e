"""The queue's estimates: how often changes are bad or break together, how often tests flake, how long a run takes."""

from collections import defaultdict
from math import cbrt, ceil, log, sqrt
from statistics import median

from paddock.core.merge.tallies import RunSample, Stats

# Priors, as counts: one change in ten bad, one run in a hundred a flake, two changes in a hundred break together.
PRIOR_BAD, PRIOR_GOOD = 1.0, 9.0
PRIOR_FLAKES, PRIOR_VERDICTS = 0.5, 50.0
PRIOR_BREAKS, PRIOR_EXPOSED = 0.5, 25.0
# A new agent is judged by the average: the overall rate counts as much as this many of its own changes.
AGENT_PRIOR_WEIGHT = 8.0
# Agents are told apart once two of them have this many changes behind them and chance explains their records once in
# about a thousand times. Telling apart agents that are alike was measured to cost 3 to 6 % of the throughput.
KNOWN_AGENT = 8.0
SURE = 3.0

# Of good changes at most this share may be rejected: a third failure is asked for above 3.2 % of flakes.
FALSE_REJECTIONS = 0.001
MOST_FAILURES = 5
LARGEST_POOL = 16
LARGEST_TRAIN = 64
# With m members a train costs 1/m runs per change and its failures about m·q̂/4: least at √(4/q̂). A fixed bound on
# the risk, 0.25/q̂, was measured slower at many slots.
TRAIN_ECONOMY = 4.0
TIMEOUT_FACTOR = 3.0
SAMPLES_PER_LEVEL = 4
# More slots must bring at least this much more throughput, or they are not real.
REAL_GAIN = 1.15


def bad_share(stats: Stats) -> float:
    """p̂: the share of changes that fail by themselves."""
    tally = stats.overall
    return (tally.bad + PRIOR_BAD) / (tally.bad + tally.good + PRIOR_BAD + PRIOR_GOOD)


def bad_share_of(stats: Stats, author: str) -> float:
    """p̂ of one agent, drawn towards the overall share while little is known of it."""
    overall = bad_share(stats)
    tally = stats.by_author.get(author)
    if tally is None:
        return overall
    weight = AGENT_PRIOR_WEIGHT
    return (tally.bad + overall * weight) / (tally.bad + tally.good + weight)


def agents_differ(stats: Stats) -> bool:
    """Whether the agents' records are further apart than chance puts those of equally good ones.

    A chi-square test of homogeneity; Wilson and Hilferty's cube root makes its statistic nearly normal.
    """
    known = [tally for tally in stats.by_author.values() if tally.good + tally.bad >= KNOWN_AGENT]
    total = sum(tally.good + tally.bad for tally in known)
    bad = sum(tally.bad for tally in known)
    if len(known) < 2 or not 0 < bad < total:
        return False
    share, freedom = bad / total, len(known) - 1
    spread = sum((t.bad - (t.good + t.bad) * share) ** 2 / ((t.good + t.bad) * share * (1 - share)) for t in known)
    shrink = 2 / (9 * freedom)
    return (cbrt(spread / freedom) - (1 - shrink)) / sqrt(shrink) > SURE


def flake_share(stats: Stats) -> float:
    """f̂: the share of runs that answer wrongly."""
    return (stats.flakes + PRIOR_FLAKES) / (stats.verdicts + PRIOR_VERDICTS)


def extra_failures(stats: Stats) -> int:
    """How many failures beyond two it takes until all of them being flakes is rarer than false rejections may be.

    While little is known of f, it is taken to be one standard deviation above f̂.
    """
    share = flake_share(stats)
    careful = share + sqrt(share * (1.0 - share) / (stats.verdicts + PRIOR_VERDICTS))
    needed = ceil(log(FALSE_REJECTIONS) / log(careful))
    return max(0, min(MOST_FAILURES, needed) - 2)


def clash_share(stats: Stats) -> float:
    """q̂: the share of screened changes that break a train, flakes taken off."""
    breaks = max(0.0, stats.train_failures - flake_share(stats) * stats.train_runs)
    return (breaks + PRIOR_BREAKS) / (stats.train_members + PRIOR_EXPOSED)


def train_capacity(stats: Stats) -> int:
    return max(1, min(LARGEST_TRAIN, int(sqrt(TRAIN_ECONOMY / clash_share(stats)))))


def pool_size(stats: Stats) -> int:
    """b*: how many fresh changes one screen should hold when slots are scarce.

    A run tells most when it is as likely to pass as to fail. Too large a pool costs more than too small a one, so
    while little is known of p the share of bad changes is taken to be one standard deviation above p̂.
    """
    bad = bad_share(stats)
    known = stats.overall.bad + stats.overall.good + PRIOR_BAD + PRIOR_GOOD
    careful = min(0.99, bad + sqrt(bad * (1.0 - bad) / known))
    return even_pool(careful, flake_share(stats))


def pool_size_at(stats: Stats, bad: float) -> int:
    """b* for changes of an agent of whom this share is bad, rounded down to a power of two: such agents share pools."""
    return 1 << int(log(even_pool(bad, flake_share(stats)), 2))


def even_pool(bad: float, flakes: float) -> int:
    """As many changes as pass together about every other time."""
    return max(1, min(LARGEST_POOL, round(log(0.5 / (1.0 - flakes)) / log(1.0 - bad))))


def run_seconds(stats: Stats, quantile: float) -> float | None:
    """A quantile of the duration of recent passing runs; None before the first."""
    if not stats.samples:
        return None
    seconds = sorted(sample.seconds for sample in stats.samples)
    return seconds[min(len(seconds) - 1, int(quantile * len(seconds)))]


def seconds_left(stats: Stats, elapsed: float, quantile: float) -> float | None:
    """A quantile of what a passing run still takes that has taken `elapsed` already; None before the first was seen.

    Zero when it takes longer than any did: then nobody knows.
    """
    longer = sorted(sample.seconds for sample in stats.samples if sample.seconds > elapsed)
    if not longer:
        return 0.0 if stats.samples else None
    return longer[min(len(longer) - 1, int(quantile * len(longer)))] - elapsed


def timeout_seconds(stats: Stats, floor: float) -> float:
    return max(floor, TIMEOUT_FACTOR * (run_seconds(stats, 0.95) or 0.0))


def effective_slots(stats: Stats, configured: int) -> int:
    """How many slots really help: if twice as many runs at once take twice as long, the extra ones do not."""
    levels = _seconds_by_level(tuple(sample for sample in stats.samples if not sample.partial))
    real = configured
    for low, slow in levels.items():
        for high, slower in levels.items():
            if high >= 2 * low and (high / slower) < REAL_GAIN * (low / slow):
                real = min(real, low)
    return max(1, real)


def _seconds_by_level(samples: tuple[RunSample, ...]) -> dict[int, float]:
    levels: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        levels[max(1, round(sample.slots_busy))].append(max(sample.seconds, 1e-6))
    return {level: median(found) for level, found in levels.items() if len(found) >= SAMPLES_PER_LEVEL}
