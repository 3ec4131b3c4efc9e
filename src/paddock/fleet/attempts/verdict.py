"""Gathering the facts of an attempt, judging them, and securing what it left before anything is recorded."""

from dataclasses import dataclass, replace
from itertools import islice

from msgspec import structs

from paddock.core.events import AttemptEnded
from paddock.core.ids import recordable
from paddock.core.leases.globs import matches_file
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.beginnings import start_commit
from paddock.core.tasks.outcome import AttemptFacts, Verdict, describe_outside, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Step
from paddock.engines.protocol import Capabilities, Engine
from paddock.fleet.attempts.ground import Delivery, Unprepared
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.review.policy import is_reviewed
from paddock.fleet.site import Site
from paddock.git.worktrees.release import Secured

MOST_OUTSIDE = 100
"""Files outside its paths that are recorded of one attempt."""
_OFFERED = frozenset({Outcome.DELIVERED, Outcome.UNSAVED, Outcome.UNCHANGED})
DEADLINES = frozenset({EndedBy.STARTUP, EndedBy.SILENCE, EndedBy.TOOL, EndedBy.TURN, EndedBy.OUTPUT})


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict as it goes into the log, and what is known of the worktree if nothing in it needs saving."""

    event: AttemptEnded
    secured: Secured | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """What is known of an attempt besides its worktree. `unanswered` is why the answer of one that only reads cannot
    be used; `question` is one that its agent has asked and nobody has answered."""

    task: Task
    attempt: Attempt
    summary: TurnSummary
    unprepared: Unprepared | None = None
    unanswered: str = ""
    question: str = ""


def judge_attempt(site: Site, engine: Engine | None, judging: Judging) -> Judged:
    """Blocks on git: call it in a thread."""
    checkpoint("judge.began")
    task, attempt, summary, unprepared = judging.task, judging.attempt, judging.summary, judging.unprepared
    no_space, problem = (unprepared.no_space, unprepared.reason) if unprepared is not None else (False, "")
    # On a full disk git could not secure what there is, and no turn has begun. Nothing of a reader's is imported.
    reads = attempt.role.only_reads
    delivery = Delivery() if no_space or reads else site.ground.secure(attempt)
    checkpoint("judge.secured")
    # A turn that reported success and was then ended for lingering did succeed.
    had_ended = attempt.ended_by is EndedBy.LINGERING and summary.final is Final.SUCCESS
    outside = _outside(site, task, attempt, delivery)
    # What a visitor found is not what they left, be it commits or a rescue.
    began_at = start_commit(task, attempt) if attempt.left_by and attempt.found is not None else ""
    can = engine.capabilities if engine is not None else Capabilities()
    facts = AttemptFacts(
        exit=0 if had_ended else attempt.exit,
        ended_by=attempt.ended_by if attempt.ended_by in DEADLINES else EndedBy.ITSELF,
        stopped_by=_stopped_by(task, attempt),
        no_space=problem if no_space else "",
        setup_problem=problem,
        start_problem=attempt.problem if attempt.ended_by is EndedBy.UNSTARTABLE and not attempt.left_by else "",
        lost=(attempt.problem or "the host restarted while it ran") if attempt.ended_by is EndedBy.REBOOT else "",
        over_budget=(attempt.problem or "it spent more than allowed") if attempt.ended_by is EndedBy.BUDGET else "",
        looping=(attempt.problem or "it was looping") if attempt.ended_by is EndedBy.LOOPING else "",
        expects_final=can.final_event,
        has_model=can.model,
        greets=can.greets,
        streams=can.streams,
        summary=structs.replace(summary, noop_reason=attempt.noop) if attempt.noop else summary,
        commits=delivery.commits,
        dirty=0 if delivery.head == began_at else delivery.rescued,
        nothing_new=delivery.head is not None and delivery.head in (task.head, began_at),
        kept=delivery.problem,
        reads=reads,
        unanswered=judging.unanswered,
        outside=outside,
        may_stray=site.config.land.outside_paths != "reject",
        question=judging.question,
        left_by=attempt.left_by,
        found=attempt.found.reason if attempt.found is not None else "",
    )
    verdict = judge(facts)
    following = decide_next(verdict, task, attempt, site.clock.now(), site.config.limits.backoff)
    if following.step is Step.APPROVAL and verdict.outcome is not Outcome.LEFT and is_reviewed(site, task):
        following = replace(following, step=Step.REVIEW)
    ended = AttemptEnded(
        outcome=verdict.outcome,
        next=following.step,
        counted=following.counted,
        reason=_with_notes(verdict, delivery, outside),
        exit=attempt.exit,
        head=delivery.head if delivery.commits else None,
        base=delivery.base or attempt.base,
        commits=delivery.commits,
        files=delivery.diff.files,
        insertions=delivery.diff.insertions,
        deletions=delivery.diff.deletions,
        retry_at=following.retry_at,
        unblock=following.unblock,
        outside=outside,
    )
    return Judged(ended, delivery.secured)


def _outside(site: Site, task: Task, attempt: Attempt, delivery: Delivery) -> tuple[str, ...]:
    """What it changed outside the paths its prompt names, as git names the files; letters count as they are written."""
    paths = () if attempt.role.only_reads else site.paths_of(task)
    if not paths:
        return ()
    strange = (name for name in delivery.diff.names if not any(matches_file(g, name, cased=True) for g in paths))
    return tuple(recordable(name) for name in islice(strange, MOST_OUTSIDE))


def _with_notes(verdict: Verdict, delivery: Delivery, outside: tuple[str, ...]) -> str:
    problem = "" if verdict.outcome is Outcome.KEPT else delivery.problem
    strayed = f"changed {describe_outside(outside)}" if outside and verdict.outcome in _OFFERED else ""
    return "; ".join(filter(None, (verdict.reason, strayed, problem, delivery.note)))


def _stopped_by(task: Task, attempt: Attempt) -> str | None:
    match attempt.ended_by:
        case EndedBy.STOP if task.phase is Phase.CANCELLED:
            return "the cancellation of its task"
        case EndedBy.STOP:
            return attempt.stop_requested or "a person"
        case EndedBy.DOWN:
            return "`paddock down --now`"
        case _:
            return None
