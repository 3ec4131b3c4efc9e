"""What attempts and imported runs did, step by step, as `paddock traces` tells it."""

from typing import Annotated

from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.insight.costs.runs import with_cost
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import find_run, require_label
from paddock.insight.selection import Selection
from paddock.views.insight.trace_difference import TraceDifferenceView, view_difference
from paddock.views.insight.traces import LabelsView, TracesView, TraceView, view_labels, view_trace, view_traces
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

Name = Annotated[str, Meta(max_length=200)]
RunName = Annotated[str, Meta(max_length=500)]


class TracesQuery(Asked, frozen=True):
    """`label` is a batch, `fleet` for Paddock's own attempts; `since` a time such as 2026-11-15T10:00, or an age such
    as 7d; `failed` asks for failed runs alone. At most `limit` runs, the latest."""

    task: Name | None = None
    kind: Name | None = None
    agent: Name | None = None
    engine: Name | None = None
    model: Name | None = None
    label: Name | None = None
    since: Annotated[str, Meta(max_length=40)] | None = None
    failed: bool = False
    limit: Annotated[int, Meta(ge=1, le=2_000)] = 200


class TraceQuery(Asked, frozen=True):
    """`label` is the batch of an imported run. At most `limit` steps, the first."""

    label: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000


class DifferenceQuery(Asked, frozen=True):
    """Each is an attempt such as t3.1, or an imported run: its name, or LABEL/NAME."""

    left: RunName
    right: RunName


def read_traces(visit: Visit[TracesQuery, NoBody]) -> TracesView:
    query = visit.query
    where = Selection(
        task=query.task,
        kind=query.kind,
        agent=query.agent,
        engine=query.engine,
        model=query.model,
        label=query.label,
        since=None if query.since is None else parse_moment(query.since, visit.now),
    )
    with open_current(visit.workspace) as dataset:
        require_label(dataset, query.label)
        runs = dataset.runs(where, failed=query.failed or None, limit=query.limit)
        return view_traces([with_cost(kept, visit.workspace.site.prices) for kept in runs], dataset.behind)


def read_labels(visit: Visit[NoQuery, NoBody]) -> LabelsView:
    with open_current(visit.workspace) as dataset:
        return view_labels(dataset.labels(), dataset.behind)


def read_trace(visit: Visit[TraceQuery, NoBody]) -> TraceView:
    query = visit.query
    with open_current(visit.workspace) as dataset:
        kept = with_cost(find_run(dataset, visit.path["run"], query.label), visit.workspace.site.prices)
        steps, calls = dataset.steps(kept.key), dataset.calls(kept.key)
        return view_trace(kept, dataset.symbols, steps, calls, most_steps=query.limit, behind=dataset.behind)


def read_difference(visit: Visit[DifferenceQuery, NoBody]) -> TraceDifferenceView:
    with open_current(visit.workspace) as dataset:
        prices = visit.workspace.site.prices
        left, right = (with_cost(find_run(dataset, name), prices) for name in (visit.query.left, visit.query.right))
        return view_difference(left, dataset.steps(left.key), right, dataset.steps(right.key), dataset.behind)
