"""What the rules of alerts look at: all of it in memory, gathered before they are asked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from paddock.config.schema import Config
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.events import AlertSeverity
from paddock.core.alerts.model import Alert
from paddock.core.board import Board
from paddock.core.money.prices import PriceBook
from paddock.insight.alerts.ended import EndedRuns
from paddock.insight.alerts.gaps import GapBook
from paddock.insight.alerts.known_causes import KnownCauses
from paddock.insight.alerts.spent_day import SpentDay
from paddock.insight.alerts.working import WorkingRuns

if TYPE_CHECKING:
    from paddock.config.alert_rules import RuleSetting
    from paddock.insight.drift.report import BatchVerdict, HardCase

CALM = 0.8
"""What has raised an alert must fall below so much of the limit before it is gone: what hovers is told once."""


@dataclass(frozen=True, slots=True)
class UsageRatio:
    """What the calls of a run add up to, as times of what its engine told of it as a whole."""

    run: str
    engine: str
    ended: float
    ratio: float


@dataclass(frozen=True)
class Scene:
    """`verdicts` are of the batches, oldest first, None where nobody can judge them: `why_none` says why. `sure` are
    the tests in which the last ones differ, taken as one. `hard_cases` are those of the last day, each with the time at
    which its run ended."""

    now: float
    board: Board
    config: Config
    ended: EndedRuns
    causes: KnownCauses
    working: WorkingRuns
    gaps: GapBook
    ratios: Sequence[UsageRatio]
    prices: PriceBook
    hard_cases: "Sequence[tuple[float, HardCase]]" = ()
    verdicts: "Sequence[BatchVerdict] | None" = None
    sure: Collection[str] = ()
    why_none: str = ""

    @cached_property
    def day(self) -> SpentDay | None:
        """What several rules look at is put together once."""
        return SpentDay.of(self.board, self.ended, self.now)

    def stands(self, key: str) -> Alert | None:
        """The alert of that key that is not resolved."""
        return self.board.standing_alerts.get(key)

    def limit(self, key: str, limit: float) -> float:
        """What must be reached for an alert of that key to be raised, or to stay."""
        return limit * CALM if self.stands(key) is not None else limit


@dataclass(frozen=True, slots=True)
class Seen:
    """What a rule sees, in words, and what follows. One that cannot tell leaves its alerts as they are."""

    words: str
    conditions: tuple[Condition, ...] = ()
    can_tell: bool = True


def nothing(words: str) -> Seen:
    return Seen(words)


def unknown(words: str) -> Seen:
    return Seen(words, can_tell=False)


def severity_of(setting: "RuleSetting", usual: AlertSeverity) -> AlertSeverity:
    """As a person has set it; `usual` where nobody has."""
    return usual if setting.severity is setting.rule.severity else setting.severity
