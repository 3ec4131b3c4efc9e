"""Measuring side by side: subjects take turns, so that a busy moment hits all of them, and medians count."""

import gc
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

OUT = Path(__file__).parent / "out"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a value, what it is measured against, their ratio, and the goal for the ratio.

    `goal` is a ratio that must be reached (`at_least`) or must not be exceeded; None: for information.
    """

    name: str
    value: float
    unit: str
    against: str = ""
    reference: float | None = None
    goal: float | None = None
    at_least: bool = False

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference if self.reference else None

    @property
    def met(self) -> bool | None:
        measured = self.ratio if self.reference is not None else self.value
        if self.goal is None or measured is None:
            return None
        return measured >= self.goal if self.at_least else measured <= self.goal


def take_turns(subjects: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each subject's measure over `rounds` rounds, after one that does not count."""
    for run in subjects.values():
        run()
    seen: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            gc.collect()
            seen[name].append(run())
    return {name: median(values) for name, values in seen.items()}


def wall_seconds(argv: Sequence[str], directory: Path) -> float:
    """With Python as a user has it: variables such as PYTHONDONTWRITEBYTECODE would slow every start down."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    started = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, cwd=directory, env=environment)
    return time.perf_counter() - started


def print_table(title: str, lines: Sequence[Line]) -> None:
    print(f"\n{title}\n")
    print(f"{'what':<52} {'value':>12}  {'ratio':>7}  {'goal':>8}   against")
    for line in lines:
        ratio = f"{line.ratio:.2f}x" if line.ratio is not None else ""
        sign = ">=" if line.at_least else "<="
        goal = f"{sign} {line.goal:g}" if line.goal is not None else ""
        verdict = {True: "ok", False: "MISSED", None: ""}[line.met]
        print(
            f"{line.name:<52} {_number(line.value):>9} {line.unit:<4} {ratio:>5}  {goal:>8}   {line.against} {verdict}"
        )


def write_json(name: str, lines: Sequence[Line], **more: object) -> Path:
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.json"
    rows = [{**asdict(line), "ratio": line.ratio, "met": line.met} for line in lines]
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    path.write_text(json.dumps({"schema": 1, "machine": machine, "lines": rows, **more}, indent=2) + "\n")
    return path


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
