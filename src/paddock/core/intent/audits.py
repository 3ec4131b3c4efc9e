"""An audit: reviewers look at code that is there, rather than at a change, and what they find becomes tasks."""

from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import printable
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, choose_agent
from paddock.core.review.events import Severity
from paddock.core.routing import REVIEWER, Work
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import check_known, check_name
from paddock.core.workflow import free_convoy

KINDS = {
    "correctness": "Look for bugs: wrong results, unhandled cases and errors, races, lost data.",
    "security": "Look for holes: input that is trusted, secrets that leak, commands or paths made of somebody's text.",
    "performance": "Look for waste that grows with the input: repeated work, needless copies, unbounded memory.",
    "tests": "Look for behaviour that no test would notice breaking, and for tests that cannot fail.",
    "docs": "Look for documentation that is not true, or does not say what its readers need.",
}
GENERAL = "Look for what is wrong: bugs, security holes, lost data, promises that are not kept."
ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Audited:
    """The code to look at: the commit `head`. Of a branch only what it has changed since `base`."""

    head: str
    branch: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """`kinds` are what to look for, each by a reviewer of its own; `files` the least severity that becomes a task."""

    audited: Audited
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    engine: str | None = None
    files: str = ""


def request_audit(board: Board, request: AuditRequest, known: Known) -> list[Draft]:
    """A convoy of reviews. Raises Misuse for kinds that are none and for agents that do not review."""
    for kind in request.kinds:
        check_name("kind", kind)
    if request.files:
        check_known("severity", request.files, [one.value for one in Severity])
    reviewers = {one.name for one in known.roster if one.role == REVIEWER}
    for agent in request.agents:
        check_known("agent", agent, known.agents)
        if agent not in reviewers:
            raise Misuse(f"`{printable(agent, 40)}` is not a reviewer", "`paddock agents` lists the roles")
    specs = [
        TaskSpec(
            brief=_brief(request, kind),
            title=_title(request, kind, agent if request.agents else None),
            agent=agent,
            engine=request.engine,
            paths=request.paths,
            attempts=ATTEMPTS,
            role=Role.REVIEW,
            labels=(kind,) if kind else (),
        )
        for kind in request.kinds or ("",)
        for agent in request.agents or (_reviewer_for(board, request, kind, known),)
    ]
    batch = Batch(tuple(specs), free_convoy("audit", board.convoys), f"Audit of {_what(request)}")
    return [
        replace(draft, event=replace(draft.event, start=request.audited.head, files=request.files))
        if isinstance(draft.event, TaskAdded)
        else draft
        for draft in add_tasks(board, batch, known)
    ]


def _reviewer_for(board: Board, request: AuditRequest, kind: str, known: Known) -> str | None:
    """The reviewer that fits best, or the first of them; None if there is none."""
    labels = (kind,) if kind else ()
    chosen = choose_agent(board, Work(request.paths, labels=labels, role=REVIEWER), known).agent
    first = min((one for one in known.roster if one.role == REVIEWER), key=lambda one: one.place, default=None)
    return chosen or (first.name if first is not None else None)


def _what(request: AuditRequest) -> str:
    return request.audited.branch or f"the code at {request.audited.head[:10]}"


def _title(request: AuditRequest, kind: str, agent: str | None) -> str:
    words = " ".join(filter(None, ("Audit", kind, "of", _what(request), f"by {agent}" if agent else "")))
    return printable(words, 120)


def _brief(request: AuditRequest, kind: str) -> str:
    wanted = KINDS.get(kind, f"Look for {kind}." if kind else GENERAL)
    audited = request.audited
    if audited.base:
        where = f"Look only at what has changed since {audited.base}: `git diff {audited.base} {audited.head}`."
    else:
        where = "Look at the code as it is. Begin where the most depends on it."
    return f"{wanted}\n{where}\nReport each thing once, where it is, with what goes wrong and how you know."
