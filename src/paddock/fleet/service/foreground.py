"""A fleet in the process of whoever asked for it: what comes before its daemon, and the daemon itself."""

from collections.abc import Sequence

from paddock.config.load import FILE_NAME
from paddock.fleet.chores import Chore
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.desk.office import DeskOffice
from paddock.fleet.fence_note import write_note
from paddock.fleet.fences import describe_fences, require_fences
from paddock.fleet.ledger import Ledger
from paddock.fleet.service.settings import SettingsFile
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace


def ready_site(workspace: Workspace) -> Site:
    """Raises PaddockError where worktrees cannot be made, or no fence that is required."""
    site = workspace.site
    site.require_root()
    require_fences(site.config)
    write_note(site.state_dir, describe_fences(site.config))
    return site


def make_daemon(workspace: Workspace, ledger: Ledger, orders: Orders, chores: Sequence[Chore] = ()) -> Daemon:
    """It follows edits of `paddock.toml`, opens desks for its workers, and tells people what it needs them for."""
    settings = SettingsFile(workspace.top / FILE_NAME, lambda: workspace.load().config)
    return Daemon(
        workspace.site,
        ledger,
        orders,
        settings=settings,
        desks=DeskOffice(workspace.site),
        tells_people=True,
        chores=chores,
    )
