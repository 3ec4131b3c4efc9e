"""The site a command works on: the repository with its configuration, its state and the marker of its log."""

from paddock.cli.workspace import Workspace
from paddock.fleet.site import Site, marker_of
from paddock.store.sqlite import SqliteStore


def open_site(workspace: Workspace, store: SqliteStore) -> Site:
    marker = marker_of(workspace.repo.common_dir, store.record(1).hash)
    return Site(workspace.repo, workspace.config, workspace.state_dir, marker)


def site_of(workspace: Workspace) -> Site:
    """For a command that needs nothing else of the log."""
    store = workspace.read()
    try:
        return open_site(workspace, store)
    finally:
        store.close()
