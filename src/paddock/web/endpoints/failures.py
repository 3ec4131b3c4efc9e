"""Why runs failed, as `paddock failures` tells it."""

from typing import Annotated

from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import require_label
from paddock.insight.failures.batch import diagnose_batch
from paddock.insight.selection import Selection
from paddock.views.insight.failures import FailuresView, Situation, view_failures
from paddock.web.dataset_state import state_of
from paddock.web.endpoint import Asked, NoBody, Visit

Name = Annotated[str, Meta(max_length=200)]


class FailuresQuery(Asked, frozen=True):
    """`since` is a time such as 2026-11-15T10:00, or an age such as 7d. `label` is a batch: `fleet`, or an imported
    one. Without any, all runs are looked at."""

    since: Annotated[str, Meta(max_length=40)] | None = None
    label: Name | None = None
    task: Name | None = None
    kind: Name | None = None
    agent: Name | None = None
    engine: Name | None = None
    model: Name | None = None


def read_failures(visit: Visit[FailuresQuery, NoBody]) -> FailuresView:
    query, workspace = visit.query, visit.workspace
    where = Selection(
        task=query.task,
        kind=query.kind,
        agent=query.agent,
        engine=query.engine,
        model=query.model,
        label=query.label,
        since=None if query.since is None else parse_moment(query.since, visit.now),
    )
    with open_current(workspace) as dataset:
        require_label(dataset, query.label)
        name, state = ("failures of", query), state_of(dataset, visit.now)
        batch = visit.remembered.get(name, state, lambda: diagnose_batch(dataset, where))
    return view_failures(batch, Situation(workspace.board().causes, visit.now))
