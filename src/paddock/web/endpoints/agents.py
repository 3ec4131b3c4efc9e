"""The agents that are configured, and which of them would get a task."""

from typing import Annotated, Literal

from msgspec import Meta

from paddock.config.schema import Agent
from paddock.core.errors import NotFound
from paddock.core.ids import printable
from paddock.core.intent.tasks import choose_agent_for
from paddock.core.routing import Work
from paddock.core.wording import split_list
from paddock.views.document import Document
from paddock.views.fleet.agents import CandidateView, ConfiguredAgent, view_agents, view_route
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

Words = Annotated[str, Meta(max_length=4_000)]


class ConfiguredAgents(Document, frozen=True, kw_only=True):
    agents: list[ConfiguredAgent]


def read_agents(visit: Visit[NoQuery, NoBody]) -> ConfiguredAgents:
    return ConfiguredAgents(agents=view_agents(visit.workspace.load(), visit.board.reviews.reviewers))


class AgentPage(Document, frozen=True, kw_only=True):
    """`settings` are its own, as `paddock.toml` would have them."""

    agent: ConfiguredAgent
    settings: Agent
    brief: str


def read_agent(visit: Visit[NoQuery, NoBody]) -> AgentPage:
    loaded, name = visit.workspace.load(), visit.path["name"]
    rows = [row for row in view_agents(loaded, visit.board.reviews.reviewers) if row.name == name]
    if not rows:
        raise NotFound(f"there is no agent `{printable(name, 80)}`", "`GET /agents` lists them")
    agent = loaded.config.agents[name]
    return AgentPage(agent=rows[0], settings=agent, brief=agent.brief)


class RouteQuery(Asked, frozen=True):
    """Lists are separated by commas."""

    paths: Words = ""
    kind: Words | None = None
    labels: Words = ""
    agent: Words | None = None
    role: Literal["worker", "reviewer", "planner"] = "worker"


class RouteAnswer(Document, frozen=True, kw_only=True):
    """`agent` is null if none fits."""

    agent: str | None
    why: tuple[str, ...]
    candidates: list[CandidateView]


def read_route(visit: Visit[RouteQuery, NoBody]) -> RouteAnswer:
    asked = visit.query
    work = Work(
        paths=split_list(asked.paths),
        kind=asked.kind or None,
        labels=split_list(asked.labels),
        agent=asked.agent or None,
        role=asked.role,
    )
    decided = view_route(choose_agent_for(visit.board, work, visit.workspace.known), visit.workspace.config.agents)
    return RouteAnswer(agent=decided.agent, why=decided.why, candidates=decided.candidates)
