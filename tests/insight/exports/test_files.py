"""Exports as files: what was written is read again as it was, and nothing secret leaves the machine."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from paddock.core.errors import PaddockError
from paddock.core.money.prices import PriceBook
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.exports.batches import ExportTally, span_batches
from paddock.insight.exports.files import export_file
from paddock.insight.exports.otlp_json import encode_spans
from paddock.insight.exports.reading import read_runs, redactor
from paddock.insight.formats.importing import Importer, origin_of
from paddock.insight.formats.neutral_lines import to_neutral
from paddock.insight.formats.sources import FoundRun, read_file
from paddock.insight.selection import Selection
from paddock.insight.trace import ModelCall, Result, Trace
from tests.insight.exports.made import SECRET, full, kept

SPARSE = Trace(run="r2", label="b", started=5.0, source="elsewhere")
REFUSED = replace(SPARSE, run="r3", calls=(ModelCall(status=429, at=6.0, retry_after=2.0),))


def test_lines_are_imported_again_as_exactly_the_same_runs(tmp_path: Path) -> None:
    lines = tmp_path / "runs.jsonl"
    with kept(tmp_path / "a.db", full(), SPARSE, REFUSED) as dataset:
        before = list(read_runs(dataset))
    with export_file(lines) as file:
        file.writelines(to_neutral(trace) + b"\n" for trace in before)
    with DatasetWriter.open(tmp_path / "b.db") as writer:
        Importer(writer, PriceBook({})).take(origin_of(lines, "auto", ""))
    with Dataset.open(tmp_path / "b.db") as dataset:
        after = [dataset.whole(run.key) for run in dataset.runs()]
    assert after == before


def test_runs_of_one_name_in_several_batches_keep_their_names(tmp_path: Path) -> None:
    batches = [replace(SPARSE, run=f"r{number % 2}", label=f"l{number}", task=f"t{number}") for number in range(4)]
    lines = tmp_path / "runs.jsonl"
    with export_file(lines) as file:
        file.writelines(to_neutral(trace) + b"\n" for trace in batches)
    found = [one.trace for one in read_file(lines) if isinstance(one, FoundRun)]
    assert found == batches


def test_only_the_runs_that_are_asked_for_are_exported(tmp_path: Path) -> None:
    good = full("r3", "c", outcome=Result.SUCCESS)
    with kept(tmp_path / "a.db", full(), SPARSE, good) as dataset:
        assert [trace.run for trace in read_runs(dataset, Selection(label="b"))] == ["r1", "r2"]
        assert [trace.run for trace in read_runs(dataset, failed=True)] == ["r1"]


def test_what_looks_like_a_secret_does_not_leave_the_machine(tmp_path: Path) -> None:
    hide = redactor(frozenset({"hunter22"}))
    spoken = full(tail="token=abcdef123 and hunter22", attributes={"title": f"use {SECRET}"})
    with kept(tmp_path / "a.db", spoken) as dataset:
        [trace] = read_runs(dataset, hide=hide)
    told = to_neutral(trace).decode()
    assert all(word not in told for word in (SECRET, "hunter22", "abcdef123"))
    assert trace.steps[0] == spoken.steps[0], "what is harmless stays as it is"


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path: Path) -> None:
    place = tmp_path / "runs.jsonl"
    place.write_text("before")

    def write_half() -> None:
        with export_file(place) as file:
            file.write(b"new")
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write_half()
    assert place.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["runs.jsonl"]
    with pytest.raises(PaddockError, match="cannot write"), export_file(tmp_path / "no" / "runs.jsonl"):
        pass


def test_spans_have_the_names_of_the_conventions() -> None:
    tally = ExportTally()
    [batch] = span_batches([full()], tally)
    [group] = json.loads(encode_spans(batch.groups))["resourceSpans"]
    assert {"key": "host.name", "value": {"stringValue": "h1"}} in group["resource"]["attributes"]
    assert group["schemaUrl"] == "https://opentelemetry.io/schemas/1.41.0"
    root, *others = group["scopeSpans"][0]["spans"]
    told = {one["key"]: next(iter(one["value"].values())) for one in root["attributes"]}
    assert root["name"] == "invoke_agent fixer"
    assert (root["startTimeUnixNano"], root["endTimeUnixNano"]) == ("1700000000250000000", "1700000060000000000")
    assert root["status"]["code"] == 2
    assert told["gen_ai.operation.name"] == "invoke_agent"
    assert told["gen_ai.provider.name"] == "anthropic"
    assert told["gen_ai.usage.input_tokens"] == "100", "what came from a cache is part of it"
    assert told["gen_ai.usage.cache_read.input_tokens"] == "70"
    assert told["error.type"] == "timeout"
    assert told["paddock.facts.no_verify"] is True
    names = [span["name"] for span in others]
    assert names == [
        "execute_tool Read",
        "execute_tool Bash",
        "execute_tool Bash",
        "execute_tool x",
        "chat claude-opus-5",
        "chat claude-opus-5",
    ]
    assert {span["parentSpanId"] for span in others} == {root["spanId"]}
    assert len({span["spanId"] for span in (root, *others)}) == 7
    assert tally.spans == 7


def test_the_same_run_has_the_same_ids_and_no_span_ends_before_it_begins() -> None:
    [one], [again] = (list(span_batches([full(ended=1.0)], ExportTally())) for _ in range(2))
    assert one.groups == again.groups
    assert all(span.start <= span.end for _, spans in one.groups for span in spans)


def test_a_run_without_any_time_is_counted_and_left_out() -> None:
    tally = ExportTally()
    timeless = Trace(run="r", label="b")
    batches = list(span_batches([timeless, SPARSE], tally))
    assert (tally.timeless, tally.runs, len(batches)) == (1, 1, 1)


def test_a_run_of_many_steps_is_told_in_requests_of_bounded_size() -> None:
    long = full(steps=full().steps * 1_500)
    sizes = [batch.size for batch in span_batches([long, full("r2")], ExportTally())]
    assert sizes == [2_000, 2_000, 2_000, 10]
