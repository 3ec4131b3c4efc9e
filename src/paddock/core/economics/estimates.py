"""What the log shows about how long pieces of work and agents' starts take, and what they cost.

A median with a spread, learnt per (agent, kind). Where there is little data an estimate leans on the wider one
behind it: the agent's, then the whole fleet's, then a prior.
"""

import math

import msgspec

# An estimate stands on its own from here on; below, what is missing is filled up with the wider estimate.
ENOUGH_SAMPLES = 3
KEPT_SAMPLES = 50
KEPT_KEYS = 400
# Half the distance from the 10th to the 90th percentile of a normal distribution, in standard deviations.
TENTH_TO_NINETIETH = 1.2816


class Estimate(msgspec.Struct, frozen=True):
    """`spread` is a standard deviation, taken from the 10th and 90th percentile so that one outlier does little.

    `most` is the largest that was seen.
    """

    median: float
    spread: float = 0.0
    most: float = 0.0

    @property
    def p90(self) -> float:
        return self.median + TENTH_TO_NINETIETH * self.spread


class TurnSample(msgspec.Struct, frozen=True):
    """One finished turn. Spawning lasts from dispatch to the first useful step; None where it was not seen."""

    agent: str
    kind: str
    work_seconds: float
    work_tokens: float
    work_money: float | None = None
    spawn_seconds: float | None = None
    spawn_tokens: float | None = None
    spawn_money: float | None = None


class Experience(msgspec.Struct, frozen=True):
    """The latest samples per `agent/kind`, oldest key first. Bounded, so it fits in every snapshot."""

    samples: dict[str, tuple[TurnSample, ...]] = {}


class Learnt(msgspec.Struct, frozen=True):
    """`work_money` and `spawn_money` are None while no priced sample was seen."""

    work_seconds: Estimate
    work_tokens: Estimate
    work_money: Estimate | None
    spawn_seconds: Estimate
    spawn_tokens: Estimate
    spawn_money: Estimate | None


# A turn of some minutes; a start of about a minute that reads 41k tokens (26k to 55k in 90 of 100 real sessions).
PRIOR = Learnt(
    work_seconds=Estimate(600.0, 400.0),
    work_tokens=Estimate(400_000.0, 300_000.0),
    work_money=None,
    spawn_seconds=Estimate(60.0, 30.0),
    spawn_tokens=Estimate(41_000.0, 9_000.0),
    spawn_money=None,
)


def remember(experience: Experience, sample: TurnSample) -> Experience:
    """The experience with one more sample; the oldest of its key, or the key longest unused, makes room."""
    samples = experience.samples.copy()
    key = f"{sample.agent}/{sample.kind}"
    kept = (*samples.pop(key, ()), sample)[-KEPT_SAMPLES:]
    samples[key] = kept
    if len(samples) > KEPT_KEYS:
        del samples[next(iter(samples))]
    return Experience(samples)


def learn(experience: Experience, agent: str, kind: str) -> Learnt:
    """What to expect of this agent on this kind of work."""
    everything = [sample for group in experience.samples.values() for sample in group]
    own = [sample for sample in everything if sample.agent == agent]
    exact = list(experience.samples.get(f"{agent}/{kind}", ()))
    learnt = PRIOR
    for samples in (everything, own, exact):
        learnt = _update(learnt, samples)
    return learnt


def estimate(values: list[float], prior: Estimate | None) -> Estimate | None:
    """The median and spread of the values, filled up with the prior to ENOUGH_SAMPLES."""
    from statistics import median  # every reader of the board imports this module; few estimate

    missing = max(0, ENOUGH_SAMPLES - len(values))
    if not values or (prior is None and missing == ENOUGH_SAMPLES):
        return prior
    if prior is None:
        return Estimate(median(values), _spread(values), max(values))
    filled = values + [prior.median] * missing
    spread = max(_spread(filled), prior.spread * missing / ENOUGH_SAMPLES)
    return Estimate(median(filled), spread, max(values))


def _update(prior: Learnt, samples: list[TurnSample]) -> Learnt:
    return Learnt(
        work_seconds=_sure([s.work_seconds for s in samples], prior.work_seconds),
        work_tokens=_sure([s.work_tokens for s in samples], prior.work_tokens),
        work_money=estimate(_seen([s.work_money for s in samples]), prior.work_money),
        spawn_seconds=_sure(_seen([s.spawn_seconds for s in samples]), prior.spawn_seconds),
        spawn_tokens=_sure(_seen([s.spawn_tokens for s in samples]), prior.spawn_tokens),
        spawn_money=estimate(_seen([s.spawn_money for s in samples]), prior.spawn_money),
    )


def _sure(values: list[float], prior: Estimate) -> Estimate:
    return estimate(values, prior) or prior


def _seen(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _spread(values: list[float]) -> float:
    ordered = sorted(values)
    return (_quantile(ordered, 0.9) - _quantile(ordered, 0.1)) / (2 * TENTH_TO_NINETIETH)


def _quantile(ordered: list[float], share: float) -> float:
    at = share * (len(ordered) - 1)
    low, high = ordered[math.floor(at)], ordered[math.ceil(at)]
    return low + (high - low) * (at - math.floor(at))
