"""What is measured, and between which limits it has to lie."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.measure import OUT


@dataclass(frozen=True, slots=True)
class Measured:
    """`low` and `high` are the limits of the target, None for none of that side; with neither it is for information.
    `how` says on which data, and how often."""

    name: str
    value: float
    unit: str = ""
    low: float | None = None
    high: float | None = None
    how: str = ""

    @property
    def met(self) -> bool | None:
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.value >= self.low) and (self.high is None or self.value <= self.high)

    @property
    def target(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{_figure(self.low)} to {_figure(self.high)}"
        if self.low is not None:
            return f">= {_figure(self.low)}"
        return f"<= {_figure(self.high)}" if self.high is not None else ""


def print_measured(rows: Sequence[Measured]) -> None:
    print(f"{'what':<46} {'measured':>12}  {'target':>15}")
    for row in rows:
        verdict = {True: "  ok", False: "  MISSED", None: ""}[row.met]
        print(f"{row.name:<46} {_figure(row.value):>8} {row.unit:<3}  {row.target:>15}{verdict}")
        if row.how:
            print(f"    {row.how}")


def write_measured(name: str, parts: dict[str, Sequence[Measured]], skipped: dict[str, str]) -> None:
    OUT.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    rows = {part: [{**asdict(row), "met": row.met} for row in measured] for part, measured in parts.items()}
    document = {"schema": 1, "machine": machine, "parts": rows, "skipped": skipped}
    (OUT / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
