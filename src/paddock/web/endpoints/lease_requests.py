"""What can be asked of leases: to take one, to keep it, to give it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.durations import LONGEST_SECONDS
from paddock.core.errors import PaddockError
from paddock.core.intent.leases import LeaseClaim, LeaseRequest, release_lease, renew_lease
from paddock.core.leases.lease import LeaseRenewed
from paddock.fleet.leases import holder_of, take_lease
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit
from paddock.web.endpoints.fleet_requests import NameAnswer

LONGEST_WAIT_SECONDS = 60.0
LeaseName = Annotated[str, Meta(min_length=1, max_length=400)]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_SECONDS)]
Generation = Annotated[int, Meta(ge=1, le=2**53)]


class AcquireBody(Asked, frozen=True):
    """Without `ttl_seconds`, as `[leases] ttl` says. `wait_seconds` is how long to wait in line instead of giving up at
    once. `for` is the attempt that holds it. Each request is a holder of its own: keep the generation."""

    name: LeaseName
    ttl_seconds: Seconds | None = None
    wait_seconds: Annotated[float, Meta(ge=0, le=LONGEST_WAIT_SECONDS)] = 0.0
    for_: str | None = msgspec.field(default=None, name="for")


class LeaseAnswer(Document, frozen=True, kw_only=True):
    name: str
    generation: int
    ttl_seconds: float


def acquire(visit: Visit[NoQuery, AcquireBody]) -> LeaseAnswer:
    workspace, body = visit.workspace, visit.body
    seconds = workspace.config.leases.ttl if body.ttl_seconds is None else body.ttl_seconds
    # There is no process that holds it: the moment tells two requests of one person apart.
    holder = msgspec.structs.replace(holder_of(workspace, body.for_), started=visit.now)
    with _hinting():
        held = take_lease(workspace, LeaseRequest(body.name, holder, seconds), body.wait_seconds)
    return LeaseAnswer(name=held.name, generation=held.generation, ttl_seconds=seconds)


class ReleaseBody(Asked, frozen=True):
    """`generation` is the one that was granted or seen: another one is refused. Without it the lease has to be yours,
    or of the attempt that `for` names."""

    name: LeaseName
    generation: Generation | None = None
    for_: str | None = msgspec.field(default=None, name="for")


class RenewBody(Asked, frozen=True):
    """`ttl_seconds` is from now; without it as `[leases] ttl` says, or what is left if that is more. `generation` is
    the one that was granted or seen: another one is refused. Without it the lease has to be yours, or of the attempt
    that `for` names."""

    name: LeaseName
    ttl_seconds: Seconds | None = None
    generation: Generation | None = None
    for_: str | None = msgspec.field(default=None, name="for")


def renew(visit: Visit[NoQuery, RenewBody]) -> LeaseAnswer:
    workspace, body = visit.workspace, visit.body
    claim, ttl = _claim(visit), body.ttl_seconds
    seconds = workspace.config.leases.ttl if ttl is None else ttl
    with _hinting():
        [renewed] = workspace.record(
            lambda board: renew_lease(board, claim, seconds, visit.now, may_shorten=ttl is not None)
        )
    assert isinstance(renewed.event, LeaseRenewed)
    done = renewed.event
    return LeaseAnswer(name=done.name, generation=done.generation, ttl_seconds=done.ttl_seconds)


def release(visit: Visit[NoQuery, ReleaseBody]) -> NameAnswer:
    claim = _claim(visit)
    with _hinting():
        visit.workspace.record(lambda board: release_lease(board, claim))
    return NameAnswer(name=visit.body.name)


def _claim(visit: Visit[NoQuery, RenewBody] | Visit[NoQuery, ReleaseBody]) -> LeaseClaim:
    body = visit.body
    return LeaseClaim(body.name, holder_of(visit.workspace, body.for_).name, body.generation)


@contextmanager
def _hinting() -> Iterator[None]:
    """A refusal without a hint gets one: whoever asks here does not see the command's own page."""
    try:
        yield
    except PaddockError as error:
        error.hint = error.hint or "`GET /leases` lists who holds what"
        raise
