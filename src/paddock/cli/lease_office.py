"""Where `with-lease` takes, keeps and gives back its lease: at the log, or inside a fence at the worker's desk."""

import os
import time
from dataclasses import dataclass
from typing import Protocol

import msgspec

from paddock.cli.desk import AtDesk
from paddock.core.errors import read_complaint
from paddock.core.intent.leases import LeaseClaim, LeaseRequest, NotYours, release_lease, renew_lease
from paddock.core.leases.lease import Holder
from paddock.fleet.leases import holder_of, take_lease
from paddock.fleet.workspace import Workspace


class HeldLease(msgspec.Struct, frozen=True):
    name: str
    generation: int
    ttl: float


class LeaseOffice(Protocol):
    def acquire(self, name: str, ttl_seconds: float | None, wait_seconds: float) -> HeldLease:
        """`ttl_seconds` is None for what `[leases] ttl` says. Raises PaddockError."""

    def renew(self, held: HeldLease) -> None:
        """Raises NotYours when it is somebody else's, PaddockError when that is not known."""

    def release(self, held: HeldLease) -> None: ...


@dataclass(frozen=True, slots=True)
class LogLeases:
    workspace: Workspace

    def acquire(self, name: str, ttl_seconds: float | None, wait_seconds: float) -> HeldLease:
        seconds = self.workspace.config.leases.ttl if ttl_seconds is None else ttl_seconds
        granted = take_lease(self.workspace, LeaseRequest(name, self._holder(), seconds), wait_seconds)
        return HeldLease(granted.name, granted.generation, seconds)

    def renew(self, held: HeldLease) -> None:
        claim = LeaseClaim(held.name, "", held.generation)
        self.workspace.record(lambda board: renew_lease(board, claim, held.ttl, time.time()))

    def release(self, held: HeldLease) -> None:
        claim = LeaseClaim(held.name, "", held.generation)
        self.workspace.record(lambda board: release_lease(board, claim))

    def _holder(self) -> Holder:
        """Two commands are two holders, even in one shell or attempt."""
        return msgspec.structs.replace(holder_of(self.workspace, None), pid=os.getpid())


@dataclass(frozen=True, slots=True)
class DeskLeases:
    desk: AtDesk

    def acquire(self, name: str, ttl_seconds: float | None, wait_seconds: float) -> HeldLease:
        ttl = () if ttl_seconds is None else ("--ttl", _milliseconds(ttl_seconds))
        wait = ("--wait", _milliseconds(wait_seconds))
        code, said, complaint = self.desk.ask(
            "lease", "acquire", name, *ttl, *wait, "--command", str(os.getpid()), "--json"
        )
        if code:
            raise read_complaint(complaint)
        return msgspec.json.decode(said, type=HeldLease)

    def renew(self, held: HeldLease) -> None:
        claim = (held.name, "--generation", str(held.generation))
        code, _, complaint = self.desk.ask("lease", "renew", *claim, "--ttl", _milliseconds(held.ttl))
        if code:
            raise read_complaint(complaint) if self._is_held(held) else NotYours(f"`{held.name}` is no longer yours")

    def release(self, held: HeldLease) -> None:
        code, _, complaint = self.desk.ask("lease", "release", held.name, "--generation", str(held.generation))
        if code:
            raise read_complaint(complaint)

    def _is_held(self, held: HeldLease) -> bool:
        code, said, _ = self.desk.ask("lease", "list", "--json")
        if code:
            return True
        rows = msgspec.json.decode(said)["held"]
        return any((row["name"], row["generation"]) == (held.name, held.generation) for row in rows)


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"
