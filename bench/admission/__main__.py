"""python -m bench.admission [--held-out] [--seeds 3] [--hours 2] [--only NAME] [--json]

Simulates admission against fixed numbers of agents, AIMD and Gradient2. Exit status 1 if a goal is missed.
`--held-out` runs other regimes with other seeds, none of which a constant was chosen by, against fixed numbers only.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace

from bench.admission.measure import Score, best_fixed, known_account, run_policy, score
from bench.admission.policies import Aimd, Fixed, Gradient2, Paddock
from bench.admission.world import Policy, Regime
from bench.measure import OUT

REGIMES = (
    Regime("request-bound", requests=200),
    Regime("token-bound", input=1e6),
    Regime("rejects charged", requests=200, charges_rejects=True),
    Regime("limit halved", input=1e6, halved_at=3600.0),
    Regime("host-bound", requests=5000, cores=32),
    Regime("no headers, known account", requests=200, shows_headers=False),
    Regime("no headers, new account", requests=200, shows_headers=False),
)
HELD_OUT = (
    Regime("small account", requests=45),
    Regime("tokens, short agents", input=6e5, calls_median=8),
    Regime("12 cores, long tools", requests=5000, cores=12, tool_scale=2.0),
    Regime("no headers, 35 a minute", requests=35, shows_headers=False),
    Regime("no headers, 700 a minute", requests=700, shows_headers=False),
    Regime("no headers, 10 s stored", requests=150, shows_headers=False, stored_minutes=1 / 6),
    Regime("no headers, 3 min stored", requests=150, shows_headers=False, stored_minutes=3.0),
    Regime("no headers, long tools", requests=120, shows_headers=False, tool_scale=6.0, calls_median=40),
    Regime("no headers, short agents", requests=300, shows_headers=False, calls_median=6),
    Regime("no headers, halved, restored", requests=300, shows_headers=False, halved_at=2400.0, restored_at=4800.0),
    Regime("no headers, 6 at once", at_once=6, shows_headers=False),
    Regime("no headers, 40 at once", at_once=40, shows_headers=False),
)
FIRST_HELD_OUT_SEED = 101
LEAST_WORK, MOST_REJECTED, SETTLED, RESETTLED, MOST_VARIATION = 0.90, 0.02, 180.0, 300.0, 0.20


@dataclass(frozen=True, slots=True)
class Row:
    regime: str
    policy: str
    share_of_best: float
    score: Score
    missed: tuple[str, ...]


def measure(regime: Regime, seeds: list[int], policies: tuple[str, ...]) -> list[Row]:
    agents, best = best_fixed(regime, seeds)
    rows = [_row(regime, f"best fixed ({agents})", best, best)]
    if best.rejected_share > MOST_REJECTED:
        agents, gentle = best_fixed(regime, seeds, MOST_REJECTED)
        rows.append(_row(regime, f"gentle fixed ({agents})", gentle, best))
    for name in policies:
        outcomes = [run_policy(regime, _policy(name, regime, seed), seed) for seed in seeds]
        rows.append(_row(regime, name, score(regime, outcomes), best))
    return rows


def missed_goals(regime: Regime, share_of_best: float, result: Score) -> tuple[str, ...]:
    goals = {
        f"work {share_of_best:.0%} < {LEAST_WORK:.0%}": share_of_best >= LEAST_WORK,
        f"rejected {result.rejected_share:.1%} > {MOST_REJECTED:.0%}": result.rejected_share <= MOST_REJECTED,
        f"settled after {_seconds(result.settled_seconds)} > {SETTLED:.0f} s": _soon(result.settled_seconds, SETTLED),
        f"cv {result.variation:.2f} > {MOST_VARIATION}": result.variation <= MOST_VARIATION,
    }
    if result.resettled_seconds is not None or regime.halved_at is not None:
        late = f"settled again after {_seconds(result.resettled_seconds)} > {RESETTLED:.0f} s"
        goals[late] = _soon(result.resettled_seconds, RESETTLED)
    return tuple(goal for goal, reached in goals.items() if not reached)


def _lasting(regime: Regime, hours: float) -> Regime:
    """The regime over so many hours instead of its own; what happens in it happens as much earlier or later."""
    scale = hours / regime.hours
    halved, restored = (None if at is None else at * scale for at in (regime.halved_at, regime.restored_at))
    return replace(regime, hours=hours, halved_at=halved, restored_at=restored)


def _policy(name: str, regime: Regime, seed: int) -> Policy:
    match name:
        case "fixed 1000":
            return Fixed(1000)
        case "AIMD":
            return Aimd()
        case "Gradient2":
            return Gradient2()
        case _:
            known = known_account(regime, seed) if regime.name.endswith("known account") else None
            return Paddock(regime.cores, known)


def _row(regime: Regime, name: str, result: Score, best: Score) -> Row:
    share = result.work / max(1.0, best.work)
    return Row(regime.name, name, share, result, missed_goals(regime, share, result))


def _soon(seconds: float | None, limit: float) -> bool:
    return seconds is not None and seconds <= limit


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f} s"


def _line(row: Row) -> str:
    result = row.score
    settled = _seconds(result.settled_seconds)
    if result.resettled_seconds is not None:
        settled += f" / {_seconds(result.resettled_seconds)}"
    verdict = "" if row.policy != "paddock" else "  ok" if not row.missed else "  MISSED " + "; ".join(row.missed)
    return (
        f"{row.regime:<28} {row.policy:<18} {row.share_of_best:>6.0%} {result.rejected_share:>9.1%} "
        f"{settled:>15} {result.variation:>6.2f} {result.died:>7.0f}{verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.admission", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="one regime for six minutes: shows that it runs")
    parser.add_argument("--held-out", action="store_true", help="regimes and seeds nothing was tuned on")
    options = parser.parse_args()
    first = FIRST_HELD_OUT_SEED if options.held_out else 1
    seeds = list(range(first, first + (1 if options.quick else options.seeds)))
    hours = 0.1 if options.quick else options.hours
    policies = ("paddock",) if options.held_out else ("fixed 1000", "AIMD", "Gradient2", "paddock")
    chosen = [regime for regime in (HELD_OUT if options.held_out else REGIMES) if options.only in regime.name]
    chosen = chosen[:1] if options.quick else chosen
    rows: list[Row] = []
    if not options.json:
        print(f"{'regime':<28} {'policy':<18} {'work':>6} {'rejected':>9} {'settled':>15} {'cv':>6} {'lost':>7}")
    for regime in chosen:
        started = time.perf_counter()
        measured = measure(_lasting(regime, hours), seeds, policies)
        rows += measured
        if not options.json:
            print("\n".join(_line(row) for row in measured))
            print(f"  {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    OUT.mkdir(exist_ok=True)
    name = f"admission{'-held-out' if options.held_out else ''}{'-quick' if options.quick else ''}"
    (OUT / f"{name}.json").write_text(json.dumps([asdict(row) for row in rows], indent=2))
    return int(not options.quick and any(row.missed for row in rows if row.policy == "paddock"))


if __name__ == "__main__":
    sys.exit(main())
