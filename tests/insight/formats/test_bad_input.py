"""Whatever a file holds: what can be read is, the rest is told with its place, and memory is bounded."""

import gzip
import json
import os
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.insight.formats import decode
from paddock.insight.formats import lines as lines_module
from paddock.insight.formats.decode import NotJson, decode_json
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import origin_of, read_origin
from paddock.insight.formats.lines import split_lines
from paddock.insight.formats.sources import FoundRun
from paddock.insight.formats.unreadable import Unreadable
from tests.insight.formats.reading import lines, read, read_path, reasons

RUN = {"run": "r1", "outcome": "success", "steps": ["Read(a.py)"]}
GOOD = lines(RUN)


def found_in(path: Path) -> tuple[list[str], list[Unreadable]]:
    found = list(read_origin(origin_of(path, "auto", ""), ImportTally()))
    runs = [one.trace.run for one in found if isinstance(one, FoundRun)]
    return runs, [one for one in found if isinstance(one, Unreadable)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"\n \n\0\0\n", "is empty"),
        (b"[1, 2]", "is a list without records"),
        (b"17", "is JSON, but no record"),
        (b'{"a": 1}', "is in no format that is known"),
        (b"\xff\xfe\x00\x01garbage\x80", "is not JSON"),
        (b'{"run": "r", "steps": [', "is not JSON"),
        (b'{"a":' * 5000, "is nested too deeply"),
        (b'{"run":"r","outcome":"success","deep":' + b"[" * 90_000 + b"]" * 90_000 + b"}", "is nested too deeply"),
    ],
)
def test_what_is_no_transcript_is_said_to_be_none(data: bytes, reason: str) -> None:
    found, problems = read(data)
    assert found == []
    assert reasons(problems)[0].startswith(reason)


def test_a_bad_line_keeps_no_other_from_being_read() -> None:
    other = lines({**RUN, "run": "r2"})
    found, problems = read(GOOD + b"\x00\xff\x00\n" + b'{"run": "cut", "st\n' + b"\0\0\0\0" + other + b'{"run": "e')
    assert [one.trace.run for one in found] == ["r1", "r2"]
    assert [problem.place for problem in problems] == ["file.jsonl:2", "file.jsonl:3", "file.jsonl:5"]


def test_bytes_that_are_no_text_and_numbers_that_are_none_cost_their_field_alone() -> None:
    data = b'{"run": "r\xff", "outcome": true, "started": NaN, "reward": Infinity, "error": "\\ud800x"}'
    found, problems = read(data)
    assert problems == []
    trace = found[0].trace
    assert (trace.run, trace.started, trace.error) == ("r�", None, "?x")


def test_numbers_without_end_are_cut_to_what_can_be_kept() -> None:
    data = b'{"run": "r", "usage": {"output_tokens": 1%s}, "steps": [{"tool": "x", "exit": 1e400, "turn": -5}]}'
    found, _ = read(data % (b"0" * 300))
    trace = found[0].trace
    assert trace.usage is not None
    assert trace.usage.output == 2**53 or trace.usage.output == 0
    assert (trace.steps[0].exit, trace.steps[0].turn) == (None, 0)


def test_an_unknown_tool_is_other() -> None:
    found, _ = read(lines({**RUN, "steps": [{"tool": "frob\x1b[31m", "argument": {"x": [1]}}]}))
    assert found[0].trace.steps[0].activity == "OTHER"


def test_a_file_that_begins_with_text_alone_is_given_up() -> None:
    found, problems = read(b"npm warn\n" * 3000 + GOOD)
    assert found == []
    assert reasons(problems)[-1] == "begins with 1,000 lines that are not JSON: the rest was left out"


def test_text_before_the_first_record_is_passed_over() -> None:
    found, problems = read(b"npm warn\n" + GOOD)
    assert len(found) == len(problems) == 1


def test_a_line_that_is_too_long_is_passed_over_without_being_held() -> None:
    def pieces() -> Iterator[bytes]:
        yield GOOD
        for _ in range(200):
            yield b"x" * 10_000
        yield b"\n" + GOOD

    tracemalloc.start()
    try:
        kept = list(split_lines(pieces(), longest=50_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(line.number, line.data is None) for line in kept] == [(1, False), (2, True), (3, False)]
    assert peak < 1_000_000


def test_a_huge_record_loses_the_middle_of_its_texts_and_the_end_of_its_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "PLAIN_BYTES", 1_000)
    monkeypatch.setattr(decode, "BUDGET_BYTES", 60_000)
    monkeypatch.setattr(decode, "LONGEST_TEXT", 400)
    steps = [{"tool": "Read", "target": f"src/{number}.py"} for number in range(5_000)]
    record = {"run": "r1", "tail": "x" * 100_000 + "end", "steps": steps, "outcome": "success"}
    value = decode_json(json.dumps(record).encode())
    assert (value["run"], value["outcome"]) == ("r1", "success")
    assert len(value["tail"]) < 500
    assert value["tail"].endswith("end")
    assert 0 < len(value["steps"]) < 5_000
    assert value["steps"][:100] == steps[:100]


@pytest.mark.parametrize("value", [[1] * 20_000, {f"k{number}": 1 for number in range(20_000)}])
def test_members_that_could_never_be_kept_are_not_even_looked_at(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("PLAIN_BYTES", 1_000), ("LONGEST_TEXT", 400), ("MOST_MEMBERS", 1_000)):
        monkeypatch.setattr(decode, name, size)
    monkeypatch.setattr(decode, "SAMPLE_BYTES", 10_000)
    found, is_whole = decode.decode_bounded(json.dumps({"run": "r", "x": value, "task": "t"}).encode())
    assert (found["run"], found["task"], is_whole) == ("r", "t", False)
    assert 0 < len(found["x"]) <= 1_100


def test_half_a_surrogate_pair_is_no_reason_to_lose_a_line_but_garbage_is() -> None:
    assert decode_json(b'{"a": "\\ud800"}') == {"a": "\ud800"}
    with pytest.raises(NotJson):
        decode_json(b"{a}")


def test_compressed_files_are_read_whole_cut_and_in_several_members(tmp_path: Path) -> None:
    two = gzip.compress(GOOD) + gzip.compress(lines({**RUN, "run": "r2"}))
    (tmp_path / "two.jsonl.gz").write_bytes(two)
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(GOOD + os.urandom(9_000))[:-4_000])
    (tmp_path / "bad.jsonl.gz").write_bytes(two[:20] + b"xxxx" + two[24:])
    assert found_in(tmp_path / "two.jsonl.gz") == (["r1", "r2"], [])
    runs, problems = found_in(tmp_path / "cut.jsonl.gz")
    assert runs == ["r1"]
    assert reasons(problems)[-1] == "ends in the middle: it was cut"
    runs, problems = found_in(tmp_path / "bad.jsonl.gz")
    assert runs == []
    assert reasons(problems)[-1].startswith("is damaged")


def test_what_is_packed_in_another_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "opencode.json").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    _, problems = found_in(tmp_path)
    assert "opencode export" in reasons(problems)[0]


def test_what_expands_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "BOMB_BYTES", 3_000_000)
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(GOOD + b"\0" * 8_000_000))
    runs, problems = found_in(tmp_path / "bomb.jsonl.gz")
    assert runs == ["r1"]
    assert reasons(problems) == ["expands to more than 250 times its size: it is not a transcript"]


def test_a_document_over_several_lines_is_read_whole() -> None:
    for document in (RUN, [RUN], {"results": [RUN]}, {"x": 1, "runs": [RUN, RUN]}):
        found, problems = read(json.dumps(document, indent=2).encode())
        assert problems == []
        assert {one.trace.run for one in found} == {"r1"}


def test_documents_that_stand_one_after_the_other_are_read_up_to_where_they_were_cut() -> None:
    text = "\n".join(json.dumps({**RUN, "run": name}, indent=2) for name in ("r1", "r2", "r3"))
    found, problems = read(text[:-9].encode())
    assert [one.trace.run for one in found] == ["r1", "r2"]
    assert [(problem.place.rpartition(":")[2], problem.reason) for problem in problems] == [
        ("15", "is not JSON: it was cut")
    ]


def test_runs_may_be_named_by_their_keys() -> None:
    found, _ = read(json.dumps({"i-1": {"resolved": True}, "i-2": {"resolved": False}}).encode())
    assert [(one.trace.run, one.trace.task) for one in found] == [("i-1", "i-1"), ("i-2", "i-2")]
    assert read(json.dumps({"scripts": {"test": "jest"}, "engines": {"node": "18"}}).encode())[0] == []


def test_a_report_of_many_runs_is_no_run() -> None:
    report = {"stats": {"resolved": 1}, "resolved": ["i-1"], "resolved_per_project": {"p": ["i-1"]}}
    found, problems = read(json.dumps({"first": report, "second": {**report, "resolved": []}}).encode())
    assert found == []
    assert reasons(problems) == ["is in no format that is known"]


def test_a_folder_is_walked_without_going_round_in_circles(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "x.jsonl").write_bytes(GOOD)
    (inner / "notes.md").write_text("no transcript")
    (inner / "round").symlink_to(tmp_path)
    (inner / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self.jsonl").symlink_to(tmp_path / "self.jsonl")
    os.mkfifo(inner / "pipe.jsonl")
    runs, problems = found_in(tmp_path)
    assert runs == ["r1"]
    assert sorted(Path(problem.place).name for problem in problems) == ["gone.json", "pipe.jsonl", "self.jsonl"]


def test_a_pipe_is_read_while_somebody_writes_and_given_up_where_nobody_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(GOOD))
    writer.start()
    found, problems = read_path(pipe)
    writer.join()
    assert (len(found), problems) == (1, [])
    monkeypatch.setattr(lines_module, "PIPE_SECONDS", 0.01)
    _, problems = read_path(pipe)
    assert reasons(problems)[0].startswith("is a pipe into which nobody wrote")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_bytes(GOOD)
    (tmp_path / "theirs.jsonl").write_bytes(GOOD)
    (tmp_path / "theirs.jsonl").chmod(0)
    runs, problems = found_in(tmp_path)
    assert runs == ["r1"]
    assert reasons(problems) == ["permission denied"]
