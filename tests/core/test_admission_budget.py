"""Budgets: reserved at the start, settled at the end, never overshot by agents in flight."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paddock.core.admission.budget import (
    Amount,
    Cost,
    Ledger,
    OverBudget,
    committed,
    forget,
    limit_of,
    note_usage,
    reserve,
    scopes_of,
    set_limit,
    settle,
)

SCOPES = scopes_of("t1.1", "t1", "launch", "2026-11-15")


def reserved(ledger: Ledger, attempt: str, amount: Cost) -> Ledger:
    made = reserve(ledger, attempt, (f"attempt:{attempt}", "fleet"), amount)
    assert isinstance(made, Ledger), made
    return made


def test_an_attempt_counts_towards_its_task_convoy_day_and_fleet() -> None:
    assert SCOPES == ("attempt:t1.1", "task:t1", "convoy:launch", "day:2026-11-15", "fleet")
    ledger = reserve(Ledger(), "t1.1", SCOPES, Cost(2.0, 10.0))
    assert isinstance(ledger, Ledger)
    assert [committed(ledger, scope) for scope in SCOPES] == [Cost(2.0, 10.0)] * 5
    ledger = settle(ledger, "t1.1", Cost(0.5, 4.0))
    assert [committed(ledger, scope) for scope in SCOPES] == [Cost(0.5, 4.0)] * 5


def test_what_was_reserved_and_not_spent_is_free_again() -> None:
    ledger = set_limit(Ledger(), "fleet", Amount(money=10.0))
    ledger = reserved(ledger, "a", Cost(8.0, 0.0))
    assert isinstance(reserve(ledger, "b", ("fleet",), Cost(3.0, 0.0)), OverBudget)
    ledger = settle(ledger, "a", Cost(1.0, 0.0))
    assert isinstance(reserve(ledger, "b", ("fleet",), Cost(9.0, 0.0)), Ledger)


def test_a_limit_of_its_own_goes_before_that_of_its_kind() -> None:
    ledger = set_limit(set_limit(Ledger(), "task", Amount(money=1.0)), "task:t9", Amount(money=5.0))
    assert limit_of(ledger, "task:t1") == Amount(money=1.0)
    assert limit_of(ledger, "task:t9") == Amount(money=5.0)
    assert limit_of(set_limit(ledger, "task", None), "task:t1") is None


def test_a_model_without_a_price_is_refused_under_a_budget_in_money_only() -> None:
    money = set_limit(Ledger(), "fleet", Amount(money=100.0))
    refusal = reserve(money, "a", ("fleet",), Cost(None, 5.0))
    assert isinstance(refusal, OverBudget)
    assert "no price" in refusal.reason
    tokens = set_limit(Ledger(), "fleet", Amount(tokens=100.0))
    assert isinstance(reserve(tokens, "a", ("fleet",), Cost(None, 5.0)), Ledger)


def test_an_attempts_own_limit_caps_its_reservation_and_stops_it() -> None:
    ledger = set_limit(Ledger(), "attempt", Amount(money=2.0))
    ledger = reserved(ledger, "a", Cost(9.0, 0.0))
    assert committed(ledger, "fleet").money == 2.0
    ledger, verdict = note_usage(ledger, "a", Cost(2.0, 0.0))
    assert verdict is None
    ledger, verdict = note_usage(ledger, "a", Cost(2.1, 0.0))
    assert verdict is not None
    assert verdict.scope == "attempt:a"


def test_a_dear_attempt_goes_on_only_while_there_is_room_beyond_its_reservation() -> None:
    ledger = set_limit(Ledger(), "fleet", Amount(money=10.0))
    ledger = reserved(reserved(ledger, "a", Cost(3.0, 0.0)), "b", Cost(3.0, 0.0))
    ledger, verdict = note_usage(ledger, "a", Cost(6.0, 0.0))
    assert verdict is None
    assert committed(ledger, "fleet").money == 9.0
    ledger, verdict = note_usage(ledger, "a", Cost(8.0, 0.0))
    assert verdict is not None
    assert verdict.scope == "fleet"
    assert isinstance(reserve(ledger, "c", ("fleet",), Cost(0.1, 0.0)), OverBudget)


def test_an_attempt_cannot_reserve_twice_and_settling_twice_costs_once() -> None:
    ledger = reserved(Ledger(), "a", Cost(3.0, 0.0))
    assert isinstance(reserve(ledger, "a", ("fleet",), Cost(1.0, 0.0)), OverBudget)
    once = settle(ledger, "a", Cost(2.0, 0.0))
    assert settle(once, "a", Cost(2.0, 0.0)) == once


def test_scopes_that_are_over_can_be_forgotten() -> None:
    ledger = settle(reserved(Ledger(), "a", Cost(3.0, 0.0)), "a", Cost(3.0, 0.0))
    assert set(forget(ledger, ("attempt:a",)).spent) == {"fleet"}


attempts = st.integers(0, 9).map(lambda n: f"t{n}.1")
amounts = st.builds(Cost, st.integers(0, 40).map(float), st.integers(0, 400).map(float))


class Spending(RuleBasedStateMachine):
    """Agents that stop when they are told to: whatever the order, no scope is overshot."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = set_limit(Ledger(), "fleet", Amount(100.0, 1000.0))
        self.ledger = set_limit(self.ledger, "convoy", Amount(money=60.0))
        self.ledger = set_limit(self.ledger, "attempt", Amount(money=25.0))
        self.used: dict[str, Cost] = {}

    @rule(attempt=attempts, amount=amounts, convoy=st.sampled_from([None, "x", "y"]))
    def starts(self, attempt: str, amount: Cost, convoy: str | None) -> None:
        scopes = scopes_of(attempt, attempt[:2], convoy, "2026-11-15")
        if not any(scope in self.ledger.spent for scope in scopes[:1]):
            made = reserve(self.ledger, attempt, scopes, amount)
            if isinstance(made, Ledger):
                self.ledger, self.used[attempt] = made, Cost()

    @rule(attempt=attempts, amount=amounts)
    def works(self, attempt: str, amount: Cost) -> None:
        if attempt in self.used:
            wanted = self.used[attempt].plus(amount)
            ledger, verdict = note_usage(self.ledger, attempt, wanted)
            if verdict is None:
                self.ledger, self.used[attempt] = ledger, wanted
            else:
                self.ends(attempt)

    @rule(attempt=attempts)
    def ends(self, attempt: str) -> None:
        if attempt in self.used:
            self.ledger = settle(self.ledger, attempt, self.used.pop(attempt))

    @invariant()
    def reserved_and_spent_stay_within_every_budget(self) -> None:
        for scope in ("fleet", "convoy:x", "convoy:y", *(f"attempt:{name}" for name in self.used)):
            limit, taken = limit_of(self.ledger, scope), committed(self.ledger, scope)
            assert limit is not None
            assert limit.money is None or (taken.money or 0.0) <= limit.money
            assert limit.tokens is None or taken.tokens <= limit.tokens


Spending.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestNoOrderOfStartsOvershoots = Spending.TestCase
