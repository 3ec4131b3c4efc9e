"""Attempts of the fleet as one look has found them, and how they are written: as they grow, and as they are retold."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.insight.dataset.growing import GrowingTrace
from paddock.insight.dataset.headers import FLEET, Told, header_of
from paddock.insight.dataset.histories import AttemptHistory, TaskHistory
from paddock.insight.dataset.live import AttemptFollower
from paddock.insight.dataset.writer import DatasetWriter, KeptRow
from paddock.insight.step_facts import StepTally
from paddock.insight.trace import Facts, Trace


@dataclass
class Followed:
    """One whose output is read. `before` is what is kept of it, `growing` what was written of it since."""

    follower: AttemptFollower
    task: TaskHistory
    before: KeptRow | None
    growing: GrowingTrace | None = None
    header: Trace | None = None
    patch: Facts | None = None
    tally: StepTally = field(default_factory=StepTally)
    size: int = 0
    more: bool = True

    @property
    def attempt(self) -> AttemptHistory:
        return self.follower.attempt

    @property
    def is_over(self) -> bool:
        return self.attempt.ended is not None and not self.more


@dataclass(frozen=True, slots=True)
class Retold:
    """One whose steps are there, and of which the log may tell something else by now."""

    task: TaskHistory
    attempt: AttemptHistory
    row: KeptRow
    patch: Facts | None


@dataclass
class News:
    """What one look is about to write."""

    followed: list[Followed] = field(default_factory=list)
    retold: list[Retold] = field(default_factory=list)
    resting: dict[str, int] = field(default_factory=dict)


def write_growth(writer: DatasetWriter, followed: Followed) -> bool:
    """Whether there was anything new."""
    attempt, told = followed.attempt, followed.follower.told()
    fate = writer.fates.of(followed.task.id, attempt.head)
    header = header_of(followed.task, attempt, fate, told)
    if followed.growing is None:
        followed.growing = GrowingTrace(writer.begin(FLEET, attempt.id))
    growing = followed.growing
    steps, calls = growing.room(*followed.follower.drain())
    if not steps and not calls and not followed.is_over and header == followed.header:
        return False
    followed.header = header
    followed.tally.take(steps)
    if followed.is_over:
        earlier = followed.before.kept.trace.facts if followed.before is not None else Facts()
        header = replace(header, facts=followed.tally.onto(_joined(header.facts, followed.patch or earlier)))
    writer.grow(growing, header, steps, calls)
    return True


def write_retold(writer: DatasetWriter, retold: Retold) -> bool:
    """Whether anything is told otherwise."""
    kept = retold.row.kept
    fate = writer.fates.of(retold.task.id, retold.attempt.head)
    header = header_of(retold.task, retold.attempt, fate, _told_before(kept.trace))
    facts = _joined(header.facts, retold.patch or kept.trace.facts)
    known = kept.trace.facts
    header = replace(
        header,
        facts=replace(
            facts,
            verified_last_edit=known.verified_last_edit,
            tests_run=known.tests_run,
            no_verify=known.no_verify,
            force_push=known.force_push,
        ),
    )
    if header == kept.trace:
        return False
    writer.retell(replace(kept, trace=header))
    return True


def _joined(log: Facts, patch: Facts) -> Facts:
    """What the log tells, with what only the patch does."""
    told = {
        name: value
        for name in ("insertions", "deletions", "outside")
        if (value := getattr(log, name)) not in (None, ())
    }
    return replace(patch, gate=log.gate, **told)


def _told_before(trace: Trace) -> Told:
    return Told(
        model=trace.model,
        engine_version=trace.engine_version,
        model_spoke=trace.model_spoke,
        waited_seconds=trace.waited_seconds,
        tail=trace.tail.split("\n") if trace.tail else (),
        calls=trace.model_calls,
        startup_cached=trace.startup_cached,
    )
