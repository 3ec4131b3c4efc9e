"""`paddock drift`: whether imported batches, or the fleet's own attempts, behave differently."""

import json
import random
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

TASKS = 24


def write_batch(path: Path, name: str, *, tests: bool = True, odd: float = 0.0, tasks: int = TASKS) -> Path:
    """Neutral lines: runs at the same tasks, whichever the batch."""
    draw, lines = random.Random(name), []
    for task in range(tasks):
        middle = [draw.choice(("READ:src", "SEARCH", "RUN")) for _ in range(2 + task % 4)]
        steps = ["SEARCH", *middle, "EDIT:src", *(["TEST"] if tests else []), "SUBMIT"]
        run = {"run": f"{name}{task}", "task": f"task{task}", "outcome": draw.random() > odd, "steps": steps}
        run["usage"] = {"input_tokens": 1000 + draw.randrange(100), "output_tokens": 50}
        lines.append(json.dumps(run))
    file = path / f"{name}.jsonl"
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def batches(cli: Cli, tmp_path: Path) -> Cli:
    for name, options in (("before", {}), ("same", {}), ("hasty", {"tests": False}), ("few", {"tasks": 4})):
        file = write_batch(tmp_path, name, **options)
        cli.good("traces", "import", str(file), "--label", name)
    return cli


HASTY = """\
drift: hasty differs from before in the order of steps, what is done (TEST), tests run after the last edit and
  steps per run, over 24 pairs of runs

  what is compared                                                batch  baseline        difference       q
"""


def test_a_batch_that_skips_its_tests_is_drift_and_says_where(batches: Cli) -> None:
    shown = batches.shown("drift", "--batch", "hasty", "--baseline", "before")
    assert shown.startswith(HASTY)
    assert (
        "! tests run after the last edit                                      0%      100%       -100 points" in shown
    )
    assert "what is done more or less" in shown
    assert f"  {'TEST  % of runs':<84}{'0.0%':>9}{'100.0%':>10}" in shown
    assert "EDIT:src → SUBMIT" in shown
    assert "most typical: hasty" in shown
    assert "self-test:" in shown
    assert max(map(len, shown.splitlines())) <= 110


def test_a_batch_like_the_one_before_is_none(batches: Cli) -> None:
    told = batches.good("drift", "--batch", "same", "--baseline", "before", "--json").json()
    assert (told["verdict"], told["pairs"], told["schema"]) == ("none", TASKS, 1)
    assert {"name", "statistic", "p", "q", "effect", "significant"} <= told["tests"][0].keys()
    assert not any(test["significant"] for test in told["tests"])
    assert told["self_test"]["sound"]


def test_a_difference_that_so_few_runs_cannot_show_says_so(cli: Cli, tmp_path: Path) -> None:
    for name, forced in (("plain", 0), ("pushy", 6)):
        file = write_batch(tmp_path, name, odd=0.4, tasks=20)
        runs = [json.loads(line) for line in file.read_text().splitlines()]
        told = [json.dumps({**run, "force_push": number < forced}) for number, run in enumerate(runs)]
        file.write_text("\n".join(told))
        cli.good("traces", "import", str(file), "--label", name)
    shown = cli.shown("drift", "--batch", "pushy", "--baseline", "plain")
    assert "+30 points     few\n" in shown
    assert "(few: no difference in so few runs could stand out" in shown


def test_too_little_data_says_how_much_is_missing(batches: Cli) -> None:
    told = batches.good("drift", "--batch", "few", "--baseline", "before", "--json").json()
    assert (told["verdict"], told["pairs"], told["missing_pairs"]) == ("too little data", 4, 6)
    shown = batches.shown("drift", "--batch", "few", "--baseline", "before")
    assert shown.startswith(
        "too little data: 4 runs against 24 runs make 4 pairs that can be compared; 6 more are needed"
    )
    assert batches.shown("drift").startswith("too little data: 0 runs against 0 runs")


def test_questions_that_make_no_sense_are_refused_with_what_there_is(batches: Cli) -> None:
    assert batches.shown("drift", "--batch", "nosuch") == (
        "--- stderr\nerror: there is no batch `nosuch`\n\nhint: there are: before, few, hasty, same\n[exit 1]\n"
    )
    assert "compare `hasty` with which baseline?" in batches.shown("drift", "--batch", "hasty")
    assert "cannot be compared with itself" in batches.shown("drift", "--batch", "few", "--baseline", "few")
    assert "is neither a time nor an age" in batches.shown("drift", "--since", "yesterday-ish")
