"""How long agents usually take from one step to the next, by what the step was."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from paddock.insight.trace import Step

KEPT_GAPS = 1_000
"""Of each activity, the newest."""
MOST_ACTIVITIES = 500
FEWEST_GAPS = 100
"""Of fewer, the highest of a hundred is not known."""
UNKNOWN_TIMES = 3.0
"""While that is not known, an agent may take so many times as long."""


class GapBook:
    def __init__(self) -> None:
        self._gaps: dict[str, deque[float]] = {}
        self._all: deque[float] = deque(maxlen=KEPT_GAPS)
        self._highest: dict[str, float | None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def learn(self, steps: Sequence[Step]) -> None:
        """From a run that has ended."""
        for step, following in pairwise(steps):
            if step.at is None or following.at is None or step.agent != following.agent or step.turn != following.turn:
                continue
            gap = following.at + (following.seconds or 0.0) - step.at - (step.seconds or 0.0)
            if gap < 0.0:
                continue
            self._all.append(gap)
            if step.activity in self._gaps or len(self._gaps) < MOST_ACTIVITIES:
                self._gaps.setdefault(step.activity, deque(maxlen=KEPT_GAPS)).append(gap)
        self._highest.clear()

    def usual(self, activity: str) -> float | None:
        """What 99 of 100 such steps stay below; that of all steps where too few such are known, None where of those,
        too."""
        if activity not in self._highest:
            found = self._gaps.get(activity, ())
            self._highest[activity] = _p99(found if len(found) >= FEWEST_GAPS else self._all)
        return self._highest[activity]

    def patience(self, activity: str, least: float) -> float:
        """How long nothing may be seen of an agent after such a step, at least `least` seconds."""
        usual = self.usual(activity)
        return least * UNKNOWN_TIMES if usual is None else max(least, usual)


def _p99(gaps: Sequence[float] | deque[float]) -> float | None:
    if len(gaps) < FEWEST_GAPS:
        return None
    return sorted(gaps)[-1 - len(gaps) // 100]
