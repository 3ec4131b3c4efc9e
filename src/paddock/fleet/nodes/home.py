"""A node's folder for one log: its mirror of the repository, what it was told, and what it tells.

order.json      what it was told last
deputy.json     the process that looks after the node
attended        touched by the manager as long as there is one
deputy.log      the deputy's words
glance.json     how its agents are doing, for the daemon
heard.jsonl     what its agents' providers have said of quotas and limits, for the daemon
NAME/           the mirror, with no file of the repository checked out but those that configure the fleet
NAME.paddock/   worktrees, sandboxes and their pool
"""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.fleet.nodes.order import NodeOrder
from paddock.sessions.hints import write_hint

ATTENDED_SECONDS = 5.0


class DeputyNote(msgspec.Struct, frozen=True):
    """`process` is a `ProcessIdentity` as text."""

    process: str


@dataclass(frozen=True, slots=True)
class NodeHome:
    folder: Path
    node: str

    @classmethod
    def of(cls, order: NodeOrder, node: str) -> "NodeHome":
        return cls(Path(os.path.expanduser(order.root)).absolute() / node / order.identity, node)

    @property
    def order_file(self) -> Path:
        return self.folder / "order.json"

    @property
    def deputy_file(self) -> Path:
        return self.folder / "deputy.json"

    @property
    def attended_file(self) -> Path:
        return self.folder / "attended"

    @property
    def heard_file(self) -> Path:
        return self.folder / "heard.jsonl"

    @property
    def words_file(self) -> Path:
        return self.folder / "deputy.log"

    def mirror(self, order: NodeOrder) -> Path:
        return self.folder / order.name

    def state_dir(self, order: NodeOrder) -> Path:
        return self.mirror(order) / ".git" / "paddock"

    def attempts(self, order: NodeOrder) -> Path:
        return self.state_dir(order) / "attempts" / order.identity

    def runs(self, order: NodeOrder) -> Path:
        return self.state_dir(order) / "runs" / order.identity

    def write_order(self, order: NodeOrder) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_hint(self.order_file, order)

    def read_order(self) -> NodeOrder:
        """Raises PaddockError."""
        try:
            return msgspec.json.decode(self.order_file.read_bytes(), type=NodeOrder)
        except (OSError, msgspec.DecodeError) as error:
            raise PaddockError(
                f"the order of node `{self.node}` in `{self.order_file}` cannot be read: {error}",
                "the node's manager writes it again when the daemon starts: `paddock up`",
            ) from None
