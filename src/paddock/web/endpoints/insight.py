"""What the Insight page shows: what the fleet does, seen over days.

What takes long is computed by threads that nobody else waits for, and kept until the attempts it is about are others.
"""

from collections.abc import Hashable
from contextlib import closing
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.core.events import TurnEnded
from paddock.core.ids import TaskId
from paddock.insight.costs.reading import read_fleet_costs
from paddock.insight.costs.report import report_costs
from paddock.insight.costs.waste import fates_of
from paddock.insight.costs.weeks import weekly_costs
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.names import require_label
from paddock.insight.report.checks import KINDS as CHECK_KINDS
from paddock.insight.report.checks import find_slow_checks
from paddock.insight.report.landings import count_landings
from paddock.insight.report.offenders import find_offenders
from paddock.insight.report.reading import in_order, read_drift, read_failures, read_report
from paddock.insight.selection import Selection
from paddock.store.protocol import Query
from paddock.views.cost_report import CostReportView, view_cost_report
from paddock.views.document import Document, iso_or_none
from paddock.views.insight.failures import Situation
from paddock.views.insight.findings import DriftPartView, FailuresPartView, view_drift_part, view_failure_part
from paddock.views.insight.overview import InsightView, view_insight
from paddock.views.insight.report import (
    LandingsView,
    OffendersView,
    ReportView,
    SlowCheckView,
    TimeView,
    WeekView,
    view_check,
    view_landings,
    view_offenders,
    view_report,
    view_time,
    view_week,
)
from paddock.views.insight.step_ways import find_step_ways
from paddock.views.insight.ways import KINDS, find_ways
from paddock.views.insight.ways_picture import WaysPicture, draw_ways
from paddock.web.dataset_state import SAME_SECONDS, state_of
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.last_change import LastChange
from paddock.web.running_clock import RunningClock

Span: TypeAlias = Literal["24h", "7d", "30d", "all"]
DAY = 86_400.0
MOST_RUNS = 5_000
"""The newest runs of a batch whose steps are drawn."""
_SECONDS: dict[Span, float] = {"24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}


class SpanQuery(Asked, frozen=True):
    since: Span = "7d"


class BatchQuery(Asked, frozen=True):
    """`label` is a batch: `fleet`, or an imported one, of which all runs are looked at whenever they were."""

    since: Span = "7d"
    label: Annotated[str, Meta(max_length=200)] = FLEET


class FailuresPage(Document, frozen=True, kw_only=True):
    """`behind` says why the dataset does not have the newest attempts, empty if it has. `labels` are the batches that
    there are."""

    began: str | None
    behind: str
    label: str
    labels: list[str]
    failures: FailuresPartView


class DriftPage(Document, frozen=True, kw_only=True):
    began: str | None
    behind: str
    drift: DriftPartView


class MoneyPage(Document, frozen=True, kw_only=True):
    """`weeks` are the last six, whatever time is asked about."""

    began: str | None
    costs: CostReportView
    weeks: list[WeekView]


class LongestView(msgspec.Struct, frozen=True):
    task: TaskId
    seconds: float


class WorkPage(Document, frozen=True, kw_only=True):
    """`time` is None where nothing was finished, or where `time_problem` says why nobody counted it. `longest` has for
    each part of it the tasks that spent most time in it."""

    began: str | None
    landings: LandingsView
    time: TimeView | None
    time_problem: str
    longest: dict[str, list[LongestView]]
    checks: list[SlowCheckView]
    offenders: OffendersView


class PathsView(Document, frozen=True, kw_only=True):
    """The paths of `picture.attempts` runs. `labels` are the batches that there are; `cut`: there were more runs, and
    these are the latest."""

    began: str | None
    behind: str
    label: str
    labels: list[str]
    cut: bool
    picture: WaysPicture


class ReportQuery(Asked, frozen=True):
    """`since` is an age such as 7d, a time such as 2026-11-15T10:00, or `all`."""

    since: Annotated[str, Meta(max_length=40)] = "7d"


class WaysView(Document, frozen=True, kw_only=True):
    """`began` is the beginning of the time that is looked at, None for all of the log."""

    seq: int
    began: str | None
    picture: WaysPicture


def began(span: Span, now: float) -> float | None:
    return None if span == "all" else now - _SECONDS[span]


def read_insight(visit: Visit[NoQuery, NoBody]) -> InsightView:
    workspace = visit.workspace

    def compute() -> InsightView:
        with closing(workspace.read()) as store:
            board = store.board()
            return view_insight(board, store.records(Query(kind=TurnEnded.kind, until=board.seq)))

    return visit.remembered.get("insight", _last_change(visit), compute)


def read_ways(visit: Visit[SpanQuery, NoBody]) -> WaysView:
    workspace, span, since = visit.workspace, visit.query.since, began(visit.query.since, visit.now)

    def compute() -> WaysView:
        with closing(workspace.read()) as store:
            board = store.board()
            ways = find_ways(board, in_order(store.records, KINDS, board, since))
        return WaysView(seq=board.seq, began=iso_or_none(since), picture=draw_ways(ways))

    return visit.remembered.get(("ways", span), _state(visit), compute)


def read_failures_page(visit: Visit[BatchQuery, NoBody]) -> FailuresPage:
    query, since = visit.query, _since(visit)
    with open_current(visit.workspace) as dataset:
        labels = dataset.labels()
        require_label(dataset, query.label)
        name, state = ("failures", query.since, query.label), state_of(dataset, visit.now)
        part = visit.remembered.get(name, state, lambda: read_failures(dataset, since, visit.now, query.label))
        behind = dataset.behind
    situation = Situation(visit.workspace.board().causes, visit.now)
    return FailuresPage(
        began=iso_or_none(since),
        behind=behind,
        label=query.label,
        labels=[one.label for one in labels],
        failures=view_failure_part(part, situation),
    )


def _since(visit: Visit[BatchQuery, NoBody]) -> float | None:
    """All runs of an imported batch are looked at, whenever they were."""
    return began(visit.query.since, visit.now) if visit.query.label == FLEET else None


def read_drift_page(visit: Visit[SpanQuery, NoBody]) -> DriftPage:
    span, since = visit.query.since, began(visit.query.since, visit.now)
    with open_current(visit.workspace) as dataset:
        state = state_of(dataset, visit.now)
        part = visit.remembered.get(("drift", span), state, lambda: read_drift(dataset, since, visit.now))
        behind = dataset.behind
    return DriftPage(began=iso_or_none(since), behind=behind, drift=view_drift_part(part))


def read_money_page(visit: Visit[SpanQuery, NoBody]) -> MoneyPage:
    workspace, span, since = visit.workspace, visit.query.since, began(visit.query.since, visit.now)

    def compute() -> MoneyPage:
        with closing(workspace.read()) as store:
            board = store.board()
            costs = read_fleet_costs(workspace, board, store.records)
        weeks = weekly_costs(board, costs, fates_of(board, costs), visit.now)
        told = view_cost_report(report_costs(board, costs, visit.now, since or 0.0))
        return MoneyPage(began=iso_or_none(since), costs=told, weeks=[view_week(week) for week in weeks])

    return visit.remembered.get(("money", span), _state(visit), compute)


def read_work_page(visit: Visit[SpanQuery, NoBody]) -> WorkPage:
    """What landed, where time went, which checks are slow, and by what most is thrown away."""
    workspace, span, since = visit.workspace, visit.query.since, began(visit.query.since, visit.now)
    clock = visit.remembered.get("phase clock", str(workspace.log), RunningClock)

    def compute() -> WorkPage:
        with closing(workspace.read()) as store:
            board = store.board()
            costs = read_fleet_costs(workspace, board, store.records)
            spent = clock.time_use(store, since or 0.0)
            slow = find_slow_checks(in_order(store.records, CHECK_KINDS, board, since))
        offenders = find_offenders(board, costs, fates_of(board, costs), since or 0.0)
        return WorkPage(
            began=iso_or_none(since),
            landings=view_landings(count_landings(board, since, visit.now)),
            time=None if spent.use is None else view_time(spent.use),
            time_problem=spent.problem,
            longest={
                part: [LongestView(name, round(seconds, 1)) for seconds, name in longest]
                for part, longest in spent.longest.items()
            },
            checks=[view_check(check) for check in slow],
            offenders=view_offenders(offenders),
        )

    return visit.remembered.get(("work", span), _state(visit), compute)


def read_paths(visit: Visit[BatchQuery, NoBody]) -> PathsView:
    query, since = visit.query, _since(visit)
    with open_current(visit.workspace) as dataset:
        require_label(dataset, query.label)
        labels = dataset.labels()

        def compute() -> PathsView:
            runs = dataset.runs(Selection(label=query.label, since=since), limit=MOST_RUNS)
            ended = [kept for kept in runs if kept.trace.ended is not None or query.label != FLEET]
            return PathsView(
                began=iso_or_none(since),
                behind=dataset.behind,
                label=query.label,
                labels=[one.label for one in labels],
                cut=len(runs) == MOST_RUNS,
                picture=draw_ways(find_step_ways(ended, dataset.symbols)),
            )

        return visit.remembered.get(("paths", query.since, query.label), state_of(dataset, visit.now), compute)


def read_report_view(visit: Visit[ReportQuery, NoBody]) -> ReportView:
    workspace, asked = visit.workspace, visit.query.since
    since = None if asked == "all" else parse_moment(asked, visit.now)

    def compute() -> ReportView:
        return view_report(read_report(workspace, since, visit.now))

    return visit.remembered.get(("report", asked), _state(visit), compute)


def _state(visit: Visit[Any, NoBody]) -> Hashable:
    """Of what the log tells of a time that ends now."""
    return _last_change(visit), visit.now // SAME_SECONDS


def _last_change(visit: Visit[Any, NoBody]) -> Hashable:
    log = str(visit.workspace.log)
    last = visit.remembered.get("last change", log, LastChange)
    with closing(visit.workspace.read()) as store:
        return log, last.find(store)
