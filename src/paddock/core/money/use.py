"""How much of each budget is used, by attempts that have ended and by those at work so far."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.money.budget import FLEET, Amount, BudgetBook, Cost, limit_of
from paddock.core.money.spending import day_of, money_of, tokens_of
from paddock.core.tasks.task import Attempt


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """`share` is that of money or of tokens, whichever is scarcer; 1.0 is all of it."""

    scope: str
    limit: Amount
    used: Cost
    share: float


def budget_uses(board: Board, now: float) -> Iterator[BudgetUse]:
    """Of the budgets of more than one task: a task that has used up its own is blocked, which is told."""
    ledger = board.spending.ledger
    if not ledger.limits:
        return
    live: dict[str, Attempt] = {
        one.id: one for name in board.live if (one := board.tasks[name].live_attempt) is not None
    }
    for scope in _scopes(ledger, day_of(now)):
        limit = limit_of(ledger, scope)
        if limit is not None:
            used = _used(ledger, scope, live)
            yield BudgetUse(scope, limit, used, max(_share(used.money, limit.money), _share(used.tokens, limit.tokens)))


def _scopes(ledger: BudgetBook, today: str) -> list[str]:
    known = dict.fromkeys((FLEET, f"day:{today}", *ledger.limits, *ledger.spent))
    return [scope for scope in known if scope in (FLEET, f"day:{today}") or scope.startswith("convoy:")]


def _used(ledger: BudgetBook, scope: str, live: Mapping[str, Attempt]) -> Cost:
    total = ledger.spent.get(scope, Cost())
    for name, held in ledger.reservations.items():
        if scope in held.scopes and (attempt := live.get(name)) is not None:
            total = total.plus(Cost(money_of(attempt), float(tokens_of(attempt))))
    return total


def _share(used: float | None, limit: float | None) -> float:
    if limit is None:
        return 0.0
    return (used or 0.0) / limit if limit > 0 else 1.0
