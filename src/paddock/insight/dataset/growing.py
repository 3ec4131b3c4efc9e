"""Runs that grow: what is kept of one whose steps go into the dataset as they come."""

from collections import deque
from collections.abc import Sequence

from paddock.insight.paths import CLOSING_STEPS, ODD, Symbols, symbol_of
from paddock.insight.trace import KeptTrace, ModelCall, Result, Step, Trace

MOST_STEPS = 50_000
MOST_CALLS = 50_000
"""Of one run that grows; what comes after is left out."""


class GrowingTrace:
    """What is kept of a run whose steps are in the dataset already and grow there."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.step_count = 0
        self.call_count = 0
        self._path: list[int] = []
        self._odd = 0
        self._closing: deque[Step] = deque(maxlen=CLOSING_STEPS)

    def room(self, steps: Sequence[Step], calls: Sequence[ModelCall]) -> tuple[Sequence[Step], Sequence[ModelCall]]:
        """As many of them as there is room for."""
        return steps[: max(0, MOST_STEPS - self.step_count)], calls[: max(0, MOST_CALLS - self.call_count)]

    def extend(self, steps: Sequence[Step], calls: Sequence[ModelCall], symbols: Symbols) -> None:
        self.step_count += len(steps)
        self.call_count += len(calls)
        self._closing.extend(steps)
        for step in steps:
            code = symbols.code(symbol_of(step))
            if not self._path or self._path[-1] != code:
                self._path.append(code)
            self._odd += not step.activity or step.activity.startswith(ODD)

    def kept(self, trace: Trace) -> KeptTrace:
        closing = () if trace.outcome is Result.SUCCESS else tuple(self._closing)
        return KeptTrace(self.key, trace, tuple(self._path), self.step_count, self._odd, closing)
