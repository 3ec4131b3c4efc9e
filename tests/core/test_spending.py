"""Budgets on the board: reserved with the start, extended while at work, settled with the end, never overshot."""

import contextlib
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId
from paddock.core.money.budget import Cost, OverBudget, committed, limit_of
from paddock.core.money.spending import BudgetExceeded, ask_for_more, day_of, expect, expected_tokens, with_tasks
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.core.ledger import START, Ledger, fold_from_snapshot

FIRST_DAY, NEXT_DAY = day_of(START), day_of(START + 86400)


class Purse(Ledger):
    """A ledger with money in it."""

    def limit(self, scope: str, usd: float | None = None, tokens: float | None = None) -> None:
        self.write(ev.Draft(ev.BudgetSet(scope, usd, tokens)))

    def begin(self, task: TaskId, usd: float | None = 1.0, tokens: float = 100.0) -> AttemptId:
        attempt = AttemptId(f"{task}.{self.task(task).started + 1}")
        event = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", reserved_usd=usd, reserved_tokens=tokens)
        self.write(ev.Draft(event, task, attempt))
        return attempt

    def finish(self, task: TaskId, usd: float | None, tokens: int, *, then: str = "retry", **more: object) -> None:
        live = self.task(task).live_attempt
        assert live is not None
        turn = ev.TurnEnded(turn=1, exit=0, input_tokens=tokens, cost_usd=usd, **more)  # type: ignore[arg-type]
        ended = ev.AttemptEnded(Outcome.DELIVERED, Step(then), counted=False)
        self.write(*(ev.Draft(event, task, live.id) for event in (ev.TurnStarted(turn=1), turn, ended)))

    def taken(self, scope: str) -> float:
        return committed(self.board.spending.ledger, scope).money or 0.0

    def ask(
        self, task: TaskId, usd: float, tokens: float = 0.0, ahead: float = 0.0
    ) -> ev.AttemptExtended | OverBudget | None:
        """An attempt at work tells what it has used; what it needs more is recorded."""
        answer = ask_for_more(self.board.spending, self.task(task), Cost(usd, tokens), Cost(ahead))
        if isinstance(answer, ev.AttemptExtended):
            live = self.task(task).live_attempt
            assert live is not None
            self.write(ev.Draft(answer, task, live.id))
        return answer


@pytest.fixture
def purse() -> Purse:
    ledger = Purse()
    ledger.write(ev.Draft(ev.ConvoyAdded("api")))
    for _ in range(4):
        ledger.add(convoy="api")
    return ledger


T1, T2, T3 = TaskId("t1"), TaskId("t2"), TaskId("t3")


@pytest.mark.parametrize("scope", ["fleet", "day", "convoy:api", "convoy", "task:t1", "task", f"day:{FIRST_DAY}"])
def test_no_start_is_recorded_that_a_budget_has_no_room_for(purse: Purse, scope: str) -> None:
    purse.limit(scope, usd=1.5)
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=1.0, tokens=10)
    with pytest.raises(BudgetExceeded, match="may not start"):
        purse.begin(T1, usd=1.0)
    assert purse.task(T1).live_attempt is None


def test_tokens_are_a_budget_as_well(purse: Purse) -> None:
    purse.limit("fleet", tokens=150)
    purse.begin(T1, tokens=100.0)
    with pytest.raises(BudgetExceeded, match="50 of 150 tokens left, 100 needed"):
        purse.begin(T2, tokens=100.0)


def test_an_attempts_reservation_is_capped_by_its_own_budget(purse: Purse) -> None:
    purse.limit("attempt", usd=0.5)
    purse.limit("fleet", usd=1.0)
    purse.begin(T1, usd=3.0)
    purse.begin(T2, usd=3.0)
    assert purse.taken("fleet") == 1.0


def test_what_was_not_used_is_free_again(purse: Purse) -> None:
    purse.limit("fleet", usd=1.5)
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=0.25, tokens=10)
    assert purse.taken("fleet") == 0.25
    purse.begin(T2, usd=1.0)


def test_a_budget_set_while_agents_work_counts_them(purse: Purse) -> None:
    purse.begin(T1, usd=1.0)
    purse.limit("fleet", usd=1.5)
    with pytest.raises(BudgetExceeded):
        purse.begin(T2, usd=1.0)
    purse.finish(T1, usd=0.9, tokens=1)
    assert purse.taken("fleet") == 0.9


def test_a_task_budget_set_later_counts_what_was_spent_before(purse: Purse) -> None:
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=0.8, tokens=1)
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=0.9, tokens=1)
    purse.limit("task", usd=2.0)
    with pytest.raises(BudgetExceeded, match=r"task:t1 has \$0\.30 of \$2\.00 left, \$1\.00 needed"):
        purse.begin(T1, usd=1.0)
    purse.begin(T2, usd=1.0)


def test_a_days_budget_is_fresh_the_next_day(purse: Purse) -> None:
    purse.limit("day", usd=1.0)
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=1.0, tokens=1)
    with pytest.raises(BudgetExceeded, match=f"day:{FIRST_DAY}"):
        purse.begin(T2, usd=1.0)
    event = ev.AttemptStarted("claude", "b" * 40, "paddock/t2", reserved_usd=1.0)
    tomorrow = ev.Record(purse.board.seq + 1, START + 86400, "daemon", 0, T2, AttemptId("t2.1"), event, bytes(20))
    purse.board.apply(tomorrow)
    assert purse.taken(f"day:{NEXT_DAY}") == 1.0
    assert purse.taken(f"day:{FIRST_DAY}") == 1.0


def test_what_has_no_price_counts_at_the_assumed_one_and_never_as_nothing(purse: Purse) -> None:
    purse.limit("fleet", usd=2.0)
    purse.begin(T1, usd=1.0)
    purse.finish(T1, usd=None, tokens=1, cost_source="unpriced", assumed_usd=1.75)
    assert purse.taken("fleet") == 1.75
    with pytest.raises(BudgetExceeded):
        purse.begin(T2, usd=1.0)


def test_a_model_that_is_named_and_has_no_price_does_not_start_under_a_budget_in_money(purse: Purse) -> None:
    purse.begin(T1, usd=None)
    purse.limit("fleet", usd=100.0)
    with pytest.raises(BudgetExceeded, match="this model has no price"):
        purse.begin(T2, usd=None)


def test_more_than_was_reserved_is_reserved_on_top_while_there_is_room(purse: Purse) -> None:
    purse.limit("fleet", usd=3.0)
    purse.begin(T1, usd=1.0)
    purse.begin(T2, usd=1.0)
    assert purse.ask(T1, 1.0) is None
    assert purse.ask(T1, 1.2) == ev.AttemptExtended(1.5, 100.0)
    assert purse.ask(T1, 2.0) == ev.AttemptExtended(2.0, 100.0), "a quarter more does not fit, as much as it used does"
    refusal = purse.ask(T1, 2.01)
    assert isinstance(refusal, OverBudget)
    assert refusal.reason == "fleet has $0.00 of $3.00 left, $0.01 needed"
    assert purse.taken("fleet") == 3.0


def test_an_attempt_may_not_exceed_its_own_budget_whatever_was_reserved(purse: Purse) -> None:
    purse.begin(T1, usd=5.0)
    purse.limit("attempt", usd=2.0)
    assert purse.ask(T1, 1.9) is None
    refusal = purse.ask(T1, 2.1)
    assert isinstance(refusal, OverBudget)
    assert (refusal.scope, refusal.reason) == ("attempt:t1.1", "attempt:t1.1 has used $2.10 of $2.00")


def test_the_next_call_has_to_fit_before_it_is_made(purse: Purse) -> None:
    purse.limit("fleet", usd=4.0)
    purse.begin(T1, usd=1.5)
    purse.begin(T2, usd=1.5)
    assert purse.ask(T1, 1.0, ahead=0.5) is None
    assert purse.ask(T1, 1.5, ahead=0.5) == ev.AttemptExtended(2.5, 100.0)
    refusal = purse.ask(T1, 2.1, ahead=0.5)
    assert isinstance(refusal, OverBudget)
    assert refusal.reason == "fleet has $0.00 of $4.00 left, $0.10 needed"


def test_what_another_has_overdrawn_holds_also_within_the_reservation(purse: Purse) -> None:
    purse.limit("fleet", usd=4.0)
    purse.begin(T1, usd=1.5)
    purse.begin(T2, usd=1.5)
    purse.finish(T2, usd=3.0, tokens=1)
    assert purse.ask(T1, 0.5, ahead=0.5) is None
    refusal = purse.ask(T1, 1.0, ahead=0.4)
    assert isinstance(refusal, OverBudget)
    assert refusal.reason == "fleet has $1.00 of $4.00 left, $1.40 needed"


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.01, 0.6)), max_size=60),
    st.floats(0.5, 6.0),
)
def test_agents_that_are_heard_after_every_call_spend_no_more_than_a_call_too_much(
    calls: list[tuple[int, float]], limit: float
) -> None:
    """Whoever is told to stop makes no further call; no call costs more than the dearest before it, or a dime."""
    purse = Purse()
    for _ in range(4):
        purse.add()
    purse.limit("fleet", usd=limit)
    names = [TaskId(f"t{n}") for n in range(1, 5)]
    used, dearest = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.1)
    for name in names:
        with contextlib.suppress(BudgetExceeded):
            purse.begin(name, usd=0.1)
    for number, price in calls:
        name = names[number]
        if purse.task(name).live_attempt is None:
            continue
        cost = min(price, dearest[name])
        used[name] += cost
        dearest[name] = max(dearest[name], cost)
        if isinstance(purse.ask(name, used[name], ahead=dearest[name]), OverBudget):
            purse.finish(name, usd=used[name], tokens=1, then="block")
    assert sum(used.values()) <= limit + 1e-6


def test_a_tasks_budget_holds_while_its_second_attempt_works(purse: Purse) -> None:
    purse.limit("task:t1", usd=2.0)
    purse.begin(T1, usd=0.5)
    purse.finish(T1, usd=1.0, tokens=1)
    purse.begin(T1, usd=0.5)
    assert purse.ask(T1, 0.9) == ev.AttemptExtended(0.9, 100.0)
    assert isinstance(purse.ask(T1, 1.01), OverBudget)
    assert purse.ask(T2, 9.0) is None, "who is not at work has no reservation"


def test_an_extension_that_does_not_fit_cannot_be_recorded(purse: Purse) -> None:
    purse.limit("fleet", usd=2.0)
    attempt = purse.begin(T1, usd=1.0)
    with pytest.raises(BudgetExceeded, match="may not continue"):
        purse.write(ev.Draft(ev.AttemptExtended(2.5, 0.0), T1, attempt))
    assert purse.taken("fleet") == 1.0


def test_without_budgets_nobody_is_asked(purse: Purse) -> None:
    purse.begin(T1, usd=1.0)
    assert purse.ask(T1, 1e9, 1e12) is None


def test_a_lifted_budget_holds_nobody_back(purse: Purse) -> None:
    purse.limit("fleet", usd=0.5)
    purse.limit("fleet")
    purse.begin(T1, usd=1.0)


def test_the_estimate_learns_from_useful_attempts_only(purse: Purse) -> None:
    prior = expected_tokens(expect(purse.board.spending, purse.task(T1), "claude"))
    purse.begin(T1)
    purse.finish(T1, usd=0.1, tokens=1000)
    assert expected_tokens(expect(purse.board.spending, purse.task(T1), "claude")) != prior
    samples = purse.board.spending.experience
    purse.begin(T2)
    live = purse.task(T2).live_attempt
    assert live is not None
    purse.write(ev.Draft(ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, counted=True), T2, live.id))
    assert purse.board.spending.experience == samples


def test_budgets_and_reservations_survive_a_snapshot(purse: Purse) -> None:
    purse.limit("fleet", usd=3.0)
    purse.begin(T1, usd=1.0)
    purse.ask(T1, 1.2)
    for cut in range(1, len(purse.records)):
        assert fold_from_snapshot(purse.records, cut).spending == purse.board.spending


MONEY = st.floats(0.0, 2.0).map(lambda value: round(value, 3))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.sampled_from([T1, T2, T3]), MONEY),
        st.tuples(st.just("ask"), st.sampled_from([T1, T2, T3]), MONEY),
        st.tuples(st.just("finish"), st.sampled_from([T1, T2, T3]), st.floats(0.0, 1.0)),
    ),
    max_size=40,
)
LIMITS = st.dictionaries(
    st.sampled_from(["fleet", "day", "convoy:api", "task", "task:t2", "attempt"]), st.floats(0.1, 5.0), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(LIMITS, STEPS)
def test_spent_and_reserved_never_exceed_a_budget(
    limits: dict[str, float], steps: list[tuple[str, TaskId, float]]
) -> None:
    """Whatever is asked for in whatever order, as long as agents stop when they are told to."""
    ledger = Purse()
    ledger.write(ev.Draft(ev.ConvoyAdded("api")))
    for _ in range(3):
        ledger.add(convoy="api")
    for scope, usd in limits.items():
        ledger.limit(scope, usd=usd)
    for step, task, value in steps:
        live = ledger.task(task).live_attempt
        if step == "begin" and live is None:
            try:
                ledger.begin(task, usd=value)
            except BudgetExceeded:
                assert ledger.task(task).live_attempt is None
        elif step == "ask":
            ledger.ask(task, value)
        elif step == "finish" and live is not None:
            held = ledger.board.spending.ledger.reservations[live.id].amount.money or 0.0
            ledger.finish(task, usd=held * value, tokens=1)
        assert_within(ledger.board)


def assert_within(board: Board) -> None:
    ledger = with_tasks(board.spending.ledger, [board.tasks[name] for name in board.tasks])
    tasks = [f"task:{name}" for name in board.tasks]
    for scope in ("fleet", f"day:{FIRST_DAY}", "convoy:api", *tasks, *(f"attempt:{a}" for a in ledger.reservations)):
        limit = limit_of(ledger, scope)
        if limit is not None and limit.money is not None:
            assert (committed(ledger, scope).money or 0.0) <= limit.money + 1e-9, scope


def test_concurrent_writers_cannot_overshoot_together(tmp_path: Path) -> None:
    """What each may still start is decided in the transaction that writes it."""
    path = tmp_path / "log.db"
    store = SqliteStore(path, create=True)
    tasks = [TaskId(f"t{number}") for number in range(1, 21)]
    drafts = [ev.Draft(ev.TaskAdded("Task", "do it"), task) for task in tasks]
    store.append(lambda _board: [*drafts, ev.Draft(ev.BudgetSet("fleet", 5.0))], Author("ana"))
    store.close()
    refused: list[TaskId] = []
    begin = threading.Barrier(2)

    def start(mine: list[TaskId]) -> None:
        log = SqliteStore(path)
        begin.wait()
        for task in mine:
            event = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", reserved_usd=1.0)
            draft = ev.Draft(event, task, AttemptId(f"{task}.1"))
            try:
                log.append(lambda _board, draft=draft: [draft], Author("daemon"))  # type: ignore[misc]
            except BudgetExceeded:
                refused.append(task)
        log.close()

    threads = [threading.Thread(target=start, args=(tasks[number::2],)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = SqliteStore(path, read_only=True)
    board = store.board()
    store.close()
    assert len(board.live) == 5
    assert len(refused) == 15
    assert committed(board.spending.ledger, "fleet").money == 5.0
