"""What tasks have used so far, each with all of its attempts and reviews: what a forecast is made from.

A task is the unit, not an attempt: how often one is tried again, and what its reviews cost, is then in the figures as
it really happens, and dear tasks that are tried again stay dear.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import task_id
from paddock.core.money.prices import ASSUMED, Price, PriceBook, find_price
from paddock.core.money.spending import day_of, money_of, tokens_of
from paddock.core.tasks.task import DECIDED, Attempt, Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.insight.costs.runs import RunCost

MOST_TASKS = 2_000
"""The latest tasks that are looked at."""


@dataclass(frozen=True, slots=True)
class SortOfWork:
    """What decides how much a task uses. `series` is what it shares with those that a schedule adds for the same step
    at other times; empty fields are not known."""

    engine: str
    agent: str = ""
    model: str = ""
    kind: str = ""
    role: Role = Role.WORK
    series: str = ""


@dataclass(frozen=True, slots=True)
class PastWork:
    """`usd` is what it would have cost had its cache been cold at the start. `startup_share` is how much of that went
    into start-up context, `warm_share` how much a warm cache would have saved, `startup_tokens_share` the share of its
    tokens that was start-up context; None where nobody can tell. `assumed`: some of it has no price and is counted at
    a dear one."""

    sort: SortOfWork
    at: float
    usd: float
    tokens: float
    attempts: int = 1
    seconds: float = 0.0
    startup_share: float | None = None
    warm_share: float | None = None
    startup_tokens_share: float | None = None
    assumed: bool = False


def past_of_fleet(board: Board, traces: Mapping[str, RunCost], prices: PriceBook) -> list[PastWork]:
    """The latest tasks that came to an end, the oldest first. `traces` by attempt tell what the log does not."""
    found = [past_of_task(task, traces, prices) for task in latest_tasks(board)]
    return [one for one in found if one is not None]


def past_of_runs(runs: Iterable[RunCost], prices: PriceBook) -> list[PastWork]:
    """Imported runs, each as a task of its own."""
    found = []
    for run in runs:
        if run.cost_usd is not None:
            parts = [_Part(run.cost_usd, run.input_tokens + run.output_tokens, run, _price(prices, run.model, run.at))]
            sort = SortOfWork(run.engine, run.agent, run.model)
            found.append(_sum(sort, parts, run.at or 0.0, 0.0, assumed=False))
    return found


def past_of_task(task: Task, traces: Mapping[str, RunCost], prices: PriceBook) -> PastWork | None:
    """None if it is not at its end yet, or was never begun."""
    own = [one for one in task.attempts if one.role is task.role]
    if not _is_over(task) or not own:
        return None
    parts = [_part_of(one, traces.get(one.id), prices) for one in task.attempts]
    last = own[-1]
    sort = SortOfWork(
        last.engine, last.agent or task.agent or "", last.model or "", task.kind or "", task.role, task.series
    )
    ended = max(one.ended or one.started for one in task.attempts)
    seconds = sum((one.ended or one.started) - one.started for one in own)
    return _sum(sort, parts, ended, seconds, assumed=any(one.assumed_usd for one in task.attempts))


def latest_tasks(board: Board) -> Iterator[Task]:
    first = max(1, board.next_task - MOST_TASKS)
    for number in range(first, board.next_task):
        yield board.tasks[task_id(number)]


def _is_over(task: Task) -> bool:
    """Also where a person has still to decide about it: its agents have done their part."""
    waits = task.phase in (Phase.APPROVAL, Phase.QUEUED)
    return (waits or task.phase in DECIDED) and not any(one.live for one in task.attempts)


@dataclass(frozen=True, slots=True)
class _Part:
    """One attempt of it."""

    usd: float
    tokens: float
    run: RunCost
    price: Price


def _part_of(attempt: Attempt, trace: RunCost | None, prices: PriceBook) -> _Part:
    run = trace or RunCost(attempt.id, startup_usd=attempt.startup_usd, model=attempt.model or "")
    return _Part(money_of(attempt), float(tokens_of(attempt)), run, _price(prices, run.model, attempt.started))


def _price(prices: PriceBook, model: str, at: float | None) -> Price:
    return (find_price(prices, model, day_of(at or 0.0)) if model else None) or ASSUMED


def _sum(sort: SortOfWork, parts: Sequence[_Part], at: float, seconds: float, *, assumed: bool) -> PastWork:
    openings = [_opening(part) for part in parts]
    usd = sum(part.usd + opening.missing for part, opening in zip(parts, openings, strict=True))
    tokens = sum(part.tokens for part in parts)
    # One that never ran has nothing to divide.
    startup = [part.run.startup_usd for part in parts if part.usd]
    told = [value for value in startup if value is not None]
    reading = [part.run.startup_input for part in parts if part.tokens]
    inputs = [value for value in reading if value is not None]
    missing = sum(opening.missing for opening in openings)
    return PastWork(
        sort=sort,
        at=at,
        usd=usd,
        tokens=tokens,
        attempts=len(parts),
        seconds=seconds,
        startup_share=min(1.0, (sum(told) + missing) / usd) if usd and len(told) == len(startup) else None,
        warm_share=openings[0].warmable / usd if usd and openings and openings[0].is_known else None,
        startup_tokens_share=min(1.0, sum(inputs) / tokens) if tokens and len(inputs) == len(reading) else None,
        assumed=assumed,
    )


@dataclass(frozen=True, slots=True)
class _Opening:
    """What the first call of an attempt would have cost more with a cold cache, and less than that with a warm one."""

    missing: float = 0.0
    warmable: float = 0.0
    is_known: bool = False


def _opening(part: _Part) -> _Opening:
    paid, share = part.run.opening_usd, part.run.cached_share
    if paid is None or share is None:
        return _Opening()
    rates = part.price.rates
    write = rates.cache_write if rates.cache_write is not None else rates.input
    read = rates.cache_read if rates.cache_read is not None else rates.input
    if write <= 0:
        return _Opening()
    ratio = min(1.0, read / write)
    cold = paid / (1.0 - share * (1.0 - ratio))
    return _Opening(cold - paid, cold * (1.0 - ratio), is_known=True)
