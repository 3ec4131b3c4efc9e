"""`paddock traces list|show|diff|export`: what is said of runs, wholly."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

GOOD = {
    "run": "good",
    "task": "login",
    "kind": "fix",
    "agent": "fixer",
    "engine": "claude",
    "engine_version": "2.1",
    "model": "opus",
    "host": "h1",
    "started": 1_700_000_000,
    "ended": 1_700_000_090,
    "outcome": "success",
    "usage": {"input_tokens": 1000, "cache_read_input_tokens": 9000, "output_tokens": 500, "cost_usd": 0.5},
    "cost_source": "told",
    "model_calls": 4,
    "startup_tokens": 4000,
    "facts": {"files": ["a.py"], "insertions": 3, "deletions": 1, "verified_last_edit": True, "tests_run": 1},
    "tests": {"one": True, "two": True},
    "steps": [
        {"tool": "Read", "target": "src/a.py", "time": 1_700_000_002},
        {"tool": "Read", "target": "src/b.py"},
        {"tool": "Edit", "target": "src/a.py", "time": 1_700_000_030, "seconds": 0.5},
        {"tool": "Bash", "argument": "pytest -q", "time": 1_700_000_060, "seconds": 12.0},
    ],
    "source": "elsewhere",
}
BAD = {
    "run": "bad",
    "task": "login",
    "engine": "claude",
    "model": "opus",
    "started": 1_700_000_000,
    "ended": 1_700_000_300,
    "outcome": "failure",
    "end_state": "timeout",
    "error": "no end\x1b[31m after 300 s",
    "tail": "E  assert 1 == 2\nlast words",
    "waited_seconds": 65,
    "steps": [
        {"tool": "Read", "target": "src/a.py"},
        {"tool": "Edit", "target": "src/a.py"},
        {"tool": "Bash", "argument": "pytest -q", "status": "error", "exit": 1, "error": "1 failed\nassert 1 == 2"},
        {"tool": "Bash", "argument": "git commit --no-verify -m x"},
    ],
    "calls": [{"id": "m1", "model": "opus", "usage": {"input_tokens": 10, "output_tokens": 2}}, {"status": 429}],
    "facts": {"no_verify": True, "tests_deleted": 1, "gate": "red"},
    "source": "elsewhere",
}


@pytest.fixture
def runs(cli: Cli) -> Cli:
    lines = cli.top.parent / "runs.jsonl"
    lines.write_text("".join(f"{json.dumps(run)}\n" for run in (GOOD, BAD)))
    cli.good("traces", "import", str(lines), "--label", "b")
    return cli


def test_runs_and_batches_are_listed(runs: Cli) -> None:
    assert runs.shown("traces", "list", "--task", "login") == (
        "run     outcome  ended as    steps  calls       cost   took  of\n"
        "b/good  success  unknown         4      4    $0.5000     1m  login · fix · fixer · claude · opus\n"
        "b/bad   failure  timeout         4      1   unpriced     5m  login · claude · opus · "
        "no end\ufffd[31m after 300 s\n"
    )
    assert runs.good("traces", "list", "--failed", "--json").json()["runs"][0]["name"] == "b/bad"
    assert runs.shown("traces", "list", "--labels") == (
        "label      runs       steps  failed  from        to\n"
        "b             2           8       1  2023-11-14  2023-11-14\n"
    )
    assert "no runs" in runs.shown("traces", "list", "--since", "1h")


def test_a_run_is_shown_with_its_path_and_its_steps(runs: Cli) -> None:
    assert runs.shown("traces", "show", "b/bad") == (
        "b/bad  failure  ended as timeout\n"
        "  task      login\n"
        "  by        claude, opus\n"
        "  when      TIME, took 5m\n"
        "  usage     1 call, 10 tokens in, 2 out, unpriced\n"
        "  start-up  10 tokens before the first step\n"
        "  waited    1m for the provider\n"
        "  work      gate red, 1 test deleted, tested after the last edit, --no-verify\n"
        "  source    elsewhere\n"
        "  error     no end\ufffd[31m after 300 s\n"
        "\n"
        "last lines\n"
        "  E  assert 1 == 2\n"
        "  last words\n"
        "\n"
        "path\n"
        "  READ:src → EDIT:src → TEST! → GIT_WRITE\n"
        "\n"
        "4 steps\n"
        "    1                   READ:src            src/a.py\n"
        "    2                   EDIT:src            src/a.py\n"
        "    3                   TEST!               pytest  error exit 1\n"
        "                           1 failed\n"
        "                           assert 1 == 2\n"
        "    4                   GIT_WRITE           git commit --no-verify\n"
        "\n"
        "2 calls of a model\n"
        "  opus                                    1  10 tokens in, 2 out\n"
        "  refused with 429                        1\n"
    )


def test_two_runs_are_shown_side_by_side(runs: Cli) -> None:
    shown = runs.shown("traces", "diff", "good", "bad").splitlines()
    assert shown[2].split() == ["outcome", "≠success", "failure,", "timeout"]
    assert shown[-5:] == [
        "57% of the two paths are the same",
        "   1 READ:src ×2  src/a.py                                                  1 READ:src  src/a.py",
        "   3 EDIT:src  src/a.py                                                     2 EDIT:src  src/a.py",
        "   4 TEST  pytest                                                      ~    3 TEST!  pytest",
        " " * 71 + ">    4 GIT_WRITE  git commit --no-verify",
    ]
    same = runs.shown("traces", "diff", "good", "good").splitlines()
    assert same[-2:] == ["100% of the two paths are the same", " " * 62 + "… 3 the same …"]


def test_what_was_exported_is_imported_again_as_it_was(runs: Cli, tmp_path: Path) -> None:
    lines = tmp_path / "out.jsonl"
    runs.good("traces", "export", "--format", "jsonl", "-o", str(lines))
    before = runs.good("traces", "show", "b/good", "--json").out
    runs.good("traces", "forget", "b")
    runs.good("traces", "import", str(lines))
    assert runs.good("traces", "show", "b/good", "--json").out == before
    assert len(runs.good("traces", "export", "--format", "jsonl", "--failed").out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("show", "nobody"), 1, "there is no trace of `nobody`"),
        (("show", "good", "--label", "c"), 1, "batch `c` has no run `good`"),
        (("list", "--since", "soon"), 2, "neither a time nor an age"),
        (("list", "--labels", "--failed"), 2, "--labels lists all batches"),
        (("export", "--format", "parquet"), 2, "written to a folder"),
        (("export", "--format", "jsonl", "--push", "http://h"), 2, "--push takes spans"),
        (("export", "--format", "otlp", "--push", "h"), 2, "is no URL"),
        (("export", "--format", "otlp", "--push", "http://h", "-o", "x"), 2, "cannot be used together"),
        (("export", "--format", "otlp", "--encoding", "protobuf"), 2, "is for --push"),
        (("export", "--format", "jsonl", "-o", "no/such/place"), 1, "cannot write `no/such/place`"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_way_on(runs: Cli, words: tuple[str, ...], code: int, said: str) -> None:
    refused = runs("traces", *words)
    assert (refused.code, said in refused.err, "hint:" in refused.err) == (code, True, True), refused.err


def test_a_name_in_two_batches_is_asked_for_by_its_batch(runs: Cli) -> None:
    runs.good("traces", "import", str(runs.top.parent / "runs.jsonl"), "--label", "c/d")
    assert "name one of these" in runs("traces", "show", "good").err
    assert runs.good("traces", "show", "c/d/good", "--json").json()["row"]["label"] == "c/d"


def test_what_no_engine_priced_costs_as_much_here_as_in_costs(cli: Cli, tmp_path: Path) -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 100_000}
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"run": "r", "model": "claude-opus-4-5", "usage": usage, "ended": 1_770_000_000}))
    cli.good("traces", "import", str(file), "--label", "b")
    [row] = cli.good("traces", "list", "--label", "b", "--json").json()["runs"]
    total = cli.good("costs", "--label", "b", "--json").json()["split"]["cost_usd"]
    assert row["usage"]["cost_usd"] == pytest.approx(total)
    assert row["usage"]["source"] == "priced"
    assert "by the table of prices" in cli.shown("traces", "show", "b/r")


@pytest.mark.parametrize("words", [("list",), ("export", "--format", "jsonl"), ("crosscheck",)])
def test_a_batch_that_is_not_there_is_said(runs: Cli, words: tuple[str, ...]) -> None:
    said = runs("traces", *words, "--label", "nosuch")
    assert (said.code, said.out) == (1, "")
    assert said.err == "error: there is no batch `nosuch`\n\nhint: there are: b\n"


def test_a_task_that_a_batch_does_not_have_is_said(runs: Cli) -> None:
    said = runs("traces", "crosscheck", "nosuch", "--label", "b")
    assert (said.code, said.err.splitlines()[0]) == (1, "error: batch `b` has no run of task `nosuch`")
