"""A plan before anybody decides about it: who would do what, whether several agents are worth it, what it may cost."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from msgspec import structs

from paddock.core.board import Board
from paddock.core.economics.fanout import FanOut, Piece, Spawn, decide_fan_out
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, PlanProposed, Record, TaskAdded
from paddock.core.ids import TaskId
from paddock.core.intent.plan import accept_plan, batch_of, plan_task
from paddock.core.intent.tasks import Known, add_tasks
from paddock.core.money.prices import cost_of, find_price
from paddock.core.money.spending import day_of, expect
from paddock.core.plan.forecast import (
    NOTHING,
    PlanForecast,
    Range,
    TaskForecast,
    expect_money,
    expect_seconds,
    expect_tokens,
    sum_up,
)
from paddock.core.plan.overlaps import ArrangedPlan, arrange_plan, in_order, take_as_it_is
from paddock.core.plan.plan import Plan, PlannedTask, decode_plan
from paddock.core.tasks.life import begin
from paddock.core.tasks.task import Task
from paddock.fleet.dispatch.fan_out import worth_of_an_hour
from paddock.fleet.dispatch.pricing import spawn_money, typical_usage
from paddock.fleet.plan_context import open_tasks
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store


@dataclass(frozen=True, slots=True)
class ProposedPlan:
    """A plan in the log: the task that made it, the record that holds it, and whether it was decided about."""

    task: TaskId
    seq: int
    plan: Plan
    decided: str = ""


@dataclass(frozen=True, slots=True)
class PreviewedTask:
    """`agent` is who would get it, None for nobody in particular. `engine` is empty where none is set."""

    task: PlannedTask
    agent: str | None
    engine: str
    forecast: TaskForecast


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """`joins` is whether the convoy exists already, so that its tasks would be joined by these."""

    arranged: ArrangedPlan
    tasks: tuple[PreviewedTask, ...]
    forecast: PlanForecast
    fan_out: FanOut
    slots: int
    joins: bool = False


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """A plan as it is being decided about. `convoy` is the name that a person wants instead of the planner's."""

    proposed: ProposedPlan
    preview: PlanPreview
    convoy: str | None = None

    @property
    def plan(self) -> Plan:
        return self.preview.arranged.plan


def open_plan(workspace: Workspace, name: TaskId, convoy: str | None = None) -> OpenPlan:
    """The newest plan of a task. Raises PaddockError."""
    with closing(workspace.read()) as store:
        return look_at_plan(workspace, store, name, convoy)


def look_at_plan(workspace: Workspace, store: Store, name: TaskId, convoy: str | None = None) -> OpenPlan:
    """The same, with a store that is open already."""
    board = store.board()
    proposed = read_proposed(board, store, name)
    if convoy is not None:
        proposed = replace(proposed, plan=structs.replace(proposed.plan, convoy=convoy))
    return OpenPlan(proposed, preview_plan(workspace.site, board, proposed.plan, workspace.known), convoy)


def record_acceptance(workspace: Workspace, opened: OpenPlan, seen: int | None = None) -> list[Record]:
    """Adds its tasks. `seen` is the record with the plan that a person has seen, where that may be another one. Raises
    PaddockError if the plan is not the newest any more, or was decided about."""
    known, attempts = workspace.known, workspace.config.limits.attempts
    name, seq = opened.proposed.task, opened.proposed.seq if seen is None else seen
    return workspace.record(lambda board: accept_plan(board, name, seq, opened.plan, known, attempts=attempts))


def read_proposed(board: Board, store: Store, name: TaskId) -> ProposedPlan:
    """The newest plan of a task. Raises PaddockError if there is none."""
    task = plan_task(board, name)
    event = store.record(task.answer_seq).event if task.answer_seq else None
    if not isinstance(event, PlanProposed):
        hint = f"`paddock show {name}` tells how far it is"
        raise PaddockError(f"task `{name}` {task.phase.words}: there is no plan yet", hint)
    decided = task.reason if task.decided == task.answer_seq else ""
    return ProposedPlan(name, task.answer_seq, decode_plan(event.plan), decided)


def preview_plan(site: Site, board: Board, plan: Plan, known: Known, *, edited: bool = False) -> PlanPreview:
    """What a person has `edited` is only looked at: their order stands. Raises PaddockError for a plan that cannot
    become tasks any more."""
    arrange = take_as_it_is if edited else arrange_plan
    arranged = arrange(plan, open_tasks(board))
    now = site.clock.now()
    ordered = in_order(arranged.plan.tasks)
    drafts = add_tasks(board, batch_of(structs.replace(arranged.plan, tasks=tuple(ordered))), known)
    added = [_imagine(draft, draft.event, now) for draft in drafts if isinstance(draft.event, TaskAdded)]
    found = {one.key: _preview_task(site, board, one, task, now) for one, task in zip(ordered, added, strict=True)}
    rows = tuple(found[one.key] for one in arranged.plan.tasks)
    forecast = sum_up(arranged.plan.tasks, {row.task.key: row.forecast for row in rows})
    slots = site.config.limits.max_agents
    fan_out = _fan_out(site, board, list(zip(ordered, added, strict=True)), slots)
    return PlanPreview(arranged, rows, forecast, fan_out, slots, plan.convoy in board.convoys)


def _imagine(draft: Draft, event: TaskAdded, now: float) -> Task:
    """The task that it would be."""
    assert draft.task is not None
    return begin(draft.task, event, Record(0, now, "", 0, draft.task, None, event, b""))


def _engine_of(site: Site, task: Task) -> str:
    try:
        return site.engine_name(task)
    except PaddockError:
        return ""


def _preview_task(site: Site, board: Board, planned: PlannedTask, task: Task, now: float) -> PreviewedTask:
    engine = _engine_of(site, task)
    learnt, factor = expect(board.spending, task, engine), planned.size.factor
    tokens = expect_tokens(learnt, factor)
    money = _money(site, engine, expect_money(learnt, factor)) or _priced(site, task, engine, tokens, now)
    return PreviewedTask(planned, task.agent, engine, TaskForecast(expect_seconds(learnt, factor), tokens, money))


def _money(site: Site, engine: str, learnt: Range | None) -> Range | None:
    """What such work has cost; nothing only where nothing is ever billed."""
    if site.capabilities_of(engine).free:
        return NOTHING
    return learnt if learnt is not None and learnt.p90 > 0 else None


def _priced(site: Site, task: Task, engine: str, tokens: Range, now: float) -> Range | None:
    """By the price of its model, where that is known before anything was paid for."""
    model = site.model_of(task, engine)
    price = find_price(site.prices, model, day_of(now)) if model else None
    if price is None:
        return None
    return Range(cost_of(price, typical_usage(tokens.p50)), cost_of(price, typical_usage(tokens.p90)))


def _fan_out(site: Site, board: Board, tasks: Sequence[tuple[PlannedTask, Task]], slots: int) -> FanOut:
    """As if none waited for another: how far that is from the truth, the longest chain tells."""
    pieces = []
    for planned, task in tasks:
        work = expect(board.spending, task, _engine_of(site, task)).work_seconds
        pieces.append(Piece(planned.key, planned.size.factor * work.median, planned.size.factor * work.spread))
    first, engine = tasks[0][1], _engine_of(site, tasks[0][1])
    learnt = expect(board.spending, first, engine)
    money = spawn_money(site, learnt, first, engine, site.clock.now())
    spawn = Spawn(learnt.spawn_seconds.median, learnt.spawn_tokens.median, money)
    return decide_fan_out(pieces, spawn, slots, worth_of_an_hour(site.config.limits, None, None))
