"""Whether a batch behaves differently, as JSON: the verdict, every test, what differs, and what to look at."""

import math

import msgspec

from paddock.core.ids import printable
from paddock.insight.drift.report import (
    DriftReport,
    DriftTest,
    EdgeShift,
    HabitShift,
    HardCase,
    QueuedRun,
    SelfTest,
    TypicalRun,
    Verdict,
)
from paddock.views.document import Document

NAME_CHARS = 200
MOST_CASES = 1_000
MOST_STEPS = 400
_PLAIN = {
    "path": "the order of steps",
    "habits": "what is done",
    "outcome": "how many succeed",
    "outcome by task": "which tasks succeed",
    "last edit verified": "tests run after the last edit",
    "tests deleted": "runs that delete tests",
    "tests skipped": "runs that skip tests",
    "assertions removed": "runs that remove assertions",
    "files outside the task": "runs that leave their paths",
    "new dependency": "runs that add a dependency",
    "force push": "runs that push by force",
    "checks skipped": "runs with --no-verify",
    "failed steps": "steps that fail",
    "steps": "steps per run",
    "tokens": "tokens per run",
    "start-up context": "start-up context",
    "wall time": "time per run",
}
_RATIOS = frozenset({"steps", "tokens", "start-up context", "wall time"})


class DriftTestView(msgspec.Struct, frozen=True):
    """`p` is two-sided, except for the path's; `q` is corrected for all tests. `effect` is in bits beyond chance
    (path), a difference of shares, or the logarithm of a ratio (steps, tokens, start-up context, wall time); it is
    positive where the batch has more, and counts from `floor` on. `batch` and `baseline` are the means of the two
    sides, or of those of `habits` the one that differs most. One that does not `decide` tells more of hosts and
    providers than of agents. `words` say what is compared, `difference` by how much it differs, and `activities` which
    ones are meant by `habits`."""

    name: str
    statistic: float
    p: float
    q: float
    effect: float
    significant: bool
    floor: float
    batch: float | None
    baseline: float | None
    pairs: int
    decides: bool
    words: str
    difference: str
    activities: list[str]


class EdgeView(msgspec.Struct, frozen=True):
    """One step after another: its share of all such transitions on both sides, and what it adds to the divergence. `^`
    is the beginning of a run and `$` its end."""

    first: str
    then: str
    batch: float
    baseline: float
    bits: float


class HabitView(msgspec.Struct, frozen=True):
    """An activity that one side has more than chance explains: the share of the `runs` in which it occurs, or of the
    `steps` of their paths."""

    activity: str
    of: str
    batch: float
    baseline: float


class TypicalRunView(msgspec.Struct, frozen=True):
    run: str
    path: list[str]
    distance: float


class ExplanationView(msgspec.Struct, frozen=True):
    """`medoid` is the run that is most like the others of its batch, `outlier` the one that is least like the
    baseline."""

    edges: list[EdgeView]
    habits: list[HabitView]
    medoid: TypicalRunView | None
    outlier: TypicalRunView | None


class HardCaseView(msgspec.Struct, frozen=True):
    rule: str
    run: str
    task: str
    evidence: str


class QueuedRunView(msgspec.Struct, frozen=True):
    run: str
    task: str
    score: float
    reasons: list[str]


class SelfTestView(msgspec.Struct, frozen=True):
    """The baseline divided at random `splits` times: in `alarms` of them it was called drift. A sound test does so at
    a rate between `low` and `high`."""

    splits: int
    alarms: int
    rate: float
    low: float
    high: float
    expected: float
    pairs: int
    sound: bool


class DriftView(Document, frozen=True, kw_only=True):
    """`verdict` is `drift`, `none` or `too little data`; `sentence` says it in words. `pairs` are runs of the
    batch that have a run of the baseline to be compared with, by `matched_by`; a verdict still needs `missing_pairs`.
    """

    verdict: str
    sentence: str
    pairs: int
    missing_pairs: int
    tests: list[DriftTestView]
    batch: str
    baseline: str
    batch_runs: int
    baseline_runs: int
    tasks: int
    unmatched: int
    matched_by: str
    explanation: ExplanationView
    hard_cases: list[HardCaseView]
    hard_case_count: int
    review_queue: list[QueuedRunView]
    self_test: SelfTestView | None
    warnings: list[str]


def view_drift(report: DriftReport) -> DriftView:
    explanation = report.explanation
    return DriftView(
        verdict=report.verdict.value,
        sentence=sentence_of(report),
        pairs=report.pairs,
        missing_pairs=report.missing_pairs,
        tests=[_view_test(test) for test in report.tests],
        batch=_name(report.batch),
        baseline=_name(report.baseline),
        batch_runs=report.batch_runs,
        baseline_runs=report.baseline_runs,
        tasks=report.tasks,
        unmatched=report.unmatched,
        matched_by=report.matched_by,
        explanation=ExplanationView(
            edges=[_view_edge(edge) for edge in explanation.edges],
            habits=[_view_habit(habit) for habit in explanation.habits],
            medoid=_view_run(explanation.medoid),
            outlier=_view_run(explanation.outlier),
        ),
        hard_cases=[view_case(case) for case in report.hard_cases[:MOST_CASES]],
        hard_case_count=len(report.hard_cases),
        review_queue=[_view_queued(run) for run in report.review_queue],
        self_test=view_self_test(report.self_test),
        warnings=[printable(words, 400) for words in report.warnings],
    )


def sentence_of(report: DriftReport) -> str:
    batch, baseline = _name(report.batch) or "the batch", _name(report.baseline) or "the baseline"
    if report.verdict is Verdict.TOO_LITTLE:
        return f"too little data: {_missing(report)}"
    over = f"over {_count(report.pairs, 'pair')} of runs"
    deciding = [plain_words(test) for test in report.significant if test.decides]
    if report.verdict is Verdict.DRIFT:
        return f"drift: {batch} differs from {baseline} in {_and(deciding)}, {over}"
    return f"no drift: {batch} behaves like {baseline}, {over}"


def plain_words(test: DriftTest) -> str:
    words = _PLAIN.get(test.name, test.name)
    if not test.activities:
        return words
    return f"{words} ({', '.join(printable(one, 80) for one in test.activities)})"


def difference_of(test: DriftTest) -> str:
    """In words, such as `+12 points` or `2.1 times as much`."""
    if test.name == "path":
        return f"{test.effect:.3f} bits"
    if test.name == "outcome by task":
        return f"±{100 * test.effect:.0f} points"
    if test.name not in _RATIOS:
        return f"{100 * test.effect:+.0f} points"
    ratio = math.exp(min(50.0, max(-50.0, test.effect)))
    return f"{ratio - 1:+.0%}" if ratio < 2 else f"{ratio:.1f} times"


def _missing(report: DriftReport) -> str:
    if not report.missing_pairs:
        return f"{_count(report.pairs, 'pair')} of runs, of which nothing that could differ is known"
    more = f"{report.missing_pairs} more {'is' if report.missing_pairs == 1 else 'are'} needed"
    runs = f"{_count(report.batch_runs, 'run')} against {_count(report.baseline_runs, 'run')}"
    return f"{runs} make {_count(report.pairs, 'pair')} that can be compared; {more}"


def _view_test(test: DriftTest) -> DriftTestView:
    return DriftTestView(
        name=test.name,
        statistic=_rounded(test.statistic),
        p=_rounded(test.p),
        q=_rounded(test.q),
        effect=_rounded(test.effect),
        significant=test.significant and test.decides,
        floor=_rounded(test.floor),
        batch=None if test.batch is None else _rounded(test.batch),
        baseline=None if test.baseline is None else _rounded(test.baseline),
        pairs=test.pairs,
        decides=test.decides,
        words=plain_words(test),
        difference=difference_of(test),
        activities=[printable(one, 80) for one in test.activities],
    )


def _view_edge(edge: EdgeShift) -> EdgeView:
    shares = (_rounded(edge.batch_share), _rounded(edge.baseline_share), _rounded(edge.bits))
    return EdgeView(printable(edge.first, 80), printable(edge.then, 80), *shares)


def _view_habit(habit: HabitShift) -> HabitView:
    shares = (_rounded(habit.batch_share), _rounded(habit.baseline_share))
    return HabitView(printable(habit.activity, 80), habit.of, *shares)


def _view_run(run: TypicalRun | None) -> TypicalRunView | None:
    if run is None:
        return None
    return TypicalRunView(_name(run.run), [printable(one, 80) for one in run.path[:MOST_STEPS]], _rounded(run.distance))


def view_case(case: HardCase) -> HardCaseView:
    return HardCaseView(case.rule.value, _name(case.run), _name(case.task), printable(case.evidence, 400))


def _view_queued(run: QueuedRun) -> QueuedRunView:
    return QueuedRunView(_name(run.run), _name(run.task), run.score, list(run.reasons))


def view_self_test(told: SelfTest | None) -> SelfTestView | None:
    if told is None:
        return None
    limits = (_rounded(told.rate), _rounded(told.low), _rounded(told.high), told.expected)
    return SelfTestView(told.splits, told.alarms, *limits, told.pairs, told.is_sound)


def _name(text: str) -> str:
    return printable(text, NAME_CHARS)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
