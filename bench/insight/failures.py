"""Whether failures that are alike are grouped, and whether their causes are right, against labels that were given by
rules written after reading the logs.

All constants of `insight/failures` were chosen on these runs, of one submission of terminal-bench; phrases of troubles
are from the manuals and sources of tools, not from these logs, and `without any phrase` shows what grouping is worth
where none is met. That what was chosen does not hang on single runs is seen by judging each of the five on its own.
"""

import csv
import random
import resource
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb

from bench.insight.data import Data, keep_all
from bench.insight.targets import Measured
from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.phrases import SignBook
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace, Result, Trace

FAILURES = "terminal_bench_lb/failures.jsonl.gz"
LABELS = "terminal_bench_lb/failure_labels.csv"
CAUSES = {
    "dependency": "dependency",
    "infra-network": "network",
    "infra-saturation": "saturation",
    "provider-limit": "rate-limit",
    "rate-limit": "rate-limit",
    "provider-overload": "overload",
    "contention": "contention",
    "task": "task",
    "model": "model",
}
SPOKE_ALL_THE_SAME = "context-overflow"
"""The label of a run without a parsed step whose model did answer: that it was asked too much."""
LEAST_ARI, LEAST_F1, LEAST_NEVER_RAN = 0.90, 0.85, 0.99
FAILED, QUICK_FAILED = 5_000, 300
MOST_SECONDS, MOST_MB = 5.0, 500.0
SPEED_LINES = 60
TROUBLES = (
    "ModuleNotFoundError: No module named '{word}'",
    "connect ECONNREFUSED 10.0.0.{number}:{number}",
    "Error: listen EADDRINUSE: address already in use :::{number}",
    "E: Unable to locate package {word}",
    "429 Too Many Requests for {word}",
    "error: {word} {word} failed with {number}",
    "TypeError: {word} is not a function",
)


def measure(data: Data, *, quick: bool = False) -> list[Measured]:
    if quick:
        return _speed(QUICK_FAILED)
    labels = _labels(data)
    runs = keep_all(data.traces(FAILURES), Symbols())
    fine = {name: label["fine"] for name, label in labels.items()}
    coarse = {name: CAUSES[label["coarse"]] for name, label in labels.items()}
    clusters = diagnose(runs)
    score, each = macro_f1(coarse, _causes(clusters))
    classes = ", ".join(f"{name} {value:.3f}" for name, value in sorted(each.items()))
    by_run = {name: label["run"] for name, label in labels.items()}
    alone = [
        _ari_of(runs, fine, [name for name in by_run if by_run[name] == run]) for run in sorted(set(by_run.values()))
    ]
    wordless = adjusted_rand(fine, _groups(diagnose(runs, signs=SignBook(()))))
    how = f"{len(labels)} labelled failures of {len(runs)}"
    return [
        Measured(
            "agreement of clusters with labels (ARI)", adjusted_rand(fine, _groups(clusters)), "", LEAST_ARI, how=how
        ),
        Measured("the same, the worst of five runs alone", min(alone), how=", ".join(f"{one:.3f}" for one in alone)),
        Measured("the same, without any phrase", wordless),
        Measured("macro-F1 of causes", score, "", LEAST_F1, how=classes),
        *_never_ran(data, labels),
        *_speed(FAILED),
    ]


def adjusted_rand(wanted: Mapping[str, str], found: Mapping[str, str]) -> float:
    """Of the names that both have: 1 for the same groups, about 0 for groups by chance."""
    names = [name for name in wanted if name in found]
    pairs = Counter((wanted[name], found[name]) for name in names)
    rows, columns = Counter(wanted[name] for name in names), Counter(found[name] for name in names)
    both, one, other = (sum(comb(count, 2) for count in counts.values()) for counts in (pairs, rows, columns))
    expected, most = one * other / comb(len(names), 2), (one + other) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def macro_f1(wanted: Mapping[str, str], found: Mapping[str, str]) -> tuple[float, dict[str, float]]:
    """The mean over the classes that are wanted, and each."""
    names = [name for name in wanted if name in found]
    each = {}
    for one in sorted({wanted[name] for name in names}):
        right = sum(wanted[name] == found[name] == one for name in names)
        told = sum((wanted[name] == one) + (found[name] == one) for name in names)
        each[one] = 2 * right / told
    return sum(each.values()) / len(each), each


def _labels(data: Data) -> dict[str, dict[str, str]]:
    with data.path(LABELS).open(newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def _groups(clusters: Sequence[Cluster]) -> dict[str, str]:
    return {run: cluster.id for cluster in clusters for run in cluster.runs}


def _causes(clusters: Sequence[Cluster]) -> dict[str, str]:
    return {run: cluster.cause.value for cluster in clusters for run in cluster.runs}


def _ari_of(runs: Sequence[KeptTrace], fine: Mapping[str, str], names: Sequence[str]) -> float:
    """As if only these had been imported."""
    wanted = {name: fine[name] for name in names}
    return adjusted_rand(wanted, _groups(diagnose([kept for kept in runs if kept.trace.run in wanted])))


def _never_ran(data: Data, labels: Mapping[str, Mapping[str, str]]) -> list[Measured]:
    records = list(data.lines("terminal_bench_lb/mini_swe_agent_steps.jsonl.gz"))
    silent = {record["id"] for record in records if not record["steps"]}
    true = {name for name in silent if labels.get(name, {}).get("fine") != SPOKE_ALL_THE_SAME}
    causes = _causes(diagnose(keep_all(data.mini_swe_agent(), Symbols())))
    told = {name for name, cause in causes.items() if cause == "never-ran"}
    right = len(told & true)
    how = f"{len(true)} of {len(records)} trials never ran, {len(told)} are said to have never run"
    return [
        Measured("never-ran: precision", right / max(1, len(told)), "", LEAST_NEVER_RAN, how=how),
        Measured("never-ran: recall", right / max(1, len(true)), "", LEAST_NEVER_RAN),
    ]


def _speed(count: int) -> list[Measured]:
    """Failures of which no two are alike, beside as many runs that did well: the most that there can be to compare."""
    runs = keep_all(_synthetic(count), Symbols())
    started = time.process_time()
    clusters = diagnose(runs)
    seconds = time.process_time() - started
    how = f"{count:,} failures with {SPEED_LINES} lines each, no two alike: {len(clusters):,} clusters"
    limit = MOST_SECONDS if count == FAILED else None
    return [
        Measured(f"seconds to group {count:,} failures", seconds, "s", high=limit, how=how),
        Measured("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", high=MOST_MB),
    ]


def _synthetic(count: int) -> list[Trace]:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(3_000)]

    def line() -> str:
        if draw.random() > 0.1:
            return " ".join(draw.choices(words, k=draw.randint(4, 14)))
        return draw.choice(TROUBLES).format(word=draw.choice(words), number=draw.randint(1, 9_999))

    return [
        Trace(
            run=f"r{number}",
            task=f"task-{number % 700}",
            engine=f"engine-{number % 5}",
            host=f"host-{number % 20}",
            started=1e9 + number * 30.0,
            ended=1e9 + number * 30.0 + 600.0,
            outcome=Result.FAILURE if number < count else Result.SUCCESS,
            tail="\n".join(line() for _ in range(SPEED_LINES)) if number < count else "",
        )
        for number in range(2 * count)
    ]
