"""`paddock traces import` and `forget`: what they say, and what they refuse."""

import gzip
import json

import pytest

from paddock.cli.commands import traces_import
from tests.cli.conftest import Cli

RUN = {
    "run": "r1",
    "task": "t",
    "label": "own",
    "outcome": "failure",
    "model": "strange",
    "usage": {"output_tokens": 5},
    "steps": [{"tool": "Read", "target": "a.py"}, {"tool": "frobnicate"}],
}

SUMMARY = """\
imported 2 runs with 3 steps from 2 files
  taken as  1 as jsonl, 1 as claude
  label     own  1 run
            runs  1 run
  skipped   1 × is not JSON: invalid character: bad.jsonl:1
            1 × is in no format that is known: bad.jsonl:3
warning: 33% of the steps are of tools that Paddock does not know: frobnicate
warning: 1 run has tokens but no price: strange
warning: 1 of 2 runs tell nothing of the tokens they used
`paddock traces list --label own` lists them
"""

NOTHING = """\
found no run in 1 file
  skipped   1 × is not JSON: invalid character: notes.txt:1
--- stderr
error: no run could be read from `notes.txt`

hint: convert it to JSON lines: docs/reference/traces.md says how
[exit 1]
"""


def write_runs(cli: Cli) -> None:
    folder = cli.top / "runs"
    folder.mkdir()
    (folder / "bad.jsonl").write_bytes(b"oops\n" + json.dumps(RUN).encode() + b'\n{"nothing": 1}\n')
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}
    message = {"id": "m", "model": "claude-opus-5", "role": "assistant", "content": [call]}
    line = json.dumps({"type": "assistant", "sessionId": "s1", "message": message}).encode()
    (folder / "session.jsonl.gz").write_bytes(gzip.compress(line))


def test_a_folder_is_imported_and_what_was_found_is_said(cli: Cli) -> None:
    write_runs(cli)
    assert cli.shown("traces", "import", "runs") == SUMMARY
    told = cli.good("traces", "import", "runs", "--label", "a", "--json").json()
    assert (told["runs"], told["labels"]) == (2, [{"name": "a", "count": 2}])
    assert told["skipped"][0]["places"][0].endswith("runs/bad.jsonl:1")
    assert told["warnings"]


def test_a_dry_run_writes_nothing(cli: Cli) -> None:
    write_runs(cli)
    assert cli.good("traces", "import", "runs", "--dry-run").out.startswith("would import 2 runs")
    assert cli("traces", "forget", "own").code == 1


MERGED = """\
would import 1 run with 2 steps from 3 files
  taken as  1 as jsonl
  label     own  1 run
  merged    1 record with others of the same run
  left out  1 record that tells nothing new of a run
warning: 50% of the steps are of tools that Paddock does not know: frobnicate
warning: 1 run has tokens but no price: strange
"""


def test_files_that_tell_of_one_run_are_merged_in_a_dry_run_too(cli: Cli) -> None:
    folder = cli.top / "runs"
    folder.mkdir()
    steps = {name: RUN[name] for name in ("run", "task", "label", "steps")}
    for name, record in (("a", steps), ("b", {**RUN, "steps": None}), ("c", steps)):
        (folder / f"{name}.jsonl").write_text(json.dumps(record))
    assert cli.shown("traces", "import", "runs", "--dry-run") == MERGED
    told = cli.good("traces", "import", "runs", "--json").json()
    assert [told[name] for name in ("runs", "merged", "doubled")] == [1, 1, 1]


def test_what_was_cut_is_said(cli: Cli) -> None:
    long = json.dumps({**RUN, "steps": ["TEST"] * 50_001, "tail": "x" * (5 << 20)})
    (cli.top / "runs.jsonl").write_text(long)
    said = cli.good("traces", "import", "runs.jsonl").out
    assert (
        """\
  cut       1 × is longer than 4 MB: the middle of long texts, or the end of long lists, was left out: runs.jsonl:1
            1 × has more than 50,000 steps: those after them were left out: runs.jsonl:1
"""
        in said
    )
    told = cli.good("traces", "import", "runs.jsonl", "--json").json()
    assert [(one["count"], len(one["places"])) for one in told["cut"]] == [(1, 1), (1, 1)]
    assert told["skipped"] == []


def test_a_batch_is_forgotten_with_the_copy_of_what_was_piped(cli: Cli) -> None:
    cli.good("traces", "import", "-", "--label", "piped", stdin=json.dumps(RUN).encode())
    copies = cli.top / ".git" / "paddock" / "insight" / "imports"
    assert len(list(copies.iterdir())) == 1
    assert cli.shown("traces", "forget", "piped") == "forgot 1 run of `piped`\n"
    assert list(copies.iterdir()) == []
    assert "there is no batch `piped`" in cli("traces", "forget", "piped").err


def test_what_gave_nothing_fails_and_leaves_no_copy(cli: Cli) -> None:
    (cli.top / "notes.txt").write_text("hello")
    assert cli.shown("traces", "import", "notes.txt") == NOTHING
    assert cli("traces", "import", "-", stdin=b"hello").code == 1
    assert list((cli.top / ".git" / "paddock" / "insight" / "imports").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 1, "there is no file or folder `nowhere`"),
        (["x\x1b[31m\0"], 1, "there is no file or folder"),
        (["runs", "--label", "fleet"], 2, "`fleet` is the label of the fleet's own attempts"),
        (["runs", "--label", " "], 2, "--label must be a printable name"),
        (["runs", "--format", "cobol"], 2, "'cobol' is not one of"),
        ([], 2, "Missing argument"),
    ],
)
def test_what_cannot_be_imported_is_refused(cli: Cli, arguments: list[str], code: int, words: str) -> None:
    said = cli("traces", "import", *arguments)
    assert (said.code, words in said.err) == (code, True), said.err


@pytest.mark.parametrize(
    ("path", "complaint", "hint"),
    [
        ("empty.jsonl", "no run could be read from `empty.jsonl`", "nothing is in it: look at what was to write it"),
        ("bare", "there is nothing to import in `bare`", "in a folder, files that end in .json or .jsonl are read"),
        ("", "there is no file or folder ``", "name what an agent or a script has written"),
    ],
)
def test_an_import_of_nothing_says_where_it_looked(cli: Cli, path: str, complaint: str, hint: str) -> None:
    (cli.top / "empty.jsonl").touch()
    (cli.top / "bare").mkdir()
    said = cli("traces", "import", path)
    assert (said.code, said.err) == (1, f"error: {complaint}\n\nhint: {hint}\n")


def test_fleet_is_not_forgotten(cli: Cli) -> None:
    assert "the fleet's own attempts" in cli("traces", "forget", "fleet").err


def test_progress_is_shown_on_a_terminal_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    write_runs(cli)
    assert cli.good("traces", "import", "runs").err == ""
    monkeypatch.setattr(traces_import, "_HEARD_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "2 runs, 3 steps" in cli.good("traces", "import", "runs").err
