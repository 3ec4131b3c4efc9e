"""A fleet in the process of whoever asked for it: what comes before its daemon, and the daemon itself."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from paddock.config.load import FILE_NAME
from paddock.config.schema import Config
from paddock.core.errors import PaddockError
from paddock.fleet.attempts.attempt import Ear
from paddock.fleet.chores import Chore
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.desk.office import DeskOffice
from paddock.fleet.fence_note import write_note
from paddock.fleet.fences import describe_fences, require_fences
from paddock.fleet.ledger import Ledger
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.director import NodeDirector
from paddock.fleet.nodes.exchange import Exchange
from paddock.fleet.service.bulletin import keep_posted
from paddock.fleet.service.settings import SettingsFile
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
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
    log = workspace.log
    posting = [lambda deck: keep_posted(deck.site, log)] if log.is_shared else []
    return Daemon(
        workspace.site,
        ledger,
        orders,
        settings=settings,
        desks=DeskOffice(workspace.site),
        tells_people=True,
        chores=(*chores, *posting),
        recruit=_recruit(workspace) if workspace.config.uses_nodes else None,
    )


def _recruit(workspace: Workspace) -> Callable[[Ledger, Ear, Troubles], NodeDirector]:
    """Raises PaddockError where agents cannot run on nodes."""
    require_cluster(workspace.config)
    site, sessions = workspace.site, workspace.config.sessions
    remote = sessions.remote or workspace.config.land.remote or "origin"

    def recruit(ledger: Ledger, ear: Ear, troubles: Troubles) -> NodeDirector:
        exchange = Exchange(site.repo, remote, site.log_identity)
        exchange.url()
        cluster = Cluster(sessions.address, site.log_identity, site.state_dir)
        return NodeDirector(workspace, site, ledger, cluster, exchange, ear, troubles)

    return recruit


def require_cluster(config: Config) -> None:
    """Raises PaddockError where what nodes need is not configured or installed."""
    if not config.store.url:
        raise PaddockError(
            'with `runner = "ray"` every node needs to reach the log, and this one is a file of this machine',
            "move it to PostgreSQL: `paddock store migrate --to postgresql://…`",
        )
    if find_spec("ray") is None:
        raise PaddockError(
            "Ray is not installed", "install it with `pip install 'paddock[ray]'`, here and on the nodes"
        )
