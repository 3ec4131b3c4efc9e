"""Budgets in money and tokens. The 90th percentile of what an attempt may cost is reserved when it starts and
settled when it ends, so that any number of agents in flight cannot overshoot together.

For every scope with a limit, spent + reserved stays within it: a reservation that would not fit is refused, and
an attempt that has used up its reservation gets more only if that fits; otherwise it has to stop. What was really
spent is recorded even if a last call overshot; then nothing new is reserved.
"""

import msgspec
from msgspec.structs import replace

FLEET = "fleet"


class Amount(msgspec.Struct, frozen=True):
    """As a limit, None means no limit; as a cost, `money` None means unknown. Money is in US dollars."""

    money: float | None = None
    tokens: float | None = None


class Cost(msgspec.Struct, frozen=True):
    """What something costs; `money` is None for a model without a price."""

    money: float | None = 0.0
    tokens: float = 0.0

    def plus(self, other: "Cost") -> "Cost":
        known = self.money is not None and other.money is not None
        return Cost((self.money or 0.0) + (other.money or 0.0) if known else None, self.tokens + other.tokens)


class Reservation(msgspec.Struct, frozen=True):
    """What is set aside for an attempt, and where it counts."""

    scopes: tuple[str, ...]
    amount: Cost


class BudgetBook(msgspec.Struct, frozen=True):
    """Limits and expenses by scope: `fleet`, `day:2026-11-15`, `convoy:x`, `task:t4`, `attempt:t4.1`.

    A limit named `task` or `day` without a colon holds for every task or day that has none of its own. `assumed` is
    the part of the money spent on a day that nobody knows for certain.
    """

    limits: dict[str, Amount] = {}
    spent: dict[str, Cost] = {}
    reservations: dict[str, Reservation] = {}
    assumed: dict[str, float] = {}


class Expenses(msgspec.Struct, frozen=True):
    """What of a `BudgetBook` was spent."""

    spent: dict[str, Cost] = {}
    assumed: dict[str, float] = {}


class DayCost(msgspec.Struct, frozen=True):
    """US dollars of one day: `known`, and `assumed` for what nobody could tell."""

    known: float = 0.0
    assumed: float = 0.0


class Booked(msgspec.Struct, frozen=True):
    """Only the expenses of a `Spending`; decodes from a whole encoded one."""

    ledger: Expenses = Expenses()


class OverBudget(msgspec.Struct, frozen=True):
    """`scope` has no room for what was asked; `reason` says so in words."""

    scope: str
    reason: str


def scopes_of(attempt: str, task: str, convoy: str | None, day: str) -> tuple[str, ...]:
    """Every scope an attempt's costs count towards, the narrowest first."""
    convoys = (f"convoy:{convoy}",) if convoy else ()
    return (f"attempt:{attempt}", f"task:{task}", *convoys, f"day:{day}", FLEET)


def set_limit(ledger: BudgetBook, scope: str, limit: Amount | None) -> BudgetBook:
    limits = {name: amount for name, amount in ledger.limits.items() if name != scope}
    return replace(ledger, limits=limits if limit is None else {**limits, scope: limit})


def limit_of(ledger: BudgetBook, scope: str) -> Amount | None:
    return ledger.limits.get(scope) or ledger.limits.get(scope.partition(":")[0])


def committed(ledger: BudgetBook, scope: str) -> Cost:
    """Spent plus reserved. Money that nobody could price is left out here; `reserve` never lets it in unseen."""
    total = ledger.spent.get(scope, Cost())
    for held in ledger.reservations.values():
        if scope in held.scopes:
            total = Cost((total.money or 0.0) + (held.amount.money or 0.0), total.tokens + held.amount.tokens)
    return total


def room(ledger: BudgetBook, scopes: tuple[str, ...], amount: Cost) -> OverBudget | None:
    """None if the amount fits into every scope, else the first in which it does not."""
    for scope in scopes:
        limit = limit_of(ledger, scope)
        if limit is None:
            continue
        taken = committed(ledger, scope)
        if limit.money is not None and amount.money is None:
            return OverBudget(scope, f"{scope} has a budget in money, and this model has no price")
        if limit.money is not None and (taken.money or 0.0) + (amount.money or 0.0) > limit.money:
            left = max(0.0, limit.money - (taken.money or 0.0))
            return OverBudget(scope, f"{scope} has ${left:.2f} of ${limit.money:.2f} left, ${amount.money:.2f} needed")
        if limit.tokens is not None and taken.tokens + amount.tokens > limit.tokens:
            left = max(0.0, limit.tokens - taken.tokens)
            return OverBudget(
                scope, f"{scope} has {left:,.0f} of {limit.tokens:,.0f} tokens left, {amount.tokens:,.0f} needed"
            )
    return None


def cap_to_attempt(ledger: BudgetBook, attempt: str, amount: Cost) -> Cost:
    """At most the attempt's own limit, because it is stopped there anyway."""
    limit = limit_of(ledger, f"attempt:{attempt}") or Amount()
    money, tokens = amount.money, amount.tokens
    if limit.money is not None and money is not None:
        money = min(money, limit.money)
    return Cost(money, tokens if limit.tokens is None else min(tokens, limit.tokens))


def reserve(ledger: BudgetBook, attempt: str, scopes: tuple[str, ...], amount: Cost) -> BudgetBook | OverBudget:
    """Set the amount aside for an attempt about to start; an attempt has one reservation."""
    if attempt in ledger.reservations:
        return OverBudget(f"attempt:{attempt}", f"attempt {attempt} already has a reservation")
    amount = cap_to_attempt(ledger, attempt, amount)
    refusal = room(ledger, scopes, amount)
    return refusal or hold(ledger, attempt, Reservation(scopes, amount))


def hold(ledger: BudgetBook, attempt: str, reservation: Reservation) -> BudgetBook:
    return replace(ledger, reservations={**ledger.reservations, attempt: reservation})
