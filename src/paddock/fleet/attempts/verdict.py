"""Gathering the facts of an attempt, judging them, and securing what it left before anything is recorded."""

from dataclasses import dataclass, replace

from paddock.core.errors import PaddockError
from paddock.core.events import AttemptEnded
from paddock.core.tasks.outcome import AttemptFacts, Verdict, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import Final, TurnSummary
from paddock.engines.protocol import Capabilities, Engine
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.facts import DiffStat, diffstat, read_stretch
from paddock.git.landing.held import delivery_ref, hold_delivery
from paddock.git.worktrees.checkout import repair_worktree
from paddock.git.worktrees.prepare import find
from paddock.git.worktrees.release import Secured
from paddock.git.worktrees.rescue import count_rescued, rescue

DEADLINES = frozenset({EndedBy.STARTUP, EndedBy.SILENCE, EndedBy.TOOL, EndedBy.TURN, EndedBy.OUTPUT})


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is on the branch once everything is committed. `rescued` counts files Paddock had to commit itself.

    `held` are commits that the ref of the change holds; `spotless`: not even an ignored file lay about.
    """

    head: str | None = None
    base: str | None = None
    commits: int = 0
    rescued: int = 0
    diff: DiffStat = DiffStat()  # noqa: RUF009 (frozen)
    problem: str = ""
    held: frozenset[str] = frozenset()
    spotless: bool = False

    @property
    def secured(self) -> Secured | None:
        return Secured(self.head, self.held) if self.head is not None and self.held and self.spotless else None


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict as it goes into the log, and what is known of the worktree if nothing in it needs saving."""

    event: AttemptEnded
    secured: Secured | None = None


def secure(site: Site, attempt: Attempt) -> Delivery:
    """Commits what was left uncommitted and holds the result by a ref. Doing it again finds the same."""
    worktree = find(site.root, attempt.id)
    if worktree is None:
        return _from_branch(site, attempt)
    admin = repair_worktree(site.repo, worktree.path)
    if admin is None:
        return Delivery(problem=f"`{worktree.path}` is no longer a worktree of this repository")
    try:
        why = f"{attempt.id} ended with uncommitted files"
        saved = rescue(site.repo, worktree.path, admin, attempt.branch, why, checkpoint)
    except PaddockError as error:
        return Delivery(problem=error.message)
    if saved.commit is None:
        return replace(_hold(site, attempt, saved.head), spotless=saved.spotless)
    checkpoint("judge.rescued")
    return replace(_hold(site, attempt, saved.commit), rescued=saved.files)


def _from_branch(site: Site, attempt: Attempt) -> Delivery:
    """The worktree is gone already: the branch, or the ref an earlier try has set, tells what there was."""
    for ref in (delivery_ref(attempt.id), f"refs/heads/{attempt.branch}"):
        head = site.repo.resolve(ref)
        if head is not None:
            return _hold(site, attempt, head)
    return Delivery()


def _hold(site: Site, attempt: Attempt, head: str | None) -> Delivery:
    """A change at `head`. A rescue commit there, made before a restart, tells how many files it saved."""
    if head is None:
        return Delivery()
    stretch = read_stretch(site.repo, f"refs/heads/{site.config.landing_branch}", attempt.base, head)
    if not stretch.commits:
        return Delivery(head=head, base=stretch.base)
    hold_delivery(site.repo, attempt.id, head)
    checkpoint("judge.held")
    return Delivery(
        head,
        stretch.base,
        len(stretch.commits),
        count_rescued(site.repo, head, stretch.subject),
        diffstat(site.repo, stretch.base, head),
        held=stretch.known,
    )


def judge_attempt(
    site: Site, engine: Engine | None, task: Task, attempt: Attempt, summary: TurnSummary, setup_problem: str = ""
) -> Judged:
    """Blocks on git: call it in a thread."""
    checkpoint("judge.began")
    delivery = secure(site, attempt)
    checkpoint("judge.secured")
    # What had said that it succeeded and was only then ended by us, for lingering, did succeed.
    had_ended = attempt.ended_by is EndedBy.LINGERING and summary.final is Final.SUCCESS
    can = engine.capabilities if engine is not None else Capabilities()
    facts = AttemptFacts(
        exit=0 if had_ended else attempt.exit,
        ended_by=attempt.ended_by if attempt.ended_by in DEADLINES else EndedBy.ITSELF,
        stopped_by=_stopped_by(task, attempt),
        setup_problem=setup_problem,
        start_problem=attempt.problem if attempt.ended_by is EndedBy.UNSTARTABLE else "",
        rebooted=attempt.ended_by is EndedBy.REBOOT,
        over_budget=(attempt.problem or "it spent more than allowed") if attempt.ended_by is EndedBy.BUDGET else "",
        looping=(attempt.problem or "it was looping") if attempt.ended_by is EndedBy.LOOPING else "",
        expects_final=can.final_event,
        has_model=can.model,
        greets=can.greets,
        streams=can.streams,
        summary=summary,
        commits=delivery.commits,
        dirty=delivery.rescued,
        nothing_new=task.head is not None and delivery.head == task.head,
    )
    verdict = judge(facts)
    following = decide_next(verdict, task, attempt, site.clock.now(), site.config.limits.backoff)
    ended = AttemptEnded(
        outcome=verdict.outcome,
        next=following.step,
        counted=following.counted,
        reason=_reason(verdict, delivery),
        exit=attempt.exit,
        head=delivery.head if delivery.commits else None,
        base=delivery.base or attempt.base,
        commits=delivery.commits,
        files=delivery.diff.files,
        insertions=delivery.diff.insertions,
        deletions=delivery.diff.deletions,
        retry_at=following.retry_at,
        unblock=following.unblock,
    )
    return Judged(ended, delivery.secured)


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


def _reason(verdict: Verdict, delivery: Delivery) -> str:
    return f"{verdict.reason}; {delivery.problem}" if delivery.problem else verdict.reason
