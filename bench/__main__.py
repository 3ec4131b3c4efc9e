"""Every benchmark, one after the other: `python -m bench [NAME …] [--quick]`.

Each prints a table of ratios against a baseline of the same run and writes bench/out/NAME.json. They run one at
a time because they measure; an idle machine gives the better numbers. A missed goal is said, not hidden: the
exit status is 1 if a benchmark failed or missed one. `--quick` takes a few seconds each, writes NAME-quick.json and
shows that they run: its sizes are too small for any goal, so none counts.
"""

import argparse
import subprocess
import sys
import time

SUITES = {
    "log": "bench.log",
    "spawn": "bench.spawn",
    "fleet": "bench.fleet",
    "queue": "bench.queue.simulate",
    "queue-real": "bench.queue.real",
    "simulation": "bench.simulation",
    "admission": "bench.admission",
    "admission-real": "bench.admission_real",
    "review": "bench.review",
    "web": "bench.web",
    "terminal": "bench.terminal",
    "talk": "bench.talk",
    "insight": "bench.insight",
    "grow": "bench.grow",
}
_AsWritten = argparse.RawDescriptionHelpFormatter


def main() -> int:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__, formatter_class=_AsWritten)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SUITES))
    told, flags = parser.parse_known_args()
    names = told.names or list(SUITES)
    if unknown := [name for name in names if name not in SUITES]:
        print(f"error: there is no benchmark `{unknown[0]}`\n\nhint: known: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    failed = []
    for name in names:
        print(f"\n== {name} ==\n", flush=True)
        started = time.monotonic()
        done = subprocess.run([sys.executable, "-m", SUITES[name], *flags], check=False)
        print(f"\n({name}: {time.monotonic() - started:.0f} s)", flush=True)
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed or missed a goal: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
