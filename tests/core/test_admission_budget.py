"""Limits, what counts towards them, and reservations; `test_spending` has the whole life of a budget."""

from paddock.core.money.budget import (
    Amount,
    BudgetBook,
    Cost,
    OverBudget,
    committed,
    limit_of,
    reserve,
    scopes_of,
    set_limit,
)

SCOPES = scopes_of("t1.1", "t1", "launch", "2026-11-15")


def reserved(ledger: BudgetBook, attempt: str, amount: Cost) -> BudgetBook:
    made = reserve(ledger, attempt, (f"attempt:{attempt}", "fleet"), amount)
    assert isinstance(made, BudgetBook), made
    return made


def test_an_attempt_counts_towards_its_task_convoy_day_and_fleet() -> None:
    assert SCOPES == ("attempt:t1.1", "task:t1", "convoy:launch", "day:2026-11-15", "fleet")
    ledger = reserve(BudgetBook(), "t1.1", SCOPES, Cost(2.0, 10.0))
    assert isinstance(ledger, BudgetBook)
    assert [committed(ledger, scope) for scope in SCOPES] == [Cost(2.0, 10.0)] * 5


def test_what_is_reserved_is_not_free() -> None:
    ledger = set_limit(BudgetBook(), "fleet", Amount(money=10.0))
    ledger = reserved(ledger, "a", Cost(8.0, 0.0))
    assert isinstance(reserve(ledger, "b", ("fleet",), Cost(3.0, 0.0)), OverBudget)
    assert isinstance(reserve(ledger, "b", ("fleet",), Cost(2.0, 0.0)), BudgetBook)


def test_a_limit_of_its_own_goes_before_that_of_its_kind() -> None:
    ledger = set_limit(set_limit(BudgetBook(), "task", Amount(money=1.0)), "task:t9", Amount(money=5.0))
    assert limit_of(ledger, "task:t1") == Amount(money=1.0)
    assert limit_of(ledger, "task:t9") == Amount(money=5.0)
    assert limit_of(set_limit(ledger, "task", None), "task:t1") is None


def test_a_model_without_a_price_is_refused_under_a_budget_in_money_only() -> None:
    money = set_limit(BudgetBook(), "fleet", Amount(money=100.0))
    refusal = reserve(money, "a", ("fleet",), Cost(None, 5.0))
    assert isinstance(refusal, OverBudget)
    assert "no price" in refusal.reason
    tokens = set_limit(BudgetBook(), "fleet", Amount(tokens=100.0))
    assert isinstance(reserve(tokens, "a", ("fleet",), Cost(None, 5.0)), BudgetBook)


def test_an_attempts_own_limit_caps_its_reservation() -> None:
    ledger = set_limit(BudgetBook(), "attempt", Amount(money=2.0))
    ledger = reserved(ledger, "a", Cost(9.0, 0.0))
    assert committed(ledger, "fleet").money == 2.0


def test_an_attempt_cannot_reserve_twice() -> None:
    ledger = reserved(BudgetBook(), "a", Cost(3.0, 0.0))
    assert isinstance(reserve(ledger, "a", ("fleet",), Cost(1.0, 0.0)), OverBudget)
