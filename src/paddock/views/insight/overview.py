"""What work has cost, who lands how much of it, and how attempts end: read from the log and the board at once."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from paddock.core.board import Board
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.tasks.task import DECIDED, Attempt, Phase, Task
from paddock.core.tasks.vocabulary import USEFUL, Outcome
from paddock.views.costs import CostsView, sum_costs, view_costs
from paddock.views.document import Document

SHOWN_GROUPS = ("agent", "engine", "day", "convoy")


class CrewRow(msgspec.Struct, frozen=True):
    """The tasks of an agent with an engine. `landed_share` is of the `decided` ones, those that landed, needed no
    change, failed or were cancelled; `per_landed_usd` is all its money for each that landed. None if unknown."""

    agent: str | None
    engine: str
    tasks: int
    decided: int
    landed: int
    failed: int
    attempts: int
    landed_share: float | None
    cost_usd: float | None
    per_landed_usd: float | None


class EngineRow(msgspec.Struct, frozen=True):
    """How the attempts of an engine ended, of each task the last 20; `useful` ones brought something."""

    engine: str
    attempts: int
    useful: int
    outcomes: dict[str, int]


class InsightView(Document, frozen=True, kw_only=True):
    """`costs` by agent, engine, day and convoy, as `paddock costs --json` has them."""

    seq: int
    words: str
    costs: dict[str, CostsView]
    crew: list[CrewRow]
    engines: list[EngineRow]


@dataclass
class _Crew:
    tasks: int = 0
    attempts: int = 0
    phases: Counter[Phase] = field(default_factory=Counter)
    costs: list[float] = field(default_factory=list)

    def add(self, task: Task) -> None:
        self.tasks += 1
        self.attempts += task.started
        self.phases[task.phase] += 1
        if (cost := task.cost_so_far()) is not None:
            self.costs.append(cost)


def view_insight(board: Board, turns: Iterable[Record]) -> InsightView:
    """`turns` are the records of `TurnEnded`."""
    ended = list(turns)
    costs = {by: view_costs(sum_costs(board, ended, by)) for by in SHOWN_GROUPS}
    crews: dict[tuple[str | None, str], _Crew] = {}
    outcomes: dict[str, Counter[Outcome]] = {}
    for name in board.tasks:
        task = board.tasks[name]
        if (worker := task.worker) is not None:
            crews.setdefault((task.agent, worker.engine), _Crew()).add(task)
        for attempt in task.attempts:
            _count(outcomes, attempt)
    crew = [_view_crew(*key, one) for key, one in crews.items()]
    engines = [_view_engine(engine, found) for engine, found in outcomes.items()]
    return InsightView(
        seq=board.seq,
        words=_words(board, costs["agent"]),
        costs=costs,
        crew=sorted(crew, key=lambda row: (-row.landed, row.agent or "", row.engine)),
        engines=sorted(engines, key=lambda row: (-row.attempts, row.engine)),
    )


def _count(outcomes: dict[str, Counter[Outcome]], attempt: Attempt) -> None:
    if attempt.outcome is not None:
        outcomes.setdefault(attempt.engine, Counter())[attempt.outcome] += 1


def _view_crew(agent: str | None, engine: str, crew: _Crew) -> CrewRow:
    decided, landed = sum(crew.phases[phase] for phase in DECIDED - {Phase.DONE}), crew.phases[Phase.LANDED]
    cost = sum(crew.costs) if crew.costs else None
    return CrewRow(
        agent=None if agent is None else printable(agent, 80),
        engine=printable(engine, 80),
        tasks=crew.tasks,
        decided=decided,
        landed=landed,
        failed=crew.phases[Phase.FAILED],
        attempts=crew.attempts,
        landed_share=round(landed / decided, 4) if decided else None,
        cost_usd=None if cost is None else round(cost, 4),
        per_landed_usd=round(cost / landed, 4) if cost is not None and landed else None,
    )


def _view_engine(engine: str, outcomes: Counter[Outcome]) -> EngineRow:
    useful = sum(outcomes[outcome] for outcome in USEFUL)
    told = {outcome.value: count for outcome, count in outcomes.most_common()}
    return EngineRow(printable(engine, 80), outcomes.total(), useful, told)


def _words(board: Board, costs: CostsView) -> str:
    landed, total = board.counts.get(Phase.LANDED, 0), len(board.tasks)
    if not costs.total.turns:
        return "No agent has worked yet, so there is nothing to tell."
    each = "" if costs.per_landed_usd is None else f", at ${costs.per_landed_usd:.2f} a change"
    spent = costs.total.cost_usd
    money = "what they cost is not known" if spent is None else f"all turns cost ${spent:,.2f}"
    untold = costs.total.unpriced_turns + costs.total.unknown_turns
    more = f"; {untold:,} of {costs.total.turns:,} turns told no price" if untold and spent is not None else ""
    return f"{landed:,} of {total:,} tasks landed{each}; {money}{more}."
