"""Which runs are the batch, and which the baseline: two labels, or the fleet's latest runs and those before."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.errors import Misuse
from paddock.core.ids import printable, some_names
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.names import require_label
from paddock.insight.drift.batches import MOST_BASELINE_RUNS, before, divide_batches
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace

SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Question:
    """`where` holds for both sides, except that its `since` is where a batch begins. Labels are None for the fleet."""

    where: Selection
    batch: str | None = None
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    batch: Sequence[KeptTrace]
    baseline: Sequence[KeptTrace]
    batch_name: str
    baseline_name: str


def pick_sides(dataset: Dataset, question: Question, now: float) -> Sides:
    """Raises NotFound for a label that is not there, and Misuse where it is open what to compare with what."""
    labels = [one.label for one in dataset.labels()]
    batch, baseline, since = question.batch, question.baseline, question.where.since
    for label in (batch, baseline):
        require_label(dataset, label)
    if batch is None:
        sides = _fleet_sides(dataset, question, now)
        if baseline is None:
            return sides
        return Sides(sides.batch, _labelled(dataset, question, baseline, None), sides.batch_name, baseline)
    if baseline is None:
        baseline = _only_other(batch, labels)
    if batch == baseline:
        raise Misuse(f"`{_shown(batch)}` cannot be compared with itself", "give --baseline another label")
    return Sides(
        _labelled(dataset, question, batch, since), _labelled(dataset, question, baseline, None), batch, baseline
    )


def _fleet_sides(dataset: Dataset, question: Question, now: float) -> Sides:
    """Those since a time against those before, else the latest batch against those before."""
    since = question.where.since
    runs = [run for run in _labelled(dataset, question, FLEET, None) if run.trace.ended is not None]
    if since is not None:
        later = [run for run in runs if (run.trace.ended or 0.0) >= since]
        earlier = [run for run in runs if (run.trace.ended or 0.0) < since]
        return Sides(later, earlier[-MOST_BASELINE_RUNS:], "runs since then", "runs before")
    batches = divide_batches(runs, now)
    whole = [number for number, batch in enumerate(batches) if batch.is_whole]
    if not whole:
        return Sides(runs, (), "the latest runs", "runs before")
    latest = whole[-1]
    return Sides(batches[latest].runs, before(batches, latest), batches[latest].name, "runs before")


def _labelled(dataset: Dataset, question: Question, label: str, since: float | None) -> list[KeptTrace]:
    where = question.where
    chosen = Selection(where.task, where.kind, where.agent, where.engine, where.model, label, since, where.until)
    return dataset.runs(chosen)


def _only_other(batch: str, labels: Sequence[str]) -> str:
    others = [label for label in labels if label not in (batch, FLEET)] or [label for label in labels if label != batch]
    if len(others) == 1:
        return others[0]
    if not others:
        raise Misuse(f"there is nothing to compare `{_shown(batch)}` with", "`paddock traces import` takes runs in")
    names = some_names(tuple(map(_shown, others)))
    raise Misuse(f"compare `{_shown(batch)}` with which baseline?", f"give --baseline; there are: {names}")


def _shown(label: str) -> str:
    return printable(label, SHOWN_CHARS)
