"""The fleet's own batches: so many attempts that have ended, or those of a day, each against what came before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paddock.insight.drift.constants import BATCH_RUNS, BATCHES_BEFORE_PAGING, DAY_SECONDS, FEWEST_PAIRS
from paddock.insight.drift.hard_rules import find_hard_cases
from paddock.insight.drift.judge import judge_drift
from paddock.insight.drift.report import BatchVerdict
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace

MOST_BASELINE_RUNS = 400


@dataclass(frozen=True, slots=True)
class Batch:
    """In the order in which they ended. `is_whole` is False for one that still grows."""

    runs: tuple[KeptTrace, ...]
    is_whole: bool

    @property
    def name(self) -> str:
        first, last = self.runs[0].trace.run, self.runs[-1].trace.run
        return first if first == last else f"{first} to {last}"

    @property
    def ended(self) -> float | None:
        return self.runs[-1].trace.ended


def judge_batches(runs: Iterable[KeptTrace], symbols: Symbols, now: float) -> tuple[BatchVerdict, ...]:
    """The verdicts on the last whole batches, as many as must agree before somebody is paged, the oldest first."""
    batches = divide_batches(runs, now)
    whole = [number for number, batch in enumerate(batches) if batch.is_whole]
    return tuple(_judge(batches, number, symbols) for number in whole[-BATCHES_BEFORE_PAGING:])


def divide_batches(runs: Iterable[KeptTrace], now: float) -> list[Batch]:
    """A batch is whole with its last run, or a day after its first run if it is large enough to tell something. The
    boundaries do not move when further runs end."""
    ended = sorted(
        (run for run in runs if run.trace.ended is not None), key=lambda run: (run.trace.ended, run.trace.run)
    )
    batches: list[Batch] = []
    open_runs: list[KeptTrace] = []
    for run in ended:
        if _is_due(open_runs, run.trace.ended or 0.0):
            batches.append(Batch(tuple(open_runs), is_whole=True))
            open_runs = []
        open_runs.append(run)
    if open_runs:
        batches.append(Batch(tuple(open_runs), is_whole=len(open_runs) >= BATCH_RUNS or _is_due(open_runs, now)))
    return batches


def before(batches: Sequence[Batch], number: int) -> tuple[KeptTrace, ...]:
    """The runs that a batch is compared with: the latest of those that ended before."""
    runs = [run for batch in batches[:number] for run in batch.runs]
    return tuple(runs[-MOST_BASELINE_RUNS:])


def _is_due(runs: Sequence[KeptTrace], at: float) -> bool:
    if len(runs) < FEWEST_PAIRS:
        return False
    return len(runs) >= BATCH_RUNS or at - (runs[0].trace.ended or 0.0) >= DAY_SECONDS


def _judge(batches: Sequence[Batch], number: int, symbols: Symbols) -> BatchVerdict:
    batch = batches[number]
    report = judge_drift(batch.runs, before(batches, number), symbols, batch_name=batch.name)
    return BatchVerdict(
        name=batch.name,
        verdict=report.verdict,
        runs=len(batch.runs),
        pairs=report.pairs,
        ended=batch.ended,
        significant=tuple(test.name for test in report.significant if test.decides),
        hard_cases=len(find_hard_cases(batch.runs)),
    )
