"""Real runs of agents, read by the importers that users have; they lie beside the project, never in it."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bench.insight.synthetic import synthetic_runs
from paddock.insight.formats.detection import AUTO
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import origin_of, read_origin
from paddock.insight.formats.sources import FoundRun
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
        """As they are, for labels that no importer knows."""
        with gzip.open(self.path(name), "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def traces(self, name: str) -> list[Trace]:
        """As `paddock traces import` takes them."""
        found = read_origin(origin_of(self.path(name), AUTO, ""), ImportTally())
        return [one.trace for one in found if isinstance(one, FoundRun)]

    def swe_agent(self) -> list[Trace]:
        """Three runs of the same tasks, each a label."""
        return self.traces("swe_agent_lite_x3/trajectories.jsonl.gz")

    def terminal_bench(self) -> list[Trace]:
        """Results of three submissions without steps, five runs each; a label is `SUBMISSION RUN`."""
        return _labelled(
            self.traces("terminal_bench_lb/results.jsonl.gz"),
            lambda trace: f"{trace.label} {trace.source.split('/')[3]}",
        )

    def mini_swe_agent(self) -> list[Trace]:
        """One submission with the last steps of each trial; half of them never ran."""
        return self.traces("terminal_bench_lb/mini_swe_agent_steps.jsonl.gz")

    def tau_bench(self) -> list[Trace]:
        """Four trials of each task, each a label."""
        traces = self.traces("tau_bench/gpt-4o-airline.json.gz")
        return _labelled(traces, lambda trace: f"trial {trace.attributes['trial']}")

    def claude_code(self) -> list[Trace]:
        """Sessions of several people and models, without tasks."""
        return self.traces("claude_code_entire/sessions.jsonl.gz")

    def trail(self) -> list[Trace]:
        return self.traces("trail/traces.jsonl.gz")

    def synthetic(self, runs: int = 400) -> list[Trace]:
        return synthetic_runs(runs)


def find_data(*, quick: bool = False) -> Data:
    named = os.environ.get(VARIABLE)
    return Data(None if quick else Path(named) if named else BESIDE)


def keep_all(traces: list[Trace], symbols: Symbols) -> list[KeptTrace]:
    """As the dataset keeps them."""
    return [keep(trace, number, symbols) for number, trace in enumerate(traces)]


def _labelled(traces: list[Trace], label: Callable[[Trace], str]) -> list[Trace]:
    return [replace(trace, label=label(trace)) for trace in traces]
