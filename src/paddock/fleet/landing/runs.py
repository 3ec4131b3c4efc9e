"""The queue's CI runs: recorded before their processes exist, driven by a daemon that reaches their host."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from paddock.core.board import Board
from paddock.core.errors import words_of
from paddock.core.events import Draft
from paddock.core.ids import RUN_OWNER, recordable
from paddock.core.lead import Succeeded
from paddock.core.leases.decisions import end_attempt
from paddock.core.merge.actions import StartRun
from paddock.core.merge.estimate import timeout_seconds
from paddock.core.merge.events import CompositionRefused, QueueEvent, RunEnded, RunStarted
from paddock.core.merge.model import Entry, Member, Queue, RefusalCause, Result
from paddock.core.merge.passes import reusable_pass, tree_to_lean_on
from paddock.fleet.acceptance import acceptance_at
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.drives import Drives
from paddock.fleet.landing.ci_run import CiRun
from paddock.fleet.landing.ci_verdict import RunResult
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.command import GitKilled
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.differences import changed_kinds
from paddock.git.landing.held import hold_unit
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.reversals import find_reversals
from paddock.git.landing.workbench import open_workbench
from paddock.sessions.host import Host

TESTING = "testing"


class RunHosts(Protocol):
    """Other machines, on which CI runs."""

    async def host_of_run(self, run: str) -> Host | None:
        """One with a slot for it, kept for a while; None while there is none. Raises PaddockError."""

    async def send(self, commits: Iterable[str]) -> None:
        """Has them find the commits. Raises PaddockError."""


@dataclass
class Runs:
    """`driven` are those this daemon drives, by their id. Without `hosts` they run here."""

    site: Site
    ledger: Ledger
    crew: CiCrew
    drives: Drives
    troubles: Troubles
    hosts: RunHosts | None = None
    driven: dict[str, CiRun] = field(default_factory=dict)

    async def start(self, action: StartRun) -> bool:
        """False where it has to wait for a slot on another machine."""
        host = await self.hosts.host_of_run(action.run) if self.hosts is not None else self.site.sessions.host
        if host is None:
            return False
        composed = await asyncio.to_thread(_compose, self.site, action, self.ledger.board.queue.entries)
        if isinstance(composed, CompositionRefused):
            await self.ledger.note(composed)
            return True
        commit, tree = composed.commit, composed.tree
        checkpoint("run.composed")
        digest = ci_of(self.site).digest
        queue = self.ledger.board.queue
        since = tree_to_lean_on(queue, action.purpose, digest)
        checks, since = await asyncio.to_thread(_choose_checks, self.site, action, queue.entries, tree, since)
        accepts = _acceptances(action, queue.entries)
        started = RunStarted(
            action.run, action.purpose, action.base, action.base_tree, action.members, tree, commit, digest,
            str(self.site.run_folder(action.run)), action.confirms, checks, since, self.site.config.land.policy,
            *host, accepts,
        )  # fmt: skip
        reused = reusable_pass(self.ledger.board.queue, action.purpose, tree, digest, accepts)
        events: list[QueueEvent] = [started]
        if self.hosts is not None and reused is None:
            await self.hosts.send([action.base, commit])
        elif reused is not None:
            events.append(RunEnded(action.run, Result.PASS, reused=reused))
        await self.ledger.note(*events)
        checkpoint("run.started_in_log")
        self.adopt(self.ledger.board.queue)
        return True

    def adopt(self, queue: Queue) -> None:
        """Every run that has not ended has somebody who drives it: a daemon that reaches its host."""
        for name, run in queue.running.items():
            if name in self.driven or not self.site.sessions.reaches(Host(run.host, run.host_id)):
                continue
            limit = timeout_seconds(queue.stats, self.site.config.land.timeout)
            driver = CiRun(self.crew, run, limit, partial(acceptance_at, self.ledger.store))
            driver.inside.cancelled = "cancelled" if run.cancelling else ""
            self.driven[name] = driver
            self.drives.start(name, partial(self._finish, driver))

    def cancel(self, run: str, reason: str) -> None:
        if run in self.driven:
            self.driven[run].inside.cancel(reason or "cancelled")

    async def _finish(self, driver: CiRun) -> None:
        """Drives a run and records its end."""
        run = driver.run.id
        while (ended := await self._drive_once(driver)) is None:
            pass
        self.troubles.heal(TESTING, run)
        checkpoint("run.over")
        event = RunEnded(
            run, ended.result, ended.exit, None, ended.note, ended.cannot_run,
            ended.ran, ended.failed, ended.flaked, ended.quarantined,
        )  # fmt: skip
        await self.ledger.record(lambda board: _ended(board, event) if run in board.queue.running else [])
        checkpoint("run.ended_in_log")
        self.driven.pop(run, None)

    async def _drive_once(self, driver: CiRun) -> RunResult | None:
        """None when it has to be driven again: a git was killed, which is not a run that was lost."""
        try:
            return await driver.drive()
        except Succeeded:
            raise
        except GitKilled as error:
            trouble = await self.troubles.note(TESTING, words_of(error), driver.run.id)
            if not trouble.hopeless and not driver.inside.cancelled:
                driver.inside.changed.clear()
                await wait_for(driver.inside.changed, trouble.retry_at - self.site.clock.now())
                return None
            return _lost(error)
        except Exception as error:
            return _lost(error)


def _acceptances(action: StartRun, entries: Mapping[str, Entry]) -> tuple[str, ...]:
    """What members have to pass by themselves, in their order."""
    changes = [entries[member.id].change for member in action.members if member.id in entries]
    return tuple(change.acceptance for change in changes if change.acceptance)


def _lost(error: Exception) -> RunResult:
    """No change is to blame. The queue has bounded rules for lost runs."""
    return RunResult(Result.INFRA, None, recordable(words_of(error))[:2000])


def _ended(board: Board, event: RunEnded) -> list[Draft]:
    """Its leases end with it."""
    return [Draft(event), *(Draft(released) for released in end_attempt(board.leases, f"{RUN_OWNER}{event.run}"))]


def _compose(site: Site, action: StartRun, entries: Mapping[str, Entry]) -> Composed | CompositionRefused:
    """The commit the run tests, built from its members. Blocks on git: called in a thread."""
    if not action.members:
        return Composed(action.base, action.base_tree)
    parts = tuple(_named(member, entries) for member in action.members)
    unit = Unit(action.base, parts, Policy(site.config.land.policy))
    if (reversal := _unseen_reversal(site, action, entries)) is not None:
        return reversal
    composed = compose(open_workbench(site.repo), unit, site.checkpoint)
    if isinstance(composed, Composed):
        hold_unit(site.repo, composed.commit)
        return composed
    member = composed.member
    return CompositionRefused(
        action.base, action.members, member.id, member.version, composed.cause, composed.paths, composed.against
    )


def _named(member: Member, entries: Mapping[str, Entry]) -> NamedMember:
    if member.id not in entries:
        return NamedMember(member)
    change = entries[member.id].change
    return NamedMember(member, change.title, change.approved_by, change.reviewed_by)


def _unseen_reversal(site: Site, action: StartRun, entries: Mapping[str, Entry]) -> CompositionRefused | None:
    """What a change is stacked on had not landed when it was looked at; by now it may take that back."""
    for member in action.members:
        change = entries[member.id].change if member.id in entries else None
        if change is None or not change.stacked_on or change.may_undo:
            continue
        if found := find_reversals(site.repo, member.head, action.base, member.id):
            words = tuple(one.words for one in found)
            cause = RefusalCause.UNDOES
            return CompositionRefused(action.base, action.members, member.id, member.version, cause, words)
    return None


def _choose_checks(
    site: Site, action: StartRun, entries: Mapping[str, Entry], tree: str, since: str
) -> tuple[tuple[str, ...], str]:
    """The checks to run and the tree on which the others have passed; empty and none when all are to run.

    Compared is with the tree that passed, not with the base: what trains below bring counts as well.
    """
    definition = ci_of(site)
    if not since or not any(check.paths for check in definition.checks):
        return (), ""
    members = [entries[member.id].change.paths for member in action.members if member.id in entries]
    changed = changed_kinds(open_workbench(site.repo), since, tree)
    chosen = definition.checks_for({*changed.files, *(path for paths in members for path in paths)}, changed.links)
    return ((), "") if chosen == definition.checks else (tuple(check.name for check in chosen), since)
