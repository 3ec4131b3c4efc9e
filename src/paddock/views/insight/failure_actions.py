"""What Paddock did about a cluster of failures, and what a person can run, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from paddock.core.causes.model import Cause, Causes, how_to_clear
from paddock.core.causes.strikes import network_ends, slots_borne, takes_turns, trial_at
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.durations import rough_duration
from paddock.core.ids import printable
from paddock.insight.dataset.headers import FLEET
from paddock.insight.failures.cluster import Cluster

_NEXT: dict[FailureCause, str] = {
    FailureCause.RATE_LIMIT: "paddock limits",
    FailureCause.OVERLOAD: "paddock limits",
    FailureCause.CONTENTION: "paddock lease list",
    FailureCause.SATURATION: "paddock doctor",
    FailureCause.NETWORK: "paddock doctor",
    FailureCause.MODEL: "paddock drift",
}


@dataclass(frozen=True, slots=True)
class Actions:
    """`causes` are those that stand for it, or were cleared last; `settled` is the one whose class somebody settled."""

    causes: tuple[str, ...]
    done: tuple[str, ...]
    next: tuple[str, ...]
    settled: Cause | None


def actions_of(cluster: Cluster, causes: Causes, now: float) -> Actions:
    found = _causes_of(cluster, causes)
    settled = next((one for one in found if one.is_settled and not one.ended), None)
    done = tuple(
        f"{cause.id}: {words}" if len(found) > 1 else words for cause in found for words in _done(cause, causes, now)
    )
    return Actions(tuple(one.id for one in found), done, tuple(_next(cluster, found, settled)), settled)


def _causes_of(cluster: Cluster, causes: Causes) -> list[Cause]:
    """By what is at its root, and by the attempts that it was found in: clusters shift as more is seen."""
    if FLEET not in cluster.labels:
        return []
    runs = set(cluster.runs)
    known = [*causes.standing.values(), *reversed(causes.ended)]
    return [one for one in known if one.signature == cluster.id or not runs.isdisjoint(one.runs)]


def _done(cause: Cause, causes: Causes, now: float) -> Iterator[str]:
    if cause.forgiven:
        attempts = "1 attempt was" if cause.forgiven == 1 else f"{cause.forgiven} attempts were"
        yield f"{attempts} requeued and count as no failure of their tasks"
    if cause.ended:
        yield f"cleared by {printable(cause.by, 40)} {rough_duration(now - cause.ended)} ago"
        return
    for engine, streak in causes.streaks.items():
        if streak.cause == cause.id and streak.stops:
            wait = trial_at(streak) - now
            when = f"one may try again in {rough_duration(wait)}" if wait > 0 else "one may try again now"
            yield f"engine {engine} is stopped after {streak.runs} attempts in a row that never ran; {when}"
    match cause.cause:
        case FailureCause.CONTENTION if takes_turns(cause, now):
            yield f"{len(cause.tasks)} tasks take turns on {cause.resource}"
        case FailureCause.NETWORK if network_ends(cause) > now:
            yield f"nothing starts{_on(cause.host)} for {rough_duration(network_ends(cause) - now)}"
        case FailureCause.SATURATION if (slots := slots_borne(cause, now)) is not None:
            yield f"at most {slots} agents at a time{_on(cause.host)}, instead of {cause.at_work}"
        case FailureCause.RATE_LIMIT | FailureCause.OVERLOAD:
            yield "new starts are held back, and its tasks are tried again after a pause"
        case FailureCause.DEPENDENCY:
            yield "its tasks are blocked until somebody says that it is fixed"


def _on(host: str) -> str:
    return f" on {host}" if host else ""


def _next(cluster: Cluster, found: list[Cause], settled: Cause | None) -> Iterator[str]:
    standing = next((one for one in found if not one.ended), None)
    cause = cluster.cause if settled is None else settled.cause
    if cause is FailureCause.UNKNOWN and cluster.tied and standing is not None:
        yield f"paddock failures probe {standing.id}"
    if cause is FailureCause.NEVER_RAN and cluster.engine and FLEET in cluster.labels:
        yield f"paddock engines check {_word(cluster.engine)}"
    elif cause in _NEXT and FLEET in cluster.labels:
        yield _NEXT[cause]
    elif cause is FailureCause.MODEL:
        label = next(iter(cluster.labels), "")
        yield f"paddock drift --batch {_word(label)}" if label else _NEXT[cause]
    if cluster.runs:
        yield f"paddock traces show {_word(cluster.runs[-1])}"
    if standing is not None and cause in (FailureCause.DEPENDENCY, FailureCause.NEVER_RAN):
        yield how_to_clear(standing.id)


def _word(text: str) -> str:
    """As a shell takes it."""
    import shlex

    return shlex.quote(printable(text, 200))
