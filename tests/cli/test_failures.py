"""`paddock failures`: why runs failed, with what says so."""

import json
import re

from tests.cli.conftest import Cli

MISSING = ["error: externally-managed-environment", "INSTALL_SUCCESS", "root@24cf:/app# mini -t 'do it'"]
SHOWN = """\
7 of 10 runs failed, in 3 clusters: dependency 5, network 2

bash: mini: command not found  ×5
  dependency ×3  an installer that is refused (PEP 668)  ID
    since 2026-11-01 12:03 UTC, last 12:05 · 3 tasks (job-0, job-1, job-2) · mini
    · something is missing in the environment, or does not fit
    | error: externally-managed-environment
    run: `paddock traces show r2`
  dependency ×2  a version of Python that does not fit  ID
    since 2026-11-01 12:06 UTC, last 12:07 · 2 tasks (job-3, job-4) · mini
    · something is missing in the environment, or does not fit
    | ERROR: 'x' requires a different Python: 3.8.10 not in '>=3.10'
    run: `paddock traces show r4`

dial tcp: lookup ghcr.io: no such host  ×2
  network ×2  a name that is not resolved (DNS)  ID
    since 2026-11-01 12:08 UTC, last 12:09 · 2 tasks (job-5, job-6) · mini
    · somebody could not be reached
    run: `paddock traces show r6`
"""


def imported(cli: Cli) -> Cli:
    unfit = ["ERROR: 'x' requires a different Python: 3.8.10 not in '>=3.10'"]
    tails = [MISSING] * 3 + [unfit] * 2
    runs = [{"tail": "\n".join([*tail, "bash: mini: command not found"])} for tail in tails]
    runs += [{"error": "dial tcp: lookup ghcr.io: no such host"}] * 2 + [{"outcome": "success"}] * 3
    lines = [
        json.dumps(
            {
                "run": f"r{number}",
                "task": f"job-{number}",
                "engine": "mini",
                "ended": f"2026-11-01T12:{number + 3:02}:00Z",
                "outcome": "failure",
                **run,
            }
        )
        for number, run in enumerate(runs)
    ]
    path = cli.top / "runs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    cli.good("traces", "import", str(path), "--label", "night")
    return cli


def test_symptoms_come_first_and_causes_are_nested_in_them(cli: Cli) -> None:
    shown = imported(cli).shown("failures", "--label", "night")
    assert re.sub(r"\bf[0-9a-f]{7}\b", "ID", shown) == SHOWN


def test_json_has_every_failed_run_in_one_cluster(cli: Cli) -> None:
    told = imported(cli).good("failures", "--json").json()
    assert [told["runs"], told["failed"], told["cut"]] == [10, 7, False]
    assert sorted(run for cluster in told["clusters"] for run in cluster["runs"]) == [
        f"r{number}" for number in range(7)
    ]
    largest = told["clusters"][0]
    assert {"id", "symptom", "cause", "runs", "evidence"} <= largest.keys()
    assert {one["line"] for one in largest["evidence"]} >= {"error: externally-managed-environment"}


def test_a_choice_of_runs(cli: Cli) -> None:
    imported(cli)
    assert cli.good("failures", "--task", "job-6", "--json").json()["failed"] == 1
    assert cli.good("failures", "--engine", "codex").out == "no runs to look at\n"
    assert cli.good("failures", "--since", "2030-01-01").out == "no runs since then\n"
    assert "use --limit 2" in cli.good("failures", "--limit", "1").out


def test_what_cannot_be_asked_for_is_said(cli: Cli) -> None:
    imported(cli)
    said = cli("failures", "--label", "day")
    assert (said.code, said.err) == (1, "error: there is no batch `day`\n\nhint: there are: night\n")
    assert "neither a time nor an age" in cli("failures", "--since", "soon").err
    assert cli("failures", "--limit", "0").code == 2
    assert cli("failures", "--probe", "c99").code != 0


def test_without_runs_there_is_nothing_to_tell(cli: Cli) -> None:
    assert cli.good("failures").out == "no runs to look at\n"
    assert cli.good("failures", "--json").json()["clusters"] == []
