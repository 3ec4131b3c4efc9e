"""Looks at a log in memory as a reader of a real one would."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from paddock.config.schema import Config
from paddock.core.board import DAEMON_LEASE
from paddock.core.events import Record
from paddock.core.leases.lease import Holder, Lease
from paddock.fleet.glance import NOTHING, Glance
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.protocol import Query
from paddock.views.difference import Difference, Live
from paddock.views.sight import Sight
from tests.core.ledger import START, Ledger

DAEMON = DaemonSighting(Presence.RUNNING, Lease(DAEMON_LEASE, 1, Holder("daemon", "here", 1), START, 1e12))
NOBODY = DaemonSighting(Presence.NONE, None)


@dataclass(frozen=True)
class Settings:
    """For views that need no more of a workspace than what is configured."""

    config: Config = field(default_factory=Config)


def workspace_in(folder: Path, config: str = "") -> Workspace:
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, capture_output=True)
    if config:
        (folder / "paddock.toml").write_text(config)
    return Workspace(discover(folder))


@dataclass
class LedgerEye:
    """`asked` are the queries that the log was asked. Time is that of the last record unless it is set."""

    workspace: Workspace
    ledger: Ledger
    daemon: DaemonSighting = DAEMON
    glance: Glance = NOTHING
    waiting: Mapping[str, str] = field(default_factory=dict)
    now: float | None = None
    asked: list[Query] = field(default_factory=list)

    def sight(self) -> Sight:
        now = self.now if self.now is not None else START + self.ledger.board.seq
        outlook = Outlook(now, self.daemon, self.waiting)
        return Sight(self.workspace, self.ledger.board, outlook, self.glance, self.ask, now)

    def ask(self, query: Query) -> Iterator[Record]:
        self.asked.append(query)
        for record in self.ledger.records:
            wanted = query.kind is None or fnmatchcase(type(record.event).kind, query.kind)
            mine = query.task is None or record.task == query.task
            inside = query.after < record.seq <= (query.until or record.seq) and record.at >= (query.since or 0.0)
            if wanted and mine and inside:
                yield record


def apply_difference(old: Live, change: Difference) -> Live:
    """As the browser does it."""
    fields = dict(change.set)
    for name, rows in change.rows.items():
        merged = {**getattr(old, name), **rows}
        fields[name] = {key: row for key, row in merged.items() if row is not None}
    return msgspec.structs.replace(old, **fields)
