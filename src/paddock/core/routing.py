"""Which agent gets a task, and why: decided from what agents declare and how like work went, never from chance.

An agent that is named gets the task. Otherwise these questions are asked, in this order, of every agent of the role
that is wanted: how many of the task's paths does it own, and how closely; does it take this kind of work; how many of
the labels does it take; and, where all that is equal, how did its work of this kind end so far. What is still equal
goes to the first in the configuration. An agent for which nothing speaks gets nothing, and one that takes other kinds
of work only does not get this one.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from paddock.core.ids import task_id
from paddock.core.leases.globs import matches_file
from paddock.core.tasks.task import SATISFIED, Phase, Task
from paddock.core.tasks.vocabulary import Role

if TYPE_CHECKING:
    from paddock.core.board import Board

WORKER, REVIEWER, PLANNER = "worker", "reviewer", "planner"
AGENT_ROLE = {Role.WORK: WORKER, Role.REPORT: WORKER, Role.REVIEW: REVIEWER, Role.PLAN: PLANNER}
"""The role of agents that a task's role asks for."""
LOOKED_BACK = 300
_WILDCARDS = frozenset("*?[{")
_ALTERNATIVES = re.compile(r"\{([^{},]*)[^{}]*\}")
_CLASS = re.compile(r"\[[!^]?([^]])[^]]*\]")
_ANY = "any-thing"


@dataclass(frozen=True, slots=True)
class RosterAgent:
    """What an agent declares. `place` is where it stands in the configuration."""

    name: str
    role: str = WORKER
    owns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    place: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """What is asked for. `agent` is the one that was named; `role` what it must be, if none was."""

    paths: tuple[str, ...] = ()
    kind: str | None = None
    labels: tuple[str, ...] = ()
    agent: str | None = None
    role: str = WORKER


@dataclass(frozen=True, slots=True)
class Past:
    """How an agent's tasks of one kind ended."""

    good: int = 0
    bad: int = 0

    @property
    def rate(self) -> Fraction:
        """Leans towards one half while there is little to go by."""
        return Fraction(self.good + 1, self.good + self.bad + 2)

    @property
    def words(self) -> str:
        ended = self.good + self.bad
        return f"{self.good} of {ended} like tasks went well" if ended else "it has not ended any like task yet"


PastOf = Callable[[str], Past]
"""Of an agent, by its name; asked only where nothing else decides."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One agent, with what speaks for it and against it. `rank` is None if it cannot get the task."""

    name: str
    reasons: tuple[str, ...]
    rank: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """`agent` is None where no agent fits: then the task goes to the default engine, without a brief of an agent's."""

    agent: str | None
    why: tuple[str, ...]
    weighed: tuple[Weighed, ...] = ()


def route(work: Work, agents: Iterable[RosterAgent], past: PastOf = lambda _name: Past()) -> Route:
    """The same for the same agents in any order. Names must be unique."""
    ordered = sorted(agents, key=lambda one: (one.place, one.name))
    if work.agent is not None:
        return Route(work.agent, (f"`{work.agent}` was named",))
    weighed = tuple(_weigh(work, one) for one in ordered)
    fit = [one for one in weighed if one.rank is not None]
    if not fit:
        return Route(None, _why_nobody(work, ordered), weighed)
    best = max(one.rank for one in fit if one.rank is not None)
    first = [one for one in fit if one.rank == best]
    if len(first) == 1:
        beaten = [f"it fits better than {_listed([one.name for one in fit if one is not first[0]])}"]
        return Route(first[0].name, (*first[0].reasons, *(beaten if len(fit) > 1 else ())), weighed)
    return _settle(first, past, weighed)


def past_in(board: "Board", kind: str | None) -> PastOf:
    """How the newest tasks ended, agent by agent: those of this kind, or all if there is none. Looks when first asked,
    and never at more than LOOKED_BACK tasks."""
    ended: dict[str, Past] = {}
    looked: list[bool] = []

    def past(name: str) -> Past:
        if not looked:
            looked.append(True)
            for number in range(board.next_task - 1, max(0, board.next_task - 1 - LOOKED_BACK), -1):
                _count(ended, board.tasks[task_id(number)], kind)
        return ended.get(name, Past())

    return past


def _count(ended: dict[str, Past], task: Task, kind: str | None) -> None:
    if task.agent is None or (kind is not None and task.kind != kind):
        return
    before = ended.get(task.agent, Past())
    if task.phase in SATISFIED:
        ended[task.agent] = Past(before.good + 1, before.bad)
    elif task.phase is Phase.FAILED:
        ended[task.agent] = Past(before.good, before.bad + 1)


def owner_of(path: str, agents: Iterable[RosterAgent], role: str = WORKER) -> str | None:
    """The agent that owns a file: the one whose glob names it most closely, the first among equals."""
    owners = [
        (-max(map(closeness, matching)), one.place, one.name)
        for one in agents
        if one.role == role and (matching := [glob for glob in one.owns if matches_file(glob, path)])
    ]
    return min(owners)[-1] if owners else None


def closeness(glob: str) -> int:
    """How many folders and files a glob names before its first wildcard."""
    count = 0
    for segment in glob.strip("/").split("/"):
        if not _WILDCARDS.isdisjoint(segment):
            break
        count += 1
    return count


def _weigh(work: Work, agent: RosterAgent) -> Weighed:
    if agent.role != work.role:
        return Weighed(agent.name, (f"it is a {agent.role}, not a {work.role}",))
    takes_kind = work.kind is not None and work.kind in agent.kinds
    if work.kind is not None and agent.kinds and not takes_kind:
        return Weighed(agent.name, (f"it takes only {_kinds(agent.kinds)}",))
    owned = {path: globs for path in work.paths if (globs := _covering(path, agent.owns))}
    labels = [label for label in work.labels if label in agent.labels]
    reasons = [f"it owns `{max(globs, key=closeness)}`, and so `{path}`" for path, globs in owned.items()]
    reasons += [f"it takes the kind `{work.kind}`"] if takes_kind else []
    reasons += [f"it takes the label `{label}`" for label in labels]
    if not reasons:
        return Weighed(agent.name, tuple(_why_not(work, agent)))
    near = sum(max(map(closeness, globs)) for globs in owned.values())
    return Weighed(agent.name, tuple(reasons), (len(owned), near, int(takes_kind), len(labels)))


def _covering(path: str, globs: tuple[str, ...]) -> list[str]:
    """The globs to which everything belongs that a task's path may stand for; one that a glob shares only a part with,
    as `**/*.md` does with `src/**`, has no owner in it."""
    examples = (path, f"{path}/{_ANY}") if _WILDCARDS.isdisjoint(path) else (_example(path),)
    return [glob for glob in globs if any(matches_file(glob, example) for example in examples)]


def _example(glob: str) -> str:
    """A path that the glob matches, and hardly any other glob that is not as wide."""
    text = _ALTERNATIVES.sub(lambda group: group[1], glob)
    text = _CLASS.sub(lambda group: group[1], text)
    return text.replace("**", f"{_ANY}/{_ANY}").replace("*", _ANY).replace("?", "z")


def _settle(first: list[Weighed], past: PastOf, weighed: tuple[Weighed, ...]) -> Route:
    """Between agents for which the same speaks."""
    known = {one.name: past(one.name) for one in first}
    best = max(one.rate for one in known.values())
    left = [one for one in first if known[one.name].rate == best]
    chosen, others = left[0], [one.name for one in first if one is not left[0]]
    story = "; ".join(f"{name}: {one.words}" for name, one in known.items())
    as_good = f"the same speaks for {_listed(others)}"
    if len(left) == 1:
        why = f"{as_good}; its past decides ({story})"
    else:
        why = f"{as_good}, and so does the past ({story}): the first in the configuration gets it"
    return Route(chosen.name, (*chosen.reasons, why), weighed)


def _why_nobody(work: Work, agents: list[RosterAgent]) -> tuple[str, ...]:
    fitting = [one for one in agents if one.role == work.role]
    if not fitting:
        return (f"there is no agent with the role {work.role}",)
    why = []
    if work.paths:
        why.append(f"no agent owns {_quoted(work.paths)}")
    if work.kind is not None:
        why.append(f"no agent takes the kind `{work.kind}`")
    if work.labels:
        why.append(f"no agent takes {'the label' if len(work.labels) == 1 else 'any of'} {_quoted(work.labels)}")
    return tuple(why) or ("it names no agent, and neither paths, a kind nor labels to choose one by",)


def _why_not(work: Work, agent: RosterAgent) -> Iterable[str]:
    if work.paths and agent.owns:
        yield f"it owns {_quoted(agent.owns)} only"
    elif work.paths:
        yield "it owns no paths"
    if work.kind is not None:
        yield "it names no kinds"
    if work.labels:
        yield f"it takes {_quoted(agent.labels)} only" if agent.labels else "it takes no labels"
    if not (work.paths or work.kind or work.labels):
        yield "nothing in the task speaks for it"


def _kinds(kinds: tuple[str, ...]) -> str:
    return f"the kind{'s' if len(kinds) > 1 else ''} {_quoted(kinds)}"


def _quoted(words: Iterable[str]) -> str:
    return _listed([f"`{word}`" for word in words])


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else "".join(words)
