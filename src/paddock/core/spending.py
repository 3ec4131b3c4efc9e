"""Money and time as the log tells them: budgets with their reservations, and what agents have needed so far."""

from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.admission.budget import (
    FLEET,
    Amount,
    Cost,
    Ledger,
    OverBudget,
    Reservation,
    cap_to_attempt,
    limit_of,
    room,
    set_limit,
)
from paddock.core.errors import PaddockError
from paddock.core.estimates import Experience, Learnt, Sample, learn, remember
from paddock.core.task import Attempt, Task

USEFUL = frozenset({"delivered", "unsaved", "noop"})


class Spending(msgspec.Struct, frozen=True):
    ledger: Ledger = Ledger()
    experience: Experience = Experience()


class BudgetExceeded(PaddockError):
    """An attempt may not start: a budget has no room for what it is expected to cost."""


def day_of(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def scopes(ledger: Ledger, attempt: str, task: Task, at: float) -> tuple[str, ...]:
    """Where an attempt's costs count. Single tasks and attempts only while they have a limit of their own."""
    narrow = tuple(scope for scope in (f"attempt:{attempt}", f"task:{task.id}") if limit_of(ledger, scope) is not None)
    convoy = (f"convoy:{task.convoy}",) if task.convoy else ()
    return (*narrow, *convoy, f"day:{day_of(at)}", FLEET)


def expected_cost(learnt: Learnt) -> Cost:
    """What nine of ten attempts stay below."""
    tokens = learnt.work_tokens.p90 + learnt.spawn_tokens.p90
    if learnt.work_money is None:
        return Cost(None, tokens)
    return Cost(learnt.work_money.p90 + (learnt.spawn_money.p90 if learnt.spawn_money else 0.0), tokens)


def expect(spending: Spending, task: Task, engine: str) -> Learnt:
    return learn(spending.experience, task.agent or engine, task.convoy or "")


def start(spending: Spending, task: Task, record: ev.Record, event: ev.AttemptStarted) -> Spending:
    """Reserves what the attempt may cost. Raises BudgetExceeded, so that no such start can be recorded."""
    ledger = spending.ledger
    if not ledger.limits or record.attempt is None:
        return spending
    amount = cap_to_attempt(ledger, record.attempt, Cost(event.reserved_usd, event.reserved_tokens))
    counted = scopes(ledger, record.attempt, task, record.at)
    refusal = room(ledger, counted, amount)
    if isinstance(refusal, OverBudget):
        raise BudgetExceeded(
            f"`{record.attempt}` may not start: {refusal.reason}", "raise it with `paddock budget set`"
        )
    reservations = {**ledger.reservations, str(record.attempt): Reservation(counted, amount)}
    return replace(spending, ledger=replace(ledger, reservations=reservations))


def end(spending: Spending, task: Task, attempt: Attempt, at: float) -> Spending:
    """Books what the attempt really cost and remembers how long it took. `attempt` has ended."""
    ledger = spending.ledger
    held = ledger.reservations.get(attempt.id)
    cost = Cost(attempt.cost_usd, float(tokens_of(attempt)))
    if held is not None or cost.tokens or cost.money:
        counted = held.scopes if held is not None else scopes(ledger, attempt.id, task, at)
        spent = ledger.spent.copy()
        for scope in counted:
            before = spent.get(scope, Cost())
            spent[scope] = Cost((before.money or 0.0) + (cost.money or 0.0), before.tokens + cost.tokens)
        left = {name: other for name, other in ledger.reservations.items() if name != attempt.id}
        spending = replace(spending, ledger=replace(ledger, spent=spent, reservations=left))
    if attempt.outcome not in USEFUL:
        return spending
    return replace(spending, experience=remember(spending.experience, _sample(task, attempt, at)))


def tokens_of(attempt: Attempt) -> int:
    return attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens + attempt.output_tokens


def _sample(task: Task, attempt: Attempt, at: float) -> Sample:
    spawn = attempt.startup_seconds
    whole = at - attempt.started
    share = attempt.startup_tokens / tokens_of(attempt) if tokens_of(attempt) else 0.0
    money = attempt.cost_usd
    return Sample(
        agent=task.agent or attempt.engine,
        kind=task.convoy or "",
        work_seconds=max(0.0, whole - (spawn or 0.0)),
        work_tokens=float(tokens_of(attempt) - attempt.startup_tokens),
        work_money=money * (1 - share) if money is not None else None,
        spawn_seconds=spawn,
        spawn_tokens=float(attempt.startup_tokens) if attempt.startup_tokens else None,
        spawn_money=money * share if money is not None and attempt.startup_tokens else None,
    )


def set_budget(spending: Spending, event: ev.BudgetSet, spent_so_far: Cost | None) -> Spending:
    """`spent_so_far` is what a single task has cost already, for a scope nobody had kept account of."""
    limit = Amount(event.money, event.tokens) if event.money is not None or event.tokens is not None else None
    ledger = set_limit(spending.ledger, event.scope, limit)
    if limit is not None and spent_so_far is not None and event.scope not in ledger.spent:
        ledger = replace(ledger, spent={**ledger.spent, event.scope: spent_so_far})
    return replace(spending, ledger=ledger)
