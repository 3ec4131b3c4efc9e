"""Where most was thrown away: tasks, and agents."""

from collections.abc import Mapping

import msgspec

from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId
from paddock.insight.costs.attempts import AttemptCost, FleetCosts
from paddock.insight.costs.waste import THROWN_AWAY, MoneyFate, carried_on

MOST_TASKS = 5
MOST_AGENTS = 5
LEAST_ATTEMPTS = 3


class TaskWaste(msgspec.Struct, frozen=True):
    """A task with attempts that came to nothing. `lost_usd` is None if none of them has a price."""

    task: TaskId
    title: str
    phase: str
    attempts: int
    lost: int
    lost_usd: float | None


class AgentWaste(msgspec.Struct, frozen=True):
    """The attempts of an agent with an engine, and those that came to nothing."""

    agent: str
    engine: str
    attempts: int
    lost: int
    lost_usd: float | None


class Offenders(msgspec.Struct, frozen=True):
    tasks: tuple[TaskWaste, ...] = ()
    agents: tuple[AgentWaste, ...] = ()


def find_offenders(board: Board, costs: FleetCosts, fates: Mapping[AttemptId, MoneyFate], since: float) -> Offenders:
    """What was most thrown away by first: in dollars, then in attempts. Agents with few attempts are left out."""
    carried = carried_on(costs, fates)
    by_task: dict[TaskId, list[AttemptCost]] = {}
    by_agent: dict[tuple[str, str], list[AttemptCost]] = {}
    for one in costs.since(since).attempts:
        by_task.setdefault(one.task, []).append(one)
        by_agent.setdefault((one.run.agent, one.run.engine), []).append(one)

    def lost_of(group: list[AttemptCost]) -> list[AttemptCost]:
        return [one for one in group if fates[one.name] in THROWN_AWAY and one.name not in carried]

    tasks = [_task_row(board, name, group, lost) for name, group in by_task.items() if (lost := lost_of(group))]
    agents = [
        AgentWaste(*key, len(group), len(lost), _sum(lost))
        for key, group in by_agent.items()
        if len(group) >= LEAST_ATTEMPTS and (lost := lost_of(group))
    ]
    tasks.sort(key=lambda row: (-(row.lost_usd or 0.0), -row.lost, row.task))
    agents.sort(key=lambda row: (-(row.lost_usd or 0.0), -row.lost / row.attempts, row.agent, row.engine))
    return Offenders(tuple(tasks[:MOST_TASKS]), tuple(agents[:MOST_AGENTS]))


def _task_row(board: Board, name: TaskId, group: list[AttemptCost], lost: list[AttemptCost]) -> TaskWaste:
    task = board.tasks.get(name)
    title, phase = (task.title, task.phase.value) if task is not None else ("", "")
    return TaskWaste(name, title, phase, len(group), len(lost), _sum(lost))


def _sum(attempts: list[AttemptCost]) -> float | None:
    known = [one.run.cost_usd for one in attempts if one.run.cost_usd is not None]
    return sum(known) if known else None
