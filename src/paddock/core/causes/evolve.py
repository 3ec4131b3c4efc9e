"""What each event makes of the causes; what has no case here cannot happen."""

from collections.abc import Iterable
from typing import TypeVar, assert_never

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.causes.events import (
    CauseCleared,
    CauseEvent,
    CauseFound,
    CauseLeftOpen,
    CauseProbed,
    CauseSettled,
)
from paddock.core.causes.model import (
    KEPT_ENDED,
    KEPT_RESETS,
    KEPT_RUNS,
    KEPT_TASKS,
    MOST_STANDING,
    Cause,
    Causes,
    Streak,
    cause_number,
)
from paddock.core.causes.strikes import struck_again
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import printable, task_of
from paddock.core.tasks.task import Attempt, illegal
from paddock.core.tasks.vocabulary import NOT_THE_ENGINES, USEFUL

LINE_CHARS = 200
EVIDENCE_LINES = 6

_T = TypeVar("_T")


def evolve(causes: Causes, event: CauseEvent, record: ev.Record, attempt: Attempt | None = None) -> Causes:
    """`attempt` is the one in which it was found. Raises IllegalTransition for what cannot happen."""
    match event:
        case CauseFound():
            assert attempt is not None
            return _find_cause(causes, event, record.at, attempt)
        case CauseProbed():
            cause = replace(_standing(causes, event), probes=event.tasks, skipped=_bounded(event.skipped))
            return _put(causes, cause)
        case CauseLeftOpen():
            return _put(causes, replace(_standing(causes, event), probes=(), skipped=()))
        case CauseSettled():
            return _settle(causes, event)
        case CauseCleared():
            return _clear(causes, _standing(causes, event), record.at, record.actor, event.reason)
        case _:
            assert_never(event)


def _find_cause(causes: Causes, event: CauseFound, at: float, attempt: Attempt) -> Causes:
    known = causes.standing.get(event.key)
    cause = _begun(causes, event, at, attempt) if known is None else known
    if cause.id != event.id:
        raise illegal(event.key, f"found already, as {cause.id}", event)
    if attempt.id in cause.runs:
        raise illegal(attempt.id, f"known to have failed for {cause.id}", event)
    strikes, struck, at_work, slots = struck_again(cause, at, event.at_work)
    task = task_of(attempt.id)
    found = replace(
        cause,
        cause=cause.cause if cause.is_settled else event.cause,
        last=at,
        tied=event.tied,
        resource=cause.resource or _line(event.resource),
        runs=_with(cause.runs, attempt.id, KEPT_RUNS),
        tasks=_with(cause.tasks, task, KEPT_TASKS),
        count=cause.count + 1,
        forgiven=cause.forgiven + event.forgiven,
        strikes=strikes,
        struck=struck,
        at_work=at_work,
        slots=slots,
    )
    after = replace(_put(causes, found), newest=max(causes.newest, cause_number(event.id)))
    misses = found.cause is FailureCause.NEVER_RAN and not event.since_ran
    return _note_miss(after, found, event, at, attempt) if misses else after


def _begun(causes: Causes, event: CauseFound, at: float, attempt: Attempt) -> Cause:
    if cause_number(event.id) <= causes.newest:
        raise illegal(event.id, "already used", event)
    return Cause(
        id=event.id,
        key=event.key,
        cause=event.cause,
        found=at,
        last=at,
        symptom=_line(event.symptom),
        evidence=_bounded(event.evidence),
        resource=_line(event.resource),
        engine=attempt.engine,
        version=_line(event.version),
        account=attempt.account,
        host=attempt.host,
    )


def _note_miss(causes: Causes, cause: Cause, event: CauseFound, at: float, attempt: Attempt) -> Causes:
    """Another version of the engine begins again. What ended before somebody said that it works says nothing of now,
    and nothing of the engine does what was not its doing."""
    if attempt.outcome in NOT_THE_ENGINES:
        return causes
    reset = max(causes.resets.get(attempt.engine, 0.0), causes.resets.get(attempt.account, 0.0))
    if (attempt.ended or at) <= reset:
        return causes
    before = causes.streaks.get(attempt.engine)
    version, task = _line(event.version), task_of(attempt.id)
    evidence = cause.symptom or next(iter(cause.evidence), "no call of a model was seen")
    if before is None or before.version != version:
        streak = Streak(version, attempt.account, cause.id, evidence, 1, (task,), at)
    else:
        is_trial = before.stops and attempt.started > before.last
        streak = replace(
            before,
            cause=cause.id,
            evidence=evidence,
            runs=before.runs + 1,
            tasks=_with(before.tasks, task, KEPT_TASKS),
            last=at if is_trial or not before.stops else before.last,
            trials=before.trials + is_trial,
        )
    return replace(causes, streaks={**causes.streaks, attempt.engine: streak})


def note_end(causes: Causes, attempt: Attempt) -> Causes:
    """An attempt that did something shows that its engine runs, unless it began before the engine was stopped."""
    streak = causes.streaks.get(attempt.engine)
    ran = attempt.outcome in USEFUL or attempt.output_tokens > 0
    if streak is None or not ran or (streak.stops and attempt.started <= streak.last):
        return causes
    return _without_streaks(causes, attempt.engine)


def forget_streaks(causes: Causes, name: str, at: float) -> Causes:
    """Somebody says that the engine, or the engines of the account, of that name work again."""
    resets = {other: when for other, when in causes.resets.items() if other != name} | {name: at}
    latest = dict(list(resets.items())[-KEPT_RESETS:])
    return replace(_without_streaks(causes, name), resets=latest)


def _without_streaks(causes: Causes, name: str) -> Causes:
    kept = {engine: one for engine, one in causes.streaks.items() if name not in (engine, one.account)}
    return causes if len(kept) == len(causes.streaks) else replace(causes, streaks=kept)


def _settle(causes: Causes, event: CauseSettled) -> Causes:
    cause = _standing(causes, event)
    settled = replace(cause, cause=event.cause, is_settled=True, settled=_bounded(event.evidence), tied=())
    after = _put(causes, settled)
    return after if event.cause is FailureCause.NEVER_RAN else _without_streaks_of(after, cause.id)


def _clear(causes: Causes, cause: Cause, at: float, by: str, why: str) -> Causes:
    standing = {key: one for key, one in causes.standing.items() if key != cause.key}
    ended = replace(cause, ended=at, by=_line(by), why=_line(why))
    return replace(_without_streaks_of(causes, cause.id), standing=standing, ended=(*causes.ended, ended)[-KEPT_ENDED:])


def _without_streaks_of(causes: Causes, name: str) -> Causes:
    return replace(causes, streaks={engine: one for engine, one in causes.streaks.items() if one.cause != name})


def _standing(causes: Causes, event: CauseEvent) -> Cause:
    found = next((cause for cause in causes.standing.values() if cause.id == event.id), None)
    if found is None:
        raise illegal(event.id, "not standing", event)
    return found


def _put(causes: Causes, cause: Cause) -> Causes:
    """Of too many the one that was not seen for longest goes, one that blocks tasks last of all."""
    standing = {**causes.standing, cause.key: cause}
    if len(standing) > MOST_STANDING:
        oldest = min((one for one in standing.values() if one is not cause), key=_use)
        del standing[oldest.key]
    return replace(causes, standing=standing)


def _use(cause: Cause) -> tuple[bool, float]:
    return cause.cause is FailureCause.DEPENDENCY, cause.last


def _with(known: tuple[_T, ...], new: _T, most: int) -> tuple[_T, ...]:
    return known if new in known else (*known, new)[-most:]


def _bounded(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(_line(line) for line in list(lines)[:EVIDENCE_LINES])


def _line(said: str) -> str:
    return printable(" ".join(said.split()), LINE_CHARS)
