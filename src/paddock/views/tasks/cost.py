"""What a task has cost, attempt by attempt."""

import msgspec

from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import USEFUL
from paddock.views.sight import Sight
from paddock.views.tasks.task import role_words


class CostPart(msgspec.Struct, frozen=True):
    attempt: str
    words: str
    state: str
    usd: float | None


class TaskCost(msgspec.Struct, frozen=True):
    """`usd` is what is known, `assumed_usd` what budgets count where no price is. `limit_usd` is of one attempt, 0 for
    none."""

    usd: float | None
    assumed_usd: float
    limit_usd: float
    parts: list[CostPart]
    input_tokens: int
    cached_tokens: int
    output_tokens: int


def view_cost(sight: Sight, task: Task) -> TaskCost:
    parts = [_view_part(sight, attempt) for attempt in task.attempts]
    live = task.live_attempt
    agent = sight.glance.agents.get(live.id) if live is not None else None
    return TaskCost(
        usd=task.cost_so_far(agent.cost_usd if agent is not None else None),
        assumed_usd=round(sum(one.assumed_usd for one in task.attempts), 6),
        limit_usd=sight.workspace.site.attempt_usd(task),
        parts=parts,
        input_tokens=sum(one.input_tokens + one.cache_write_tokens + one.cache_read_tokens for one in task.attempts),
        cached_tokens=sum(one.cache_read_tokens for one in task.attempts),
        output_tokens=sum(one.output_tokens for one in task.attempts),
    )


def _view_part(sight: Sight, attempt: Attempt) -> CostPart:
    glance = sight.glance.agents.get(attempt.id) if attempt.live else None
    told = glance.cost_usd if glance is not None and glance.cost_usd is not None else attempt.cost_usd
    if attempt.outcome is None:
        return CostPart(attempt.id, _with_role(attempt, "at work"), "running", told)
    state = "landed" if attempt.outcome in USEFUL else "failed"
    return CostPart(attempt.id, _with_role(attempt, attempt.outcome.value.replace("_", " ")), state, told)


def _with_role(attempt: Attempt, words: str) -> str:
    return f"{words}, {role_words(attempt)}" if attempt.role.only_reads else words
