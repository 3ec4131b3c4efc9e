"""The agents that are configured, and what reviewers are worth, as JSON."""

from collections.abc import Mapping

import msgspec

from paddock.config.load import FILE_NAME, Loaded
from paddock.config.schema import Agent
from paddock.core.review.model import ReviewerTally
from paddock.core.routing import REVIEWER, Route

ENOUGH_REVIEWS = 5
"""From here on, a reviewer that has found nothing true is shown as such."""


class ReviewYield(msgspec.Struct, frozen=True):
    """What a reviewer did so far. `true` findings were fixed or confirmed; `missed` changes it let pass were undone."""

    reviews: int
    findings: int
    true: int
    missed: int
    cost_usd: float
    words: str


class ConfiguredAgent(msgspec.Struct, frozen=True):
    """`engine` is the one that runs it, its own or the default; `file` is where it is defined."""

    name: str
    role: str
    description: str
    engine: str
    model: str
    owns: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    file: str
    needs: tuple[str, ...] = ()
    yielded: ReviewYield | None = msgspec.field(name="yield", default=None)


class AgentDetails(msgspec.Struct, frozen=True):
    """The whole agent: its row, its other settings as `paddock.toml` would have them, and its brief."""

    agent: ConfiguredAgent
    settings: Agent
    brief: str


class CandidateView(msgspec.Struct, frozen=True):
    """`fits`: it could have got the task."""

    name: str
    fits: bool
    reasons: tuple[str, ...]


class RouteView(msgspec.Struct, frozen=True):
    agent: str | None
    why: tuple[str, ...]
    candidates: list[CandidateView]
    needs: tuple[str, ...] = ()


def view_agents(loaded: Loaded, reviewers: Mapping[str, ReviewerTally]) -> list[ConfiguredAgent]:
    sources = {setting.key: setting.source for setting in loaded.settings}
    return [
        ConfiguredAgent(
            name=name,
            role=agent.role,
            description=agent.description,
            engine=agent.engine or loaded.config.engine,
            model=agent.model,
            owns=agent.owns,
            kinds=agent.kinds,
            labels=agent.labels,
            needs=agent.needs,
            file=_file_of(sources.get(f"agents.{name}.brief", "")),
            yielded=view_yield(reviewers.get(name, ReviewerTally())) if agent.role == REVIEWER else None,
        )
        for name, agent in loaded.config.agents.items()
    ]


def _file_of(source: str) -> str:
    """Agent files always have a brief, be it empty."""
    return source if source.endswith(".md") else FILE_NAME


def view_yield(tally: ReviewerTally) -> ReviewYield:
    return ReviewYield(tally.reviews, tally.findings, tally.true, tally.missed, tally.cost_usd, _worth(tally))


def _worth(tally: ReviewerTally) -> str:
    reviews = f"{tally.reviews} review{'s' if tally.reviews != 1 else ''}"
    if not tally.reviews and not tally.findings:
        return "has not reviewed anything yet"
    findings = f"{tally.findings} finding{'s' if tally.findings != 1 else ''}"
    missed = f", missed {tally.missed}" if tally.missed else ""
    cost = f", ${tally.cost_usd:.2f}" if tally.cost_usd else ""
    said = f"{reviews}, {findings}, {tally.true} of them true{missed}{cost}"
    if not tally.true and max(tally.reviews, tally.findings) >= ENOUGH_REVIEWS:
        return f"has found nothing true so far: {said}"
    return said


def view_route(decided: Route, agents: Mapping[str, Agent]) -> RouteView:
    """`needs` are those of the agent that gets it."""
    agent = agents.get(decided.agent) if decided.agent is not None else None
    weighed = [CandidateView(one.name, one.rank is not None, one.reasons) for one in decided.weighed]
    return RouteView(decided.agent, decided.why, weighed, agent.needs if agent is not None else ())
