"""Which agent's start is dear, and why: its own file, the instructions that its engine reads, or the brief of a task.

Only first turns of conversations of their own are starts. An agent is compared with the others of its engine, because
most of what a start reads is the engine's own prompt and its tools.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

import msgspec

from paddock.core.ids import TaskId
from paddock.core.tasks.task import REVIEWING
from paddock.core.tasks.vocabulary import Role
from paddock.insight.costs.attempts import AttemptCost

WEEK_SECONDS = 7 * 86400.0
BYTES_PER_TOKEN = 4
"""English prose and code have three to five: a size in tokens is an estimate, and is said to be one."""
DEAR = 1.25
"""So many times the median of others is worth a word."""
LEAST_STARTS = 3
MOST_BRIEFS = 5


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file that is read at every start: of one agent, or of every agent of an engine."""

    path: str
    bytes: int
    agent: str = ""
    engine: str = ""


class StartupFile(msgspec.Struct, frozen=True):
    """`about_tokens` is an estimate from the file's size."""

    path: str
    about_tokens: int


class AgentStart(msgspec.Struct, frozen=True):
    """The starts of an agent with an engine: `tokens` is the median that a first call reads, `others` that of the other
    agents of the engine, None if there are none. `usd_per_start` is the mean of what its start-up context costs in all,
    read again by every call; `week` figures are sums of the last seven days. None in dollars: no start has a price;
    `unpriced` counts those that have none."""

    agent: str
    engine: str
    starts: int
    tokens: float
    others: float | None
    usd_per_start: float | None
    week_starts: int
    week_tokens: int
    week_usd: float | None
    unpriced: int
    files: tuple[StartupFile, ...] = ()

    @property
    def is_dear(self) -> bool:
        return self.others is not None and self.starts >= LEAST_STARTS and self.tokens >= DEAR * self.others


class LongBrief(msgspec.Struct, frozen=True):
    """A task whose start reads much more than is `usual` for its agent. `about_tokens` is what its brief has,
    estimated from its size."""

    task: TaskId
    agent: str
    engine: str
    tokens: int
    usual: float
    about_tokens: int


def find_starts(attempts: Iterable[AttemptCost], files: Sequence[ContextFile], now: float) -> list[AgentStart]:
    """The agent whose starts cost most in the last week first."""
    groups = _starts_by_agent(attempts)
    middles = {key: median(_tokens(group)) for key, group in groups.items()}
    rows = [_row(key, group, middles, files, now) for key, group in groups.items()]
    return sorted(rows, key=lambda row: (-(row.week_usd or 0.0), -row.tokens, row.agent, row.engine))


def find_long_briefs(attempts: Iterable[AttemptCost], brief_bytes: Mapping[TaskId, int]) -> list[LongBrief]:
    """What stands out most first. `brief_bytes` are the sizes of tasks' briefs."""
    found = []
    for (agent, engine), group in _starts_by_agent(attempts).items():
        if len(group) <= LEAST_STARTS:
            continue
        usual = median(_tokens(group))
        for one in group:
            tokens, size = one.run.startup_tokens or 0, brief_bytes.get(one.task, 0)
            if tokens >= DEAR * usual:
                found.append(LongBrief(one.task, agent, engine, tokens, usual, size // BYTES_PER_TOKEN))
    found.sort(key=lambda row: (-(row.tokens - row.usual), row.task))
    first: dict[TaskId, LongBrief] = {}
    for row in found:
        first.setdefault(row.task, row)
    return list(first.values())[:MOST_BRIEFS]


def _starts_by_agent(attempts: Iterable[AttemptCost]) -> dict[tuple[str, str], list[AttemptCost]]:
    groups: dict[tuple[str, str], list[AttemptCost]] = {}
    for one in attempts:
        if one.fresh and one.run.startup_tokens:
            name = f"{one.run.agent} ({REVIEWING})" if one.role is Role.REVIEW else one.run.agent
            groups.setdefault((name, one.run.engine), []).append(one)
    return groups


def _tokens(group: Iterable[AttemptCost]) -> list[float]:
    return [float(one.run.startup_tokens or 0) for one in group]


def _row(
    key: tuple[str, str],
    group: Sequence[AttemptCost],
    middles: Mapping[tuple[str, str], float],
    files: Sequence[ContextFile],
    now: float,
) -> AgentStart:
    agent, engine = key
    others = [middle for other, middle in middles.items() if other[1] == engine and other[0] != agent]
    paid = [one.run.startup_usd for one in group if one.run.startup_usd is not None]
    lately = [one for one in group if one.started > now - WEEK_SECONDS]
    week = [one.run.startup_usd for one in lately if one.run.startup_usd is not None]
    return AgentStart(
        agent=agent,
        engine=engine,
        starts=len(group),
        tokens=middles[key],
        others=median(others) if others else None,
        usd_per_start=mean(paid) if paid else None,
        week_starts=len(lately),
        week_tokens=sum(one.run.startup_tokens or 0 for one in lately),
        week_usd=sum(week) if week or not lately else None,
        unpriced=len(group) - len(paid),
        files=_files_of(group[0].run.agent, engine, files),
    )


def _files_of(agent: str, engine: str, files: Sequence[ContextFile]) -> tuple[StartupFile, ...]:
    """The biggest first."""
    mine = [file for file in files if file.agent == agent or (file.engine == engine and not file.agent)]
    mine.sort(key=lambda file: (-file.bytes, file.path))
    return tuple(StartupFile(file.path, file.bytes // BYTES_PER_TOKEN) for file in mine)
