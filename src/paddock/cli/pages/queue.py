"""The merge queue for people: what is tested, what is queued, what was decided lately, and which checks flake."""

import time

from paddock.cli.terminal.text import age, cut, paint, plural
from paddock.config.schema import Check
from paddock.core.merge.company import REMEDY, Collisions
from paddock.core.merge.estimate import flake_share, run_seconds
from paddock.core.merge.guards import FAILURES_TO_REJECT, failures_needed
from paddock.core.merge.model import Queue, Run
from paddock.core.merge.prospects import in_order, state_words
from paddock.core.merge.switches import switches_of
from paddock.core.merge.tallies import CheckTally, Stats
from paddock.core.tasks.life import LOST
from paddock.fleet.outlook import know_checkouts
from paddock.fleet.workspace import Workspace
from paddock.git.lock_files import find_left_locks
from paddock.views.notices import checkout_notices, lock_notices
from paddock.views.queue.halts import cure_of
from paddock.views.queue.overview import LandsIn

SHOWN_QUEUED = 30
SHOWN_DECIDED = 5
WIDEST_ID = 30

CURES = {
    "frozen": "nothing lands until `paddock queue unfreeze`",
    "paused": "no run starts until `paddock queue resume`",
    "draining": "later changes wait until `paddock queue resume`",
}


def _width(names: list[str]) -> int:
    return min(WIDEST_ID, max([10, *map(len, names)]))


def _render_queued(queue: Queue, lands_in: LandsIn, most: int | None) -> list[str]:
    entries = in_order(queue)
    shown = entries[:most]
    width = _width([entry.change.id for entry in shown])
    lines = []
    for entry in shown:
        name, title = cut(entry.change.id, width), cut(entry.change.title, 60 - width)
        seconds = lands_in.get(entry.change.id)
        when = "" if seconds is None else f" · lands in about {age(0.0, seconds)}"
        words = f"{state_words(queue, entry)} · {age(entry.queued_at)}{when}"
        lines.append(f"  {name:<{width}} {title:<{60 - width}}  {words}")
    if len(entries) > len(shown):
        lines.append(f"  and {len(entries) - len(shown):,} more; `paddock queue --all` lists them")
    return lines


def render(queue: Queue, reason: str, lands_in: LandsIn, most: int | None = SHOWN_QUEUED) -> list[str]:
    main = queue.main
    where = (
        f"{main.commit[:10]}{', verified' if main.verified_by else ', not verified yet'}" if main else "not seen yet"
    )
    state = switches_of(queue).state
    lines = [f"main {where}; queue {state}"]
    if queue.halted is not None:
        lines += [paint(f"halted: {cut(reason, 300)}", "red"), *cure_of(queue.halted, time.time())]
    elif state in CURES:
        lines += [paint(f"{state} {cut(reason, 300)}", "red"), CURES[state]]
    if (lost := queue.lost_remote) is not None:
        told = f"the remote {lost.remote} has been unreachable for {age(lost.at)}: {cut(lost.problem, 200)}"
        lines += [paint(told, "red"), "what has passed lands once it answers again; you need not do anything"]
    typical = run_seconds(queue.stats, 0.5)
    if queue.running:
        lines += ["", paint("testing", bold=True)]
        for run in queue.running.values():
            left = "" if typical is None else f"  about {max(0, run.started_at + typical - time.time()):.0f} s left"
            names = ", ".join(member.id for member in run.members) or "main itself"
            scope = f"  {run_scope(run)}" if run.since else ""
            lines.append(f"  {run.id:<6} {run.purpose.value:<9} {names}{scope}  for {age(run.started_at)}{left}")
    if queue.entries:
        lines += ["", paint("queued", bold=True)]
        lines += _render_queued(queue, lands_in, most)
    if queue.decided:
        lines += ["", paint("recent", bold=True)]
        shown = queue.decided[-SHOWN_DECIDED:]
        width = _width([decided.id for decided in shown])
        for decided in shown:
            words = LOST if decided.lost else decided.reason or (decided.commit or "")[:10]
            what = f"{cut(decided.id, width):<{width}} {decided.outcome.value:<10} {cut(decided.title, 24):<24}"
            lines.append(f"  {what} {cut(words, 90)}  {age(decided.at)} ago".rstrip())
    if not queue.entries and not queue.running:
        lines += ["", "nothing is queued; `paddock land t3` queues a task's change"]
    return lines


def suite_lines(checks: tuple[Check, ...], stats: Stats) -> list[str]:
    """Only what is unusual: nothing about checks that always run and never flaked."""
    lines = [line for check in checks if (line := _check_line(check, stats.checks.get(check.name, CheckTally())))]
    needed = failures_needed(stats)
    if needed > FAILURES_TO_REJECT:
        share = f"about {flake_share(stats):.0%} of CI runs flake"
        lines.append(f"  {share}, so {needed} failures are needed to reject a change")
    return lines


def _check_line(check: Check, tally: CheckTally) -> str:
    facts = []
    if check.quarantine:
        failed = f"failed {tally.quarantined:.0f} of {plural(round(tally.runs), 'run')}"
        facts.append(f"in quarantine, never decides a run; {failed}")
    if tally.flakes >= 0.5:
        facts.append(f"flaked {tally.flakes:.0f} times in {plural(round(tally.runs), 'run')}")
    if check.retry and facts:
        facts.append(f"retried up to {plural(check.retry, 'time')}")
    return f"  {check.name:<10} {'; '.join(facts)}" if facts else ""


def run_scope(run: Run) -> str:
    """Which checks a run is limited to, in a few words; empty when all are run."""
    if not run.since:
        return ""
    return f"only {', '.join(run.checks)}" if run.checks else "no check covers what it changes"


def checkout_lines(workspace: Workspace) -> list[str]:
    """Empty if there is nothing to say."""
    lines = []
    notices = checkout_notices(know_checkouts(workspace), workspace.config.landing_branch)
    for notice in (*notices, *lock_notices(find_left_locks(workspace.repo.common_dir))):
        lines += ["", notice.text, paint(f"run: {notice.run}", dim=True)]
    return lines


def collision_lines(collisions: Collisions | None) -> list[str]:
    return [] if collisions is None else [f"  {collisions.words}", f"  {REMEDY}"]
