"""CI runs that get in each other's way: do those beside another fail more often than those alone?

Counted are runs that should have passed, as it came out later, so what fails is not the changes' fault. Tests that need
a fixed port, one database or a folder of their own fail in company and pass alone.
"""

from dataclasses import dataclass
from math import comb

from paddock.core.merge.tallies import RunCompany, Tally

FEWEST_FAILURES = 3
REMEDY = (
    "write `exclusive = true` below `[land]` in paddock.toml, "
    "or start what they share with `paddock with-lease NAME -- …`"
)
CHANCE = 0.1
"""It is a hint, and costs nothing but a look: chance may explain it once in ten times."""


@dataclass(frozen=True, slots=True)
class Collisions:
    """Good runs: how many there were beside another and alone, and how many of each failed."""

    beside: int
    failed_beside: int
    alone: int
    failed_alone: int

    @property
    def words(self) -> str:
        together = f"{self.failed_beside} of {self.beside} CI runs failed beside another one"
        return f"{together}, and {self.failed_alone} of {self.alone} alone, though the changes were good"


def find_collisions(company: RunCompany) -> Collisions | None:
    """None while nothing shows that runs disturb each other."""
    beside, alone = company.beside, company.alone
    found = Collisions(_total(beside), round(beside.bad), _total(alone), round(alone.bad))
    if found.failed_beside < FEWEST_FAILURES or by_chance(found) > CHANCE:
        return None
    return found


def by_chance(seen: Collisions) -> float:
    """How likely so many of the failures, or more, would be among the runs beside another if company did not matter.

    Fisher's exact test, one-sided.
    """
    runs, failures = seen.beside + seen.alone, seen.failed_beside + seen.failed_alone
    most = min(failures, seen.beside)
    ways = sum(comb(seen.beside, n) * comb(seen.alone, failures - n) for n in range(seen.failed_beside, most + 1))
    return ways / comb(runs, failures)


def _total(tally: Tally) -> int:
    """Counts fade, so each part is rounded: no more fail than there are."""
    return round(tally.good) + round(tally.bad)
