"""Runs of the dataset one after the other, as they may leave the machine: bounded, and without what looks secret."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from paddock.core.redaction import redact
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.selection import EVERYTHING, Selection
from paddock.insight.trace import Step, Trace

CACHED_TEXTS = 20_000
CACHED_CHARS = 200

Redact = Callable[[str], str]


def redactor(secrets: frozenset[str]) -> Redact:
    """Short texts, such as the targets of steps, come again and again."""

    @lru_cache(CACHED_TEXTS)
    def short(text: str) -> str:
        return redact(text, secrets)

    return lambda text: short(text) if len(text) <= CACHED_CHARS else redact(text, secrets)


def read_runs(
    dataset: Dataset, where: Selection = EVERYTHING, *, failed: bool | None = None, hide: Redact | None = None
) -> Iterator[Trace]:
    """With their steps and calls. A run that is forgotten meanwhile is left out."""
    for key in dataset.keys(where, failed=failed):
        try:
            trace = dataset.whole(key)
        except LookupError:
            continue
        yield trace if hide is None else redacted(trace, hide)


def redacted(trace: Trace, hide: Redact) -> Trace:
    """Names stay: of tasks, agents, engines, models and hosts."""
    return replace(
        trace,
        error=hide(trace.error),
        tail=hide(trace.tail),
        steps=tuple(_step(step, hide) for step in trace.steps),
        source=hide(trace.source),
        attributes={name: hide(value) for name, value in trace.attributes.items()},
    )


def _step(step: Step, hide: Redact) -> Step:
    target = hide(step.target) if step.target else ""
    error = hide(step.error) if step.error else ""
    return step if target == step.target and error == step.error else replace(step, target=target, error=error)
