"""What is said of a batch."""

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    DRIFT = "drift"
    NONE = "none"
    TOO_LITTLE = "too little data"


class DriftTest(msgspec.Struct, frozen=True):
    """`p` is two-sided, except that of the path, which has one side; `q` is corrected for all tests of the report.
    `effect` is in bits beyond chance (path), a difference of shares (rates) or the logarithm of a ratio (magnitudes),
    and positive where the batch has more. `significant` needs q and an effect that is worth an alarm. What tells more
    of hosts and providers than of agents is shown and never `decides`. `activities` are those that `habits` is about,
    the one that deviates most first; the one that differs most where chance explains them all."""

    name: str
    statistic: float
    p: float
    q: float
    effect: float
    significant: bool
    floor: float
    batch: float | None = None
    baseline: float | None = None
    pairs: int = 0
    decides: bool = True
    activities: tuple[str, ...] = ()


class EdgeShift(msgspec.Struct, frozen=True):
    """One step after another, with the share of such transitions on both sides and what it adds to the divergence.
    `^` is the beginning of a run and `$` its end."""

    first: str
    then: str
    batch_share: float
    baseline_share: float
    bits: float


class HabitShift(msgspec.Struct, frozen=True):
    """An activity that chance does not explain the difference of: the share of `runs` in which it occurs on both sides,
    or the share of their `steps` that it is, repeats told once."""

    activity: str
    of: str
    batch_share: float
    baseline_share: float


class TypicalRun(msgspec.Struct, frozen=True):
    """A run of the batch with its path, and how far it is from all others of the comparison, in bits."""

    run: str
    key: int
    path: tuple[str, ...]
    distance: float


class Explanation(msgspec.Struct, frozen=True):
    """The medoid is the run of the batch that is nearest to all others of the batch, the outlier the run of the batch
    that is farthest from the baseline."""

    edges: tuple[EdgeShift, ...] = ()
    habits: tuple[HabitShift, ...] = ()
    medoid: TypicalRun | None = None
    outlier: TypicalRun | None = None


class HardRule(StrEnum):
    """What is listed whatever the statistics say."""

    TEST_DELETED = "test deleted while the gate is green"
    ASSERT_REMOVED = "assertions weakened"
    NO_VERIFY = "checks skipped with --no-verify"
    OUTSIDE = "files outside the task's paths"
    CI_TOUCHED = "CI definition touched"
    FORCE_PUSH = "force push"


class HardCase(msgspec.Struct, frozen=True):
    rule: HardRule
    run: str
    key: int
    task: str
    evidence: str


class QueuedRun(msgspec.Struct, frozen=True):
    """A run in the order in which a person might look at the batch. The score is no alarm."""

    run: str
    key: int
    task: str
    score: float
    reasons: tuple[str, ...]


class SelfTest(msgspec.Struct, frozen=True):
    """The baseline divided at random, again and again: how often that was called drift. `low` and `high` are the 95 %
    limits of the rate, and `expected` what a sound test may show."""

    splits: int
    alarms: int
    rate: float
    low: float
    high: float
    expected: float
    pairs: int
    is_sound: bool


class BatchVerdict(msgspec.Struct, frozen=True):
    """A batch of the fleet's own attempts, against those before."""

    name: str
    verdict: Verdict
    runs: int
    pairs: int
    ended: float | None
    significant: tuple[str, ...] = ()
    hard_cases: int = 0


class DriftReport(msgspec.Struct, frozen=True):
    """`pairs` are runs of the batch that have a run of the baseline to compare with; `missing_pairs` are those that a
    verdict still needs. `tasks` were run on both sides, `unmatched` runs had nothing to compare with."""

    verdict: Verdict
    pairs: int
    tests: tuple[DriftTest, ...]
    batch: str
    baseline: str
    batch_runs: int
    baseline_runs: int
    tasks: int = 0
    unmatched: int = 0
    missing_pairs: int = 0
    matched_by: str = ""
    explanation: Explanation = Explanation()
    hard_cases: tuple[HardCase, ...] = ()
    review_queue: tuple[QueuedRun, ...] = ()
    warnings: tuple[str, ...] = ()
    self_test: SelfTest | None = None

    @property
    def significant(self) -> tuple[DriftTest, ...]:
        return tuple(test for test in self.tests if test.significant)
