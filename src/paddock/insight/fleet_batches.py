"""The fleet's latest batches: the same ones for whoever looks at them, and whenever.

Where a batch ends depends on where the one before it did, so batches are counted from the first attempt of all. That
takes no more than the times at which attempts ended; only the latest are read whole.
"""

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.drift.batches import divide_batches
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace, Trace

MOST_RUNS = 1_000
"""Enough for the last batches that anybody is told of, and what each of them is compared with."""


def latest_in_batches(dataset: Dataset) -> list[KeptTrace]:
    """The latest attempts that are over, from the beginning of a batch on."""
    ends = [KeptTrace(0, Trace(run=run, ended=at), (), 0, 0) for at, run in dataset.fleet_ends()]
    chosen: set[str] = set()
    since = 0.0
    for batch in reversed(divide_batches(ends, 0.0)):
        if len(chosen) + len(batch.runs) > MOST_RUNS:
            break
        chosen.update(one.trace.run for one in batch.runs)
        since = batch.runs[0].trace.ended or 0.0
    return [one for one in dataset.runs(Selection(label=FLEET, since=since)) if one.trace.run in chosen]
