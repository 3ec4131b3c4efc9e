"""Clusters of failures as text: what is seen first, what lies beneath it nested in it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.views.insight.failures import ClusterView, FailuresView

MOST_CAUSES = 6
MOST_EVIDENCE = 7
MOST_TASKS = 4
_COLOURS = {
    "never-ran": "red",
    "dependency": "yellow",
    "contention": "yellow",
    "saturation": "yellow",
    "network": "cyan",
    "rate-limit": "cyan",
    "overload": "cyan",
    "task": "magenta",
    "model": "magenta",
}
_WIDEST = 100


def failure_lines(view: FailuresView, limit: int) -> list[str]:
    """`limit` is how many symptoms are told."""
    if not view.failed:
        return [f"none of {plural(view.runs, 'run')} failed"]
    lines = [_summary(view)]
    if view.cut:
        lines.append(paint(f"only the latest {view.runs:,} runs are looked at: use --since or --label", dim=True))
    symptoms = _by_symptom(view.clusters)
    for symptom, clusters in symptoms[:limit]:
        lines += ["", *_symptom(symptom, clusters)]
    if rest := symptoms[limit:]:
        runs = sum(_runs(clusters) for _, clusters in rest)
        lines += ["", f"… and {plural(len(rest), 'symptom')} of {plural(runs, 'run')}: use --limit {len(symptoms)}"]
    return lines


def _summary(view: FailuresView) -> str:
    counts: dict[str, int] = defaultdict(int)
    for cluster in view.clusters:
        counts[cluster.cause] += len(cluster.runs)
    ranked = sorted(counts.items(), key=lambda one: (one[0] == "unknown", -one[1], one[0]))
    told = ", ".join(f"{cause} {count:,}" for cause, count in ranked)
    runs = f"{view.failed:,} of {plural(view.runs, 'run')} failed"
    return paint(f"{runs}, in {plural(len(view.clusters), 'cluster')}: {told}", bold=True)


def _by_symptom(clusters: Iterable[ClusterView]) -> list[tuple[str, list[ClusterView]]]:
    """The symptom that most runs show first."""
    by_symptom: dict[str, list[ClusterView]] = defaultdict(list)
    for cluster in clusters:
        by_symptom[cluster.symptom].append(cluster)
    return sorted(by_symptom.items(), key=lambda one: (-_runs(one[1]), one[0]))


def _runs(clusters: Iterable[ClusterView]) -> int:
    return sum(len(cluster.runs) for cluster in clusters)


def _symptom(symptom: str, clusters: list[ClusterView]) -> Iterator[str]:
    wide = min(width(), _WIDEST)
    count = f"×{_runs(clusters):,}"
    yield f"{paint(cut(symptom, wide - len(count) - 2), bold=True)}  {count}"
    for cluster in clusters[:MOST_CAUSES]:
        yield from _cluster(cluster, wide)
    if more := clusters[MOST_CAUSES:]:
        yield f"  … and {_runs(more):,} more, in {plural(len(more), 'cluster')}: use --json"


def _cluster(cluster: ClusterView, wide: int) -> Iterator[str]:
    cause = paint(cluster.cause, _COLOURS.get(cluster.cause))
    parts = [f"{cause} ×{len(cluster.runs):,}", _named(cluster), *cluster.causes, paint(cluster.id, dim=True)]
    yield "  " + "  ".join(filter(None, parts))
    yield paint(cut(f"    {_where(cluster)}", wide), dim=True)
    for one in [one for one in cluster.evidence if one.line != cluster.symptom][:MOST_EVIDENCE]:
        mark = "·" if one.where == "runs" else "|"
        yield cut(f"    {mark} {one.line}", wide)
    for words in cluster.done:
        yield from _wrapped("    done: ", words, wide)
    for command in cluster.next:
        yield f"    run: `{cut(command, 300)}`"


def _named(cluster: ClusterView) -> str:
    if cluster.tied:
        return f"either {' or '.join(cluster.tied)}: nobody can tell yet"
    beneath = f"because of {cluster.because}: " if cluster.because not in (cluster.cause, "unknown") else ""
    return beneath + cluster.title if cluster.title else ""


def _where(cluster: ClusterView) -> str:
    tasks = ", ".join(cluster.tasks[:MOST_TASKS])
    more = f" and {len(cluster.tasks) - MOST_TASKS} more" if len(cluster.tasks) > MOST_TASKS else ""
    parts = [plural(len(cluster.tasks), "task") + f" ({tasks}{more})" if cluster.tasks else ""]
    parts += [f"on {cluster.host}" if cluster.host else "", cluster.resource, cluster.engine]
    return " · ".join(filter(None, [_when(cluster), *parts]))


def _when(cluster: ClusterView) -> str:
    """In UTC, as the JSON has it: imported runs are from anywhere."""
    if cluster.first is None or cluster.last is None:
        return ""
    first, last = (at[:16].replace("T", " ") for at in (cluster.first, cluster.last))
    return first if first == last else f"since {first} UTC, last {last[11:] if last[:10] == first[:10] else last}"


def _wrapped(start: str, words: str, wide: int) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(words, wide, initial_indent=start, subsequent_indent=" " * len(start))
