"""The lines that a cause rests on."""

from collections import defaultdict
from collections.abc import Sequence

from paddock.insight.failures.cluster import Evidence, Measures
from paddock.insight.failures.decision import Verdict
from paddock.insight.failures.reading import Reading
from paddock.insight.failures.salience import Salient
from paddock.insight.failures.vocabulary import FailureCause

MOST_LINES = 4
LINE_CHARS = 240
RUNS = "runs"


def evidence_for(readings: Sequence[Reading], verdict: Verdict, measures: Measures) -> tuple[Evidence, ...]:
    """First the rule that decided, then the lines that most of the runs have, and what the runs show together."""
    found = [Evidence(verdict.words, RUNS)] if verdict.words else []
    found += _lines(readings, verdict)
    found += [Evidence(words, RUNS) for words in _numbers(readings, measures)]
    return tuple(found)


def _lines(readings: Sequence[Reading], verdict: Verdict) -> list[Evidence]:
    """Of each template the first; those of the class that was found before others, and no trouble twice before all."""
    seen: dict[str, list[tuple[Reading, Salient]]] = defaultdict(list)
    for reading in readings:
        for template, salient in {line.template: line for line in reading.lines}.items():
            seen[template].append((reading, salient))
    wanted = {verdict.because, *verdict.tied} - {FailureCause.UNKNOWN}

    def weight(template: str) -> tuple[bool, int, int, int, str]:
        _, salient = seen[template][0]
        tells = salient.sign is not None and (salient.sign.cause in wanted or not wanted)
        return (not tells, -salient.strength, -len(seen[template]), -salient.line.place, template)

    ranked = sorted(seen, key=weight)
    first = set({seen[template][0][1].key: template for template in reversed(ranked)}.values())
    chosen = set([template for template in ranked if template in first][:MOST_LINES])
    chosen.update([template for template in ranked if template not in chosen][: MOST_LINES - len(chosen)])
    return [_line(*seen[template][0]) for template in ranked if template in chosen]


def _line(reading: Reading, salient: Salient) -> Evidence:
    text = salient.line.text
    short = text if len(text) <= LINE_CHARS else f"{text[: LINE_CHARS - 1]}…"
    trace = reading.kept.trace
    return Evidence(short, salient.line.where, trace.run, trace.label)


def _numbers(readings: Sequence[Reading], measures: Measures) -> list[str]:
    told: list[str] = []
    if measures.recurrence is not None and len(readings) > 1:
        told.append(f"{measures.recurrence:.0%} of other attempts at the same tasks failed alike")
    if measures.burst is not None and measures.burst >= 2:
        told.append(f"{measures.burst:.1f} times as frequent in the densest 15 minutes")
    if measures.all_but_one:
        told.append(f"all but one failed in {measures.all_but_one} of {measures.groups} groups of concurrent attempts")
    if measures.backoff is not None and measures.backoff >= 0.1:
        told.append(f"{measures.backoff:.0%} of the time was spent waiting for the provider")
    for lift in measures.lifts[:2]:
        told.append(f"{lift.failures} of {lift.runs} runs of {lift.facet} {lift.value}: {lift.lift:.1f} times as often")
    return told
