"""The checks of CI as `paddock queue` shows them: which run when, which flake, which are in quarantine."""

from paddock.cli.text import plural
from paddock.config.schema import Check
from paddock.core.merge.estimate import flake_share
from paddock.core.merge.guards import FAILURES_TO_REJECT, failures_needed
from paddock.core.merge.model import CheckTally, Run, Stats


def view_suite(checks: tuple[Check, ...], stats: Stats) -> dict[str, object]:
    """For `--json`. Counts fade with time: half of what is known is forgotten after about 700 runs."""
    return {
        "flake_share": round(flake_share(stats), 4),
        "failures_to_reject": failures_needed(stats),
        "checks": [_view_check(check, stats.checks.get(check.name, CheckTally())) for check in checks],
    }


def _view_check(check: Check, tally: CheckTally) -> dict[str, object]:
    return {
        "name": check.name,
        "paths": list(check.paths),
        "retry": check.retry,
        "quarantine": check.quarantine,
        "runs": round(tally.runs, 1),
        "flakes": round(tally.flakes, 1),
        "quarantined_failures": round(tally.quarantined, 1),
    }


def suite_lines(checks: tuple[Check, ...], stats: Stats) -> list[str]:
    """Only what is out of the ordinary: nothing about checks that always run and never flaked."""
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
    if check.retry and (facts or tally.flakes >= 0.5):
        facts.append(f"retried up to {plural(check.retry, 'time')}")
    return f"  {check.name:<10} {'; '.join(facts)}" if facts else ""


def run_scope(run: Run) -> str:
    """Which checks a run is limited to, in a few words; empty when all are run."""
    if not run.since:
        return ""
    return f"only {', '.join(run.checks)}" if run.checks else "no check covers what it changes"
