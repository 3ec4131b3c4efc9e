"""A run that is put together from the records of a transcript, in the order in which they come.

What is kept does not grow without bound. The use of tokens is counted once for each message of the model, however many
records repeat it: the largest figure that any of them has.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.trace import TokenUsage, clip
from paddock.insight.activities import Activity, activity_of
from paddock.insight.formats.bounds import (
    MOST_CALLS,
    MOST_STEPS,
    STEPS_LEFT_OUT,
    bounded_attributes,
    name_text,
    plain_text,
)
from paddock.insight.trace import (
    ERROR_CHARS,
    NAME_CHARS,
    STEP_ERROR_CHARS,
    TAIL_LINES,
    CostSource,
    EndState,
    ModelCall,
    Result,
    Step,
    StepStatus,
    Trace,
)

LINE_CHARS = 400
QUIET_LINES = 10
"""As many lines are kept of what a tool said that did not fail."""


@dataclass
class RunAssembly:
    """`told_usage` is the engine's own total, which then counts instead of the sum of its messages. `ends_itself`: a
    whole transcript shows every call of the model, so that one without any never ran. `is_working`: it is in the middle
    of something. `was_asked`: a model was called, whether it answered or not. `is_sorted` is False where sub-agents
    were recorded elsewhere. Files are named from `folder`."""

    engine: str = ""
    run: str = ""
    task: str = ""
    model: str = ""
    engine_version: str = ""
    ends_itself: bool = False
    outcome: Result = Result.UNKNOWN
    end_state: EndState | None = None
    error: str = ""
    told_usage: TokenUsage | None = None
    told_cost: float | None = None
    reasoning: int | None = None
    attributes: dict[str, object] = field(default_factory=dict)
    started: float | None = None
    ended: float | None = None
    is_working: bool = False
    was_asked: bool = False
    is_sorted: bool = True
    folder: str = ""

    def __post_init__(self) -> None:
        self._steps: list[Step] = []
        self._left_out = 0
        self._open: dict[str, int] = {}
        self._calls: dict[str, ModelCall] = {}
        self._refusals: list[ModelCall] = []
        self._reasoning: dict[str, int] = {}
        self._waited: float | None = None
        self._first: str | None = None
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    @property
    def is_empty(self) -> bool:
        return not (self._steps or self._calls or self._refusals or self._tail or self.error)

    @property
    def has_spoken(self) -> bool:
        return bool(self.was_asked or self._calls or self._steps or self._refusals or self.told_usage)

    def hear(self, at: float | None) -> None:
        """Something happened at that time; clocks may run backwards."""
        if at is not None:
            self.started = at if self.started is None else min(self.started, at)
            self.ended = at if self.ended is None else max(self.ended, at)

    def call_tool(
        self,
        call: str,
        tool: str,
        argument: str | Mapping[str, object],
        at: float | None,
        agent: str = "",
        activity: Activity | None = None,
    ) -> None:
        """`activity` is what the source says that it does, where it does."""
        self.is_working = self.is_working or not agent
        if len(self._steps) >= MOST_STEPS:
            self._left_out += 1
            return
        activity = activity or activity_of(tool or "?", argument)
        step = Step(
            tool=clip(tool, NAME_CHARS),
            activity=activity.symbol,
            target=activity.target.replace(f"{self.folder}/", "") if self.folder else activity.target,
            status=StepStatus.UNKNOWN,
            at=at,
            agent=clip(agent, NAME_CHARS),
        )
        if call:
            self._open[call] = len(self._steps)
        self._steps.append(step)
        if not agent:
            self.say(f"$ {tool} {activity.target}", 1)

    def end_tool(
        self,
        call: str,
        status: StepStatus,
        output: object = "",
        *,
        exit_code: int | None = None,
        at: float | None = None,
        seconds: float | None = None,
    ) -> None:
        """What belongs to no call is no step, but its words may be the last there are."""
        is_fine = status in (StepStatus.OK, StepStatus.UNKNOWN)
        said = plain_text(output, STEP_ERROR_CHARS * 8)
        self.say(said, QUIET_LINES if is_fine else TAIL_LINES)
        number = self._open.pop(call, None)
        if number is None:
            return
        step = self._steps[number]
        took = at - step.at if at is not None and step.at is not None else None
        seconds = seconds if seconds is not None else took
        self._steps[number] = replace(
            step,
            status=status,
            error="" if is_fine else clip(said.strip(), STEP_ERROR_CHARS),
            exit=exit_code,
            seconds=None if seconds is None or seconds < 0 else round(seconds, 3),
        )

    def answer(
        self,
        message: str,
        usage: TokenUsage | None,
        *,
        model: str = "",
        at: float | None = None,
        seconds: float | None = None,
        reasoning: int | None = None,
        is_main: bool = True,
    ) -> None:
        """The model has spoken. `message` is the provider's name for its answer; `is_main` False of a sub-agent's."""
        message = message or f"#{len(self._calls)}"
        known = self._calls.get(message)
        if known is None:
            if len(self._calls) >= MOST_CALLS:
                return
            self._calls[message] = ModelCall(clip(message, NAME_CHARS), clip(model, NAME_CHARS), usage, at, seconds)
        elif usage is not None:
            self._calls[message] = replace(known, usage=most_of(known.usage, usage))
        if is_main:
            self.model = model or self.model
            self._first = self._first or message
        if reasoning:
            self._reasoning[message] = max(reasoning, self._reasoning.get(message, 0))

    def refuse(self, status: int | None, retry_after: float | None, at: float | None, message: str) -> None:
        """The provider would not take a call."""
        if retry_after is not None:
            self._waited = (self._waited or 0.0) + retry_after
        if len(self._refusals) < MOST_CALLS:
            self._refusals.append(ModelCall(status=status, at=at, retry_after=retry_after))
        self.say(message)

    def say(self, text: str, most: int = TAIL_LINES) -> None:
        for line in text[-LINE_CHARS * most :].splitlines()[-most:]:
            if line.strip():
                self._tail.append(clip(line.rstrip(), LINE_CHARS))

    def finish(self) -> Trace:
        calls = sorted((*self._calls.values(), *self._refusals), key=_time_or_last) if self._refusals else None
        first = self._calls[self._first].usage if self._first in self._calls else None
        usage, source = self._usage()
        return Trace(
            run=name_text(self.run),
            task=name_text(self.task),
            engine=name_text(self.engine),
            engine_version=name_text(self.engine_version),
            model=name_text(self.model),
            started=self.started,
            ended=self.ended,
            outcome=self.outcome,
            end_state=self._end_state(),
            error=clip(self.error, ERROR_CHARS),
            tail="\n".join(self._tail),
            model_spoke=self.has_spoken,
            usage=usage,
            reasoning_tokens=self.reasoning or sum(self._reasoning.values()) or None,
            cost_source=source,
            startup_tokens=(first.input_total or None) if first is not None else None,
            startup_cached=first.cache_read if first is not None and first.input_total else None,
            waited_seconds=self._waited,
            model_calls=len(self._calls) or None,
            steps=tuple(self._steps if self.is_sorted else sorted(self._steps, key=_time_or_last)),
            calls=tuple(calls if calls is not None else self._calls.values()),
            attributes=bounded_attributes(
                {**({STEPS_LEFT_OUT: self._left_out} if self._left_out else {}), **self.attributes}
            ),
        )

    def _usage(self) -> tuple[TokenUsage | None, CostSource]:
        total = self.told_usage
        if total is None:
            for call in self._calls.values():
                if call.usage is not None:
                    total = call.usage if total is None else total.plus(call.usage)
            if total is not None and any(c.usage is None or c.usage.cost_usd is None for c in self._calls.values()):
                # A part of the cost is not the cost.
                total = replace(total, cost_usd=None)
        if self.told_cost is not None:
            total = replace(total or TokenUsage(), cost_usd=self.told_cost)
        return total, CostSource.TOLD if total is not None and total.cost_usd is not None else CostSource.UNKNOWN

    def _end_state(self) -> EndState:
        if self.end_state is not None:
            return self.end_state
        if not self.has_spoken and self.ends_itself:
            return EndState.NEVER_RAN
        return EndState.UNKNOWN


def most_of(known: TokenUsage | None, now: TokenUsage) -> TokenUsage:
    if known is None:
        return now
    costs = [usage.cost_usd for usage in (known, now) if usage.cost_usd is not None]
    return TokenUsage(
        max(known.input_uncached, now.input_uncached),
        max(known.cache_write, now.cache_write),
        max(known.cache_read, now.cache_read),
        max(known.output, now.output),
        max(costs) if costs else None,
    )


def _time_or_last(one: ModelCall | Step) -> float:
    return one.at if one.at is not None else float("inf")
