"""What a node is told so that it can work for a repository: the same for every node, renewed when it changes.

No secret is in it. Where the log is, a node reads in `paddock.toml` as any other machine does, and fills in
`${NAME}` from its own environment.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from paddock import __version__
from paddock.config.load import FILE_NAME, PREFIX
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace

MOST_BYTES = 8 * 2**20
_FOLDERS = (".paddock/agents", ".claude/agents")
_SECRETS = frozenset({"store.url", "notify.urls", "land.env", "land.notify"})


class NodeOrder(msgspec.Struct, frozen=True):
    """`files` are those of the repository that configure a fleet, by their path in it; `settings` and `environment`
    win over them. Commits come from `url` and go there, in the mirror the remote `remote`."""

    identity: str
    name: str
    remote: str
    url: str
    branch: str
    root: str
    files: dict[str, bytes]
    settings: tuple[str, ...]
    environment: dict[str, str]
    unattended_seconds: float
    version: str = __version__


def order_for(workspace: Workspace, url: str) -> NodeOrder:
    """Raises PaddockError where what configures the fleet is too much to send."""
    loaded = workspace.load()
    config = loaded.config
    files = {str(path.relative_to(workspace.top)): path.read_bytes() for path in _files(workspace.top)}
    if (size := sum(map(len, files.values()))) > MOST_BYTES:
        raise PaddockError(
            f"{FILE_NAME} and the agents' files have {size:,} bytes; nodes are sent {MOST_BYTES:,} at most",
            f"move what is no agent out of {' and '.join(_FOLDERS)}",
        )
    return NodeOrder(
        identity=workspace.site.log_identity,
        name=workspace.repo.name,
        remote=config.sessions.remote or config.land.remote or "origin",
        url=url,
        branch=config.landing_branch,
        root=config.sessions.root,
        files=files,
        settings=tuple(word for word in workspace.settings if word.partition("=")[0].strip() not in _SECRETS),
        environment=_environment({one.source: one.key for one in loaded.settings}),
        unattended_seconds=config.sessions.lost_after,
    )


def _files(top: Path) -> Iterator[Path]:
    if (top / FILE_NAME).is_file():
        yield top / FILE_NAME
    for folder in _FOLDERS:
        yield from sorted(path for path in (top / folder).glob("**/*.md") if path.is_file())


def _environment(sources: Mapping[str, str]) -> dict[str, str]:
    """The variables that set a key here, other than those that may hold secrets."""
    import os

    names = (name for name, key in sources.items() if name.startswith(PREFIX) and key not in _SECRETS)
    return {name: os.environ[name] for name in names if name in os.environ}


def require_same_version(order: NodeOrder) -> None:
    """Raises PaddockError on a node that has another Paddock: two versions may read one log differently."""
    if order.version != __version__:
        raise PaddockError(
            f"this node has Paddock {__version__}, and the daemon has {printable(order.version, 40)}",
            f"install the same there: `pip install 'paddock[ray,postgres]=={printable(order.version, 40)}'`",
        )
