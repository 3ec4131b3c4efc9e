"""Spans in batches of bounded size, by the resource that they belong to."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from paddock.insight.exports.spans import Span, Value, resource_of, spans_of
from paddock.insight.trace import Trace

MOST_SPANS = 2_000
"""Of one request. A run with more of them is told in several."""


@dataclass
class ExportTally:
    """`timeless` runs are left out, because of a run without any time there can be no span."""

    runs: int = 0
    steps: int = 0
    calls: int = 0
    spans: int = 0
    timeless: int = 0

    def count(self, trace: Trace) -> None:
        self.runs += 1
        self.steps += len(trace.steps)
        self.calls += len(trace.calls)


@dataclass
class SpanBatch:
    groups: list[tuple[Mapping[str, Value], list[Span]]] = field(default_factory=list)
    size: int = 0

    def add(self, resource: Mapping[str, Value], spans: list[Span]) -> None:
        if self.groups and self.groups[-1][0] == resource:
            self.groups[-1][1].extend(spans)
        else:
            self.groups.append((resource, list(spans)))
        self.size += len(spans)


def span_batches(runs: Iterable[Trace], tally: ExportTally) -> Iterator[SpanBatch]:
    batch = SpanBatch()
    for trace in runs:
        spans = spans_of(trace)
        if not spans:
            tally.timeless += 1
            continue
        tally.count(trace)
        tally.spans += len(spans)
        resource = resource_of(trace)
        while spans:
            room = MOST_SPANS - batch.size
            batch.add(resource, spans[:room])
            spans = spans[room:]
            if batch.size >= MOST_SPANS:
                yield batch
                batch = SpanBatch()
    if batch.size:
        yield batch
