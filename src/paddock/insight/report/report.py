"""The report of a stretch of time on one page: what landed, what it cost, where time went, and what went wrong."""

import msgspec

from paddock.core.causes.model import Causes
from paddock.core.causes.vocabulary import FailureCause
from paddock.insight.costs.report import CostReport
from paddock.insight.costs.weeks import WeekCost
from paddock.insight.report.checks import SlowCheck
from paddock.insight.report.findings import AlertPart, DriftPart, FailurePart
from paddock.insight.report.landings import Landings
from paddock.insight.report.offenders import Offenders
from paddock.insight.report.phase_times import TimeUse


class Report(msgspec.Struct, frozen=True):
    """`began` is None for all of the log. `time` is None if no task was finished, or if the log is too long to count
    it, which `time_problem` then says."""

    repository: str
    began: float | None
    ended: float
    landings: Landings
    costs: CostReport
    weeks: tuple[WeekCost, ...]
    time: TimeUse | None
    time_problem: str
    failures: FailurePart
    causes: Causes
    drift: DriftPart
    alerts: AlertPart
    checks: tuple[SlowCheck, ...]
    offenders: Offenders

    @property
    def is_empty(self) -> bool:
        """Whether nothing has happened that there is something to say of."""
        return not (self.landings.decided or self.costs.split.attempts or self.failures.runs)


def opening_words(report: Report) -> str:
    """One or two sentences that would do if the rest failed to load."""
    landings, split = report.landings, report.costs.split
    if report.is_empty:
        return "Nothing was finished and nobody was at work, so there is nothing to tell."
    of = f"{landings.landed:,} of {landings.decided:,} tasks that were decided landed"
    if landings.landed_before is not None and landings.landed_before:
        of += f", after {landings.landed_before:,} in the time before"
    each = report.costs.per_landed_usd
    money = f", at ${each:,.2f} a change" if each is not None else ""
    lost = ""
    if split.cost_usd and split.thrown_usd / split.cost_usd >= 0.01:
        lost = f" {split.thrown_usd / split.cost_usd:.0%} of ${split.cost_usd:,.2f} was thrown away."
    return f"{of}{money}.{lost}{_trouble(report)}"


def _trouble(report: Report) -> str:
    words = []
    if report.failures.top:
        first = report.failures.top[0]
        share = len(first.runs) / report.failures.failed
        if len(first.runs) > 1 and share >= 0.2:
            known = first.cause is not FailureCause.UNKNOWN
            why = f"have one cause: {first.cause.value}" if known else "are alike, and nothing tells why"
            words.append(f" {share:.0%} of the failures {why}.")
    if report.drift.drifted:
        count = len(report.drift.drifted)
        words.append(f" In {count} batch{'es' * (count != 1)} of attempts, agents behaved differently than before.")
    return "".join(words)
