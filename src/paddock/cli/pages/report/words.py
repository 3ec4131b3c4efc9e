"""Figures of a report as people read them, the same in every form of it."""

from paddock.cli.terminal.text import plural
from paddock.core.durations import format_duration
from paddock.views.cost_report import SplitView, ThrownAwayView
from paddock.views.insight.findings import BatchView, ClusterCard, DriftTestCard
from paddock.views.insight.report import ReportView

UNKNOWN = "unknown"
SHOWN_LINES = 4
SPLIT = (
    ("start-up context", "waiting", "startup_usd"),
    ("work", "running", "work_usd"),
    ("start-up or work", "ready", "unsplit_usd"),
    ("reviews", "reviewing", "review_usd"),
    ("thrown away", "failed", "thrown_usd"),
)
"""What a part of the money is called, whose colour it has, and its field."""
CAUSE_STATES = {
    "never-ran": "failed",
    "rate-limit": "approval",
    "overload": "approval",
    "contention": "running",
    "saturation": "queued",
    "network": "queued",
    "dependency": "blocked",
    "task": "ready",
    "model": "reviewing",
}


def money(dollars: float | None) -> str:
    if dollars is None:
        return UNKNOWN
    return "<$0.01" if 0 < dollars < 0.005 else f"${dollars:,.2f}"


def thrown_words(row: ThrownAwayView) -> str:
    """What was thrown away, and how much of the same was not, because another attempt went on with it."""
    more = "more " if row.lost else ""
    return f"{row.words} ({row.carried:,} {more}were continued)" if row.carried else row.words


def duration(seconds: float) -> str:
    return format_duration(round(seconds, 1) if seconds < 10 else round(seconds))


def percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def split_parts(split: SplitView) -> list[tuple[str, str, float]]:
    """What is called what, its state, and its dollars; nothing that is nothing."""
    return [(name, state, usd) for name, state, field in SPLIT if (usd := getattr(split, field)) > 0]


def span_words(report: ReportView) -> str:
    ended = report.ended[:16].replace("T", " ")
    if report.began is None:
        return f"all until {ended} UTC"
    return f"{report.began[:16].replace('T', ' ')} to {ended} UTC"


def drift_words(report: ReportView) -> str:
    drift = report.drift
    if drift.problem:
        return f"Nothing could be judged: {drift.problem}"
    if not drift.batches:
        return "Too little data: no batch of attempts was completed."
    judged = sum(batch.verdict != "too little data" for batch in drift.batches)
    if not judged:
        return f"Too little data: none of {len(drift.batches)} batches has enough runs to compare with."
    if not drift.drifted:
        return f"None in {judged} of {len(drift.batches)} batches that could be judged."
    return f"{drift.drifted} of {len(drift.batches)} batches behave differently from those before."


def self_test_words(report: ReportView) -> str:
    test = report.drift.self_test
    if test is None:
        return ""
    verdict = "as it should be" if test.sound else "more than chance explains: distrust its verdicts"
    return f"Self-test, one setting split at random: {plural(test.alarms, 'alarm')} in {test.splits}, {verdict}."


def batch_words(batch: BatchView) -> str:
    against = f"{batch.count} runs against {batch.baseline} before them, {batch.pairs} pairs"
    if batch.missing_pairs:
        return f"{against}; {batch.missing_pairs} more would be needed"
    return against


def test_words(test: DriftTestCard) -> str:
    sides = ""
    if test.batch is not None and test.baseline is not None:
        sides = f"{test.baseline:.3g} before, {test.batch:.3g} now, "
    return f"{test.name}: {sides}effect {test.effect:+.2g}, q = {test.q:.2g}"


def failures_words(report: ReportView) -> str:
    part = report.failures
    if not part.runs:
        return "Too little data: no attempt has ended."
    if not part.failed:
        return f"None of {part.runs:,} attempts failed."
    return f"{part.failed:,} of {part.runs:,} attempts failed, in {part.clusters:,} clusters."


def evidence_lines(card: ClusterCard) -> list[str]:
    """What the cause rests on, without what the symptom says already."""
    lines = dict.fromkeys(one.line for one in card.evidence if one.line != card.symptom)
    return list(lines)[:SHOWN_LINES]


def time_words(report: ReportView) -> str:
    time = report.time
    if time is None:
        return report.time_problem or "Too little data: no task was finished."
    return (
        f"{time.tasks:,} finished tasks; half of them took {duration(time.median_seconds)} or more from start to end."
    )
