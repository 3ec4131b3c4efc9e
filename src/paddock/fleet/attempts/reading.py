"""The prompts of attempts that only read."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from paddock.core.board import Board
from paddock.core.events import AnswerRefused
from paddock.core.ids import harmless, task_of
from paddock.core.review.events import FindingDisputed
from paddock.core.review.intake import reviewer_of, to_be_ruled_on
from paddock.core.review.model import Finding
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import Outcome, Role
from paddock.engines.reading_prompt import (
    OpenFinding,
    ReviewedChange,
    asked_again,
    audit_prompt,
    next_reading_prompt,
    not_accepted,
    plan_prompt,
    report_prompt,
    review_prompt,
)
from paddock.fleet.attempts.answer_files import answer_file
from paddock.fleet.attempts.prompts import TurnContext, TurnPlan, preview_work, read_brief
from paddock.fleet.plan_context import describe_fleet
from paddock.fleet.results import tell_inputs
from paddock.fleet.review.claims import read_claim
from paddock.fleet.site import Site
from paddock.git.patches import stream_patch
from paddock.store.protocol import Query, Store

PATCH_BYTES = 60_000
"""More than this a reviewer looks up itself: every token here is paid for with each call."""


async def plan_reading_turn(site: Site, board: Board, store: Store, attempt: Attempt, said: TurnContext) -> TurnPlan:
    """A first turn gets the whole assignment; a later one only what is new, if the engine remembers the rest."""
    task = board.task(task_of(attempt.id))
    session = attempt.session if site.engine(attempt.engine).capabilities.resume else None
    brief = read_brief(store, task)
    goes_on = attempt.turn > 1 or attempt.continues is not None
    words = "\n\n".join(part for part in (_what_went_wrong(store, task, attempt), said.messages) if part)
    if goes_on and session:
        return TurnPlan(next_reading_prompt(words, str(answer_file(site, attempt))), brief, session)
    prompt = await reading_prompt(site, board, store, task, attempt, said.results)
    last = f"# Your last answer\n{said.last_words}" if said.last_words else ""
    return TurnPlan("\n\n".join(part for part in (prompt, last, words) if part), brief, session)


async def reading_prompt(
    site: Site, board: Board, store: Store, task: Task, attempt: Attempt, results: str = ""
) -> str:
    asked = _Asked(attempt.agent, attempt.base, str(answer_file(site, attempt)), results)
    if attempt.role is Role.REVIEW and task.role is Role.WORK:
        reviewed = await _reviewed(site, board, store, task, attempt)
        return review_prompt(_brief_of(site, asked.agent), reviewed, asked.place)
    return _task_prompt(site, board, store, task, asked)


def preview_prompt(site: Site, store: Store, task: Task) -> str:
    """What the first turn of a task's own attempt is told."""
    if not task.role.only_reads:
        return preview_work(site, store, task)
    asked = _Asked(task.agent, "HEAD", "$PADDOCK_ANSWER", tell_inputs(site, store, task))
    return _task_prompt(site, store.board(), store, task, asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who is asked, about which commit, for an answer in which file, with what other tasks have found out."""

    agent: str | None
    base: str
    place: str
    results: str = ""


def _task_prompt(site: Site, board: Board, store: Store, task: Task, asked: _Asked) -> str:
    """For a task that only reads."""
    agent_brief, brief, place = _brief_of(site, asked.agent), read_brief(store, task), asked.place
    match task.role:
        case Role.REVIEW:
            return audit_prompt(agent_brief, task.id, brief, asked.base, task.paths, asked.results, place)
        case Role.PLAN:
            planning = (asked.results, describe_fleet(site.config, board, task))
            return plan_prompt(agent_brief, task.id, brief, "\n\n".join(filter(None, planning)), place)
        case _:
            return report_prompt(agent_brief, task.id, brief, asked.results, place)


def _brief_of(site: Site, agent: str | None) -> str:
    known = site.config.agents.get(agent or "")
    return known.brief if known is not None else ""


async def _reviewed(site: Site, board: Board, store: Store, task: Task, attempt: Attempt) -> ReviewedChange:
    assert task.head is not None
    review = board.reviews.of(task.id)
    worker = task.worker
    base = task.base or (worker.base if worker is not None else task.head)
    since = await asyncio.to_thread(_reviewed_before, site, review.reviewed, task.head)
    patch, is_cut = await asyncio.to_thread(read_patch, site, since or base, task.head)
    findings = tuple(open_finding(store, one) for one in to_be_ruled_on(board, task.id, reviewer_of(attempt)))
    return ReviewedChange(task.id, read_brief(store, task), base, task.head, patch, since, is_cut, findings)


def _reviewed_before(site: Site, reviewed: str, head: str) -> str:
    """The version to compare with; empty where the whole change is to be looked at: it is new, or was rebased, and the
    difference would be made of other people's changes."""
    is_known = bool(reviewed) and site.repo.resolve(reviewed) is not None
    return reviewed if is_known and site.repo.is_ancestor(reviewed, head) else ""


def read_patch(site: Site, before: str, after: str) -> tuple[str, bool]:
    """The beginning of it, and whether there is more."""
    size, pieces = 0, []
    for piece in _pieces(site, before, after):
        pieces.append(piece)
        size += len(piece)
        if size > PATCH_BYTES:
            break
    text = harmless(b"".join(pieces)[:PATCH_BYTES].decode("utf-8", "replace"))
    return text, size > PATCH_BYTES


def _pieces(site: Site, before: str, after: str) -> Iterator[bytes]:
    return islice(stream_patch(site.repo, before, after), 10_000)


def open_finding(store: Store, finding: Finding) -> OpenFinding:
    """With what stays in the log."""
    claim = read_claim(store, finding)
    dispute = store.record(finding.disputed).event if finding.disputed else None
    return OpenFinding(
        id=finding.id,
        place=finding.place,
        severity=finding.severity.value,
        claim=claim.claim,
        evidence=claim.evidence,
        suggestion=claim.suggestion,
        dispute=dispute.why if isinstance(dispute, FindingDisputed) else "",
    )


def _what_went_wrong(store: Store, task: Task, attempt: Attempt) -> str:
    """What is wrong with the answer of the turn before, or with those of the attempt before."""
    if attempt.turn <= 1:
        before = next((one for one in reversed(task.attempts) if one.id == attempt.continues), None)
        return not_accepted(before.reason) if before is not None and before.outcome is Outcome.EMPTY else ""
    problems = [
        event.problem
        for record in store.records(Query(task=task.id, kind=AnswerRefused.kind))
        if record.attempt == attempt.id and isinstance(event := record.event, AnswerRefused)
    ]
    return asked_again(problems[-1]) if problems else ""
