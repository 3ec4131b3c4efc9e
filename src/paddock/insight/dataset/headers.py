"""A trace of the fleet without its steps: what the log tells of an attempt, and what its turns have told so far."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paddock.core.events import AttemptEnded, TurnEnded
from paddock.core.tasks.task import REVIEWING
from paddock.core.tasks.vocabulary import Role
from paddock.core.trace import TokenUsage, clip, one_line
from paddock.insight.dataset.fates import Fate
from paddock.insight.dataset.histories import AttemptHistory, TaskHistory
from paddock.insight.dataset.judgement import complaint_of, end_state_of, result_of
from paddock.insight.trace import ERROR_CHARS, TAIL_CHARS, CostSource, Facts, Trace

FLEET = "fleet"
"""The label of Paddock's own attempts."""
TITLE_CHARS = 120
MOST_OUTSIDE = 200


@dataclass(frozen=True, slots=True)
class Told:
    """What the turns of an attempt have told. `usage` is that of turns whose end is not recorded. `model_spoke` is None
    where that cannot be seen; `calls` counts those to a model, None where the engine tells of none."""

    model: str = ""
    engine_version: str = ""
    model_spoke: bool | None = None
    usage: TokenUsage | None = None
    waited_seconds: float | None = None
    tail: Sequence[str] = ()
    calls: int | None = None
    startup_cached: int | None = None


def header_of(task: TaskHistory, attempt: AttemptHistory, fate: Fate | None, told: Told) -> Trace:
    begun, ended = attempt.started, attempt.ended
    turns = [turn.ended for turn in attempt.turns.values() if turn.ended is not None]
    usage, source = _usage(turns, told.usage)
    startup = next((turn.startup_tokens for turn in turns if turn.turn == 1 and turn.startup_tokens), None)
    return Trace(
        run=attempt.id,
        task=_task_of(task, attempt),
        kind=_kind_of(task, begun.role),
        agent=begun.agent or "",
        engine=begun.engine,
        engine_version=told.engine_version,
        model=told.model or next((turn.model for turn in reversed(turns) if turn.model), None) or begun.model or "",
        label=FLEET,
        host=begun.host,
        account=begun.account,
        started=attempt.started_at,
        ended=attempt.ended_at,
        outcome=result_of(attempt, fate),
        end_state=end_state_of(attempt),
        error=clip(complaint_of(attempt, fate), ERROR_CHARS),
        tail=tail_of(told.tail),
        model_spoke=told.model_spoke,
        usage=usage,
        cost_source=source,
        startup_tokens=startup,
        startup_cached=told.startup_cached if startup is not None else None,
        waited_seconds=told.waited_seconds,
        model_calls=told.calls,
        facts=_facts(ended, fate),
        attributes=_attributes(task, attempt),
    )


def tail_of(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= TAIL_CHARS else text[-TAIL_CHARS:].partition("\n")[2]


def _task_of(task: TaskHistory, attempt: AttemptHistory) -> str:
    """Those who review a change have something else to do than those who make it."""
    own = task.added.role if task.added is not None else Role.WORK
    name = task.series or str(task.id)
    return name if attempt.started.role is own else f"{name}/{attempt.started.role.value}"


def _kind_of(task: TaskHistory, role: Role) -> str:
    added = task.added
    if added is None or role is added.role:
        return (added.task_kind if added is not None else None) or ("" if role is Role.WORK else role.value)
    return REVIEWING if role is Role.REVIEW else role.value


def _usage(turns: Sequence[TurnEnded], open_turn: TokenUsage | None) -> tuple[TokenUsage | None, CostSource]:
    """What is not priced in part is not priced at all: a part is not the whole."""
    total: TokenUsage | None = open_turn
    sources = {""} if open_turn is not None and open_turn.cost_usd is None else set[str]()
    for turn in turns:
        tokens = (turn.input_tokens, turn.cache_write_tokens, turn.cache_read_tokens, turn.output_tokens)
        if not any(tokens) and turn.cost_usd is None:
            continue
        used = TokenUsage(*tokens, cost_usd=turn.cost_usd)
        total = used if total is None else total.plus(used)
        sources.add({"engine": "engine", "table": "table"}.get(turn.cost_source, ""))
    if total is None or "" in sources:
        return _without_cost(total), CostSource.UNKNOWN
    return total, CostSource.TOLD if sources == {"engine"} else CostSource.PRICED


def _without_cost(usage: TokenUsage | None) -> TokenUsage | None:
    if usage is None:
        return None
    return TokenUsage(usage.input_uncached, usage.cache_write, usage.cache_read, usage.output)


def _facts(ended: AttemptEnded | None, fate: Fate | None) -> Facts:
    if ended is None:
        return Facts()
    gate = {Fate.LANDED: "green", Fate.REJECTED: "red", None: ""}[fate]
    outside = ended.outside[:MOST_OUTSIDE]
    return Facts(insertions=ended.insertions, deletions=ended.deletions, outside=outside, gate=gate)


def _attributes(task: TaskHistory, attempt: AttemptHistory) -> dict[str, str]:
    added, ended = task.added, attempt.ended
    found = {
        "task": str(task.id) if task.series else "",
        "title": one_line(added.title, TITLE_CHARS) if added is not None else "",
        "convoy": (added.convoy or "") if added is not None else "",
        "labels": ",".join(added.labels[:20]) if added is not None else "",
        "role": attempt.started.role.value,
        "continues": attempt.started.continues or "",
        "outcome": ended.outcome.value if ended is not None else "",
        "base": attempt.started.base,
        "head": attempt.head,
    }
    return {name: value for name, value in found.items() if value}
