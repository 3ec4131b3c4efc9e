"""Costs, told honestly: one report of the fleet's own attempts, or of runs that were imported."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.insight.costs.attempts import FleetCosts
from paddock.insight.costs.runs import RunCost
from paddock.insight.costs.shares import LengthShare, StartupShare, share_of, shares_by_agent, shares_by_length
from paddock.insight.costs.starts import AgentStart, ContextFile, LongBrief, find_long_briefs, find_starts
from paddock.insight.costs.waste import MoneySplit, ThrownAway, fates_of, find_waste, split_money

MOST_MODELS = 20


class UnpricedModel(msgspec.Struct, frozen=True):
    """A model that no table has a price for, and how often it was used; the name is empty where nobody told it."""

    model: str
    count: int


class CostReport(msgspec.Struct, frozen=True):
    """`landed` changes are None for imported runs, which land nowhere; `per_landed_usd` is all money for each.
    `unpriced_models` count turns, or imported runs."""

    split: MoneySplit
    startup: StartupShare
    agents: tuple[StartupShare, ...] = ()
    lengths: tuple[LengthShare, ...] = ()
    landed: int | None = None
    per_landed_usd: float | None = None
    thrown_away: tuple[ThrownAway, ...] = ()
    starts: tuple[AgentStart, ...] = ()
    briefs: tuple[LongBrief, ...] = ()
    unpriced_models: tuple[UnpricedModel, ...] = ()


def report_costs(
    board: Board,
    costs: FleetCosts,
    now: float,
    since: float = 0.0,
    *,
    only: Collection[TaskId] | None = None,
    files: Sequence[ContextFile] = (),
    brief_bytes: Mapping[TaskId, int] | None = None,
) -> CostReport:
    """Of the attempts since then, with `only` of these tasks. All that came later judges what became of one."""
    fates = fates_of(board, costs)
    shown = costs.since(since) if only is None else costs.since(since).of_tasks(only)
    runs = [one.run for one in shown.attempts]
    split = split_money(shown, fates)
    landed = landed_since(board, since, only)
    return CostReport(
        split=split,
        startup=share_of(runs),
        agents=tuple(shares_by_agent(runs)),
        lengths=tuple(shares_by_length(runs)),
        landed=landed,
        per_landed_usd=split.cost_usd / landed if landed and split.cost_usd is not None else None,
        thrown_away=tuple(find_waste(shown, fates)),
        starts=tuple(find_starts(shown.attempts, files, now)),
        briefs=tuple(find_long_briefs(shown.attempts, brief_bytes or {})),
        unpriced_models=find_unpriced(runs),
    )


def report_runs(runs: Sequence[RunCost]) -> CostReport:
    startup = share_of(runs)
    split = MoneySplit(
        startup_usd=startup.startup_usd,
        work_usd=startup.work_usd,
        unsplit_usd=startup.unsplit_usd,
        cost_usd=startup.cost_usd,
        attempts=len(runs),
        unpriced=startup.unpriced,
        unknown=startup.unknown,
    )
    return CostReport(
        split,
        startup,
        tuple(shares_by_agent(runs)),
        tuple(shares_by_length(runs)),
        unpriced_models=find_unpriced(runs),
    )


def find_unpriced(runs: Sequence[RunCost]) -> tuple[UnpricedModel, ...]:
    """The most used first."""
    counts = Counter(model for run in runs for model in run.priceless)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(UnpricedModel(model, count) for model, count in ordered[:MOST_MODELS])


def landed_since(board: Board, since: float, only: Collection[TaskId] | None = None) -> int:
    if only is None and not since:
        return board.counts.get(Phase.LANDED, 0)
    tasks = (board.tasks[name] for name in (board.tasks if only is None else only))
    return sum(1 for task in tasks if task.phase is Phase.LANDED and task.since >= since)
