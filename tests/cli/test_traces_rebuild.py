"""`paddock traces rebuild` and `forget`: imports outlive the dataset, and what was forgotten stays away."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.trouble import DatasetUnusable
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats import importing
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.reimport import reimport_source
from paddock.insight.rebuild import rebuild
from tests.cli.conftest import Cli

DAMAGED = """\
there are no traces yet; `paddock traces import` brings in runs from elsewhere
--- stderr
warning: the dataset could not be read, and lies at `TOP/.git/paddock/insight/traces.db.damaged`; 2 imports are \
missing or incomplete: run `paddock traces rebuild`
"""
MISSING = """\
there are no traces yet; `paddock traces import` brings in runs from elsewhere
--- stderr
warning: 2 imports are missing or incomplete{}: run `paddock traces rebuild`
"""
ASIDE = " since a damaged dataset was laid aside as `TOP/.git/paddock/insight/traces.db.damaged`"


def lines(*runs: tuple[str, str]) -> str:
    steps = [{"tool": "Read", "target": "a.py"}] * 3
    return "".join(f"{json.dumps({'run': run, 'label': label, 'steps': steps})}\n" for run, label in runs)


@pytest.fixture
def imported(cli: Cli) -> Cli:
    """Three runs of `old` and `new` from a file, and one of `piped` from standard input."""
    (cli.top / "runs.jsonl").write_text(lines(("r1", "old"), ("r2", "new"), ("r3", "old")))
    cli.good("traces", "import", "runs.jsonl")
    cli.good("traces", "import", "-", stdin=lines(("r4", "piped")).encode())
    return cli


def place(cli: Cli) -> Path:
    return cli.top / ".git" / "paddock" / "insight" / "traces.db"


def batches(cli: Cli) -> dict[str, int]:
    said = cli.good("traces", "list", "--labels", "--json")
    assert said.err == ""
    return {one["label"]: one["runs"] for one in said.json()["labels"]}


def without_journal(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def cut_off(path: Path) -> None:
    os.truncate(path, 20_000)


def overwrite(path: Path) -> None:
    path.write_bytes(b"no dataset of anybody's" * 1000)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def test_a_forgotten_label_stays_away_until_it_is_imported_by_hand(imported: Cli) -> None:
    assert imported.shown("traces", "forget", "old") == "forgot 2 runs of `old`\n"
    assert batches(imported) == {"new": 1, "piped": 1}
    assert "imported 1 run again from" in imported.good("traces", "rebuild").out
    assert batches(imported) == {"new": 1, "piped": 1}
    imported.good("traces", "import", "runs.jsonl")
    imported.good("traces", "rebuild")
    assert batches(imported) == {"old": 2, "new": 1, "piped": 1}


def test_an_import_all_of_whose_labels_are_forgotten_is_forgotten_itself(imported: Cli) -> None:
    imported.good("traces", "forget", "old")
    imported.good("traces", "forget", "new")
    assert batches(imported) == {"piped": 1}
    assert "runs.jsonl" not in imported.good("traces", "rebuild").out
    assert batches(imported) == {"piped": 1}


@pytest.mark.parametrize("damage", [cut_off, overwrite])
def test_what_was_imported_outlives_a_damaged_dataset(imported: Cli, damage: Callable[[Path], None]) -> None:
    before = batches(imported)
    imported.good("traces", "forget", "new")
    without_journal(place(imported))
    damage(place(imported))
    assert imported.shown("traces", "list", "--labels") == DAMAGED
    assert place(imported).with_name("traces.db.damaged").exists()
    assert imported.shown("traces", "list", "--labels") == MISSING.format(ASIDE)
    assert "2 imports are missing" in imported("traces", "show", "r1").err
    imported.good("traces", "rebuild")
    assert batches(imported) == {label: runs for label, runs in before.items() if label != "new"}


@pytest.mark.parametrize("damage", [cut_off, overwrite])
def test_a_rebuild_finds_the_damage_itself(imported: Cli, damage: Callable[[Path], None]) -> None:
    before = batches(imported)
    without_journal(place(imported))
    damage(place(imported))
    said = imported.good("traces", "rebuild")
    assert "the dataset could not be read: it lies at" in said.err
    assert batches(imported) == before


@pytest.mark.parametrize("damage", [empty, os.unlink])
def test_what_was_imported_outlives_a_dataset_that_is_empty_or_gone(
    imported: Cli, damage: Callable[[Path], None]
) -> None:
    before = batches(imported)
    without_journal(place(imported))
    damage(place(imported))
    assert imported.shown("traces", "list", "--labels") == MISSING.format("")
    imported.good("traces", "rebuild")
    assert batches(imported) == before


def test_an_import_that_was_never_committed_is_read_by_the_next_rebuild(imported: Cli) -> None:
    """As if it had been killed between the list and the commit, or the power had gone right after it."""
    before = place(imported).with_name("before.db")
    batches(imported)
    shutil.copy(place(imported), before)
    (imported.top / "later.jsonl").write_text(lines(("r5", "later")))
    imported.good("traces", "import", "later.jsonl")
    without_journal(place(imported))
    os.replace(before, place(imported))
    assert "1 import is missing or incomplete: run" in imported("traces", "list").err
    imported.good("traces", "rebuild")
    assert batches(imported) == {"old": 2, "new": 1, "piped": 1, "later": 1}


def test_an_import_that_cannot_be_read_again_is_missing_until_it_is_forgotten(imported: Cli) -> None:
    (imported.top / "runs.jsonl").unlink()
    without_journal(place(imported))
    place(imported).unlink()
    problem = "could not import TOP/runs.jsonl again: `TOP/runs.jsonl` is not there any more\n"
    assert imported.shown("traces", "rebuild").endswith(f"--- stderr\n{problem}")
    assert "1 import is missing or incomplete" in imported("traces", "list").err
    assert imported.shown("traces", "forget", "old") == "forgot 0 runs of `old`\n"
    imported.good("traces", "forget", "new")
    assert batches(imported) == {"piped": 1}
    assert "there is no batch `new`" in imported("traces", "forget", "new").err


def test_an_import_that_was_killed_half_way_is_incomplete_until_all_of_it_was_read(
    imported: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is committed in parts, and what an earlier import of the same has left goes with the first of them."""
    monkeypatch.setattr(importing, "COMMIT_RUNS", 1)

    def die(_tally: ImportTally) -> None:
        raise KeyboardInterrupt

    path = dataset_path(Workspace(discover(imported.top)).state_dir)
    with Dataset.open(path) as dataset:
        source = dataset.sources()[0]
    with pytest.raises(KeyboardInterrupt), DatasetWriter.open(path) as writer:
        reimport_source(writer, source, die)
    assert "1 import is missing or incomplete: run" in imported("traces", "list").err
    imported.good("traces", "forget", "old")
    imported.good("traces", "rebuild")
    assert batches(imported) == {"new": 1, "piped": 1}


def test_nobody_forgets_what_a_rebuild_is_reading(imported: Cli) -> None:
    workspace = Workspace(discover(imported.top))
    path = dataset_path(workspace.state_dir)

    def hear(what: str, _done: int, _total: int) -> None:
        if not what.startswith("imports from"):
            return
        with DatasetWriter.open(path, wait_seconds=0.0) as writer:
            writer.remove("new")

    with pytest.raises(DatasetUnusable, match="is being written by another process"):
        rebuild(workspace, hear)
    assert batches(imported) == {"old": 2, "new": 1, "piped": 1}


def test_a_list_of_imports_that_cannot_be_read_is_never_taken_for_an_empty_one(imported: Cli) -> None:
    told = place(imported).with_name("traces.imports.json")
    told.write_bytes(b"[{")
    assert f"the list of imports `{told}` cannot be read" in imported("traces", "list").err
    for command in (("rebuild",), ("forget", "old"), ("import", "runs.jsonl")):
        refused = imported("traces", *command)
        assert (refused.code, "cannot be read" in refused.err) == (1, True)
    copies = place(imported).parent / "imports"
    assert len(list(copies.iterdir())) == 1
    told.unlink()
    imported.good("traces", "rebuild")
    assert batches(imported) == {"old": 2, "new": 1, "piped": 1}
    assert {label for one in json.loads(told.read_bytes()) for label in one["labels"]} == {"old", "new", "piped"}
