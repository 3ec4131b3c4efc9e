"""`python -m bench.review [--quick]`: what escapes to main with no reviewer, one and several, and what they cost.

Forty changes, half of them with a planted flaw, go through a real fleet: real git, real processes, scripted agents.
Each kind of flaw has a known chance of being seen in a review, and a review finds what is not there with another;
a turn of work and a review cost a stated amount, which is read from the log again. Seeds are not chosen: 1, 2 and 3.
What has escaped is held against the reviewers' rates (99 of 100 times it lies between the limits) and against the very
dice they throw: there must be no difference. `--quick` is 4 changes, one seed, and says nothing about goals.
"""

import argparse
import signal
import sys
from dataclasses import asdict
from statistics import median

from bench.measure import Line, print_table, write_json
from bench.review import paper
from bench.review.fleets import Arrangement, Pace, run_fleet
from bench.review.results import Result, join

PLAIN, NONE, SILENT = Arrangement(0, approval="human"), Arrangement(0, approval="none"), Arrangement(1, silent=True)
ONE, TWO = Arrangement(1), Arrangement(2)
MORE = (Arrangement(2, "majority"), Arrangement(3), Arrangement(3, "majority"))
FULL_PACE, QUICK_PACE = Pace(40, 8, 1.0, 0.5), Pace(4, 4, 0.0, 0.0)
FULL_SIZES, QUICK_SIZES = paper.Sizes(1000, 15, 2000, 2**20), paper.Sizes(20, 1, 50, 2**14)
SEEDS = (1, 2, 3)


def measure_fleets(
    arrangements: tuple[Arrangement, ...], seeds: tuple[int, ...], pace: Pace
) -> dict[str, list[Result]]:
    """They take turns, so that a busy minute hits all of them."""
    results: dict[str, list[Result]] = {one.name: [] for one in arrangements}
    for seed in seeds:
        for one in arrangements:
            results[one.name].append(run_fleet(one, seed, pace))
            print(f"  seed {seed}, {one.name}: {results[one.name][-1].seconds:.0f} s", file=sys.stderr, flush=True)
    return results


def print_results(joined: list[Result]) -> None:
    print(
        f"\n{'reviewers':<22} {'escaped':>8} {'by the rates':>16} {'by the dice':>11} {'on main':>7} {'found':>6} "
        f"{'alarms':>6} {'back':>5} {'vain':>5} {'blocked':>7} {'reviews':>7} {'$/change':>8} {'$/stopped':>9}"
    )
    for one in joined:
        (low, high), counts = one.limits, one.counts
        rates = f"{sum(one.chances):.1f} ({low}-{high})"
        stopped = f"{one.extra_usd / one.stopped:.2f}" if one.stopped else ""
        print(
            f"{one.name:<22} {len(one.unfixed):>4}/{one.defects:<3} {rates:>16} {len(one.foreseen):>11} "
            f"{one.on_main:>7} {counts.found:>6} {counts.alarms:>6} {counts.sent_back:>5} {counts.for_nothing:>5} "
            f"{counts.blocked:>7} {counts.reviews:>7} {one.usd / one.changes:>8.3f} {stopped:>9}"
        )


def fleet_lines(results: dict[str, list[Result]]) -> list[Line]:
    lines = []
    base = median(one.seconds for one in results[NONE.name])
    for name, several in results.items():
        whole = join(several)
        if name == PLAIN.name:
            continue
        low, high = whole.limits
        lines += [
            Line(f"{name}: flaws that escaped", len(whole.unfixed), "", "expected", sum(whole.chances)),
            Line(f"{name}: outside of what the rates allow", float(not low <= len(whole.unfixed) <= high), "", goal=0),
            Line(f"{name}: otherwise than by the dice", whole.otherwise, "", goal=0),
            Line(f"{name}: reviewers' tallies differ from the log by", whole.untold_usd, "$", goal=0.005),
            Line(f"{name}: seconds for all", median(one.seconds for one in several), "s", NONE.name, base),
        ]
    return lines + cpu_lines(results)


def cpu_lines(results: dict[str, list[Result]]) -> list[Line]:
    """Of the daemon itself; its start is in all of them, and in no difference."""
    seconds = {name: median(one.daemon_cpu_seconds for one in several) for name, several in results.items()}
    if SILENT.name not in results:
        return []
    each = 1000 / results[NONE.name][0].changes
    plain = each * seconds[PLAIN.name]
    return [
        Line("daemon's processor time, an attempt", plain, "ms"),
        Line("and its landing", each * (seconds[NONE.name] - seconds[PLAIN.name]), "ms", "an attempt", plain),
        Line("and its review", each * (seconds[SILENT.name] - seconds[NONE.name]), "ms", "an attempt", plain),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="4 changes, one seed: shows that it runs")
    parser.add_argument("--paper", action="store_true", help="only what needs no agents")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    quick = options.quick
    lines = paper.measure(QUICK_SIZES if quick else FULL_SIZES)
    results: dict[str, list[Result]] = {}
    if not options.paper:
        arrangements = (NONE, ONE) if quick else (PLAIN, NONE, SILENT, ONE, TWO, *MORE)
        results = measure_fleets(arrangements, SEEDS[:1] if quick else SEEDS, QUICK_PACE if quick else FULL_PACE)
        print_results([join(several) for name, several in results.items() if name != PLAIN.name])
        lines = [*fleet_lines(results), *lines]
    print_table("The review loop", lines)
    name = f"review{'-paper' if options.paper else ''}{'-quick' if quick else ''}"
    fleets = [asdict(one) for several in results.values() for one in several]
    print(f"\nwritten to {write_json(name, lines, fleets=fleets)}")
    return 0 if quick or all(line.met is not False for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
