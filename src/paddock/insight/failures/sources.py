"""What the runs of one source tell, so that it can be known what is missing in one of them."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from paddock.insight.trace import KeptTrace

TOLD_SHARE = 0.1
"""Of a source that tells the steps of so many runs, a run without steps made none; of others it only is not known."""
SHOWN_SHARE = 0.5
"""Where so many of the runs without steps show their output or an error, one that shows none was not looked at."""

SPENT_SHARE = 0.5
"""A source that tells the tokens of so many runs tells those of each that used any."""

Source: TypeAlias = tuple[str, str]


class Sources:
    """Runs of one engine tell the same about themselves, and without its name runs of one batch."""

    def __init__(self, runs: Iterable[KeptTrace]) -> None:
        self._runs: Counter[Source] = Counter()
        self._told: Counter[Source] = Counter()
        self._shown: Counter[Source] = Counter()
        self._spent: Counter[Source] = Counter()
        for kept in runs:
            source = _source_of(kept)
            self._runs[source] += 1
            self._told[source] += kept.step_count > 0
            self._spent[source] += kept.trace.usage is not None and kept.trace.usage.output > 0
            self._shown[source] += not kept.step_count and _shows(kept)

    def would_tell(self, kept: KeptTrace) -> bool:
        """Whether there would be steps or tokens of it, if it had made any."""
        source = _source_of(kept)
        if self._spent[source] > SPENT_SHARE * self._runs[source]:
            return True
        if self._told[source] < TOLD_SHARE * self._runs[source] or not self._told[source]:
            return False
        silent = self._runs[source] - self._told[source]
        return _shows(kept) or self._shown[source] < SHOWN_SHARE * silent


def _shows(kept: KeptTrace) -> bool:
    return bool(kept.trace.tail or kept.trace.error)


def _source_of(kept: KeptTrace) -> Source:
    return (kept.trace.engine, "") if kept.trace.engine else ("", kept.trace.label)
