"""python -m bench.admission [--seeds 3] [--hours 2] [--only NAME] [--json]

Simulates admission against fixed numbers of agents, AIMD and Gradient2. Exit status 1 if a goal is missed by a
regime that is held to it.
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
LEAST_WORK, MOST_REJECTED, SETTLED, RESETTLED, MOST_VARIATION = 0.90, 0.02, 180.0, 300.0, 0.20


@dataclass(frozen=True, slots=True)
class Row:
    regime: str
    policy: str
    share_of_best: float
    score: Score
    missed: tuple[str, ...]


def measure(regime: Regime, seeds: list[int]) -> list[Row]:
    agents, best = best_fixed(regime, seeds)
    rows = [_row(regime, f"best fixed ({agents})", best, best)]
    for name in ("fixed 1000", "AIMD", "Gradient2", "paddock"):
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
    if regime.halved_at is not None:
        late = f"settled again after {_seconds(result.resettled_seconds)} > {RESETTLED:.0f} s"
        goals[late] = _soon(result.resettled_seconds, RESETTLED)
    return tuple(goal for goal, reached in goals.items() if not reached)


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
        f"{row.regime:<26} {row.policy:<18} {row.share_of_best:>6.0%} {result.rejected_share:>9.1%} "
        f"{settled:>15} {result.variation:>6.2f} {result.died:>7.0f}{verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.admission", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="one seed")
    options = parser.parse_args()
    seeds = list(range(1, (1 if options.quick else options.seeds) + 1))
    chosen = [regime for regime in REGIMES if options.only in regime.name]
    rows: list[Row] = []
    if not options.json:
        print(f"{'regime':<26} {'policy':<18} {'work':>6} {'rejected':>9} {'settled':>15} {'cv':>6} {'lost':>7}")
    for regime in chosen:
        halved_at = None if regime.halved_at is None else options.hours * 1800.0
        started = time.perf_counter()
        measured = measure(replace(regime, hours=options.hours, halved_at=halved_at), seeds)
        rows += measured
        if not options.json:
            print("\n".join(_line(row) for row in measured))
            print(f"  {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    OUT.mkdir(exist_ok=True)
    (OUT / "admission.json").write_text(json.dumps([asdict(row) for row in rows], indent=2))
    return int(any(row.missed for row in rows if row.policy == "paddock"))


if __name__ == "__main__":
    sys.exit(main())
