"""The runs that have ended lately, as the rules of alerts look at them: small, in memory, and in the order of time."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
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
        self._known: dict[str, EndedRun] = {}
        self._places: list[tuple[float, str]] = []
        self._runs: list[EndedRun] = []
        self.taken = 0

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, run: str) -> bool:
        return run in self._known

    def find(self, run: str) -> EndedRun | None:
        return self._known.get(run)

    def take(self, run: EndedRun) -> bool:
        """Whether it is new."""
        known = self._known.get(run.run)
        if known is not None:
            place = bisect_left(self._places, (known.ended, known.run))
            del self._places[place], self._runs[place]
            run = replace(run, seen=known.seen)
        else:
            self.taken += 1
        place = bisect_left(self._places, (run.ended, run.run))
        self._places.insert(place, (run.ended, run.run))
        self._runs.insert(place, run)
        self._known[run.run] = run
        if len(self._runs) > MOST_REMEMBERED:
            self._drop(len(self._runs) - MOST_REMEMBERED)
        return known is None

    def forget_before(self, at: float) -> None:
        self._drop(bisect_left(self._places, (at, "")))

    def since(self, at: float) -> Sequence[EndedRun]:
        """Those that ended then or later, oldest first."""
        return self._runs[bisect_left(self._places, (at, "")) :]

    def last(self, count: int) -> Sequence[EndedRun]:
        """The newest, oldest first."""
        return self._runs[max(0, len(self._runs) - count) :]

    def newest(self) -> Iterable[EndedRun]:
        """All of them, newest first."""
        return reversed(self._runs)

    def _drop(self, count: int) -> None:
        for run in self._runs[:count]:
            del self._known[run.run]
        del self._runs[:count], self._places[:count]
