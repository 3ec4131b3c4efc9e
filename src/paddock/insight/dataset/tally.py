"""A turn's entries as steps and calls of the model, while they come.

A step is handed out once its result is known, and in the order in which the agent took them; what many later ones
have overtaken is handed out without one. What is kept does not grow with the turn.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core import trace as entries
from paddock.core.trace import TokenUsage, ToolStatus, clip
from paddock.insight.activities import activity_of
from paddock.insight.trace import (
    NAME_CHARS,
    STEP_ERROR_CHARS,
    TAIL_LINES,
    TARGET_CHARS,
    ModelCall,
    Step,
    StepStatus,
)

MOST_OPEN = 64
LINE_CHARS = 400
QUIET_LINES = 10
"""As many lines of what a tool said that did not fail."""
HEARD_LINES = 20
"""As many of standard error, which nobody can tell when it was written: they follow the others."""
_STATUS = {
    ToolStatus.OK: StepStatus.OK,
    ToolStatus.ERROR: StepStatus.ERROR,
    ToolStatus.DENIED: StepStatus.DENIED,
}


@dataclass
class TurnTally:
    """`worktree` is where the turn works: its files are named from there. `tells_starts`: its engine tells when a tool
    begins, so that the time until its result is the tool's. `first_cached` is what its first call had from a cache."""

    turn: int
    worktree: str = ""
    tells_starts: bool = False
    model: str = ""
    has_spoken: bool = False
    waited_seconds: float = 0.0
    usage: TokenUsage | None = None
    called: int = 0
    first_cached: int | None = None
    _said: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    _heard: deque[str] = field(default_factory=lambda: deque(maxlen=HEARD_LINES))

    @property
    def tail(self) -> list[str]:
        """The last lines of what it said and saw, and then of standard error."""
        return [*self._said, *self._heard][-TAIL_LINES:]

    def __post_init__(self) -> None:
        self._open: OrderedDict[tuple[str, int], tuple[Step, bool]] = OrderedDict()
        self._last: dict[str, int] = {}
        self._number = 0
        self._steps: list[Step] = []
        self._calls: list[ModelCall] = []
        self._call: ModelCall | None = None
        self._refused_at: float | None = None
        self._refused_for = 0.0
        self._is_refused = False
        self._is_mute = False

    def take(self, entry: entries.TraceEntry, at: float | None, *, heard: bool = False) -> None:
        """`heard`: it was read in a line of standard error, which `hear` is told of anyway."""
        self._is_mute = heard
        match entry:
            case entries.ToolCall():
                self._work_on(at)
                self._begin_step(entry, at)
            case entries.ToolResult():
                self._end_step(entry, at)
            case entries.Text():
                if entry.model_spoke:
                    self._work_on(at)
                self._say(entry.text)
            case entries.Usage():
                self._count(entry, at)
            case entries.RateLimited():
                self._wait(entry, at)
            case entries.Error():
                self._say(entry.message)
            case entries.SessionStarted():
                self.model = self.model or entry.model[:NAME_CHARS]
            case entries.End():
                self._say(entry.reason)
            case _:
                pass

    def hear(self, line: str) -> None:
        """A line of standard error."""
        if line.strip():
            self._heard.append(clip(line.rstrip(), LINE_CHARS))

    def drain(self) -> tuple[list[Step], list[ModelCall]]:
        """What is complete and was not handed out yet."""
        self._release()
        steps, self._steps = self._steps, []
        calls, self._calls = self._calls, []
        return steps, calls

    def close(self, at: float | None) -> None:
        """The turn has ended: nothing is completed any more."""
        if self._is_refused:
            self._work_on(at, speaks=False)
        self._steps.extend(step for step, _ in self._open.values())
        self._open.clear()
        self._end_call()

    def _begin_step(self, call: entries.ToolCall, at: float | None) -> None:
        argument = call.argument.replace(f"{self.worktree}/", "") if self.worktree else call.argument
        activity = activity_of(call.tool, argument)
        step = Step(
            tool=clip(call.tool, NAME_CHARS),
            activity=activity.symbol,
            target=clip(activity.target, TARGET_CHARS),
            status=StepStatus.UNKNOWN,
            at=at,
            turn=self.turn,
        )
        self._number += 1
        self._open[call.call_id, self._number] = step, False
        self._last[call.call_id] = self._number
        # In one line: the program in `python -c` is nothing that was printed.
        self._say(f"$ {call.tool} {' '.join(argument.split())}")
        while len(self._open) > MOST_OPEN:
            (name, number), (oldest, _) = self._open.popitem(last=False)
            self._steps.append(oldest)
            if self._last.get(name) == number:
                del self._last[name]

    def _end_step(self, result: entries.ToolResult, at: float | None) -> None:
        self._say(result.output, QUIET_LINES if result.status is ToolStatus.OK else TAIL_LINES)
        number = self._last.pop(result.call_id, None)
        if number is None:
            return
        step, _ = self._open[result.call_id, number]
        took = at - step.at if self.tells_starts and at is not None and step.at is not None else None
        is_ok = result.status is ToolStatus.OK
        self._open[result.call_id, number] = (
            replace(
                step,
                status=_STATUS[result.status],
                error="" if is_ok else clip(result.output.strip(), STEP_ERROR_CHARS),
                seconds=None if took is None else max(0.0, round(took, 3)),
                exit=result.exit_code,
            ),
            True,
        )
        self._release()

    def _release(self) -> None:
        while self._open:
            key, (step, is_over) = next(iter(self._open.items()))
            if not is_over:
                return
            del self._open[key]
            self._steps.append(step)

    def _count(self, usage: entries.Usage, at: float | None) -> None:
        """The use of one call may be told in parts: what has no input belongs to the one before."""
        if usage.scope is not entries.UsageScope.DELTA:
            return
        self._work_on(at)
        self.usage = usage.tokens if self.usage is None else self.usage.plus(usage.tokens)
        if self._call is not None and self._call.usage is not None and not usage.tokens.input_total:
            self._call = replace(self._call, usage=self._call.usage.plus(usage.tokens))
            return
        self._end_call()
        self.called += 1
        if self.called == 1:
            self.first_cached = usage.tokens.cache_read
        self._call = ModelCall(id=f"{self.turn}.{self.called}", model=self.model, usage=usage.tokens, at=at)

    def _end_call(self) -> None:
        if self._call is not None:
            self._calls.append(self._call)
            self._call = None

    def _wait(self, refusal: entries.RateLimited, at: float | None) -> None:
        self._end_call()
        call = ModelCall(status=refusal.status, at=at, retry_after=refusal.retry_after)
        self._calls.append(call)
        self._say(refusal.message or f"refused by the provider: {refusal.kind.value}")
        if not self._is_refused:
            self._is_refused, self._refused_at, self._refused_for = True, at, 0.0
        self._refused_for += refusal.retry_after or 0.0

    def _work_on(self, at: float | None, *, speaks: bool = True) -> None:
        """The time since a refusal was spent waiting; where nobody noted it, what the provider asked for."""
        self.has_spoken = self.has_spoken or speaks
        if not self._is_refused:
            return
        since = self._refused_at
        self.waited_seconds += max(0.0, at - since) if at is not None and since is not None else self._refused_for
        self._is_refused = False

    def _say(self, text: str, most: int = TAIL_LINES) -> None:
        if self._is_mute:
            return
        for line in text[-LINE_CHARS * most :].splitlines()[-most:]:
            if line.strip():
                self._said.append(clip(line.rstrip(), LINE_CHARS))
