"""Tables of runs, steps and calls, as any reader of Parquet finds them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from paddock.insight.exports.batches import ExportTally
from paddock.insight.exports.parquet import write_parquet
from paddock.insight.trace import Trace
from tests.insight.exports.made import full

pytest.importorskip("pyarrow", reason="needs paddock[parquet]")


def read(path: Path) -> list[dict[str, object]]:
    from pyarrow.parquet import read_table  # type: ignore[import-untyped]

    rows: list[dict[str, object]] = read_table(path).to_pylist()
    return rows


def test_three_tables_are_joined_by_label_and_run(tmp_path: Path) -> None:
    tally = ExportTally()
    write_parquet(tmp_path / "out", iter([full(), Trace(run="r2", label="b")]), tally)
    assert (tally.runs, tally.steps, tally.calls) == (2, 4, 2)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "calls.parquet",
        "runs.parquet",
        "steps.parquet",
    ]
    first, second = read(tmp_path / "out" / "runs.parquet")
    assert first["started"] == datetime(2023, 11, 14, 22, 13, 20, 250_000, UTC)
    assert (first["outcome"], first["tokens_in"], first["cost_usd"], first["steps"]) == ("failure", 100, 0.125, 4)
    assert first["path"] == ["READ:src", "TEST!", "RUN!", "OTHER:x"]
    assert (second["started"], second["tokens_in"], second["model_spoke"]) == (None, None, None)
    steps = read(tmp_path / "out" / "steps.parquet")
    assert [(step["run"], step["number"], step["status"]) for step in steps][:2] == [
        ("r1", 1, "ok"),
        ("r1", 2, "error"),
    ]
    calls = read(tmp_path / "out" / "calls.parquet")
    assert [(call["tokens_cache_read"], call["status"]) for call in calls] == [(7, None), (None, 429)]


def test_what_is_there_stays_until_all_is_written(tmp_path: Path) -> None:
    write_parquet(tmp_path, iter([full()]), ExportTally())

    def broken() -> object:
        yield full("r9")
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write_parquet(tmp_path, broken(), ExportTally())  # type: ignore[arg-type]
    assert [row["run"] for row in read(tmp_path / "runs.parquet")] == ["r1"]
    assert len(list(tmp_path.iterdir())) == 3
