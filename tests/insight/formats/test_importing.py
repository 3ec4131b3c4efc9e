"""What is imported is in the dataset, under names and labels of its own, and can be imported again."""

import json
import sys
from pathlib import Path
from types import FrameType

import pytest

from paddock.core.money.prices import Price, Rates, price_book
from paddock.insight.dataset import namesakes
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats import bounds, decode, importing, run_names
from paddock.insight.formats.import_tally import MANY_STEPS, ImportTally
from paddock.insight.formats.importing import Importer, label_of, origin_of
from paddock.insight.formats.reimport import reimport_source
from paddock.insight.formats.sources import LONG
from paddock.insight.selection import Selection
from tests.docs.markdown import ROOT
from tests.insight.formats.reading import lines, one_of

PRICES = price_book([Price("known", "2026-01-01", Rates(1.0, 2.0))])
NAMING = [module.__file__ for module in (importing, run_names, namesakes)]
REFERENCE = ROOT / "docs" / "reference" / "traces.md"


def record(run: str, **fields: object) -> dict[str, object]:
    return {"run": run, "outcome": "success", "steps": ["Read(a.py)", "TEST!"], **fields}


def take(folder: Path, file: Path, label: str = "") -> ImportTally:
    with DatasetWriter.open(folder / "traces.db") as writer:
        importer = Importer(writer, PRICES)
        importer.take(origin_of(file, "auto", label))
    return importer.tally


def names(folder: Path, label: str | None = None) -> list[str]:
    with Dataset.open(folder / "traces.db") as dataset:
        return [kept.trace.run for kept in dataset.runs(Selection(label=label))]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "march.runs.jsonl"
    path.write_bytes(lines(record("r1"), record("r2", label="own")))
    return path


def test_runs_are_labelled_by_the_user_or_themselves_or_the_file(tmp_path: Path, file: Path) -> None:
    take(tmp_path, file)
    assert (names(tmp_path, "march.runs"), names(tmp_path, "own")) == (["r1"], ["r2"])
    take(tmp_path, file, "mine")
    assert names(tmp_path, "mine") == ["r1", "r2"]
    with Dataset.open(tmp_path / "traces.db") as dataset:
        kept = dataset.find("r2", "mine")
    assert kept is not None
    assert kept.trace.attributes == {"label": "own"}


def test_nothing_from_elsewhere_passes_for_the_fleets_own(tmp_path: Path, file: Path) -> None:
    file.write_bytes(lines(record("t1.1", label="fleet")))
    take(tmp_path, file)
    assert names(tmp_path, "fleet") == []
    assert names(tmp_path, "march.runs") == ["t1.1"]


def test_importing_the_same_again_replaces_it(tmp_path: Path, file: Path) -> None:
    take(tmp_path, file)
    file.write_bytes(lines(record("r3")))
    take(tmp_path, file)
    assert names(tmp_path) == ["r3"]
    file.write_bytes(b"garbage")
    assert take(tmp_path, file).runs == 0
    assert names(tmp_path) == ["r3"]


def test_the_same_run_twice_is_one_and_two_of_one_name_are_two(tmp_path: Path, file: Path) -> None:
    file.write_bytes(lines(record("r1"), record("r1"), record("r1", outcome="failure")))
    tally = take(tmp_path, file)
    assert (tally.runs, tally.doubled, tally.renamed) == (2, 1, 1)
    assert names(tmp_path) == ["r1", "r1 (2)"]


@pytest.mark.parametrize("name", ["run", "long " * 39], ids=["short", "long"])
def test_the_work_of_naming_grows_with_the_runs_of_one_name_and_not_with_their_square(
    tmp_path: Path, name: str
) -> None:
    def calls(count: int) -> int:
        earlier, later = tmp_path / f"earlier-{count}.jsonl", tmp_path / f"later-{count}.jsonl"
        for start, one in enumerate((earlier, later)):
            runs = (record(f"{name}{number % 2}", started=2 * number + start) for number in range(count))
            one.write_bytes(lines(*runs))
        take(tmp_path, earlier, f"of {count}")
        heard = 0

        def hear(frame: FrameType, event: str, _: object) -> None:
            nonlocal heard
            heard += event.endswith("call") and frame.f_code.co_filename in NAMING

        sys.setprofile(hear)
        try:
            tally = take(tmp_path, later, f"of {count}")
        finally:
            sys.setprofile(None)
        assert (tally.runs, len(names(tmp_path, f"of {count}"))) == (count, 2 * count)
        return heard

    assert calls(400) < 3 * calls(200)


def test_another_run_of_one_name_from_elsewhere_takes_no_ones_place(tmp_path: Path) -> None:
    """Attempts at the same tasks are often written to a file each, under the names of the tasks."""
    files = [tmp_path / f"try-{number}.jsonl" for number in range(3)]
    for number, one in enumerate(files):
        one.write_bytes(lines(record("i-1", steps=["Read(a.py)"] * (number + 1)), record("i-2", started=number + 1)))
    assert [take(tmp_path, one, "tries").renamed for one in files] == [0, 2, 2]
    kept = ["i-1", "i-2", "i-1 (2)", "i-2 (2)", "i-1 (3)", "i-2 (3)"]
    assert sorted(names(tmp_path, "tries")) == sorted(kept)
    assert take(tmp_path, files[1], "tries").renamed == 2
    assert sorted(names(tmp_path, "tries")) == sorted(kept)


def test_more_of_the_same_run_from_elsewhere_takes_its_place(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "copy.jsonl"
    file.write_bytes(lines(record("r1", started=5), record("r2")))
    other.write_bytes(lines(record("r1", started=5, ended=9), record("r2")))
    assert [take(tmp_path, one, "mine").renamed for one in (file, other)] == [0, 0]
    assert names(tmp_path, "mine") == ["r1", "r2"]


def test_long_imports_are_written_in_parts(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "COMMIT_RUNS", 2)
    file.write_bytes(lines(*(record(f"r{number}") for number in range(7))))
    heard: list[int] = []
    with DatasetWriter.open(tmp_path / "traces.db") as writer:
        Importer(writer, PRICES, lambda tally: heard.append(tally.runs)).take(origin_of(file, "auto", ""))
    assert len(names(tmp_path)) == 7
    assert heard[-1] == 7


def test_what_is_missing_or_odd_is_counted(tmp_path: Path, file: Path) -> None:
    file.write_bytes(
        lines(
            record("r1", model="known", usage={"output_tokens": 5}),
            record("r2", model="strange", usage={"output_tokens": 5}),
            record("r3", model="strange", usage={"output_tokens": 5, "cost_usd": 2}),
            record("r4", steps=[{"tool": "frobnicate"}]),
            {"nothing": 1},
        )
    )
    tally = take(tmp_path, file)
    assert (tally.runs, tally.steps, tally.odd_steps, tally.without_usage) == (4, 7, 1, 1)
    assert dict(tally.unpriced) == {"strange": 1}
    assert dict(tally.odd_tools) == {"frobnicate": 1}
    ((reason, skipped),) = tally.skipped.items()
    assert (reason, skipped.count, skipped.places) == ("is in no format that is known", 1, [f"{file}:5"])


def test_what_is_too_long_to_be_kept_whole_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = bounds.MOST_STEPS + 3
    trial = {"trial": "t.1", "task": "t", "failure_mode": "unset", "resolved": True}
    action = {"action": "ls", "observation": "x"}
    chat = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": "{}"}}]}
    folder = tmp_path / "runs"
    folder.mkdir()
    files: dict[str, list[dict[str, object]]] = {
        "a": [record("r1", tail="x" * (5 << 20)), record("r2", steps=["TEST"] * long), record("r3")],
        "b": [{"id": "r4", **trial, "steps": ["TEST"] * long}],
        "c": [{"instance_id": "r5", "trajectory": [action] * long, "info": {}}],
        "d": [{"run": "r6", "outcome": True, "messages": [chat] * long}],
    }
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_bytes(lines(*records))
    monkeypatch.setattr(decode, "BUDGET_BYTES", 1 << 40)
    tally = take(tmp_path, folder, "mine")
    cut = {what: (one.count, [Path(place).name for place in one.places]) for what, one in tally.shortened.items()}
    assert cut[MANY_STEPS] == (4, ["a.jsonl:2", "b.jsonl:1", "c.jsonl:1"])
    assert cut[LONG] == (1, ["a.jsonl:1"])
    assert (tally.skipped, tally.runs) == ({}, 6)
    with Dataset.open(tmp_path / "traces.db") as dataset:
        told = {run.trace.run: run.trace.attributes.get("steps_left_out") for run in dataset.runs()}
    assert told == {"r1": None, "r2": "3", "r3": None, "r4": "3", "r5": "3", "r6": "3"}


def test_tokens_without_end_can_be_kept(tmp_path: Path, file: Path) -> None:
    calls = [{"id": str(number), "usage": {"output_tokens": 2**60}} for number in range(5_000)]
    file.write_bytes(lines(record("r1", calls=calls)))
    take(tmp_path, file)
    assert names(tmp_path) == ["r1"]


def test_a_source_is_imported_again_from_where_it_was(tmp_path: Path, file: Path) -> None:
    take(tmp_path, file, "mine")
    file.write_bytes(lines(record("r9")))
    with Dataset.open(tmp_path / "traces.db") as dataset:
        (source,) = dataset.sources()
    with DatasetWriter.open(tmp_path / "traces.db") as writer:
        done = reimport_source(writer, source)
    assert (done.problem, done.tally.runs) == ("", 1)
    assert names(tmp_path, "mine") == ["r9"]


def test_a_source_that_is_gone_takes_nothing_with_it(tmp_path: Path, file: Path) -> None:
    take(tmp_path, file)
    with Dataset.open(tmp_path / "traces.db") as dataset:
        (source,) = dataset.sources()
    file.unlink()
    with DatasetWriter.open(tmp_path / "traces.db") as writer:
        done = reimport_source(writer, source)
    assert done.problem == f"`{file}` is not there any more"
    assert names(tmp_path) == ["r1", "r2"]


@pytest.mark.parametrize(
    ("path", "label"),
    [("/a/b.jsonl.gz", "b"), ("/a/x.traj", "x"), ("/a/results", "results"), ("/", "imported"), ("/a/.json", "json")],
)
def test_a_label_is_a_files_name_without_how_it_is_written(path: str, label: str) -> None:
    assert label_of(Path(path)) == label


def test_the_example_of_the_reference_is_what_it_says() -> None:
    example = REFERENCE.read_text("utf-8").split("```json\n")[1].split("\n```")[0]
    trace = one_of(json.loads(example))
    assert (trace.run, trace.task, trace.label, trace.host, trace.account) == (
        *("r-17", "fix-login", "nightly", "ci-3", "team-a"),
    )
    assert [step.activity for step in trace.steps] == ["READ:src", "TEST"]
    assert trace.usage is not None
    assert (trace.usage.input_total, trace.usage.cost_usd) == (57_090, 0.41)
    assert trace.attributes == {}


def test_what_the_commands_of_a_run_evade_is_a_fact_of_it_although_nobody_says_so(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    commit = {"tool": "Bash", "argument": {"command": "git add -A && git commit --no-verify -m fix"}}
    path.write_bytes(
        lines(record("r1", steps=["Edit(a.py)", "Bash: pytest -q", commit]), record("r2", steps=["Edit(a.py)"]))
    )
    take(tmp_path, path, "mine")
    with Dataset.open(tmp_path / "traces.db") as dataset:
        evading, plain = (kept.trace.facts for kept in dataset.runs(Selection(label="mine")))
    assert (evading.no_verify, evading.verified_last_edit, evading.tests_run) == (True, True, 1)
    assert (plain.no_verify, plain.verified_last_edit, plain.tests_run) == (False, False, 0)


def test_files_outside_the_task_may_be_told_by_whether_or_how_many(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(*(record(f"r{n}", outside=told) for n, told in enumerate((["a.py"], [], True, 0, 3)))))
    take(tmp_path, path, "mine")
    with Dataset.open(tmp_path / "traces.db") as dataset:
        told = [kept.trace.facts.outside for kept in dataset.runs(Selection(label="mine"))]
    unnamed = ("a file that is not named",)
    assert told == [("a.py",), (), unnamed, (), unnamed]
