"""Money and time according to the log: budgets with their reservations, and what agents have needed so far.

What a start reserves, and what a turn without a price is taken to have cost, stands in the events: folding
depends on no estimate, so a log that was written once can always be read.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.economics.estimates import Estimate, Experience, Learnt, TurnSample, learn, remember
from paddock.core.errors import PaddockError
from paddock.core.money.budget import (
    Amount,
    Booked,
    BudgetBook,
    Cost,
    Expenses,
    OverBudget,
    Reservation,
    cap_to_attempt,
    hold,
    limit_of,
    room,
    scopes_of,
    set_limit,
)
from paddock.core.tasks.task import Attempt, Task, as_seen_by
from paddock.core.tasks.vocabulary import USEFUL

# An attempt that has used up its reservation asks for this much more, so that it need not ask after every call.
EXTENSION = 1.25
DAY_SECONDS = 86400
NOTHING = Cost()


class Spending(msgspec.Struct, frozen=True):
    ledger: BudgetBook = BudgetBook()
    experience: Experience = Experience()


class BudgetExceeded(PaddockError):
    """An attempt may not start: a budget has no room for what it is expected to cost."""


def booked_of(spending: Spending) -> Booked:
    return Booked(Expenses(spending.ledger.spent, spending.ledger.assumed))


def day_of(at: float) -> str:
    """Days are in UTC, the same for every host."""
    return _name_of_day(int(at // DAY_SECONDS))


@lru_cache(maxsize=64)
def _name_of_day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY_SECONDS, UTC).date().isoformat()


def expected_tokens(learnt: Learnt, *, at_most: bool = False) -> float:
    """What nine out of ten attempts stay below; with `at_most`, what every attempt so far stayed below."""
    return _expected(learnt.work_tokens, at_most) + _expected(learnt.spawn_tokens, at_most)


def expected_money(learnt: Learnt, *, at_most: bool = False) -> float | None:
    """The same in money; None while nothing with a price was seen."""
    if learnt.work_money is None:
        return None
    spawn = _expected(learnt.spawn_money, at_most) if learnt.spawn_money else 0.0
    return _expected(learnt.work_money, at_most) + spawn


def _expected(estimate: Estimate, at_most: bool) -> float:
    return max(estimate.p90, estimate.most) if at_most else estimate.p90


def expect(spending: Spending, task: Task, engine: str) -> Learnt:
    """Computed for every ready task in every round, so the answer is cached until something new is learned."""
    experience, answers = _asked[0]
    if experience is not spending.experience:
        answers = {}
        _asked[0] = spending.experience, answers
    key = task.agent or engine, kind_of_work(task)
    if key not in answers:
        answers[key] = learn(spending.experience, *key)
    return answers[key]


def kind_of_work(task: Task) -> str:
    """What its estimates are kept under: tasks of one convoy are taken to be alike where nothing else is said."""
    return task.kind or task.convoy or ""


_asked: list[tuple[Experience, dict[tuple[str, str], Learnt]]] = [(Experience(), {})]


def spent_on(task: Task) -> Cost:
    """By attempts that have ended; the cost of one at work is in its reservation."""
    ended = [attempt for attempt in task.attempts if not attempt.live]
    return Cost(sum(map(money_of, ended)), float(sum(map(tokens_of, ended))))


def with_tasks(ledger: BudgetBook, tasks: Iterable[Task]) -> BudgetBook:
    """The ledger with what was spent on these tasks, which is derived and not kept."""
    if not ledger.limits:
        return ledger
    return replace(ledger, spent={**ledger.spent, **{f"task:{task.id}": spent_on(task) for task in tasks}})


def reserve_start(spending: Spending, task: Task, attempt: str, cost: Cost, at: float) -> Spending | OverBudget:
    """Sets aside what an attempt may cost, if every budget it counts towards has room for it.

    Reservations are kept also while there are no budgets: one that is set later holds for those at work too.
    """
    ledger = spending.ledger
    counted = scopes_of(attempt, task.id, task.convoy, day_of(at))
    amount = cap_to_attempt(ledger, attempt, cost)
    refusal = room(with_tasks(ledger, [task]), counted, amount)
    return refusal or replace(spending, ledger=hold(ledger, attempt, Reservation(counted, amount)))


def start(spending: Spending, task: Task, record: ev.Record, event: ev.AttemptStarted) -> Spending:
    """Raises BudgetExceeded, so that no start that could overshoot can be recorded."""
    if record.attempt is None:
        return spending
    cost = Cost(event.reserved_usd, event.reserved_tokens)
    reserved = reserve_start(spending, task, record.attempt, cost, record.at)
    if isinstance(reserved, OverBudget):
        raise BudgetExceeded(
            f"`{record.attempt}` may not start: {reserved.reason}", "raise it with `paddock budget set`"
        )
    return reserved


def ask_for_more(
    spending: Spending, task: Task, used: Cost, ahead: Cost = NOTHING
) -> ev.AttemptExtended | OverBudget | None:
    """What to record for a running attempt that has used this much and may use so much `ahead` with its next call:
    nothing while its reservation suffices, or more of it, or no more because a budget has no room for it.

    Budgets that others have overdrawn meanwhile hold also within the reservation.
    """
    attempt, ledger = task.live_attempt, spending.ledger
    held = ledger.reservations.get(attempt.id) if attempt is not None else None
    if held is None or attempt is None or not ledger.limits:
        return None
    needed = used.plus(ahead)
    own = f"attempt:{attempt.id}"
    if room(replace(ledger, reservations={}), (own,), needed) is not None:
        return used_up(own, used, ahead, limit_of(ledger, own) or Amount())
    view = with_tasks(ledger, [task])
    if _covers(held.amount, needed):
        others = {name: one for name, one in ledger.reservations.items() if name != attempt.id}
        return room(replace(view, reservations=others), held.scopes, needed)
    refusal: OverBudget | None = None
    for factor in (EXTENSION, 1.0):
        wanted = cap_to_attempt(ledger, attempt.id, _more(held.amount, needed, factor))
        refusal = room(view, held.scopes, _minus(wanted, held.amount))
        if refusal is None:
            return ev.AttemptExtended(wanted.money, wanted.tokens)
    return refusal


def used_up(scope: str, used: Cost, ahead: Cost, limit: Amount, where: str = "") -> OverBudget:
    """An attempt's own limit has no room for another call."""
    inside = (used.money or 0.0) <= (limit.money or 0.0) and used.tokens <= (limit.tokens or used.tokens)
    more = f", and another call may use {_words(ahead, limit)}" if inside and ahead != NOTHING else ""
    return OverBudget(scope, f"{scope} has used {_words(used, limit)} of {_words(limit)}{where}{more}")


def extend(spending: Spending, task: Task, attempt: str, event: ev.AttemptExtended) -> Spending:
    """Raises BudgetExceeded when the extension does not fit."""
    held = spending.ledger.reservations.get(attempt)
    if held is None:
        return spending
    amount = Cost(event.reserved_usd, event.reserved_tokens)
    refusal = room(with_tasks(spending.ledger, [task]), held.scopes, _minus(amount, held.amount))
    if refusal is not None:
        raise BudgetExceeded(f"`{attempt}` may not continue: {refusal.reason}", "raise it with `paddock budget set`")
    return replace(spending, ledger=hold(spending.ledger, attempt, replace(held, amount=amount)))


def still_reserved(spending: Spending, attempt: Attempt) -> Cost:
    """What of an attempt's reservation its earlier turns have left."""
    held = spending.ledger.reservations.get(attempt.id)
    return NOTHING if held is None else _minus(held.amount, Cost(money_of(attempt), float(tokens_of(attempt))))


def end(spending: Spending, task: Task, attempt: Attempt, at: float) -> Spending:
    """Books what the attempt really cost and remembers how long it took. `attempt` has ended."""
    ledger = spending.ledger
    held = ledger.reservations.get(attempt.id)
    cost = Cost(money_of(attempt), float(tokens_of(attempt)))
    if held is not None or cost.tokens or cost.money:
        counted = held.scopes if held is not None else scopes_of(attempt.id, task.id, task.convoy, day_of(at))
        spent, assumed = ledger.spent.copy(), ledger.assumed
        for scope in counted:
            if not scope.startswith(("attempt:", "task:")):
                spent[scope] = spent.get(scope, Cost()).plus(cost)
            if scope.startswith("day:") and attempt.assumed_usd:
                assumed = {**assumed, scope: assumed.get(scope, 0.0) + attempt.assumed_usd}
        left = {name: other for name, other in ledger.reservations.items() if name != attempt.id}
        spending = replace(spending, ledger=replace(ledger, spent=spent, reservations=left, assumed=assumed))
    if attempt.outcome not in USEFUL or attempt.assumed_tokens:
        # Assumed figures teach nothing.
        return spending
    return replace(spending, experience=remember(spending.experience, _sample(task, attempt, at)))


def tokens_of(attempt: Attempt) -> int:
    """As budgets count them: unreported usage counts as expected, never as zero."""
    told = attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens + attempt.output_tokens
    return told + attempt.assumed_tokens


def money_of(attempt: Attempt) -> float:
    """As budgets count it: usage without a price counts at an assumed one, never as zero."""
    return (attempt.cost_usd or 0.0) + attempt.assumed_usd


def set_budget(spending: Spending, event: ev.BudgetSet) -> Spending:
    limit = Amount(event.money, event.tokens) if event.money is not None or event.tokens is not None else None
    return replace(spending, ledger=set_limit(spending.ledger, event.scope, limit))


def _sample(task: Task, attempt: Attempt, at: float) -> TurnSample:
    """A session that was already warm says nothing about the cost of starting one."""
    cold = not attempt.inlined and attempt.continues is None
    spawn = attempt.startup_seconds or 0.0
    startup, money = attempt.startup_usd, attempt.cost_usd
    seen = as_seen_by(task, attempt)
    return TurnSample(
        agent=seen.agent or attempt.engine,
        kind=kind_of_work(seen),
        work_seconds=max(0.0, at - attempt.started - spawn),
        work_tokens=float(max(0, tokens_of(attempt) - attempt.startup_tokens)),
        work_money=None if money is None else max(0.0, money - (startup or 0.0)),
        spawn_seconds=attempt.startup_seconds if cold else None,
        spawn_tokens=float(attempt.startup_tokens) if cold and attempt.startup_tokens else None,
        spawn_money=startup if cold else None,
    )


def _covers(amount: Cost, used: Cost) -> bool:
    return (amount.money or 0.0) >= (used.money or 0.0) and amount.tokens >= used.tokens


def _more(amount: Cost, used: Cost, factor: float) -> Cost:
    """The amount, with those sides raised that the usage has outgrown."""
    money, tokens = amount.money, amount.tokens
    if (used.money or 0.0) > (money or 0.0):
        money = (used.money or 0.0) * factor
    return Cost(money, used.tokens * factor if used.tokens > tokens else tokens)


def _words(cost: Cost | Amount, limit: Amount | None = None) -> str:
    """In money or tokens or both, as the limit counts them."""
    limit = limit or Amount(cost.money, cost.tokens)
    money = f"${cost.money:.2f}" if cost.money is not None and limit.money is not None else ""
    tokens = f"{cost.tokens:,.0f} tokens" if cost.tokens is not None and limit.tokens is not None else ""
    return " and ".join(part for part in (money, tokens) if part)


def _minus(amount: Cost, held: Cost) -> Cost:
    return Cost(max(0.0, (amount.money or 0.0) - (held.money or 0.0)), max(0.0, amount.tokens - held.tokens))
