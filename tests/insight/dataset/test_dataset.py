"""What is written into the dataset comes out of it as it was."""

from pathlib import Path

from paddock.core.trace import TokenUsage
from paddock.insight.dataset.dataset import Dataset, Source
from paddock.insight.dataset.imports import Import
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.paths import keep
from paddock.insight.selection import Selection
from paddock.insight.trace import ModelCall, Result, Step, StepStatus, Trace

STEPS = (
    Step(tool="Read", activity="READ:src", target="src/app.py", at=10.5, seconds=0.25, turn=1),
    Step(tool="Bash", activity="TEST", status=StepStatus.ERROR, error="1 failed ✗", exit=1, agent="sub"),
    Step(tool="Bash", activity="TEST", status=StepStatus.UNKNOWN),
    Step(),
)
CALLS = (
    ModelCall(id="m1", model="big", usage=TokenUsage(1, 2, 3, 4, 0.5), at=9.0, seconds=1.5),
    ModelCall(status=429, retry_after=3.0),
)


def trace(run: str, label: str = "a", **fields: object) -> Trace:
    return Trace(run=run, label=label, steps=STEPS, calls=CALLS, **fields)  # type: ignore[arg-type]


def written(path: Path, *traces: Trace) -> Dataset:
    with DatasetWriter.open(path) as writer:
        for one in traces:
            writer.add(one)
    return Dataset.open(path)


def test_a_trace_comes_out_as_it_went_in(tmp_path: Path) -> None:
    whole = trace("r1", tail="last\nlines\x00é", attributes={"a": "b"}, tests={"t": True}, outcome=Result.FAILURE)
    with written(tmp_path / "traces.db", whole) as dataset:
        (kept,) = dataset.runs()
        assert dataset.whole(kept.key) == whole
        assert kept == keep(whole, kept.key, dataset.symbols)


def test_the_same_run_again_replaces_the_first_under_its_key(tmp_path: Path) -> None:
    with written(tmp_path / "traces.db", trace("r1"), trace("r1", "b"), trace("r1", task="t")) as dataset:
        first, second = dataset.runs()
        assert (first.trace.task, second.trace.label) == ("t", "b")
        assert len(dataset.steps(first.key)) == len(STEPS)
        assert dataset.find("r1") == second
        assert dataset.find("r1", "a") == first


def test_a_selection_takes_what_it_takes_of_any_traces(tmp_path: Path) -> None:
    traces = [
        trace(f"r{n}", "ab"[n % 2], task=f"t{n % 3}", engine="e", ended=float(n) if n != 5 else None) for n in range(9)
    ]
    wheres = (Selection(task="t1"), Selection(label="b", since=3), Selection(until=4.0), Selection(engine="x"))
    with written(tmp_path / "traces.db", *traces) as dataset:
        for where in wheres:
            assert [kept.trace.run for kept in dataset.runs(where)] == [one.run for one in traces if where.takes(one)]
        assert [kept.trace.run for kept in dataset.runs(limit=2)] == ["r7", "r8"]


def test_only_failures_or_all_others(tmp_path: Path) -> None:
    traces = [trace(result.value, outcome=result) for result in Result]
    with written(tmp_path / "traces.db", *traces) as dataset:
        assert [kept.trace.run for kept in dataset.runs(failed=True)] == ["failure"]
        assert [kept.trace.run for kept in dataset.runs(failed=False)] == ["success", "unknown"]


def test_a_reader_learns_symbols_that_came_after_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    with written(path, trace("r1")) as dataset:
        with DatasetWriter.open(path) as writer:
            writer.add(Trace(run="r2", steps=(Step(activity="NET"),)))
        found = dataset.find("r2")
        assert found is not None
        assert [dataset.symbols.text(code) for code in found.path] == ["NET"]


def test_what_was_not_committed_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    writer = DatasetWriter.open(path)
    writer.add(trace("r1"))
    writer.close()
    with Dataset.open(path) as dataset:
        assert dataset.runs() == []
        assert dataset.labels() == []


def test_a_source_is_known_with_its_runs_until_its_batch_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "traces.db"
    with DatasetWriter.open(path) as writer:
        source = writer.begin_source("a b", "/somewhere/runs.jsonl", "a", 5.0)
        writer.add(trace("r1"), source)
        writer.imports.end(source)
        writer.add(trace("r2", "b"))
    with Dataset.open(path) as dataset:
        (found,) = dataset.sources()
        assert found == Source(Import("a b", "/somewhere/runs.jsonl", "a", 5.0, labels=("a",), whole=True), runs=1)
        with DatasetWriter.open(path) as writer:
            assert writer.remove("a") == 1
            assert writer.remove("nothing") is None
        assert dataset.sources() == []
        assert [kept.trace.run for kept in dataset.runs()] == ["r2"]
        assert dataset.steps(1) == ()
