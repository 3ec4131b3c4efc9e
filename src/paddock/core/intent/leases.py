"""What people, agents and programs ask of leases: to take one, to keep it, to give it back."""

from dataclasses import dataclass

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.durations import format_duration, rough_duration
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import RUN_OWNER, parse_attempt, printable, task_of
from paddock.core.leases import decisions, lease

Answer = decisions.Granted | decisions.Waiting | decisions.LeaseRefused


class NotYours(PaddockError):
    """The caller does not, or no longer, hold the lease."""


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """`wait_seconds` is how long a place in the queue is kept unless asked again; 0 takes none."""

    name: str
    holder: lease.Holder
    ttl_seconds: float
    wait_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """How a caller claims a lease: by its generation, or by the name of its holder."""

    name: str
    holder: str
    generation: int | None = None


def request_lease(board: Board, request: LeaseRequest, now: float) -> tuple[Answer, list[Draft]]:
    name = leasable_name(request.name)
    _require_live(board, request.holder)
    wait = request.wait_seconds
    answer = decisions.acquire(board.leases, name, request.holder, request.ttl_seconds, now, wait_seconds=wait)
    return answer, [Draft(event) for event in answer.events] if not isinstance(answer, decisions.LeaseRefused) else []


def withdraw_request(board: Board, request: LeaseRequest) -> list[Draft]:
    """Gives up the place in the queue, if there is one."""
    return [Draft(event) for event in decisions.withdraw(board.leases, leasable_name(request.name), request.holder)]


def renew_lease(
    board: Board, claim: LeaseClaim, ttl_seconds: float, now: float, *, may_shorten: bool = True
) -> list[Draft]:
    """From now. Raises NotYours."""
    mine = _claimed(board, claim)
    left = mine.expires_at - lease.log_time(board.leases, now)
    seconds = ttl_seconds if may_shorten else max(ttl_seconds, left)
    return _drafts(decisions.renew(board.leases, mine.name, mine.generation, seconds, now))


def release_lease(board: Board, claim: LeaseClaim) -> list[Draft]:
    """Raises NotYours."""
    mine = _claimed(board, claim)
    return _drafts(decisions.release(board.leases, mine.name, mine.generation))


def leasable_name(name: str) -> str:
    """Its one spelling. Nobody else may take the daemon's lease or an attempt's own."""
    canonical = decisions.canonical_name(name)
    if canonical == DAEMON_LEASE or canonical.startswith("attempt:"):
        raise Misuse(f"`{canonical}` is Paddock's own lease", "choose another name, such as `service:NAME`")
    return canonical


def refusal_of(name: str, answer: decisions.LeaseRefused, now: float) -> PaddockError:
    blocker = answer.blockers[0]
    where = f" (pid {blocker.holder.pid} on {blocker.holder.host})" if blocker.holder.pid else ""
    if answer.deadlock:
        return PaddockError(
            f"waiting for `{name}` would never end: {blocker.holder.name} is waiting for something you hold"
        )
    return PaddockError(
        f"`{name}` is taken: {blocker.holder.name}{where} has held `{blocker.name}` for "
        f"{rough_duration(now - blocker.since)}; "
        f"the lease expires in {format_duration(max(0.0, blocker.expires_in_seconds))}",
        "wait in line with `--wait 5m`",
    )


def _require_live(board: Board, holder: lease.Holder) -> None:
    """A lease dies with its attempt, so an attempt that has ended gets none. A CI run asks only while it runs."""
    if not holder.attempt or holder.attempt.startswith(RUN_OWNER):
        return
    attempt = parse_attempt(holder.attempt)
    live = board.task(task_of(attempt)).live_attempt
    if live is None or live.id != attempt:
        raise PaddockError(
            f"`{attempt}` is not running, so it cannot hold a lease", f"see `paddock show {task_of(attempt)}`"
        )


def _claimed(board: Board, claim: LeaseClaim) -> lease.Lease:
    name = leasable_name(claim.name)
    held = board.leases.held.get(name)
    if held is None:
        raise NotYours(f"nobody holds `{printable(claim.name, 60)}`", "`paddock lease list` shows what is held")
    if claim.generation is not None and held.generation != claim.generation:
        raise NotYours(f"`{name}` is at generation {held.generation}, not {claim.generation}: it is no longer yours")
    if claim.generation is None and held.holder.name != claim.holder:
        raise NotYours(f"`{name}` is held by {held.holder.name}, not by you")
    return held


def _drafts(answer: tuple[lease.LeaseEvent, ...] | lease.Stale) -> list[Draft]:
    if isinstance(answer, lease.Stale):
        raise NotYours(f"`{answer.name}` is no longer yours: it is at generation {answer.latest_generation}")
    return [Draft(event) for event in answer]
