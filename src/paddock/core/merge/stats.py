"""Feeds the estimators: what a finished run or a decided change adds to the counts."""

from collections.abc import Sequence

from msgspec.structs import replace

from paddock.core.merge import guards
from paddock.core.merge.estimate import bad_share
from paddock.core.merge.model import ACCEPTANCE, Decided, Ending, Purpose, Queue, Result, Run
from paddock.core.merge.tallies import CheckTally, RunCompany, RunSample, Stats, Tally

# Half of what is known is forgotten after about 700 observations: agents and test suites change.
MEMORY = 0.999
KEPT_SAMPLES = 64
KEPT_AUTHORS = 64
KEPT_CHECKS = 64


def after_run(queue: Queue, run: Run) -> Stats:
    """The counts after `run`, which has just ended and is not yet in `queue.ended`."""
    stats = queue.stats
    if run.result is Result.INFRA or run.reused is not None:
        return stats
    if not run.members and (run.result is Result.PASS or guards.tree_has_passed(queue, run)):
        stats = _count_verdict(stats, run)
    stats = _count_checks(stats, run.ran, run.flaked, run.quarantined)
    if run.purpose is Purpose.TRAIN and run.confirms is None and guards.base_is_verified(queue, run):
        stats = _count_train(queue, stats, run)
    stats = _count_first_verdicts(queue, stats, run)
    if run.result is Result.PASS:
        stats = _count_pass(queue, stats, run)
    return stats


def _count_first_verdicts(queue: Queue, stats: Stats, run: Run) -> Stats:
    """Each change counts once, with the first run that says something about it: waiting until the bad ones are
    convicted would make changes look better than they are. Of a failed pool the expected share is bad."""
    fresh = sum(1 for member in run.members if _is_unknown(queue, member.id))
    if not fresh or not guards.base_is_verified(queue, run):
        return stats
    bad = 0.0
    if run.result is not Result.PASS:
        share = bad_share(stats)
        bad = fresh * share / (1.0 - (1.0 - share) ** len(run.members))
    tally = stats.overall
    memory = MEMORY**fresh
    overall = Tally(tally.good * memory + fresh - bad, tally.bad * memory + bad)
    return replace(stats, overall=overall)


def _is_unknown(queue: Queue, change_id: str) -> bool:
    entry = queue.entries.get(change_id)
    return entry is not None and not entry.evidence


def after_landing(queue: Queue, landed: frozenset[str]) -> Stats:
    """The counts once `landed` are in main: of the runs whose members are all there now, those that failed flaked.

    Passes are counted no earlier, or flakes would seem rarer than they are for as long as their members wait.
    """
    stats = queue.stats
    inside = {(d.id, d.version) for d in queue.decided if d.outcome is Ending.LANDED}
    for run in _runs_of(queue, landed):
        if all((member.id, member.version) in inside for member in run.members) and guards.base_is_verified(queue, run):
            stats = _count_verdict(stats, run)
    return stats


def _runs_of(queue: Queue, landed: frozenset[str]) -> list[Run]:
    mine = [decided for decided in queue.decided[-len(landed) :] if decided.id in landed]
    runs = dict.fromkeys(i for decided in mine for i in decided.runs if i in queue.ended)
    return [queue.ended[i] for i in runs if queue.ended[i].reused is None]


def _count_verdict(stats: Stats, run: Run) -> Stats:
    """Of a run that should have passed."""
    flaked = run.result is not Result.PASS
    stats = replace(stats, verdicts=stats.verdicts * MEMORY + 1, flakes=stats.flakes * MEMORY + flaked)
    stats = replace(stats, company=_count_company(stats.company, run, flaked=flaked))
    return _count_checks(stats, (), run.failed, ())


def _count_company(company: RunCompany, run: Run, *, flaked: bool) -> RunCompany:
    before = company.beside if run.beside else company.alone
    after = Tally(before.good * MEMORY + (not flaked), before.bad * MEMORY + flaked)
    return replace(company, beside=after) if run.beside else replace(company, alone=after)


def _count_checks(stats: Stats, ran: Sequence[str], flaked: Sequence[str], quarantined: Sequence[str]) -> Stats:
    if not ran and not flaked and not quarantined:
        return stats
    checks = dict(stats.checks)
    for name in dict.fromkeys((*ran, *flaked, *quarantined)):
        if name.startswith(ACCEPTANCE):
            continue  # one change's own: it says nothing about CI
        known = checks.pop(name, CheckTally())
        checks[name] = CheckTally(
            known.runs * MEMORY + (name in ran),
            known.flakes * MEMORY + (name in flaked),
            known.quarantined * MEMORY + (name in quarantined),
        )
    return replace(stats, checks=dict(list(checks.items())[-KEPT_CHECKS:]))


def _count_train(queue: Queue, stats: Stats, run: Run) -> Stats:
    if not all(_passed_before(queue, member.id) for member in run.members):
        return stats
    return replace(
        stats,
        train_runs=stats.train_runs * MEMORY + 1,
        train_members=stats.train_members * MEMORY + len(run.members),
        train_failures=stats.train_failures * MEMORY + (run.result is not Result.PASS),
    )


def _count_pass(queue: Queue, stats: Stats, run: Run) -> Stats:
    for member in run.members:
        entry = queue.entries.get(member.id)
        if entry is not None and not _passed_before(queue, member.id):
            stats = _count_change(stats, entry.change.author, good=1.0, bad=0.0)
    seconds = max(0.0, (run.ended_at or run.started_at) - run.started_at)
    sample = RunSample(seconds, (run.slots_busy + len(queue.running)) / 2, partial=bool(run.since))
    return replace(stats, samples=(*stats.samples, sample)[-KEPT_SAMPLES:])


def _passed_before(queue: Queue, change_id: str) -> bool:
    entry = queue.entries.get(change_id)
    return entry is not None and guards.has_passed(queue, entry)


def after_decision(queue: Queue, decided: Decided) -> Stats:
    """A change rejected on evidence was bad; a person's rejection says nothing about the tests."""
    if decided.outcome is Ending.REJECTED and decided.runs:
        return _count_change(queue.stats, decided.author, good=0.0, bad=1.0)
    return queue.stats


def _count_change(stats: Stats, author: str, *, good: float, bad: float) -> Stats:
    by_author = dict(stats.by_author)
    tally = by_author.pop(author, Tally())
    by_author[author] = Tally(tally.good * MEMORY + good, tally.bad * MEMORY + bad)
    if len(by_author) > KEPT_AUTHORS:
        del by_author[next(iter(by_author))]
    return replace(stats, by_author=by_author)
