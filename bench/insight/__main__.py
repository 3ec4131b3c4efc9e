"""python -m bench.insight [PART …] [--quick]

Runs what insight says on real runs against its targets. The data is no part of the project: where it is not found, or
PADDOCK_BENCH_DATA does not name it, a part says so and is skipped. `--quick` uses a small synthetic set in its place,
for which no target counts. Exit status 1 if a target is missed.
"""

import argparse
import importlib
import sys
import time

from bench.insight.data import DataAbsent, find_data
from bench.insight.targets import Measured, print_measured, write_measured
from paddock.insight.extra import require_numpy

PARTS: dict[str, str] = {
    "drift": "bench.insight.drift",
    "drift-size": "bench.insight.drift_size",
    "failures": "bench.insight.failures",
    "forecast": "bench.insight.forecast",
    "importing": "bench.insight.importing",
    "keeping": "bench.insight.keeping",
    "exporting": "bench.insight.exporting",
}
"""By name the module, whose `measure(data, quick=…)` takes `bench.insight.data.Data` and tells what it measured."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.insight", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="a small synthetic set: shows that it runs")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        print(f"error: there is no part `{unknown[0]}`\n\nhint: known: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    require_numpy("this benchmark")
    data = find_data(quick=options.quick)
    measured: dict[str, list[Measured]] = {}
    skipped: dict[str, str] = {}
    for name in options.parts or PARTS:
        print(f"\n{name}\n", flush=True)
        started = time.monotonic()
        try:
            measured[name] = importlib.import_module(PARTS[name]).measure(data, quick=options.quick)
        except DataAbsent as absent:
            skipped[name] = str(absent)
            print(f"SKIPPED: {absent}", flush=True)
            continue
        print_measured(measured[name])
        print(f"  ({time.monotonic() - started:.0f} s)", flush=True)
    write_measured(f"insight{'-quick' if options.quick else ''}", dict(measured), skipped)
    return int(not options.quick and any(row.met is False for rows in measured.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
