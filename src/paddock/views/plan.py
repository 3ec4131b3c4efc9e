"""A plan before anybody decides about it, as JSON."""

import msgspec

from paddock.core.events import Acceptance
from paddock.core.plan.overlaps import AddedOrder, Overlap
from paddock.fleet.plan_preview import PlanPreview, PreviewedTask, ProposedPlan
from paddock.views.document import Document


class PlannedTaskView(msgspec.Struct, frozen=True, kw_only=True):
    """As the plan has it, with who would do it and what such work takes: half of it stays below `p50`, nine of ten
    below `p90`. Dollars are null where no price is known."""

    key: str
    title: str
    brief: str
    paths: tuple[str, ...]
    after: tuple[str, ...]
    kind: str | None
    size: str
    labels: tuple[str, ...]
    accept: Acceptance | None
    agent: str | None
    engine: str
    seconds_p50: float
    seconds_p90: float
    tokens_p50: int
    tokens_p90: int
    usd_p50: float | None
    usd_p90: float | None


class AddedOrderView(msgspec.Struct, frozen=True):
    """Paddock made `task` wait for `after`, because both may change `path`."""

    task: str
    after: str
    path: str


class OverlapView(msgspec.Struct, frozen=True):
    """`task` and `other`, a key or the id of an open task, may change `path` at the same time. Without `other`, `task`
    names no paths and may touch what any other does."""

    task: str
    other: str | None
    path: str | None


class PlanForecastView(msgspec.Struct, frozen=True, kw_only=True):
    """Of the whole plan; `unpriced` of its tasks have no price and are in no sum of dollars. `agents` at the same time
    are worth it, out of `slots`; `chain` are the tasks that take longest one after the other."""

    tokens_p50: int
    tokens_p90: int
    usd_p50: float | None
    usd_p90: float | None
    unpriced: int
    slots: int
    agents: int
    wall_seconds: float
    serial_seconds: float
    chain: tuple[str, ...]
    chain_seconds: float
    reasons: tuple[str, ...]


class PlanPreviewView(Document, frozen=True, kw_only=True):
    """`task` made the plan, and the record `seq` holds it. `decided` says what a person has made of it, if anything.
    `joins` is whether the convoy exists already. `ids` are the tasks it has become."""

    task: str
    seq: int
    decided: str
    convoy: str
    title: str
    joins: bool
    notes: str
    risks: tuple[str, ...]
    tasks: tuple[PlannedTaskView, ...]
    added: tuple[AddedOrderView, ...]
    overlaps: tuple[OverlapView, ...]
    forecast: PlanForecastView
    ids: tuple[str, ...] = ()


def view_preview(proposed: ProposedPlan, preview: PlanPreview, ids: tuple[str, ...] = ()) -> PlanPreviewView:
    plan = preview.arranged.plan
    return PlanPreviewView(
        task=proposed.task,
        seq=proposed.seq,
        decided=proposed.decided,
        convoy=plan.convoy,
        title=plan.title,
        joins=preview.joins,
        notes=plan.notes,
        risks=plan.risks,
        tasks=tuple(map(_view_task, preview.tasks)),
        added=tuple(map(_view_added, preview.arranged.added)),
        overlaps=tuple(map(_view_overlap, preview.arranged.overlaps)),
        forecast=_view_forecast(preview),
        ids=ids,
    )


def _view_task(row: PreviewedTask) -> PlannedTaskView:
    task, expected = row.task, row.forecast
    return PlannedTaskView(
        key=task.key,
        title=task.title,
        brief=task.brief,
        paths=task.paths,
        after=task.after,
        kind=task.kind,
        size=task.size.value,
        labels=task.labels,
        accept=task.accept,
        agent=row.agent,
        engine=row.engine,
        seconds_p50=round(expected.seconds.p50, 1),
        seconds_p90=round(expected.seconds.p90, 1),
        tokens_p50=round(expected.tokens.p50),
        tokens_p90=round(expected.tokens.p90),
        usd_p50=_dollars(expected.money.p50 if expected.money else None),
        usd_p90=_dollars(expected.money.p90 if expected.money else None),
    )


def _view_forecast(preview: PlanPreview) -> PlanForecastView:
    expected, fan_out = preview.forecast, preview.fan_out
    return PlanForecastView(
        tokens_p50=round(expected.tokens.p50),
        tokens_p90=round(expected.tokens.p90),
        usd_p50=_dollars(expected.money.p50 if expected.money else None),
        usd_p90=_dollars(expected.money.p90 if expected.money else None),
        unpriced=expected.unpriced,
        slots=preview.slots,
        agents=fan_out.chosen.agents,
        wall_seconds=round(max(fan_out.chosen.wall_seconds, expected.chain_seconds), 1),
        serial_seconds=round(fan_out.serial.wall_seconds, 1),
        chain=expected.chain,
        chain_seconds=round(expected.chain_seconds, 1),
        reasons=fan_out.reasons,
    )


def _view_added(one: AddedOrder) -> AddedOrderView:
    return AddedOrderView(one.task, one.after, one.path)


def _view_overlap(one: Overlap) -> OverlapView:
    return OverlapView(one.task, one.other or None, one.path or None)


def _dollars(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 4)
