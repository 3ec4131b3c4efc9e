"""Records of one run are one run, whichever files they are in, and those of another one of its name stay apart."""

from pathlib import Path

import pytest

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import Importer, origin_of
from paddock.insight.formats.reimport import reimport_source
from paddock.insight.formats.run_names import MOST_COMPARED
from paddock.insight.selection import Selection
from paddock.insight.trace import EndState, Result, Trace
from tests.insight.formats.reading import lines
from tests.insight.formats.test_importing import PRICES, take

ENGINE = {"run": "x1", "task": "t", "outcome": "failure", "engine": "claude", "usage": {"output_tokens": 5}}
STEPS = {"run": "x1", "task": "t", "outcome": "failure", "steps": ["Read(a.py)", "TEST!"], "tail": "the end"}


def write(folder: Path, **files: object) -> list[Path]:
    """A record a file, or a list of them."""
    folder.mkdir(exist_ok=True)
    paths = []
    for name, told in files.items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_bytes(lines(*(told if isinstance(told, list) else [told])))
    return paths


def kept(folder: Path, label: str = "mine") -> list[Trace]:
    with Dataset.open(folder / "traces.db") as dataset:
        return [dataset.whole(one.key) for one in dataset.runs(Selection(label=label))]


def names(folder: Path) -> list[str]:
    return [trace.run for trace in kept(folder)]


def counts(tally: ImportTally) -> tuple[int, int, int, int]:
    return tally.runs, tally.merged, tally.doubled, tally.renamed


def test_two_files_of_a_folder_that_tell_of_one_run_give_one_run_with_what_both_tell(tmp_path: Path) -> None:
    write(tmp_path / "runs", engine=ENGINE, steps=STEPS)
    tally = take(tmp_path, tmp_path / "runs", "mine")
    (trace,) = kept(tmp_path)
    assert counts(tally) == (1, 1, 0, 0)
    assert (tally.steps, tally.without_usage, dict(tally.formats)) == (2, 0, {"jsonl": 1})
    assert (trace.engine, trace.tail, len(trace.steps), trace.facts.tests_run) == ("claude", "the end", 2, 1)
    assert trace.usage is not None
    assert trace.model_spoke is True
    assert [place.rpartition("/")[2] for place in trace.source.split(", ")] == ["engine.jsonl:1", "steps.jsonl:1"]


def test_two_imports_that_tell_of_one_run_give_one_run_with_what_both_tell(tmp_path: Path) -> None:
    tallies = [take(tmp_path, one, "mine") for one in write(tmp_path / "runs", engine=ENGINE, steps=STEPS)]
    (trace,) = kept(tmp_path)
    assert [counts(tally) for tally in tallies] == [(1, 0, 0, 0), (1, 0, 0, 0)]
    assert (trace.engine, len(trace.steps)) == ("claude", 2)


def test_a_newer_version_of_a_file_replaces_what_that_file_told_and_nothing_else(tmp_path: Path) -> None:
    engine, steps = write(tmp_path / "runs", engine=ENGINE, steps=STEPS)
    for one in (engine, steps):
        take(tmp_path, one, "mine")
    steps.write_bytes(lines({**STEPS, "tail": None, "steps": ["TEST"]}))
    take(tmp_path, steps, "mine")
    (trace,) = kept(tmp_path)
    assert (trace.engine, trace.tail, len(trace.steps)) == ("claude", "", 1)
    steps.write_bytes(lines({**STEPS, "run": "x2"}))
    take(tmp_path, steps, "mine")
    first, second = kept(tmp_path)
    assert (first.run, first.engine, first.steps) == ("x1", "claude", ())
    assert (second.run, second.engine, len(second.steps)) == ("x2", "", 2)


def test_files_that_are_imported_again_one_by_one_with_another_outcome_tell_of_one_run_in_the_end(
    tmp_path: Path,
) -> None:
    files = write(tmp_path / "runs", engine=ENGINE, steps=STEPS)
    for outcome in ("failure", "success", "failure"):
        write(tmp_path / "runs", engine={**ENGINE, "outcome": outcome}, steps={**STEPS, "outcome": outcome})
        for one in files:
            take(tmp_path, one, "mine")
        (trace,) = kept(tmp_path)
        assert (trace.engine, len(trace.steps), trace.outcome) == ("claude", 2, outcome)


def test_what_several_imports_tell_of_a_run_is_the_same_after_they_are_read_again(tmp_path: Path) -> None:
    for one in write(tmp_path / "runs", engine=ENGINE, steps=STEPS, third={**STEPS, "host": "h1", "tail": "later"}):
        take(tmp_path, one, "mine")
    (before,) = kept(tmp_path)
    for _ in range(2):
        with Dataset.open(tmp_path / "traces.db") as dataset:
            sources = dataset.sources()
        assert [source.runs for source in sources] == [1, 1, 1]
        with DatasetWriter.open(tmp_path / "traces.db") as writer:
            for source in sources:
                assert reimport_source(writer, source).problem == ""
        (after,) = kept(tmp_path)
        assert after == before
    assert (after.engine, after.host, after.tail) == ("claude", "h1", "later")


def test_the_later_record_wins_where_both_tell_the_same_of_a_run_that_began_once(tmp_path: Path) -> None:
    early = {**STEPS, "started": 5, "ended": 7, "outcome": "unknown", "end_state": "timeout", "error": "a"}
    late = {**ENGINE, "started": 5, "ended": 9, "steps": ["Read(b.py)"], "error": "b", "attributes": {"n": 1}}
    write(tmp_path / "runs", a=early, b=late)
    take(tmp_path, tmp_path / "runs", "mine")
    (trace,) = kept(tmp_path)
    assert (trace.ended, trace.outcome, trace.end_state, trace.error) == (9, Result.FAILURE, EndState.TIMEOUT, "b")
    assert ([step.target for step in trace.steps], trace.tail, trace.attributes) == (["b.py"], "the end", {"n": "1"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"started": 5}, {"started": 6}),
        ({"started": 5, "task": "t"}, {"started": 5, "task": "u"}),
        ({"task": "t"}, {"task": "u"}),
        ({"outcome": "success"}, {"outcome": "failure"}),
        ({"engine": "claude"}, {"engine": "codex"}),
        ({"steps": ["TEST"]}, {"steps": ["TEST!"]}),
        ({"error": "no space left"}, {"error": "no memory left"}),
    ],
)
def test_another_run_of_the_name_stays_apart(tmp_path: Path, one: dict[str, object], other: dict[str, object]) -> None:
    write(tmp_path / "runs", a={"run": "x1", "host": "h", **one}, b={"run": "x1", "kind": "fix", **other})
    tally = take(tmp_path, tmp_path / "runs", "mine")
    assert counts(tally) == (2, 0, 0, 1)
    assert names(tmp_path) == ["x1", "x1 (2)"]


@pytest.mark.parametrize("name", [{"run": "x1"}, {}])
def test_a_file_has_a_record_for_each_run_where_none_says_when_it_began(
    tmp_path: Path, name: dict[str, object]
) -> None:
    attempt = {**name, "task": "t", "outcome": "failure"}
    told = [{**attempt, "tail": "boom"}, {**attempt, "tail": "bang"}, {**attempt, "steps": ["TEST"]}, attempt, attempt]
    (file,) = write(tmp_path / "runs", a=told)
    assert counts(take(tmp_path, file, "mine")) == (4, 0, 1, 3)


def test_attempts_that_have_only_the_name_of_their_task_are_not_merged_across_files(tmp_path: Path) -> None:
    attempt = {"task": "t", "outcome": "failure"}
    write(tmp_path / "runs", a={**attempt, "tail": "boom"}, b={**attempt, "steps": ["TEST"]})
    assert counts(take(tmp_path, tmp_path / "runs", "mine")) == (2, 0, 0, 1)


def test_what_is_told_of_one_of_several_runs_of_a_name_is_told_of_that_one(tmp_path: Path) -> None:
    tries = [{"run": "x1", "task": "t", "started": 5 * number} for number in range(1, 4)]
    engines = [{**one, "engine": f"e{one['started']}"} for one in reversed(tries)]
    first, second = write(tmp_path / "runs", a=tries, b=engines)
    take(tmp_path, first, "mine")
    assert take(tmp_path, second, "mine").renamed == 2
    assert [(trace.run, trace.engine) for trace in kept(tmp_path)] == [
        ("x1", "e5"),
        ("x1 (2)", "e10"),
        ("x1 (3)", "e15"),
    ]


def test_an_error_that_only_names_the_end_gives_way_to_what_was_said(tmp_path: Path) -> None:
    trial = {"id": "x1", "trial": "t.1", "task": "t", "failure_mode": "agent_timeout", "resolved": False}
    write(tmp_path / "runs", a={**trial, "harness_error": "timed out after 3s"}, b=trial, c=ENGINE | {"outcome": None})
    take(tmp_path, tmp_path / "runs", "mine")
    (trace,) = kept(tmp_path)
    assert (trace.error, trace.engine) == ("timed out after 3s", "claude")


def test_runs_of_one_name_without_times_are_compared_with_a_few_of_them(tmp_path: Path) -> None:
    tries = [{"run": "x1", "task": "t", "error": f"error {number}"} for number in range(MOST_COMPARED + 5)]
    (file,) = write(tmp_path / "runs", a=[*tries, tries[-1], tries[2]])
    tally = take(tmp_path, file, "mine")
    assert (tally.runs, tally.doubled) == (len(tries) + 1, 1)


def test_several_origins_of_one_import_count_a_run_once(tmp_path: Path) -> None:
    with DatasetWriter.open(tmp_path / "traces.db") as writer:
        importer = Importer(writer, PRICES)
        found = [
            importer.take(origin_of(one, "auto", "mine"))
            for one in write(tmp_path / "runs", engine=ENGINE, steps=STEPS)
        ]
    assert found == [1, 1]
    assert counts(importer.tally) == (1, 1, 0, 0)
