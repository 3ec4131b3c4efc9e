"""Every benchmark runs to its end on small sizes. None of its numbers counts here: this machine is busy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import SUITES

from tests.engines.real.fixtures import provide_cli
from tests.web.conftest import require_chromium
from tests.web.lean import lean_chromium

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 240.0


GROW = pytest.param("grow", marks=pytest.mark.slow)
"""A cluster of its own, on which agents work for most of a minute."""


@pytest.mark.parametrize("name", [*(one for one in SUITES if one not in ("admission-real", "web", "grow")), GROW])
def test_a_quick_run_ends_well_and_leaves_its_numbers(name: str) -> None:
    assert_runs(name)


def test_a_quick_run_of_the_log_in_postgresql_leaves_its_numbers() -> None:
    assert_runs("grow", "bench.grow.log")


def test_a_quick_run_with_real_agents_ends_well_and_leaves_its_numbers() -> None:
    for program in ("claude", "codex"):
        provide_cli(program)
    assert_runs("admission-real")


def test_a_quick_run_with_a_real_browser_ends_well_and_leaves_its_numbers() -> None:
    require_chromium()
    with lean_chromium():
        assert_runs("web")


def test_an_unknown_benchmark_is_refused_with_the_known_ones() -> None:
    ended = run("speed")
    assert ended.returncode == 2
    assert ended.stderr == (
        "error: there is no benchmark `speed`\n\n"
        "hint: known: log, spawn, fleet, queue, queue-real, simulation, admission, admission-real, review, web, "
        "terminal, talk, insight, grow\n"
    )


def assert_runs(name: str, module: str = "") -> None:
    report = ROOT / "bench" / "out" / f"{name.replace('queue-real', 'queue_real')}-quick.json"
    report.unlink(missing_ok=True)
    ended = run_module(module, "--quick") if module else run(name, "--quick")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert json.loads(report.read_text())


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return run_module("bench", *words)


def run_module(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", *words),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
