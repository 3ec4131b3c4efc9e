"""Gathering the facts of an attempt, judging them, and securing what it left before anything is recorded."""

import re
import time
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import AttemptEnded
from paddock.core.outcome import AttemptFacts, Verdict, decide_next, judge
from paddock.core.task import Attempt, Phase, Task
from paddock.core.trace import Final, TurnSummary
from paddock.engines.protocol import Engine
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.checkout import mend
from paddock.git.command import GitResult, run_git
from paddock.git.facts import DiffStat, diffstat
from paddock.git.rescue import hold_change, rescue
from paddock.git.worktrees import find

_RESCUE = re.compile(r"Rescue (?P<files>\d+) uncommitted files\n\nPaddock made this commit, not the agent")
_SHOW_TIP = ("log", "-1", "--format=%H%n%B")


@dataclass(frozen=True, slots=True)
class Tip:
    """Where a branch is; `rescued` counts the files of a commit that Paddock made there itself."""

    commit: str
    rescued: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is on the branch once everything is committed. `rescued` counts files Paddock had to commit itself."""

    head: str | None = None
    base: str | None = None
    commits: int = 0
    rescued: int = 0
    diff: DiffStat = DiffStat()  # noqa: RUF009 (frozen)
    problem: str = ""


def secure(site: Site, attempt: Attempt) -> Delivery:
    """Commits what lies about and holds the result by a ref. Doing it again finds the same."""
    worktree = find(site.root, attempt.id)
    if worktree is None:
        return _from_branch(site, attempt)
    admin = mend(site.repo, worktree.path)
    if admin is None:
        return Delivery(problem=f"`{worktree.path}` is not a worktree of this repository any more")
    try:
        tip = _read_tip(run_git(worktree.path, *_SHOW_TIP, "HEAD", "--", check=False))
        why = f"{attempt.id} ended with uncommitted files"
        saved = rescue(site.repo, worktree.path, admin, attempt.branch, why, checkpoint)
    except PaddockError as error:
        return Delivery(problem=error.message)
    if saved.commit is None:
        return _hold(site, attempt, tip)
    checkpoint("judge.rescued")
    return _hold(site, attempt, Tip(saved.commit, saved.files))


def _from_branch(site: Site, attempt: Attempt) -> Delivery:
    """The worktree is gone already: the branch, or the ref an earlier try has set, tells what there was."""
    for ref in (f"refs/paddock/changes/{attempt.id}", f"refs/heads/{attempt.branch}"):
        tip = _read_tip(site.repo.git(*_SHOW_TIP, ref, "--", check=False))
        if tip is not None:
            return _hold(site, attempt, tip)
    return Delivery()


def _hold(site: Site, attempt: Attempt, tip: Tip | None) -> Delivery:
    if tip is None:
        return Delivery()
    base, commits = _fork(site, attempt, tip.commit)
    if not commits:
        return Delivery(head=tip.commit, base=base)
    if not hold_change(site.repo, attempt.id, tip.commit):
        ref = f"refs/paddock/changes/{attempt.id}"
        site.repo.update_ref(ref, tip.commit, site.repo.refs(ref)[ref], "paddock: change")
    checkpoint("judge.held")
    return Delivery(tip.commit, base, commits, tip.rescued, diffstat(site.repo, base, tip.commit))


def _read_tip(told: GitResult) -> Tip | None:
    """The commit git showed. One that Paddock made was made before a restart: its subject counts the files."""
    if not told.ok:
        return None
    commit, _, message = told.text.partition("\n")
    made = _RESCUE.match(message)
    return Tip(commit, int(made["files"]) if made else 0)


def judge_attempt(
    site: Site, engine: Engine | None, task: Task, attempt: Attempt, summary: TurnSummary, setup_problem: str = ""
) -> AttemptEnded:
    """The verdict as it goes into the log. Blocks on git: call it in a thread."""
    checkpoint("judge.began")
    delivery = secure(site, attempt)
    checkpoint("judge.secured")
    # What had said that it succeeded and was only then ended by us, for lingering, did succeed.
    had_ended = attempt.ended_by == "lingering" and summary.final is Final.SUCCESS
    facts = AttemptFacts(
        exit=0 if had_ended else attempt.exit,
        ended_by=attempt.ended_by if attempt.ended_by in ("startup", "silence", "turn", "output") else "",
        stopped_by=_stopped_by(task, attempt),
        setup_problem=setup_problem,
        start_problem=attempt.problem if attempt.ended_by == "unstartable" else "",
        rebooted=attempt.ended_by == "reboot",
        over_budget=(attempt.problem or "it spent more than it may") if attempt.ended_by == "budget" else "",
        expects_final=engine is not None and engine.capabilities.final_event,
        summary=summary,
        commits=delivery.commits,
        dirty=delivery.rescued,
    )
    verdict = judge(facts)
    following = decide_next(verdict, task, attempt, time.time(), site.config.limits.backoff)
    return AttemptEnded(
        outcome=verdict.outcome.value,
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
        rescued=bool(delivery.rescued),
        retry_at=following.retry_at,
        unblock=following.unblock,
    )


def _stopped_by(task: Task, attempt: Attempt) -> str | None:
    match attempt.ended_by:
        case "stop" if task.phase is Phase.CANCELLED:
            return "its task being cancelled"
        case "stop":
            return attempt.stop_requested or "a person"
        case "down":
            return "`paddock down --now`"
        case _:
            return None


def _reason(verdict: Verdict, delivery: Delivery) -> str:
    return f"{verdict.reason}; {delivery.problem}" if delivery.problem else verdict.reason


def _fork(site: Site, attempt: Attempt, head: str) -> tuple[str, int]:
    """Where the branch leaves main, its base or a later commit if the agent has rebased; and how many commits on.

    One boundary is where the two histories part; with several, or none, git has to be asked for their base.
    """
    main = f"refs/heads/{site.config.landing_branch}"
    told = site.repo.git("rev-list", "--boundary", head, f"^{main}", check=False)
    if not told.ok:
        return attempt.base, site.repo.count_commits(attempt.base, head)
    edges = [line[1:] for line in told.lines if line.startswith("-")]
    commits = len(told.lines) - len(edges)
    if len(edges) == 1 or not commits:
        return (edges[0] if edges else attempt.base), commits
    return site.repo.merge_base(main, head) or attempt.base, commits
