"""The report of a stretch of time, as JSON: what every other form of it is made of."""

import msgspec

from paddock.core.ids import printable
from paddock.insight.costs.weeks import WeekCost
from paddock.insight.report.checks import SlowCheck
from paddock.insight.report.landings import Landings
from paddock.insight.report.offenders import AgentWaste, Offenders, TaskWaste
from paddock.insight.report.phase_times import TimeUse
from paddock.insight.report.report import Report, opening_words
from paddock.views.alerts import AlertView, view_alert
from paddock.views.cost_report import CostReportView, SplitView, dollars, view_cost_report, view_split
from paddock.views.document import Document, iso, iso_or_none
from paddock.views.insight.failures import Situation
from paddock.views.insight.findings import DriftPartView, FailuresPartView, view_drift_part, view_failure_part


class BarView(msgspec.Struct, frozen=True):
    began: str
    seconds: float
    landed: int
    failed: int


class LandingsView(msgspec.Struct, frozen=True):
    """`decided` are the tasks that landed, failed, were cancelled or needed no change. `landed_before` is of the time
    before, as long as this one; None where all of the log is told."""

    landed: int
    landed_before: int | None
    failed: int
    cancelled: int
    without_change: int
    decided: int
    added: int
    unfinished: int
    bars: list[BarView]


class WeekView(msgspec.Struct, frozen=True):
    """What attempts that ended in these seven days have cost, and all of that for each change that landed in them."""

    began: str
    landed: int
    per_landed_usd: float | None
    split: SplitView


class TimePartView(msgspec.Struct, frozen=True):
    name: str
    state: str
    seconds: float
    share: float
    median_seconds: float


class TimeView(msgspec.Struct, frozen=True):
    """The whole lives of tasks that were finished; medians are of a task."""

    tasks: int
    seconds: float
    median_seconds: float
    parts: list[TimePartView]


class SlowCheckView(msgspec.Struct, frozen=True):
    """`kind` is `review` or `ci`; `slowest` is the task or the run in which it took `longest_seconds`."""

    name: str
    kind: str
    runs: int
    seconds: float
    median_seconds: float
    longest_seconds: float
    slowest: str
    failed: int
    flaked: int


class TaskWasteView(msgspec.Struct, frozen=True):
    task: str
    title: str
    phase: str
    attempts: int
    lost: int
    lost_usd: float | None


class AgentWasteView(msgspec.Struct, frozen=True):
    agent: str
    engine: str
    attempts: int
    lost: int
    lost_usd: float | None


class OffendersView(msgspec.Struct, frozen=True):
    """Where most was thrown away: `lost` attempts came to nothing."""

    tasks: list[TaskWasteView]
    agents: list[AgentWasteView]


class AlertsPartView(msgspec.Struct, frozen=True):
    """`raised` in this time; `standing` now, and `more` that are left out."""

    raised: int
    standing: list[AlertView]
    more: int


class ReportView(Document, frozen=True, kw_only=True):
    """From `began`, or the beginning of the log, to `ended`. `time` is None where nothing was finished, or where
    `time_problem` says why nobody counted it."""

    repository: str
    began: str | None
    ended: str
    words: str
    landings: LandingsView
    costs: CostReportView
    weeks: list[WeekView]
    time: TimeView | None
    time_problem: str
    failures: FailuresPartView
    drift: DriftPartView
    alerts: AlertsPartView
    checks: list[SlowCheckView]
    offenders: OffendersView


def view_report(report: Report) -> ReportView:
    alerts = report.alerts
    return ReportView(
        repository=printable(report.repository, 120),
        began=iso_or_none(report.began),
        ended=iso(report.ended),
        words=opening_words(report),
        landings=view_landings(report.landings),
        costs=view_cost_report(report.costs),
        weeks=[view_week(week) for week in report.weeks],
        time=None if report.time is None else view_time(report.time),
        time_problem=report.time_problem,
        failures=view_failure_part(report.failures, Situation(report.causes, report.ended)),
        drift=view_drift_part(report.drift),
        alerts=AlertsPartView(alerts.raised, [view_alert(alert) for alert in alerts.standing], alerts.more),
        checks=[view_check(check) for check in report.checks],
        offenders=view_offenders(report.offenders),
    )


def view_landings(landings: Landings) -> LandingsView:
    return LandingsView(
        landed=landings.landed,
        landed_before=landings.landed_before,
        failed=landings.failed,
        cancelled=landings.cancelled,
        without_change=landings.without_change,
        decided=landings.decided,
        added=landings.added,
        unfinished=landings.unfinished,
        bars=[BarView(iso(bar.began), bar.seconds, bar.landed, bar.failed) for bar in landings.bars],
    )


def view_week(week: WeekCost) -> WeekView:
    return WeekView(iso(week.began), week.landed, dollars(week.per_landed_usd), view_split(week.split))


def view_time(time: TimeUse) -> TimeView:
    whole = time.seconds or 1.0
    return TimeView(
        tasks=time.tasks,
        seconds=round(time.seconds, 1),
        median_seconds=round(time.median_seconds, 1),
        parts=[
            TimePartView(
                part.name,
                part.state,
                round(part.seconds, 1),
                round(part.seconds / whole, 4),
                round(part.median_seconds, 1),
            )
            for part in time.parts
        ],
    )


def view_check(check: SlowCheck) -> SlowCheckView:
    times = (round(check.seconds, 1), round(check.median_seconds, 2), round(check.longest_seconds, 2))
    name, slowest = printable(check.name, 120), printable(check.slowest, 60)
    return SlowCheckView(name, check.kind, check.runs, *times, slowest, check.failed, check.flaked)


def view_offenders(offenders: Offenders) -> OffendersView:
    return OffendersView(
        tasks=[_view_task(row) for row in offenders.tasks], agents=[_view_agent(row) for row in offenders.agents]
    )


def _view_task(row: TaskWaste) -> TaskWasteView:
    title = printable(row.title, 160)
    return TaskWasteView(row.task, title, row.phase, row.attempts, row.lost, dollars(row.lost_usd))


def _view_agent(row: AgentWaste) -> AgentWasteView:
    named = (printable(row.agent, 80), printable(row.engine, 80))
    return AgentWasteView(*named, row.attempts, row.lost, dollars(row.lost_usd))
