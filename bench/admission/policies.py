"""Paddock's admission, and what it is measured against."""

from bench.admission.world import Call
from paddock.core.admission.admit import Candidate, Snapshot, admit
from paddock.core.admission.controls import (
    Controls,
    observe_call,
    observe_limits,
    observe_trouble,
    tick,
)
from paddock.core.admission.host import HostSample
from paddock.core.admission.quota import Limit
from paddock.core.money.budget import BudgetBook, Cost
from paddock.core.trace import RateLimited, TokenUsage, TroubleKind

ACCOUNT = "account"
PERIOD_SECONDS = 10.0
MOST_AGENTS = 1000
PLENTY = 2**50


class Silent:
    """Sees nothing; the policies below override what they look at."""

    def on_call(self, now: float, call: Call) -> None:
        del now, call

    def on_reject(self, now: float, retry_after: float | None) -> None:
        del now, retry_after

    def on_headers(self, now: float, limits: dict[str, tuple[float, float]]) -> None:
        del now, limits

    def on_tick(self, now: float, running: int, busy: float) -> None:
        del now, running, busy


class Fixed(Silent):
    def __init__(self, agents: int) -> None:
        self.agents = agents

    def room(self, now: float, running: int, prefixes: list[str]) -> int:
        del now, prefixes
        return self.agents - running


class Aimd(Silent):
    """Two more every period, down to 0.7 in a period with a refusal."""

    def __init__(self) -> None:
        self.limit = 4.0
        self.rejects = 0
        self.stepped_at = 0.0

    def on_reject(self, now: float, retry_after: float | None) -> None:
        del now, retry_after
        self.rejects += 1

    def on_tick(self, now: float, running: int, busy: float) -> None:
        del busy
        if now - self.stepped_at < PERIOD_SECONDS:
            return
        self.stepped_at = now
        if self.rejects:
            self.limit = max(1.0, self.limit * 0.7)
        elif running >= self.limit - 2:
            self.limit = min(MOST_AGENTS, self.limit + 2)
        self.rejects = 0

    def room(self, now: float, running: int, prefixes: list[str]) -> int:
        del now, prefixes
        return int(self.limit) - running


class Gradient2(Silent):
    """Netflix's limiter: the ratio of long-term to short-term latency sets the limit."""

    def __init__(self) -> None:
        self.limit = 20.0
        self.long_term: float | None = None
        self.steps: list[float] = []
        self.stepped_at = 0.0

    def on_call(self, now: float, call: Call) -> None:
        del now
        self.steps.append(call.step_seconds)

    def on_tick(self, now: float, running: int, busy: float) -> None:
        del busy
        if now - self.stepped_at < PERIOD_SECONDS or not self.steps:
            return
        self.stepped_at = now
        short = sum(self.steps) / len(self.steps)
        self.steps = []
        long_term = short if self.long_term is None else self.long_term + (short - self.long_term) / 60
        self.long_term = long_term * 0.95 if long_term / short > 2 else long_term
        if running < self.limit / 2:
            return
        gradient = max(0.5, min(1.0, 1.5 * self.long_term / short))
        wanted = self.limit * gradient + 4
        self.limit = max(1.0, min(MOST_AGENTS, self.limit * 0.8 + wanted * 0.2))

    def room(self, now: float, running: int, prefixes: list[str]) -> int:
        del now, prefixes
        return int(self.limit) - running


class Paddock(Silent):
    """The product's own code: every call, refusal and header is observed, every start asks `admit`."""

    def __init__(self, cores: int | None, known: Controls | None = None) -> None:
        self.controls = known or Controls()
        self.cores = cores
        self.host: HostSample | None = None
        # Time 0 means "never" to the controllers, and what they know is from the day before.
        self.epoch = 1_000_000.0 if known is None else 1_100_000.0

    def _clock(self, now: float) -> float:
        return now + self.epoch

    def on_call(self, now: float, call: Call) -> None:
        usage = TokenUsage(input_uncached=int(call.input_tokens), output=int(call.output_tokens))
        clock = self._clock(now)
        self.controls = observe_call(self.controls, ACCOUNT, usage, clock, is_first=call.is_first)

    def on_reject(self, now: float, retry_after: float | None) -> None:
        trouble = RateLimited(TroubleKind.PER_MINUTE, retry_after=retry_after)
        self.controls = observe_trouble(self.controls, ACCOUNT, trouble, self._clock(now), seed=int(now * 1000))

    def on_headers(self, now: float, limits: dict[str, tuple[float, float]]) -> None:
        seen = {name: Limit(limit, left, self._clock(now)) for name, (limit, left) in limits.items()}
        self.controls = observe_limits(self.controls, ACCOUNT, seen)

    def on_tick(self, now: float, running: int, busy: float) -> None:
        if self.cores is not None:
            self.host = HostSample(self._clock(now), busy, PLENTY, PLENTY, cores=self.cores)
        self.controls = tick(self.controls, {ACCOUNT: running}, self.host, self._clock(now))

    def room(self, now: float, running: int, prefixes: list[str]) -> int:
        candidates = tuple(
            Candidate(f"t{n}.1", f"t{n}", "engine", ACCOUNT, Cost(), prefix=prefix) for n, prefix in enumerate(prefixes)
        )
        snapshot = Snapshot(candidates, {ACCOUNT: running}, self.controls, BudgetBook(), "", MOST_AGENTS, self.host)
        admission = admit(snapshot, self._clock(now))
        self.controls = admission.controls
        return len(admission.starts)
