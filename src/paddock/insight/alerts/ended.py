"""The runs that have ended lately, as the rules of alerts look at them: small, in memory, and in the order of time."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paddock.core.tasks.vocabulary import Outcome
from paddock.core.trace import clip, one_line
from paddock.insight.failures.failed import has_failed
from paddock.insight.trace import CostSource, EndState, KeptTrace, Result

REMEMBERED_SECONDS = 3 * 86_400.0
MOST_REMEMBERED = 20_000
SYMPTOM_CHARS = 120

_NOT_ITS_DOING = frozenset({EndState.NEVER_RAN, EndState.THROTTLED, EndState.OVERLOADED})
_NOBODYS_DOING = frozenset({Outcome.NO_SPACE.value, Outcome.LOST.value, Outcome.AUTH.value})


@dataclass(frozen=True, slots=True)
class EndedRun:
    """`lacked`: it did not get what it needs to work, as far as its end tells; a cause may say so, too. `symptom` is
    what its failure looks like. `cost` is None where nobody knows. `seen` is when the rules first looked at it."""

    run: str
    key: int
    task: str
    work: str
    agent: str
    engine: str
    model: str
    host: str
    account: str
    started: float
    ended: float
    failed: bool
    judged: bool
    lacked: bool
    never_ran: bool
    symptom: str
    cost: float | None
    tokens: int
    steps: int
    odd: int
    unpriced: bool
    labels: tuple[str, ...]
    seen: float


def ended_run(kept: KeptTrace, now: float) -> EndedRun | None:
    """None for one that goes on, or of which nobody knows when it ended."""
    trace = kept.trace
    if trace.ended is None:
        return None
    usage = trace.usage
    tokens = usage.input_total + usage.output if usage is not None else 0
    failed = has_failed(kept)
    outcome = trace.attributes.get("outcome", "")
    labels = trace.attributes.get("labels", "")
    never = trace.end_state is EndState.NEVER_RAN or (failed and trace.model_spoke is False)
    return EndedRun(
        run=trace.run,
        key=kept.key,
        task=trace.attributes.get("task") or trace.task,
        work=trace.kind,
        agent=trace.agent,
        engine=trace.engine,
        model=trace.model,
        host=trace.host,
        account=trace.account,
        started=trace.started if trace.started is not None else trace.ended,
        ended=trace.ended,
        failed=failed,
        judged=failed or trace.outcome is Result.SUCCESS,
        lacked=never or trace.end_state in _NOT_ITS_DOING or outcome in _NOBODYS_DOING,
        never_ran=never,
        symptom=_symptom(kept) if failed else "",
        cost=usage.cost_usd if usage is not None else None,
        tokens=tokens,
        steps=kept.step_count,
        odd=kept.odd_steps,
        unpriced=tokens > 0 and trace.cost_source is CostSource.UNKNOWN,
        labels=tuple(labels.split(",")) if labels else (),
        seen=now,
    )


def _symptom(kept: KeptTrace) -> str:
    """One line, without the numbers that are different each time."""
    said = next((line for line in kept.trace.error.splitlines() if line.strip()), kept.trace.end_state.value)
    masked = "".join("0" if char.isdigit() else char for char in one_line(said, 400))
    while "00" in masked:
        masked = masked.replace("00", "0")
    return clip(f"{kept.trace.end_state.value}: {masked}", SYMPTOM_CHARS)


class EndedRuns:
    """Of three days, and no more than there is room for. A run that is told again takes its own place."""

    def __init__(self) -> None:
        self._by_name: dict[str, EndedRun] = {}
        self._order: list[tuple[float, str]] = []
        self.taken = 0

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, run: str) -> bool:
        return run in self._by_name

    def find(self, run: str) -> EndedRun | None:
        return self._by_name.get(run)

    def take(self, run: EndedRun) -> bool:
        """Whether it is new."""
        known = self._by_name.get(run.run)
        if known is not None:
            self._order.pop(bisect_left(self._order, (known.ended, known.run)))
            run = replace(run, seen=known.seen)
        else:
            self.taken += 1
        self._by_name[run.run] = run
        insort(self._order, (run.ended, run.run))
        if len(self._order) > MOST_REMEMBERED:
            self._drop(len(self._order) - MOST_REMEMBERED)
        return known is None

    def forget_before(self, at: float) -> None:
        self._drop(bisect_left(self._order, (at, "")))

    def since(self, at: float) -> Sequence[EndedRun]:
        """Those that ended then or later, oldest first."""
        return [self._by_name[name] for _, name in self._order[bisect_left(self._order, (at, "")) :]]

    def last(self, count: int, since: float) -> Sequence[EndedRun]:
        """The newest of those that ended since, oldest first."""
        first = max(bisect_left(self._order, (since, "")), len(self._order) - count)
        return [self._by_name[name] for _, name in self._order[first:]]

    def newest(self) -> Sequence[EndedRun]:
        """All of them, newest first."""
        return [self._by_name[name] for _, name in reversed(self._order)]

    def _drop(self, count: int) -> None:
        for _, name in self._order[:count]:
            del self._by_name[name]
        del self._order[:count]
