"""A batch beside its baseline, ready to be tested: who is compared with whom, and who is not and why."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paddock.insight.drift.behaviour import why_not_compared
from paddock.insight.drift.constants import TOLD_SHARE
from paddock.insight.drift.strata import Matching, match_runs
from paddock.insight.trace import KeptTrace, Result

_NONE: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left_out` counts by reason the runs that tell nothing of their agent, of the batch and of the baseline."""

    matching: Matching
    batch: tuple[KeptTrace, ...]
    baseline: tuple[KeptTrace, ...]
    left_out: tuple[Counter[str], Counter[str]]
    tells_steps: bool


def compare(
    batch: Iterable[KeptTrace], baseline: Iterable[KeptTrace], troubled: Mapping[int, str] = _NONE
) -> Comparison:
    """A run of both sides counts as one of the batch. `troubled` says by the keys of runs why they are left out."""
    batch = tuple(batch)
    keys = {run.key for run in batch}
    baseline = tuple(run for run in baseline if run.key not in keys)
    batch_tells = _tells_steps(batch) or (_tells_steps(baseline) and _only_failed(batch))
    baseline_tells = _tells_steps(baseline) or (_tells_steps(batch) and _only_failed(baseline))
    compared, left_out = _divide(batch, troubled, tells_steps=batch_tells)
    compared_with, left_out_before = _divide(baseline, troubled, tells_steps=baseline_tells)
    matching = match_runs(compared, compared_with)
    tells_steps = batch_tells and baseline_tells
    return Comparison(matching, compared, compared_with, (left_out, left_out_before), tells_steps)


def _tells_steps(runs: Sequence[KeptTrace]) -> bool:
    return bool(runs) and sum(run.step_count > 0 for run in runs) >= TOLD_SHARE * len(runs)


def _only_failed(runs: Sequence[KeptTrace]) -> bool:
    """Then no steps may well mean that there were none, where the other side tells its own."""
    return not any(run.trace.outcome is Result.SUCCESS for run in runs)


def _divide(
    runs: Sequence[KeptTrace], troubled: Mapping[int, str], *, tells_steps: bool
) -> tuple[tuple[KeptTrace, ...], Counter[str]]:
    reasons = [troubled.get(run.key) or why_not_compared(run, tells_steps=tells_steps) for run in runs]
    kept = tuple(run for run, reason in zip(runs, reasons, strict=True) if reason is None)
    return kept, Counter(reason for reason in reasons if reason is not None)
