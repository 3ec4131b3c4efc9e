"""What a run is judged by: work, refusals, how soon the number of agents settles, how calm it is afterwards."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import fmean, pstdev

from bench.admission.policies import Fixed, Paddock
from bench.admission.world import TICK_SECONDS, Outcome, Policy, Regime, World
from paddock.core.admission.controls import Controls

BAND = 0.25
STRAY_SHARE = 0.05
# The smallest number of agents on the grid of fixed ones, unless an account is tiny.
SMALL = 10


@dataclass(frozen=True, slots=True)
class Score:
    """`settled_seconds` after the start and `resettled_seconds` after the limits changed; None is never."""

    work: float
    rejected_share: float
    settled_seconds: float | None
    resettled_seconds: float | None
    variation: float
    died: float


def score(regime: Regime, outcomes: list[Outcome]) -> Score:
    """The mean of several runs; of the settling times the worst."""
    settled: list[float | None] = []
    resettled: list[float | None] = []
    variations: list[float] = []
    for outcome in outcomes:
        for segment, (begin, end) in enumerate(_segments(regime)):
            samples = outcome.running[int(begin / TICK_SECONDS) : int(end / TICK_SECONDS)]
            at = settle_index(samples)
            (resettled if segment else settled).append(None if at is None else at * TICK_SECONDS)
            calm = samples[len(samples) // 4 if at is None else at :]
            variations.append(pstdev(calm) / max(1e-9, fmean(calm)))
    return Score(
        work=fmean(outcome.work for outcome in outcomes),
        rejected_share=fmean(outcome.rejected_share for outcome in outcomes),
        settled_seconds=_worst(settled),
        resettled_seconds=_worst(resettled),
        variation=max(variations),
        died=fmean(outcome.died for outcome in outcomes),
    )


def settle_index(samples: list[int]) -> int | None:
    """The first sample from which on all but a twentieth lie within a quarter of the steady number.

    Steady is the mean of the second half.
    """
    steady = fmean(samples[len(samples) // 2 :])
    inside = [abs(sample - steady) <= BAND * steady for sample in samples]
    strays, best = 0, None
    for index in range(len(samples) - 1, -1, -1):
        strays += not inside[index]
        if inside[index] and strays <= STRAY_SHARE * (len(samples) - index):
            best = index
    return best


def run_policy(regime: Regime, policy: Policy, seed: int) -> Outcome:
    return World(regime, policy, seed).run()


def best_fixed(regime: Regime, seeds: list[int], most_rejected: float = 1.0) -> tuple[int, Score]:
    """The fixed number of agents that gets most done while no more than this share of calls is rejected, found on a
    grid that is refined around its best; one agent if every number has more rejected."""

    @cache
    def run(agents: int) -> Outcome:
        return run_policy(regime, Fixed(agents), seeds[0])

    def work(agents: int) -> int:
        outcome = run(agents)
        return outcome.work if outcome.rejected_share <= most_rejected else -1

    few = range(2, SMALL) if regime.at_once < 3 * SMALL or regime.requests < 6 * SMALL else ()
    coarse = max((*few, *(round(SMALL * 1.15**power) for power in range(24))), key=work)
    fine = max((max(1, round(coarse * share)) for share in (0.92, 0.96, 1.0, 1.04, 1.08)), key=work)
    best = fine if work(fine) >= 0 else 1
    return best, score(regime, [run_policy(regime, Fixed(best), seed) for seed in seeds])


def known_account(regime: Regime, seed: int) -> Controls:
    """What Paddock has learnt after an earlier day on the same account, its clocks run out."""
    policy = Paddock(regime.cores)
    run_policy(regime, policy, seed + 1000)
    return policy.controls


def _segments(regime: Regime) -> list[tuple[float, float]]:
    """Between changes of the limit."""
    changes = [at for at in (regime.halved_at, regime.restored_at) if at is not None]
    return list(pairwise([0.0, *changes, regime.seconds]))


def _worst(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
