"""Who holds what, and who waits, as JSON."""

import msgspec

from paddock.core.leases.lease import Lease, Leases, log_time
from paddock.views.document import Document, iso


class LeaseView(msgspec.Struct, frozen=True):
    name: str
    generation: int
    holder: str
    attempt: str | None
    host: str
    pid: int | None
    since: str
    expires_in: float


class WaiterView(msgspec.Struct, frozen=True):
    name: str
    holder: str
    since: str


class LeasesView(Document, frozen=True, kw_only=True):
    held: list[LeaseView]
    waiting: list[WaiterView]


def view_leases(leases: Leases, now: float) -> LeasesView:
    return LeasesView(
        held=[_view_lease(one, log_time(leases, now)) for one in leases.held.values()],
        waiting=[WaiterView(one.name, one.holder.name, iso(one.since)) for one in leases.waiting],
    )


def _view_lease(lease: Lease, time: float) -> LeaseView:
    holder = lease.holder
    who = (holder.name, holder.attempt or None, holder.host, holder.pid or None)
    return LeaseView(lease.name, lease.generation, *who, iso(lease.since), round(lease.expires_at - time, 1))
