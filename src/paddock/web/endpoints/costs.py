"""What agents have cost, as `paddock costs` tells it."""

from typing import Annotated, Literal

from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.core.events import TurnEnded
from paddock.fleet.task_filter import read_filter
from paddock.insight.costs.reading import read_cost_report, read_label_report
from paddock.store.protocol import Query
from paddock.views.cost_report import FullCostsView, LabelCostsView, view_full_costs, view_label_costs
from paddock.views.costs import sum_costs, view_costs
from paddock.views.document import iso_or_none
from paddock.web.endpoint import Asked, FilterText, NoBody, Visit

Moment = Annotated[str, Meta(max_length=40)]


class CostsQuery(Asked, frozen=True):
    """`since` is a time such as 2026-11-15T10:00, or an age such as 7d. `where` is a filter: only tasks that match."""

    by: Literal["task", "agent", "engine", "model", "convoy", "day"] = "task"
    since: Moment | None = None
    where: FilterText | None = None


class LabelQuery(Asked, frozen=True):
    """`label` is the batch that runs were imported as."""

    label: Annotated[str, Meta(max_length=200)]
    since: Moment | None = None


def read_costs(visit: Visit[CostsQuery, NoBody]) -> FullCostsView:
    query, workspace = visit.query, visit.workspace
    since = None if query.since is None else parse_moment(query.since, visit.now)
    board = workspace.board()
    only = None if query.where is None else set(read_filter(workspace, query.where, visit.now).pick(board))
    turns = workspace.records(Query(kind=TurnEnded.kind, since=since))
    costs = sum_costs(board, turns, query.by, only, since or 0.0)
    report = read_cost_report(workspace, board, visit.now, since or 0.0, only)
    return view_full_costs(view_costs(costs), report, iso_or_none(since))


def read_label_costs(visit: Visit[LabelQuery, NoBody]) -> LabelCostsView:
    query = visit.query
    since = None if query.since is None else parse_moment(query.since, visit.now)
    return view_label_costs(read_label_report(visit.workspace, query.label, since), query.label)
