"""The fleet's batches are the same whenever somebody looks at them."""

from pathlib import Path
from random import Random

import pytest

from paddock.insight import fleet_batches
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.progress import Progress
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.drift.batches import divide_batches
from paddock.insight.fleet_batches import latest_in_batches
from paddock.insight.trace import Trace


def attempts(count: int) -> list[Trace]:
    """Some days with many, and some with few, so that a batch is whole by its size or by its day."""
    draw, at = Random(7), 0.0
    made = []
    for number in range(count):
        at += draw.choice((60.0, 3_600.0, 9_000.0))
        made.append(Trace(run=f"t{number}.1", label=FLEET, started=at - 30.0, ended=at))
    return made


def batches_in(path: Path) -> list[str]:
    with Dataset.open(path) as dataset:
        return [batch.name for batch in divide_batches(latest_in_batches(dataset), 0.0)]


def test_batches_stay_where_they_are_however_many_attempts_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_batches, "MOST_RUNS", 100)
    path, told = tmp_path / "traces.db", attempts(400)
    seen: dict[str, str] = {}
    with DatasetWriter.open(path) as writer:
        for number, attempt in enumerate(told):
            writer.add(attempt)
            writer.commit()
            if number % 3 == 0:
                *whole, _ = batches_in(path)
                assert all(seen.setdefault(one.partition(" ")[0], one) == one for one in whole)
                assert number < 100 or len(whole) >= 4
    assert len(seen) >= 20


def test_an_attempt_at_work_is_in_no_batch(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    with DatasetWriter.open(path) as writer:
        for attempt in attempts(3):
            writer.add(attempt)
        writer.add(Trace(run="t9.1", label=FLEET, started=70.0))
        writer.note_progress(Progress(live={"t9.1": 5}))
    assert batches_in(path) == ["t0.1 to t2.1"]
