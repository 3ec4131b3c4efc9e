"""One round of clearing away, for whoever asks for it: the worktrees of ended attempts, or all that nobody owns."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from paddock.core.events import Draft, WorktreeRemoved
from paddock.core.tasks.conversations import find_homes
from paddock.core.upkeep.findings import Leftover
from paddock.core.upkeep.judge import collect, judge, live_owners
from paddock.fleet.upkeep.janitor import Dealt, allowed, drafts, look, measured, sweep
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.upkeep import look_at_worktrees


@dataclass(frozen=True, slots=True)
class ClearedAway:
    """`found` is all there was, `dealt` what came of each that has a remedy: on a dry run, what would be tried."""

    found: Sequence[Leftover]
    dealt: Sequence[Dealt]

    @property
    def removed(self) -> list[Leftover]:
        return [one.leftover for one in self.dealt if not one.left]

    @property
    def kept(self) -> list[Dealt]:
        return [one for one in self.dealt if one.left]

    @property
    def saved(self) -> list[str]:
        """The refs that hold what was in them."""
        return [ref for one in self.dealt for ref in one.refs]


def collect_worktrees(workspace: Workspace, *, force: bool = False, dry_run: bool = False) -> ClearedAway:
    """Of ended attempts, and what crashes left. With `force` also what could not be saved, and what agents may return
    to."""
    site = workspace.site
    seen = look_at_worktrees(site.root)
    board = workspace.board()
    found = collect(seen, live_owners(board), workspace.config.worktrees.pool, find_homes(board), force=force)
    found = [measured(site, one) for one in found]
    if dry_run:
        return ClearedAway(found, [Dealt(one) for one in found])
    cleared = ClearedAway(found, sweep(site, found))
    if removed := cleared.removed:
        events = [Draft(WorktreeRemoved(one.name, one.size_bytes)) for one in removed]
        workspace.record(lambda _board: events)
    return cleared


def sweep_leftovers(workspace: Workspace, *, dry_run: bool = False) -> ClearedAway:
    """Whatever no longer belongs to anything, as the daemon does it from time to time."""
    site = workspace.site
    with closing(workspace.read() if dry_run else workspace.write()) as store:
        seen = look(site)
        found = judge(store.board(), seen, allowed(site.config), site.clock.now())
        if dry_run:
            return ClearedAway(found, [Dealt(one) for one in found if one.remedy is not None])
        dealt = sweep(site, found)
        now = site.clock.now()
        store.append(lambda fresh: drafts(fresh, dealt, now), workspace.author)
    return ClearedAway(found, dealt)
