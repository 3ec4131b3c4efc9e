"""Real runs of agents, as traces read by the importers that users have; they lie beside the project, never in it.

What no importer knows is put into neutral lines first, as a user would do it with a script of a few lines.
"""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.insight.synthetic import synthetic_runs
from paddock.insight.formats.neutral import read_neutral
from paddock.insight.paths import Symbols, keep
from paddock.insight.trace import KeptTrace, Trace

VARIABLE = "PADDOCK_BENCH_DATA"
BESIDE = Path(__file__).parents[3] / "shared" / "data"

Record = dict[str, Any]


class DataAbsent(Exception):
    """The data of a part is not on this machine; says which, and where it was looked for."""


@dataclass(frozen=True, slots=True)
class Data:
    """`folder` is None for a quick run, which has synthetic runs only."""

    folder: Path | None

    def path(self, name: str) -> Path:
        """Raises DataAbsent."""
        if self.folder is None:
            raise DataAbsent(f"{name} is not part of a quick run")
        path = self.folder / name
        if not path.exists():
            raise DataAbsent(f"{path} is not there; set {VARIABLE} to the folder that holds {name}")
        return path

    def lines(self, name: str) -> Iterator[Record]:
        with gzip.open(self.path(name), "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def swe_agent(self) -> list[Trace]:
        """Three runs of the same tasks, each a label."""
        return _read(_swe_agent(record) for record in self.lines("swe_agent_lite_x3/trajectories.jsonl.gz"))

    def terminal_bench(self) -> list[Trace]:
        """Results of three submissions without steps, five runs each; a label is `SUBMISSION RUN`."""
        return _read(_terminal_bench(record) for record in self.lines("terminal_bench_lb/results.jsonl.gz"))

    def mini_swe_agent(self) -> list[Trace]:
        """One submission with the last steps of each trial; half of them never ran."""
        return _read(
            _mini_swe_agent(record) for record in self.lines("terminal_bench_lb/mini_swe_agent_steps.jsonl.gz")
        )

    def tau_bench(self) -> list[Trace]:
        """Four trials of each task, each a label."""
        with gzip.open(self.path("tau_bench/gpt-4o-airline.json.gz"), "rt", encoding="utf-8") as file:
            return _read(_tau_bench(record) for record in json.load(file))

    def synthetic(self, runs: int = 400) -> list[Trace]:
        return synthetic_runs(runs)


def find_data(*, quick: bool = False) -> Data:
    named = os.environ.get(VARIABLE)
    return Data(None if quick else Path(named) if named else BESIDE)


def keep_all(traces: list[Trace], symbols: Symbols) -> list[KeptTrace]:
    """As the dataset keeps them."""
    return [keep(trace, number, symbols) for number, trace in enumerate(traces)]


def _read(records: Iterator[Record]) -> list[Trace]:
    return [read_neutral(record, number) for number, record in enumerate(records, 1)]


def _swe_agent(record: Record) -> Record:
    stats = record["model_stats"] or {}
    return {
        "run": f"{record['run']}/{record['instance_id']}",
        "task": record["instance_id"],
        "engine": "swe-agent",
        "model": "gpt-4",
        "label": record["run"],
        "outcome": record["resolved"],
        "end_state": record["exit_status"],
        "usage": {"input_tokens": stats.get("tokens_sent"), "output_tokens": stats.get("tokens_received")},
        "steps": [{"tool": "bash", "argument": step["action"]} for step in record["steps"]],
    }


def _terminal_bench(record: Record) -> Record:
    run = record["source_path"].split("/")[3].removesuffix("__results.json")
    return {
        "run": record["trial_name"],
        "task": record["task_id"],
        "engine": record["submission"].partition("_")[2],
        "label": f"{record['submission']} {run}",
        "started": record["agent_started_at"],
        "ended": record["agent_ended_at"],
        "outcome": record["is_resolved"],
        "end_state": record["failure_mode"],
        "tests": record["parser_results"],
    }


def _mini_swe_agent(record: Record) -> Record:
    return {
        "run": record["trial_name"],
        "task": record["task_id"],
        "engine": "mini-swe-agent",
        "label": record["run"],
        "started": record["agent_started_at"],
        "ended": record["agent_ended_at"],
        "outcome": record["is_resolved"],
        "end_state": record["failure_mode"],
        "steps": [
            {"tool": "bash", "argument": step["action"], "exit": step["returncode"]} for step in record["steps"] or ()
        ],
    }


def _tau_bench(record: Record) -> Record:
    calls = [call for message in record["traj"] for call in message.get("tool_calls") or ()]
    return {
        "run": f"{record['trial']}/{record['task_id']}",
        "task": str(record["task_id"]),
        "engine": "tau-bench",
        "model": "gpt-4o",
        "label": f"trial {record['trial']}",
        "outcome": record["reward"],
        "steps": [{"tool": call["function"]["name"], "argument": call["function"]["arguments"]} for call in calls],
    }
