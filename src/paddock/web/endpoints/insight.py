"""What the Insight page shows: what the fleet does, seen over days.

What takes long is computed by threads that nobody else waits for, and kept until the attempts it is about are others.
"""

from collections.abc import Hashable
from contextlib import closing
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.core.events import TurnEnded
from paddock.insight.costs.reading import read_fleet_costs
from paddock.insight.costs.report import report_costs
from paddock.insight.costs.waste import fates_of
from paddock.insight.costs.weeks import weekly_costs
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.report.reading import in_order, read_drift, read_failures, read_report
from paddock.store.protocol import Query
from paddock.views.cost_report import CostReportView, view_cost_report
from paddock.views.document import Document, iso_or_none
from paddock.views.insight.failures import Situation
from paddock.views.insight.findings import DriftPartView, FailuresPartView, view_drift_part, view_failure_part
from paddock.views.insight.overview import InsightView, view_insight
from paddock.views.insight.report import ReportView, WeekView, view_report, view_week
from paddock.views.insight.ways import KINDS, find_ways
from paddock.views.insight.ways_picture import WaysPicture, draw_ways
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

Span: TypeAlias = Literal["24h", "7d", "30d", "all"]
DAY = 86_400.0
SAME_SECONDS = 600.0
"""A stretch of time that ends now is taken to be the same as one that ended so much earlier."""
_SECONDS: dict[Span, float] = {"24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}


class SpanQuery(Asked, frozen=True):
    since: Span = "7d"


class FailuresPage(Document, frozen=True, kw_only=True):
    """`behind` says why the dataset does not have the newest attempts, empty if it has."""

    began: str | None
    behind: str
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
    return view_insight(visit.board, visit.store.records(Query(kind=TurnEnded.kind)))


def read_ways(visit: Visit[SpanQuery, NoBody]) -> WaysView:
    workspace, span, since = visit.workspace, visit.query.since, began(visit.query.since, visit.now)

    def compute() -> WaysView:
        with closing(workspace.read()) as store:
            board = store.board()
            ways = find_ways(board, in_order(store.records, KINDS, board, since))
        return WaysView(seq=board.seq, began=iso_or_none(since), picture=draw_ways(ways))

    return visit.remembered.get(("ways", span), (workspace.board().seq, visit.now // SAME_SECONDS), compute)


def read_failures_page(visit: Visit[SpanQuery, NoBody]) -> FailuresPage:
    span, since = visit.query.since, began(visit.query.since, visit.now)
    with open_current(visit.workspace) as dataset:
        state = (*_state_of(dataset), visit.now // SAME_SECONDS)
        part = visit.remembered.get(("failures", span), state, lambda: read_failures(dataset, since, visit.now))
        behind = dataset.behind
    situation = Situation(visit.workspace.board().causes, visit.now)
    return FailuresPage(began=iso_or_none(since), behind=behind, failures=view_failure_part(part, situation))


def read_drift_page(visit: Visit[SpanQuery, NoBody]) -> DriftPage:
    span, since = visit.query.since, began(visit.query.since, visit.now)
    with open_current(visit.workspace) as dataset:
        state = (*_state_of(dataset), visit.now // SAME_SECONDS)
        part = visit.remembered.get(("drift", span), state, lambda: read_drift(dataset, since, visit.now))
        behind = dataset.behind
    return DriftPage(began=iso_or_none(since), behind=behind, drift=view_drift_part(part))


def read_money_page(visit: Visit[SpanQuery, NoBody]) -> MoneyPage:
    workspace, span, since = visit.workspace, visit.query.since, began(visit.query.since, visit.now)
    board = workspace.board()

    def compute() -> MoneyPage:
        with closing(workspace.read()) as store:
            costs = read_fleet_costs(workspace, board, store.records)
        weeks = weekly_costs(board, costs, fates_of(board, costs), visit.now)
        told = view_cost_report(report_costs(board, costs, visit.now, since or 0.0))
        return MoneyPage(began=iso_or_none(since), costs=told, weeks=[view_week(week) for week in weeks])

    return visit.remembered.get(("money", span), (board.seq, visit.now // SAME_SECONDS), compute)


def read_report_view(visit: Visit[ReportQuery, NoBody]) -> ReportView:
    workspace, asked = visit.workspace, visit.query.since
    since = None if asked == "all" else parse_moment(asked, visit.now)
    state = (workspace.board().seq, visit.now // SAME_SECONDS)
    return visit.remembered.get(("report", asked), state, lambda: view_report(read_report(workspace, since, visit.now)))


def _state_of(dataset: Dataset) -> tuple[Hashable, ...]:
    """Another one whenever an attempt of the fleet has begun or ended."""
    mine = next((one for one in dataset.labels() if one.label == FLEET), None)
    return (str(dataset.path),) if mine is None else (str(dataset.path), mine.runs, mine.failed, mine.last)
