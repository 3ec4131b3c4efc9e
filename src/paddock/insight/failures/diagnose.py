"""From runs to clusters of failures with their causes.

What each run's own lines say splits the failures into classes, what their lines have in common groups those of a
class, and what a group shows over all runs decides its cause.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.decision import Verdict, case_of, decide
from paddock.insight.failures.everyday import everyday_lines
from paddock.insight.failures.evidence import evidence_for
from paddock.insight.failures.failed import ended_at, has_failed
from paddock.insight.failures.likeness import Features, alike
from paddock.insight.failures.measures import Exposure, measure
from paddock.insight.failures.phrases import SignBook
from paddock.insight.failures.places import by_place, resource_at
from paddock.insight.failures.reading import USUAL, Reading, read_run
from paddock.insight.failures.salience import Reader, book
from paddock.insight.failures.sources import Sources
from paddock.insight.failures.stubborn import stubborn_troubles
from paddock.insight.failures.templates import Templates
from paddock.insight.failures.unexplained import Unexplained
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.trace import KeptTrace, Trace

Refusals: TypeAlias = Callable[[KeptTrace], Sequence[int]]
"""The HTTP statuses of the model calls of a run that were refused, oldest first."""

ID_CHARS = 7


def diagnose(
    runs: Sequence[KeptTrace], *, refusals: Refusals | None = None, signs: SignBook | None = None
) -> tuple[Cluster, ...]:
    """Every failed run is in exactly one cluster; the others say how often something could have failed. The largest
    cluster is first. The order of the runs does not matter. `signs` are others than Paddock's own."""
    runs = sorted(runs, key=lambda kept: kept.key)
    readings = _read(runs, refusals, Reader(book() if signs is None else signs))
    exposure = Exposure(runs)
    by_class: dict[tuple[FailureCause, bool], list[Reading]] = defaultdict(list)
    for reading in readings:
        by_class[_credible(reading), reading.never_ran].append(reading)
    unexplained = Unexplained(runs)
    clusters = [
        _cluster(group, exposure)
        for (cause, _), members in by_class.items()
        for group in _groups(members, cause, unexplained)
    ]
    return tuple(sorted(_with_unique_ids(clusters), key=lambda cluster: (-len(cluster.runs), cluster.id)))


def _credible(reading: Reading) -> FailureCause:
    return reading.cause if reading.root is None or reading.strength >= USUAL else FailureCause.UNKNOWN


def _read(runs: Sequence[KeptTrace], refusals: Refusals | None, reader: Reader) -> list[Reading]:
    sources, everyday, stubborn = Sources(runs), everyday_lines(runs, reader), stubborn_troubles(runs, reader)
    return [
        read_run(
            kept,
            reader,
            refusals(kept) if refusals is not None else (),
            tells_steps=sources.would_tell(kept),
            everyday=everyday,
            stubborn=stubborn,
        )
        for kept in runs
        if has_failed(kept)
    ]


def _groups(members: Sequence[Reading], cause: FailureCause, unexplained: Unexplained) -> list[list[Reading]]:
    groups = by_place([[members[number] for number in group] for group in alike(_features(members))])
    if cause is FailureCause.DEPENDENCY:
        return _by_environment(groups)
    if cause is FailureCause.UNKNOWN and not members[0].never_ran:
        return unexplained.regroup(groups)
    return groups


def _by_environment(groups: Sequence[list[Reading]]) -> list[list[Reading]]:
    """What is missing for one task alone is one gap in its environment, whichever program notices it first."""
    found: dict[tuple[object, ...], list[Reading]] = defaultdict(list)
    for number, group in enumerate(groups):
        tasks = {reading.kept.trace.task for reading in group}
        found[(tasks.pop(),) if len(tasks) == 1 and "" not in tasks else (number,)] += group
    return list(found.values())


def _features(members: Sequence[Reading]) -> list[Features]:
    templates = Templates(line.template for reading in members for line in reading.lines)
    return [
        Features(
            reading.root.key if reading.root is not None else "",
            frozenset(templates.of(template) for template in reading.templates),
        )
        for reading in members
    ]


def _cluster(readings: list[Reading], exposure: Exposure) -> Cluster:
    readings.sort(key=lambda reading: (ended_at(reading.kept.trace) or 0.0, reading.kept.key))
    kept = [reading.kept for reading in readings]
    traces = [one.trace for one in kept]
    measures = measure(kept, exposure)
    verdict = decide(case_of(readings, measures))
    sign, title = _sign(readings, verdict)
    ends = [at for trace in traces if (at := ended_at(trace)) is not None]
    symptom_key = _usual(reading.symptom_key for reading in readings)
    return Cluster(
        id=_id_of(readings, verdict, sign, symptom_key),
        symptom=next(reading.symptom for reading in readings if reading.symptom_key == symptom_key),
        cause=verdict.cause,
        title=title,
        because=verdict.because,
        runs=tuple(trace.run for trace in traces),
        keys=tuple(one.key for one in kept),
        tasks=tuple(sorted({trace.task for trace in traces} - {""})),
        evidence=evidence_for(readings, verdict, measures),
        confidence=verdict.confidence,
        tied=verdict.tied,
        resource=_usual(found for reading in readings if (found := resource_at(reading))),
        sign=sign,
        engine=_common(traces, "engine"),
        model=_common(traces, "model"),
        host=_common(traces, "host"),
        account=_common(traces, "account"),
        labels=tuple(sorted({trace.label for trace in traces} - {""})),
        first=min(ends, default=None),
        last=max(ends, default=None),
        measures=measures,
    )


def _usual(values: Iterable[str]) -> str:
    """The most frequent, of those the first by the alphabet; empty if there is none."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value), default="")


def _sign(readings: Sequence[Reading], verdict: Verdict) -> tuple[str, str]:
    """Its name and what people call it."""
    wanted = verdict.because
    signs = [
        (reading.root.sign.name, reading.root.sign.title)
        for reading in readings
        if reading.root is not None and reading.root.sign is not None and reading.root.sign.cause is wanted
    ]
    counts = Counter(signs)
    return min(counts, key=lambda one: (-counts[one], one), default=("", ""))


def _common(traces: Sequence[Trace], name: str) -> str:
    values = {getattr(trace, name) for trace in traces}
    return str(values.pop()) if len(values) == 1 else ""


def _id_of(readings: Sequence[Reading], verdict: Verdict, sign: str, symptom_key: str) -> str:
    """By the line at the root that most of them have."""
    root = _usual(reading.root.key for reading in readings if reading.root is not None)
    if verdict.cause is FailureCause.TASK and not root:
        symptom_key = f"{readings[0].kept.trace.task}\0{symptom_key}"
    return _digest(f"{verdict.because.value}\0{sign}\0{root or symptom_key}")


def _digest(text: str) -> str:
    return f"f{sha256(text.encode('utf-8', 'replace')).hexdigest()[:ID_CHARS]}"


def _with_unique_ids(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Where several have the same line at their root, the earliest keeps the id: what comes later changes nothing."""
    taken: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        taken[cluster.id].append(cluster)
    found: list[Cluster] = []
    ids = set(taken)
    for name, same in taken.items():
        same.sort(key=lambda one: (one.first is None, one.first or 0.0, one.symptom, one.tasks, one.keys))
        found.append(same[0])
        for number, cluster in enumerate(same[1:], start=2):
            own = _digest(f"{name}\0{cluster.symptom}\0{cluster.tasks[:1]}")
            found.append(replace(cluster, id=own if own not in ids else _digest(f"{own}\0{number}")))
            ids.add(found[-1].id)
    return found
