"""Gathering the facts of an attempt, judging them, and securing what it left before anything is recorded."""

import time
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import AttemptEnded
from paddock.core.outcome import AttemptFacts, Verdict, decide_next, judge
from paddock.core.task import Attempt, Phase, Task
from paddock.core.trace import TurnSummary
from paddock.engines.protocol import Engine
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.checkout import admin_dir
from paddock.git.facts import DiffStat, diffstat, inspect
from paddock.git.rescue import hold_change, rescue
from paddock.git.worktrees import find


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
    try:
        facts = inspect(site.repo, worktree.path, attempt.branch, attempt.base)
    except PaddockError as error:
        return Delivery(problem=error.message)
    head, rescued = facts.head, _rescued_earlier(site, facts.head)
    if facts.dirty_count:
        admin = admin_dir(site.repo, worktree.path)
        assert admin is not None
        saved = rescue(site.repo, worktree.path, admin, attempt.branch, f"{attempt.id} ended with uncommitted files")
        # Nothing left to save: an earlier try died between the commit and the worktree's index.
        if saved.commit is not None:
            head, rescued = saved.commit, saved.files
        checkpoint("judge.rescued")
    return _hold(site, attempt, head, rescued)


def _from_branch(site: Site, attempt: Attempt) -> Delivery:
    """The worktree is gone already: the branch, or the ref an earlier try has set, tells what there was."""
    held = site.repo.resolve(f"refs/paddock/changes/{attempt.id}")
    head = held or site.repo.resolve(f"refs/heads/{attempt.branch}")
    return _hold(site, attempt, head, _rescued_earlier(site, head))


def _hold(site: Site, attempt: Attempt, head: str | None, rescued: int) -> Delivery:
    if head is None:
        return Delivery()
    base = _fork_point(site, attempt, head)
    commits = site.repo.count_commits(base, head)
    if not commits:
        return Delivery(head=head, base=base)
    if not hold_change(site.repo, attempt.id, head):
        ref = f"refs/paddock/changes/{attempt.id}"
        site.repo.update_ref(ref, head, site.repo.refs(ref)[ref], "paddock: change")
    checkpoint("judge.held")
    return Delivery(head, base, commits, rescued, diffstat(site.repo, base, head))


def _rescued_earlier(site: Site, head: str | None) -> int:
    """The files of a rescue commit at the tip, made before a restart; 0 when the tip is the agent's own."""
    if head is None:
        return 0
    message = site.repo.git("log", "-1", "--format=%B", head).text
    if "Paddock made this commit, not the agent" not in message:
        return 0
    return len(site.repo.changed_paths(f"{head}^", head)) if site.repo.resolve(f"{head}^") else 1


def judge_attempt(
    site: Site, engine: Engine | None, task: Task, attempt: Attempt, summary: TurnSummary, setup_problem: str = ""
) -> AttemptEnded:
    """The verdict as it goes into the log. Blocks on git: call it in a thread."""
    delivery = secure(site, attempt)
    facts = AttemptFacts(
        exit=attempt.exit,
        ended_by=attempt.ended_by if attempt.ended_by in ("startup", "silence", "turn", "output") else "",
        stopped_by=_stopped_by(task, attempt),
        setup_problem=setup_problem,
        start_problem=attempt.problem if attempt.ended_by == "unstartable" else "",
        rebooted=attempt.ended_by == "reboot",
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


def _fork_point(site: Site, attempt: Attempt, head: str) -> str:
    """Where the branch leaves main: its base, or a later commit if the agent has rebased."""
    main = site.repo.resolve(f"refs/heads/{site.config.landing_branch}") or attempt.base
    return site.repo.merge_base(main, head) or attempt.base
