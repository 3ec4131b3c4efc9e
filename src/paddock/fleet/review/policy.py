"""Who and what a delivered change has to pass, by the configuration in force."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from paddock.config.roster import roster
from paddock.config.schema import Agent, Config
from paddock.core.errors import PaddockError
from paddock.core.review.checks import ACCEPT
from paddock.core.review.plan import ReviewPolicy
from paddock.core.routing import owner_of
from paddock.core.tasks.task import Attempt, Task

BUILT_IN = "reviewer"
"""Reviews where reviews are asked for and no agent is there to give them."""


class Configured(Protocol):
    """A site or a workspace: only what is configured counts here."""

    @property
    def config(self) -> Config: ...


@dataclass(frozen=True, slots=True)
class Reviewer:
    """An agent as a reviewer: with the engine and the model it would use."""

    name: str
    engine: str
    model: str


def is_reviewed(site: Configured, task: Task) -> bool:
    """Whether what is delivered for the task is looked at before a person is."""
    if task.role.only_reads:
        return False
    review = site.config.review
    return bool(task.accept_seq or review.checks or review.reviewers) or site.config.land.approval == "review"


def review_policy(
    site: Configured, task: Task, findings: Iterable[str] = (), touched: Iterable[str] = ()
) -> ReviewPolicy:
    """`findings` are paths of open findings, `touched` those of the change: whoever owns them, its worker puts right
    what it has done there."""
    review, own = site.config.review, frozenset(touched)
    found = {path: owner_of(path, roster(site.config)) for path in findings if path not in own}
    owners = {path: owner for path, owner in found.items() if owner is not None and owner != task.agent}
    return ReviewPolicy(
        checks=(*((ACCEPT,) if task.accept_seq else ()), *(check.name for check in review.checks)),
        reviewers=tuple(one.name for one in choose_reviewers(site, task)),
        rounds=review.rounds,
        votes=review.votes,
        owners=owners,
    )


def choose_reviewers(site: Configured, task: Task) -> list[Reviewer]:
    """Those that the configuration names, or all of that role. None reviews its own change, and those of another
    engine or model than the worker's are preferred."""
    config = site.config
    names = config.review.reviewers or _all_reviewers(config)
    worker = task.worker
    author = worker.agent if worker is not None else task.agent
    chosen = [find_reviewer(site, name) for name in names if name != author]
    if worker is None or not config.review.other_model:
        return chosen
    others = [one for one in chosen if not _is_alike(site, one, worker)]
    return others or chosen


def find_reviewer(site: Configured, name: str) -> Reviewer:
    """Raises PaddockError if there is no such agent, or nothing says which engine it uses."""
    agent = site.config.agents.get(name)
    if agent is None:
        if name != BUILT_IN:
            raise PaddockError(
                f"`[review] reviewers` names `{name}`, which is not an agent", "`paddock agents` lists them"
            )
        agent = Agent(role="reviewer")
    engine = agent.engine or site.config.engine
    if not engine:
        raise PaddockError(
            f"no engine is set for the reviewer `{name}`", "set `engine` in paddock.toml, or in the agent's file"
        )
    settings = site.config.engines.get(engine)
    return Reviewer(name, engine, agent.model or (settings.model if settings is not None else ""))


def _all_reviewers(config: Config) -> tuple[str, ...]:
    if config.land.approval != "review":
        return ()
    return tuple(name for name, agent in config.agents.items() if agent.role == "reviewer") or (BUILT_IN,)


def _is_alike(site: Configured, reviewer: Reviewer, worker: Attempt) -> bool:
    """Of one engine, and of one model as far as anybody knows."""
    settings = site.config.engines.get(worker.engine)
    default = settings.model if settings is not None else ""
    return reviewer.engine == worker.engine and (reviewer.model or default) == (worker.model or default)
