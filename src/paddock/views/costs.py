"""What agents have cost, grouped as requested, and what may be spent."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

import msgspec

from paddock.core.board import Board
from paddock.core.events import Record, TurnEnded
from paddock.core.ids import TaskId
from paddock.core.money.budget import Amount, Cost, committed
from paddock.core.money.spending import day_of, with_tasks
from paddock.core.tasks.task import Task
from paddock.insight.costs.report import landed_since
from paddock.views.document import Document, view_of

GROUPS = ("task", "agent", "engine", "model", "convoy", "day")


@dataclass
class CostRow:
    """The cost of one group. `unpriced_turns` have no known price, `unknown_turns` have not even reported tokens."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    startup_money: float = 0.0
    startup_tokens: int = 0
    unpriced_turns: int = 0
    unknown_turns: int = 0
    uncounted_calls: int = 0
    told: int = 0

    @property
    def is_priced(self) -> bool:
        """Whether any of it has a price. If not, the cost is unknown, which is not the same as zero."""
        if not self.turns or self.money:
            return True
        return bool(self.told) and not (self.unpriced_turns or self.unknown_turns)

    def add(self, event: TurnEnded) -> None:
        self.turns += 1
        self.input_tokens += event.input_tokens + event.cache_write_tokens + event.cache_read_tokens
        self.output_tokens += event.output_tokens
        self.startup_tokens += event.startup_tokens
        self.unknown_turns += event.cost_source == "unknown"
        self.uncounted_calls += event.uncounted_calls
        if event.cost_usd is None:
            self.unpriced_turns += event.cost_source == "unpriced"
            return
        self.told += 1
        self.money += event.cost_usd
        self.startup_money += event.startup_usd or 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    by: str
    rows: dict[str, CostRow]
    total: CostRow
    landed: int

    @property
    def per_landed(self) -> float | None:
        """Dollars per landed change; None if none has landed or the cost is unknown."""
        return self.total.money / self.landed if self.landed and self.total.is_priced else None


def sum_costs(
    board: Board, turns: Iterable[Record], by: str, only: Collection[TaskId] | None = None, since: float = 0.0
) -> Costs:
    """`turns` are the records of `TurnEnded`; `by` is one of `GROUPS`. With `only`, these tasks alone count, and with
    `since` what happened then or later."""
    rows: dict[str, CostRow] = {}
    for record in turns:
        if record.at < since or (only is not None and record.task not in only):
            continue
        assert isinstance(record.event, TurnEnded)
        task = board.tasks.get(record.task) if record.task is not None else None
        rows.setdefault(_group(by, task, record, record.event), CostRow()).add(record.event)
    total = CostRow(*(sum(getattr(row, field.name) for row in rows.values()) for field in fields(CostRow)))
    return Costs(by, rows, total, landed_since(board, since, only))


def _group(by: str, task: Task | None, record: Record, event: TurnEnded) -> str:
    match by:
        case "day":
            return day_of(record.at)
        case "model":
            return event.model or "unknown"
    if task is None:
        return "unknown"
    attempt = next((one for one in task.attempts if one.id == record.attempt), None)
    engine = attempt.engine if attempt is not None else "unknown"
    reviews = attempt is not None and attempt.role is not task.role
    agent = (attempt.agent if attempt is not None and reviews else task.agent) or engine
    return {"task": task.id, "agent": agent, "engine": engine, "convoy": task.convoy or "none"}[by]


class CostView(msgspec.Struct, frozen=True):
    turns: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    startup_usd: float | None
    work_usd: float | None
    startup_tokens: int
    unpriced_turns: int
    unknown_turns: int
    uncounted_calls: int


class CostsView(Document, frozen=True, kw_only=True):
    """A row begins with what it is about, under the name of `by`."""

    by: str
    rows: list[dict[str, object]]
    total: CostView
    landed: int
    per_landed_usd: float | None


class BudgetView(msgspec.Struct, frozen=True):
    """A limit on every task, attempt or convoy has no spending of its own: its figures are None."""

    scope: str
    limit_usd: float | None
    limit_tokens: float | None
    spent_usd: float | None = None
    spent_tokens: float | None = None
    committed_usd: float | None = None
    committed_tokens: float | None = None


def view_costs(costs: Costs) -> CostsView:
    each = costs.per_landed
    return CostsView(
        by=costs.by,
        rows=[{costs.by: name, **msgspec.structs.asdict(_view_row(row))} for name, row in costs.rows.items()],
        total=_view_row(costs.total),
        landed=costs.landed,
        per_landed_usd=None if each is None else round(each, 6),
    )


def _view_row(row: CostRow) -> CostView:
    work = row.money - row.startup_money
    money = {"cost_usd": row.money, "startup_usd": row.startup_money, "work_usd": work}
    known = {name: round(dollars, 6) if row.is_priced else None for name, dollars in money.items()}
    return view_of(CostView, row, **known)


def view_budgets(board: Board, now: float) -> list[BudgetView]:
    return [_view_budget(board, scope, limit, now) for scope, limit in board.spending.ledger.limits.items()]


def _view_budget(board: Board, scope: str, limit: Amount, now: float) -> BudgetView:
    kind, _, name = scope.partition(":")
    if not name and kind not in ("fleet", "day"):
        return BudgetView(scope, limit.money, limit.tokens)
    ledger = board.spending.ledger
    if kind == "task":
        ledger = with_tasks(ledger, [board.task(TaskId(name))])
    account = f"day:{day_of(now)}" if scope == "day" else scope
    figures = []
    for cost in (ledger.spent.get(account, Cost()), committed(ledger, account)):
        figures += [round(cost.money or 0.0, 6), cost.tokens]
    return BudgetView(scope, limit.money, limit.tokens, *figures)
