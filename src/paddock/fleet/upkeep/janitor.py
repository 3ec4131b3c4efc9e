"""Clearing away what nobody owns any more: `look` at the world, judge it by a board read afterwards, `sweep`.

The judging is pure (`core/upkeep`). `paddock janitor`, `paddock gc` and the daemon's rounds all go this way. Everything
that was done is an event with evidence.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.errors import PaddockError, words_of
from paddock.core.events import Draft, Swept
from paddock.core.ids import RUN_OWNER
from paddock.core.leases import decisions
from paddock.core.upkeep.findings import (
    EndProcesses,
    ExpireLease,
    Leftover,
    ReleaseChanges,
    ReleaseSandbox,
    ReleaseUnit,
    Remedy,
    RemoveOutput,
    RemoveSandbox,
    RemoveWorktree,
    ReturnWorktree,
)
from paddock.core.upkeep.judge import Allowed
from paddock.core.upkeep.survey import HeldChanges, MemorySeen, OutputSeen, ProcessSeen, SandboxClaim, Survey, UnitSeen
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.site import Site
from paddock.git.disk import disk_usage, remove_tree
from paddock.git.landing.held import UNITS, held_units, release_changes, release_unit, survey_changes
from paddock.git.sandboxes.sandbox import InUse, list_sandboxes, release_sandbox, remove_sandbox, sweep_trash
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.worktrees.upkeep import (
    ChangedMeanwhile,
    look_at_worktrees,
    measure_worktree,
    sweep_worktree,
)
from paddock.sessions.protocol import SweepReport


@dataclass(frozen=True, slots=True)
class Dealt:
    """What came of one leftover. `left` says why it is still there, `stale` that it was somebody else's by then;
    `refs` hold what was found in it."""

    leftover: Leftover
    left: str = ""
    stale: bool = False
    refs: tuple[str, ...] = ()


def look(site: Site) -> Survey:
    """Blocks on git and the process table: call it in a thread. Never touches the board."""
    now = site.clock.now()
    sandboxes = list_sandboxes(site.repo, site.sandbox_root)
    return Survey(
        processes=tuple(ProcessSeen(p.owner, p.name, p.age_seconds, p.command) for p in site.sessions.find()),
        worktrees=look_at_worktrees(site.root),
        sandboxes=tuple(SandboxClaim(name, record.run) for name, record in sandboxes.items()),
        units=tuple(UnitSeen(commit, now - _held_since(site, commit)) for commit in held_units(site.repo)),
        outputs=tuple(_outputs(site, now)),
        memories=tuple(_memories(site)),
        changes=_changes(site),
    )


def look_at_claims(site: Site) -> Survey:
    """Only at the worktrees: quick, for whoever wants to start."""
    return Survey(worktrees=look_at_worktrees(site.root))


def _changes(site: Site) -> HeldChanges | None:
    main = site.repo.resolve(main_ref(site))
    return None if main is None else survey_changes(site.repo, main)


def _held_since(site: Site, commit: str) -> float:
    """0 for a packed ref: only old ones get packed."""
    try:
        return (site.repo.common_dir / UNITS / commit).stat().st_mtime
    except OSError:
        return 0.0


def _outputs(site: Site, now: float) -> Iterator[OutputSeen]:
    attempts = ((f"{path.parent.name}.{path.name}", path) for path in site.attempts_folder.glob("*/*"))
    runs = ((f"{RUN_OWNER}{path.name}", path) for path in site.runs_folder.glob("*"))
    for owner, path in (*attempts, *runs):
        try:
            if path.is_dir():
                yield OutputSeen(owner, str(path), now - path.stat().st_mtime, disk_usage(path))
        except OSError:
            continue


def _memories(site: Site) -> Iterator[MemorySeen]:
    with suppress(FileNotFoundError), os.scandir(site.memories_folder) as entries:
        for entry in entries:
            yield MemorySeen(entry.name, entry.path, disk_usage(Path(entry.path)))


def allowed(config: Config, driven: frozenset[str] = frozenset()) -> Allowed:
    kept = config.janitor
    return Allowed(config.land.runs_at_once, kept.transcripts_age, kept.transcripts_mb, kept.conversations_mb, driven)


def measured(site: Site, one: Leftover) -> Leftover:
    """With the bytes that would be freed: of worktrees nobody knows them before they are asked for."""
    match one.remedy:
        case RemoveWorktree() as remedy:
            return replace(one, size_bytes=measure_worktree(site.root, remedy))
        case _:
            return one


def sweep(site: Site, found: Sequence[Leftover]) -> list[Dealt]:
    """Does what the remedies say; what has none is left. Doing it again is harmless."""
    orphans = {one.remedy.owner for one in found if isinstance(one.remedy, EndProcesses)}
    report = site.sessions.sweep(orphans)
    dealt = [_deal(site, one, one.remedy, report) for one in found if one.remedy is not None]
    site.lead.require()
    sweep_trash(site.sandbox_root)
    return dealt


def _deal(site: Site, one: Leftover, remedy: Remedy, report: SweepReport) -> Dealt:
    site.lead.require()
    try:
        refs = _sweep(site, remedy, report)
    except ChangedMeanwhile as changed:
        return Dealt(one, changed.message, stale=True)
    except (PaddockError, OSError) as error:
        return Dealt(one, words_of(error))
    finally:
        checkpoint("item-done")
    return Dealt(one, refs=tuple(refs))


def _sweep(site: Site, remedy: Remedy, report: SweepReport) -> Sequence[str]:
    match remedy:
        case ExpireLease():
            pass
        case EndProcesses(owner=owner):
            ended = report.of(owner)
            if ended.survivors:
                raise PaddockError("it cannot be ended")
            if not ended.ended:
                raise ChangedMeanwhile("it has ended by itself")
        case ReturnWorktree() | RemoveWorktree():
            return sweep_worktree(site.root, remedy, site.checkpoint)
        case ReleaseSandbox(name=name, run=run):
            if not release_sandbox(Sandbox(site.repo, site.sandbox_root, name), run):
                raise ChangedMeanwhile
        case RemoveSandbox(name=name):
            if isinstance(remove_sandbox(Sandbox(site.repo, site.sandbox_root, name)), InUse):
                raise ChangedMeanwhile
        case ReleaseUnit(commit=commit):
            if not release_unit(site.repo, commit):
                raise ChangedMeanwhile
        case ReleaseChanges(held=held):
            if not release_changes(site.repo, held.main, held.refs, site.checkpoint):
                raise ChangedMeanwhile
        case RemoveOutput(path=path):
            remove_tree(Path(path))
    return ()


def drafts(fresh: Board, dealt: Sequence[Dealt], now: float) -> list[Draft]:
    """What is recorded of a sweep; leases expire by the board as it is then."""
    swept = [one.leftover for one in dealt if not one.left and not isinstance(one.leftover.remedy, ExpireLease)]
    notes = [Draft(Swept(f"{one.what.value}: {one.name}", one.evidence[:500])) for one in swept]
    return [*(Draft(event) for event in decisions.expire(fresh.leases, now)), *notes]
