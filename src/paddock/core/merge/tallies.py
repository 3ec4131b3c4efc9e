"""What is counted for the estimators: bounded, decayed, fed by events only."""

from msgspec import Struct


class Tally(Struct, frozen=True):
    """Decayed counts of changes that were good or bad by themselves, or of runs that were."""

    good: float = 0.0
    bad: float = 0.0


class RunSample(Struct, frozen=True):
    """How long a passing run took, and how many slots were busy meanwhile; `partial`: not all checks ran."""

    seconds: float
    slots_busy: float
    partial: bool = False


class CheckTally(Struct, frozen=True):
    """Decayed counts of one check: runs that had it, times it failed for no reason, failures in quarantine."""

    runs: float = 0.0
    flakes: float = 0.0
    quarantined: float = 0.0


class RunCompany(Struct, frozen=True):
    """Runs that should have passed and did or did not, beside another run and alone."""

    beside: Tally = Tally()
    alone: Tally = Tally()


class Stats(Struct, frozen=True):
    """What the estimators read; bounded, fed by events only.

    `verdicts` counts runs that should have passed, as far as that came out; `flakes` those of them that did not.
    `company` has the same ones by whether another run was under way at the same time.
    """

    overall: Tally = Tally()
    by_author: dict[str, Tally] = {}
    verdicts: float = 0.0
    flakes: float = 0.0
    train_members: float = 0.0
    train_runs: float = 0.0
    train_failures: float = 0.0
    samples: tuple[RunSample, ...] = ()
    checks: dict[str, CheckTally] = {}
    company: RunCompany = RunCompany()
