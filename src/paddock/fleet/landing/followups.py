"""Sending work back to the agent that did it, once: a conflict to rebase, a failed test to fix.

How often that has happened is read from the log, so no restart forgets it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from paddock.core.board import Board
from paddock.core.events import Draft, MessageSent, TaskBlocked
from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Ending
from paddock.core.review.confirmation import confirmed_by_ci
from paddock.core.tasks.landing import unchanged_since, why_sent_back
from paddock.core.tasks.task import Phase
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.ci_output import last_lines
from paddock.fleet.landing.conflicts import both_sides
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.store.protocol import Query

MOST_FOLLOWUPS = 1


@dataclass
class SentBack:
    """Handles what the queue returned; after one follow-up it needs a person."""

    site: Site
    ledger: Ledger

    async def block_unchanged(self, board: Board) -> None:
        """An unchanged change needs no second verdict: it needs a person, for the reason of the first."""
        for name in board.needy:
            if unchanged_since(board.queue, board.tasks[name]) is not None:
                await self.ledger.record(partial(_block, name))

    async def look_after(self, board: Board, decisions: Sequence[Decided]) -> None:
        for decided in decisions:
            if decided.outcome not in (Ending.CONFLICTED, Ending.REJECTED):
                continue
            task = board.tasks.get(TaskId(decided.id))
            if task is None or decided.head != task.head:
                continue
            await self._credit_reviewers(task.id, decided)
            if task.phase is Phase.BLOCKED:
                await self._send(task.id, decided)

    async def _credit_reviewers(self, task: TaskId, decided: Decided) -> None:
        """What CI fails at may have been found before."""
        if not decided.runs or not self.ledger.board.reviews.findings_of(task):
            return
        run = decided.runs[-1]
        output = await asyncio.to_thread(last_lines, self.site, run)
        told = partial(confirmed_by_ci, task=task, head=decided.head, output=output, run=run)
        if told(self.ledger.board):
            await self.ledger.record(lambda board: [Draft(event, task=task) for event in told(board)])

    async def _send(self, task: TaskId, decided: Decided) -> None:
        if _sent_so_far(self.ledger, task) >= MOST_FOLLOWUPS:
            return
        text = await asyncio.to_thread(_text, self.site, decided)

        def decide(board: Board) -> list[Draft]:
            waits = board.task(task).phase is Phase.BLOCKED
            return [Draft(MessageSent(text), task=task)] if waits else []

        await self.ledger.record(decide)
        checkpoint("queue.sent_back")


def _block(name: TaskId, board: Board) -> list[Draft]:
    decided = unchanged_since(board.queue, board.task(name))
    if decided is None:
        return []
    reason, unblock = why_sent_back(decided, name)
    return [Draft(TaskBlocked(f"{reason}; its agent changed nothing", unblock=unblock), task=name)]


def _text(site: Site, decided: Decided) -> str:
    if decided.outcome is Ending.CONFLICTED:
        return _conflict_text(site, decided)
    return _failure_text(site, decided.reason, decided.runs)


def _sent_so_far(ledger: Ledger, task: TaskId) -> int:
    records = ledger.store.records(Query(task=task, kind=MessageSent.kind))
    return sum(record.actor == "daemon" for record in records)


def _conflict_text(site: Site, decided: Decided) -> str:
    main = site.repo.resolve(main_ref(site)) or decided.head
    theirs = both_sides(site, decided.head, main, decided.paths).theirs
    who = f" (it conflicts with {decided.against})" if decided.against else ""
    return (
        f"Your change does not merge into `{site.config.landing_branch}` any more{who}. "
        f"Conflicting files: {', '.join(decided.paths)}.\n"
        f"Rebase your branch onto commit {main} (`git rebase {main}`), resolve the conflicts so that both "
        f"intentions survive, and commit. This is an exception to the rule not to rebase.\n"
        f"What the other side changed there:\n\n{theirs}"
    )


def _failure_text(site: Site, reason: str, runs: tuple[str, ...]) -> str:
    output = last_lines(site, runs[-1]) if runs else ""
    end = f"The end of what the tests printed:\n\n{output}" if output else "The tests printed nothing."
    return (
        f"Your change was tested on the current main and rejected: {reason}. Find the cause, fix it, and commit.\n{end}"
    )
