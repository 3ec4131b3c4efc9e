"""Whether a batch of runs behaves differently, as `paddock drift` tells it."""

from typing import Annotated

from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.insight.dataset.current import open_current
from paddock.insight.drift.reading import read_drift as look_for_drift
from paddock.insight.drift.sides import Question
from paddock.insight.selection import Selection
from paddock.views.insight.drift import DriftView, view_drift
from paddock.web.dataset_state import state_of
from paddock.web.endpoint import Asked, NoBody, Visit

Name = Annotated[str, Meta(max_length=200)]


class DriftQuery(Asked, frozen=True):
    """`batch` and `baseline` are labels of imported runs; without them the fleet's latest attempts are compared with
    those before, or those since `since`: a time such as 2026-11-15T10:00, or an age such as 7d."""

    batch: Name | None = None
    baseline: Name | None = None
    since: Annotated[str, Meta(max_length=40)] | None = None
    task: Name | None = None
    kind: Name | None = None
    agent: Name | None = None
    engine: Name | None = None
    model: Name | None = None


def read_drift(visit: Visit[DriftQuery, NoBody]) -> DriftView:
    query = visit.query
    where = Selection(
        task=query.task,
        kind=query.kind,
        agent=query.agent,
        engine=query.engine,
        model=query.model,
        since=None if query.since is None else parse_moment(query.since, visit.now),
    )

    def compute() -> DriftView:
        return view_drift(look_for_drift(visit.workspace, Question(where, query.batch, query.baseline), visit.now))

    with open_current(visit.workspace) as dataset:
        state = state_of(dataset, visit.now)
    return visit.remembered.get(("drift between", query), state, compute)
