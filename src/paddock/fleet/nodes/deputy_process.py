"""The process of a node's deputy: `python -m paddock.fleet.nodes.deputy_process FOLDER NODE`.

The node's manager starts it, detached: neither the manager's end nor Ray's takes it along. There is one for each
folder, whoever starts how many.
"""

import asyncio
import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.errors import PaddockError, words_of
from paddock.core.lead import Succeeded
from paddock.core.nodes.tenure import node_lease
from paddock.fleet.attempts.ground import GitGround
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.ledger import AlreadyRunning, Ledger, deputy_of, take_lead
from paddock.fleet.nodes.deputy import Deputy
from paddock.fleet.nodes.ground import NodeGround
from paddock.fleet.nodes.home import DeputyNote, NodeHome
from paddock.fleet.nodes.mirror import Mirror, open_mirror
from paddock.fleet.nodes.order import NodeOrder, require_same_version
from paddock.fleet.service.foreground import ready_site
from paddock.fleet.workspace import Workspace
from paddock.sessions.hints import write_hint
from paddock.sessions.host import HOST_VARIABLE, has_left, sign_of_life, this_process
from paddock.store.protocol import Store

RETRY_SECONDS = 1.0


@dataclass
class Post:
    """One node's post for one log: what it was told, and the repository by that."""

    home: NodeHome
    order: NodeOrder
    workspace: Workspace
    _told_at: int = field(init=False)

    def __post_init__(self) -> None:
        self._told_at = self._stamp()

    def renew(self) -> None:
        """Whatever configures the fleet has changed where the daemon is."""
        if self._stamp() == self._told_at:
            return
        self._told_at = self._stamp()
        self.order = self.home.read_order()
        open_mirror(self.home.mirror(self.order), self.order)
        self.workspace.site.config = self.workspace.load().config

    def mirror(self) -> Mirror:
        return Mirror(self.workspace.site.repo, self.order)

    def is_attended(self) -> bool:
        try:
            age = SYSTEM_CLOCK.now() - self.home.attended_file.stat().st_mtime
        except OSError:
            return False
        return age < self.order.unattended_seconds

    def _stamp(self) -> int:
        try:
            return self.home.order_file.stat().st_mtime_ns
        except OSError:
            return self._told_at


def open_post(home: NodeHome) -> Post:
    """Raises PaddockError where the node cannot work for this log."""
    order = home.read_order()
    require_same_version(order)
    os.environ.update(order.environment)
    os.environ[HOST_VARIABLE] = node_lease(home.node)
    repo = open_mirror(home.mirror(order), order)
    post = Post(home, order, Workspace(repo, order.settings))
    post.workspace.state_dir.mkdir(parents=True, exist_ok=True)
    site = ready_site(post.workspace)
    site.ground = NodeGround(GitGround(site), post.mirror)
    return post


async def take_node(post: Post, store: Store) -> Ledger:
    """The node's lease. Waits for that of a former deputy to run out, unless its process is known to have ended."""
    node = post.home.node
    while True:
        try:
            return take_lead(
                store,
                this_process(node_lease(node)),
                post.workspace.site.seat,
                office=deputy_of(node),
                is_gone=has_left,
            )
        except AlreadyRunning:
            if not post.is_attended():
                raise
            await asyncio.sleep(RETRY_SECONDS)


async def serve(post: Post) -> str:
    """Returns why it ended."""
    store = post.workspace.write()
    ledger = await take_node(post, store)
    deputy = Deputy(post.workspace.site, ledger, post.home, post.renew, post.is_attended)
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(signum, deputy.end, signum.name)
    try:
        await deputy.run()
    finally:
        ledger.give_up()
        store.close()
    return deputy.ending


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether no other process is this folder's deputy."""
    descriptor = os.open(folder / "deputy.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def main(folder: str, node: str) -> int:
    home = NodeHome(Path(folder), node)
    with alone(home.folder) as first:
        if not first:
            return 0
        write_hint(home.deputy_file, DeputyNote(sign_of_life()))
        try:
            why = asyncio.run(serve(open_post(home)))
        except (PaddockError, Succeeded, OSError) as error:
            words = error.message if isinstance(error, Succeeded) else words_of(error)
            print(f"the deputy of node {node} has ended: {words}", file=sys.stderr, flush=True)
            return 1
        print(f"the deputy of node {node} has ended: {why}", file=sys.stderr, flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
