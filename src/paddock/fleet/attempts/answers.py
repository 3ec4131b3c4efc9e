"""Answers of attempts that only read: where they are found, whether they can be used, and what is recorded of them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from paddock.config.roster import roster
from paddock.core.answers import ANSWER_CHARS, MOST_ASKED, Unusable
from paddock.core.board import Board
from paddock.core.events import Draft, Event, PlanProposed, ReportGiven
from paddock.core.ids import harmless
from paddock.core.intent.findings import file_reported
from paddock.core.intent.tasks import Known
from paddock.core.plan.answer import read_plan
from paddock.core.plan.plan import Plan, encode_plan
from paddock.core.review.answer import ReviewAnswer, add_noted, read_review
from paddock.core.review.intake import record_review, reviewer_of, to_be_ruled_on
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import EndedBy, Role
from paddock.core.trace import TEXT_LIMIT, Text, TraceEntry
from paddock.engines.protocol import Engine
from paddock.fleet.attempts.answer_files import answer_file, notes_files
from paddock.fleet.attempts.turn import open_turn, read_again
from paddock.fleet.plan_context import plan_limits
from paddock.fleet.site import Site
from paddock.sessions.regular import open_regular

REPORT_CHARS = 100_000
NO_ANSWER = "nothing was written to the answer file, and the last message is empty"


@dataclass(frozen=True, slots=True)
class Report:
    text: str


Answer: TypeAlias = ReviewAnswer | Report | PlanProposed


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer comes to in the log, and in one line."""

    drafts: Sequence[Draft]
    reason: str


def may_ask_again(attempt: Attempt, summary: TurnSummary) -> bool:
    """Only an attempt that ended its turn by itself, and well: for others there are other remedies."""
    ended_well = attempt.ended_by is EndedBy.ITSELF and attempt.exit == 0 and summary.final is not Final.ERROR
    troubled = summary.trouble is not None or summary.fault is not None or summary.refused
    asked = attempt.stop_requested is None and attempt.answers_refused < MOST_ASKED
    return bool(attempt.turn) and ended_well and not troubled and asked


async def read_answer(site: Site, board: Board, engine: Engine, task: Task, attempt: Attempt) -> Answer | Unusable:
    """Of the attempt's last turn: from its file, or else its last words."""
    text = _written(site, attempt)
    spoken = not text.strip()
    if spoken:
        text = await _last_words(site, engine, attempt)
    if not text.strip():
        return Unusable(NO_ANSWER)
    answer = _understand(site, board, task, attempt, text)
    if spoken and isinstance(answer, Unusable) and len(text) >= TEXT_LIMIT:
        return Unusable(f"it is too long for a message; write it to the file `{answer_file(site, attempt)}`")
    return answer


def _understand(site: Site, board: Board, task: Task, attempt: Attempt, text: str) -> Answer | Unusable:
    match attempt.role:
        case Role.REVIEW:
            asked = to_be_ruled_on(board, task.id, reviewer_of(attempt)) if task.role is Role.WORK else []
            earlier = [one.id for one in asked]
            review = read_review(text, attempt.base, earlier)
            return add_noted(review, _noted(site, attempt)) if isinstance(review, ReviewAnswer) else review
        case Role.PLAN:
            plan = read_plan(text, plan_limits(site.config, board, task))
            return PlanProposed(encode_plan(plan)) if isinstance(plan, Plan) else plan
        case _:
            words = harmless(text).strip()
            return Report(words if len(words) <= REPORT_CHARS else f"{words[: REPORT_CHARS - 1]}…")


def tell_answer(site: Site, board: Board, task: Task, attempt: Attempt, answer: Answer) -> Told:
    """As of the board that it is recorded on."""
    match answer:
        case ReviewAnswer():
            drafts, reason = record_review(board, task, attempt, answer, site.config.review.blocking)
            known = Known(frozenset(site.config.agents), roster=roster(site.config))
            filed = file_reported(board, task, drafts, known)
            more = f"; {len(filed) // 2} filed as tasks" if filed else ""
            return Told([*drafts, *filed], reason + more)
        case Report():
            return Told(_drafts(task, attempt, ReportGiven(answer.text)), f"reported {len(answer.text):,} characters")
        case PlanProposed():
            return Told(_drafts(task, attempt, answer), "its plan waits for a person")


def _drafts(task: Task, attempt: Attempt, event: Event) -> list[Draft]:
    return [Draft(event, task=task.id, attempt=attempt.id)]


def _written(site: Site, attempt: Attempt) -> str:
    return _beginning(answer_file(site, attempt))


def _noted(site: Site, attempt: Attempt) -> str:
    """The findings that a reviewer reported as it went, in all its turns."""
    return "\n".join(map(_beginning, notes_files(site, attempt)))


def _beginning(path: Path) -> str:
    """An agent can put anything there: only the beginning of a regular file is read."""
    try:
        with open(open_regular(path, os.O_RDONLY), "rb") as file:
            return file.read(ANSWER_CHARS).decode("utf-8", "replace")
    except OSError:
        return ""


async def _last_words(site: Site, engine: Engine, attempt: Attempt) -> str:
    words = [""]

    def hear(entry: TraceEntry, _is_first: bool) -> None:
        if isinstance(entry, Text) and entry.text.strip():
            words[0] = entry.text

    await read_again(engine, site.sessions, open_turn(attempt), hear)
    return words[0]
