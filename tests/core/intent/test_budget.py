"""Limits on spending, engines that may start again, and which tasks are meant."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import BudgetSet, Draft, LimitsReset
from paddock.core.ids import TaskId
from paddock.core.intent.budget import reset_limits, set_budget
from paddock.core.intent.selection import Bulk, Selection, attempt_named, select_tasks
from paddock.core.intent.tasks import cancel_tasks
from paddock.core.money.budget import Amount
from tests.core.ledger import Ledger


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger()
    made.add()
    return made


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_budget_is_a_positive_number(usd: float) -> None:
    ledger = Ledger()
    if 0 < usd < math.inf:
        ledger.write(*set_budget(ledger.board, "fleet", usd, None, lift=False))
        assert ledger.board.spending.ledger.limits == {"fleet": Amount(usd)}
    else:
        with pytest.raises(Misuse):
            set_budget(ledger.board, "fleet", usd, None, lift=False)


def test_a_limit_is_given_or_lifted_and_never_both_or_neither(ledger: Ledger) -> None:
    with pytest.raises(Misuse, match="no amount was given"):
        set_budget(ledger.board, "fleet", None, None, lift=False)
    with pytest.raises(Misuse, match="--none and an amount cannot be used together"):
        set_budget(ledger.board, "fleet", 5.0, None, lift=True)
    ledger.write(*set_budget(ledger.board, "task:T1", 5.0, 1e6, lift=False))
    assert ledger.board.spending.ledger.limits == {"task:t1": Amount(5.0, 1e6)}
    ledger.write(*set_budget(ledger.board, "task:t1", None, None, lift=True))
    assert ledger.board.spending.ledger.limits == {}


@pytest.mark.parametrize("scope", ["moon", "", "task:", "fleet:x", "day:2026-01-01", "convoy:", "task:x"])
def test_a_scope_that_means_nothing_is_misuse(ledger: Ledger, scope: str) -> None:
    with pytest.raises(Misuse):
        set_budget(ledger.board, scope, 1.0, None, lift=False)


@pytest.mark.parametrize("scope", ["task:t9", "attempt:t9.1", "convoy:nope"])
def test_a_limit_for_what_does_not_exist_is_refused(ledger: Ledger, scope: str) -> None:
    with pytest.raises(PaddockError, match="there is no"):
        set_budget(ledger.board, scope, 1.0, None, lift=False)


@pytest.mark.parametrize("scope", ["fleet", "day", "task", "attempt", "convoy", "attempt:t1.1"])
def test_other_scopes_are_written_as_they_are(ledger: Ledger, scope: str) -> None:
    assert set_budget(ledger.board, scope, 1.0, None, lift=False) == [Draft(BudgetSet(scope, 1.0, None))]


def test_only_an_engine_or_account_there_is_can_be_reset() -> None:
    assert reset_limits("claude", ("claude", "codex")) == [Draft(LimitsReset("claude"))]
    with pytest.raises(Misuse, match="there is no engine or account `cluade`") as refused:
        reset_limits("cluade", ("claude", "codex"))
    assert refused.value.hint == "did you mean `claude`?"


def test_tasks_are_chosen_by_name_or_by_what_can_be_done_with_them(ledger: Ledger) -> None:
    working, red = ledger.add(), ledger.add()
    ledger.start(working)
    ledger.attempt(red, "approval", head="h")
    every = Selection(everything=True)
    assert select_tasks(ledger.board, every, Bulk.STOP) == [working]
    assert select_tasks(ledger.board, every, Bulk.LAND) == [red]
    assert select_tasks(ledger.board, every, Bulk.MESSAGE) == [working, red]
    assert select_tasks(ledger.board, Selection(phase="approval"), Bulk.MESSAGE) == [red]
    assert select_tasks(ledger.board, every, Bulk.RETRY) == []
    ledger.write(*cancel_tasks(ledger.board, [TaskId("t1")], ""))
    assert select_tasks(ledger.board, every, Bulk.CANCEL) == [working, red]
    assert select_tasks(ledger.board, Selection((red, working, red)), Bulk.CANCEL) == [red, working]
    with pytest.raises(PaddockError, match="there is no convoy `nope`"):
        select_tasks(ledger.board, Selection(convoy="nope"), Bulk.STOP)


def test_an_attempt_is_meant_by_its_own_name_or_by_that_of_its_task(ledger: Ledger) -> None:
    with pytest.raises(PaddockError, match="task `t1` has had no agent yet"):
        attempt_named(ledger.board, "t1")
    ledger.attempt(TaskId("t1"), "retry")
    ledger.start(TaskId("t1"))
    assert attempt_named(ledger.board, "T1.1").id == "t1.1"
    assert attempt_named(ledger.board, "t1").id == "t1.2"
    with pytest.raises(PaddockError, match=r"there is no attempt `t1\.9`"):
        attempt_named(ledger.board, "t1.9")
