"""Whether a daemon is running, as far as the log and this machine show. Imports little, because `status` uses it."""

from enum import StrEnum
from typing import NamedTuple

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.leases.lease import Lease, log_time
from paddock.sessions.host import is_certainly_gone


class Presence(StrEnum):
    RUNNING = "running"
    SILENT = "silent"
    """It holds the lease and has not renewed it in time: stopped, hung, or on a host that is off."""
    GONE = "gone"
    """It holds the lease, and its process is not there any more: killed, or its machine was restarted."""
    NONE = "none"


ABSENT = frozenset({Presence.NONE, Presence.GONE})
"""Where nobody does the fleet's work, and nobody will before somebody starts a daemon."""


class DaemonSighting(NamedTuple):
    """`lease` is None only where there is no daemon."""

    presence: Presence
    lease: Lease | None


def look_for_daemon(board: Board, now: float) -> DaemonSighting:
    lease = board.leases.held.get(DAEMON_LEASE)
    if lease is None:
        return DaemonSighting(Presence.NONE, None)
    if is_certainly_gone(lease.holder):
        return DaemonSighting(Presence.GONE, lease)
    late = lease.expires_at <= log_time(board.leases, now)
    return DaemonSighting(Presence.SILENT if late else Presence.RUNNING, lease)
