"""Checkouts of main, brought up to date when somebody asks for it."""

from paddock.core.errors import PaddockError
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.workspace import Workspace
from paddock.git.usertree.checkouts import catch_up
from paddock.git.usertree.stash import StashReport, catch_up_with_stash


def sync_checkouts(workspace: Workspace, *, stash: bool = False) -> list[StashReport]:
    """Each that has main checked out; none where main is a remote's. With `stash`, edits that are in the way are
    stashed and reapplied."""
    branch = workspace.config.landing_branch
    if workspace.config.land.remote:
        return []
    if workspace.repo.resolve(f"refs/heads/{branch}") is None:
        raise PaddockError(f"there is no branch `{branch}`", "set `main` in paddock.toml")
    reports = catch_up(workspace.repo, branch, checkpoint=checkpoint)
    if stash:
        return [catch_up_with_stash(workspace.repo, report) for report in reports]
    return [StashReport(report) for report in reports]


def why_none(workspace: Workspace) -> str:
    """Why there was no checkout to bring up to date."""
    land, branch = workspace.config.land, workspace.config.landing_branch
    if land.remote:
        return f"main is {land.remote}/{branch}; update your own {branch} with `git pull`"
    return f"{branch} is not checked out anywhere: nothing to bring up to date"
