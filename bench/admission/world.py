"""A simulated provider, machine and fleet: agents that call a model, run tools, are refused and try again.

The provider keeps a bucket per dimension that holds a minute's worth (or as much as the regime says) and refills
steadily; some also turn away every call beyond so many at once. Agents behave like
the CLIs: ten retries with exponential backoff, then the attempt dies and its work is lost; a wait of more than
five minutes loses the prompt cache, and the whole context has to be read again.
"""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

TICK_SECONDS = 2.0
RETRIES = 10
CACHE_TTL_SECONDS = 300.0
CACHE_READY_SECONDS = 10.0
COLD_TOKENS, WARM_TOKENS = 41_000.0, 2_000.0
PREFIXES = 6
UNLIMITED = 1e12


@dataclass(frozen=True, slots=True)
class Regime:
    """Limits are per minute, and a bucket holds `stored_minutes` of them; `at_once` is the most calls in flight.
    `halved_at` is when all limits drop to half, in seconds, `restored_at` when they are as before.

    `calls_median` is how many calls an agent makes; `answer_scale` and `tool_scale` make calls and tools longer.
    """

    name: str
    requests: float = UNLIMITED
    input: float = UNLIMITED
    cores: int | None = None
    shows_headers: bool = True
    charges_rejects: bool = False
    halved_at: float | None = None
    restored_at: float | None = None
    at_once: float = UNLIMITED
    stored_minutes: float = 1.0
    calls_median: float = 20.0
    answer_scale: float = 1.0
    tool_scale: float = 1.0
    hours: float = 2.0

    @property
    def seconds(self) -> float:
        return self.hours * 3600.0


@dataclass(frozen=True, slots=True)
class Call:
    """A call that went through; `step_seconds` lasts from the first try to the end of the tool run after it."""

    input_tokens: float
    output_tokens: float
    step_seconds: float
    is_first: bool


class Policy(Protocol):
    """Decides how many agents run. `room` is asked at every tick and whenever an agent ends."""

    def on_call(self, now: float, call: "Call") -> None: ...
    def on_reject(self, now: float, retry_after: float | None) -> None: ...
    def on_headers(self, now: float, limits: dict[str, tuple[float, float]]) -> None: ...
    def on_tick(self, now: float, running: int, busy: float) -> None: ...
    def room(self, now: float, running: int, prefixes: list[str]) -> int: ...


@dataclass(slots=True)
class Bucket:
    """`limit` is what it gains in a minute, `size` what it holds."""

    limit: float
    size: float
    level: float
    filled_at: float = 0.0

    def refill(self, now: float) -> None:
        self.level = min(self.size, self.level + self.limit / 60.0 * (now - self.filled_at))
        self.filled_at = now

    def scale(self, factor: float) -> None:
        self.limit *= factor
        self.size *= factor
        self.level = min(self.level, self.size)

    def seconds_until(self, amount: float) -> float:
        return max(0.0, (min(amount, self.size) - self.level) / (self.limit / 60.0))


@dataclass(slots=True)
class Agent:
    prefix: str
    calls_left: int
    next_input: float
    calls_done: int = 0
    retries: int = 0
    context: float = COLD_TOKENS
    last_ok: float = 0.0
    step_began: float = 0.0


@dataclass(slots=True)
class Outcome:
    """`work` counts calls of attempts that were not lost; `running` holds one sample per tick."""

    work: int = 0
    calls: int = 0
    rejected: int = 0
    finished: int = 0
    died: int = 0
    input_tokens: float = 0.0
    running: list[int] = field(default_factory=list)

    @property
    def rejected_share(self) -> float:
        return self.rejected / max(1, self.calls + self.rejected)


class World:
    def __init__(self, regime: Regime, policy: Policy, seed: int) -> None:
        self.regime, self.policy = regime, policy
        self.random = random.Random(seed)
        self.now = 0.0
        self.sequence = 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.requests = _full_bucket(regime.requests, regime.stored_minutes)
        self.input = _full_bucket(regime.input, regime.stored_minutes)
        self.at_once = regime.at_once
        self.in_flight = 0
        self.live: dict[int, Agent] = {}
        self.tools = 0
        self.warm: dict[str, tuple[float, float]] = {}
        self.queue = [self._pick_prefix() for _ in range(64)]
        self.outcome = Outcome()

    def run(self) -> Outcome:
        self._at(0.0, self._tick)
        if self.regime.halved_at is not None:
            self._at(self.regime.halved_at, lambda: self._scale_limits(0.5))
        if self.regime.restored_at is not None:
            self._at(self.regime.restored_at, lambda: self._scale_limits(2.0))
        while self.events and self.events[0][0] <= self.regime.seconds:
            self.now, _, event = heapq.heappop(self.events)
            event()
        self.outcome.work += sum(agent.calls_done for agent in self.live.values())
        return self.outcome

    def _at(self, time: float, event: Callable[[], None]) -> None:
        self.sequence += 1
        heapq.heappush(self.events, (time, self.sequence, event))

    def _pick_prefix(self) -> str:
        return f"agent{self.random.randrange(PREFIXES)}"

    def _scale_limits(self, factor: float) -> None:
        self.at_once *= factor
        for bucket in (self.requests, self.input):
            bucket.refill(self.now)
            bucket.scale(factor)

    def _tick(self) -> None:
        busy = self.tools / self.regime.cores if self.regime.cores else 0.0
        self.policy.on_tick(self.now, len(self.live), busy)
        self._start_what_is_allowed()
        self.outcome.running.append(len(self.live))
        self._at(self.now + TICK_SECONDS, self._tick)

    def _start_what_is_allowed(self) -> None:
        for _ in range(self.policy.room(self.now, len(self.live), self.queue)):
            prefix = self.queue.pop(0)
            self.queue.append(self._pick_prefix())
            calls = max(1, round(self.regime.calls_median * self.random.lognormvariate(0.0, 0.6)))
            self.sequence += 1
            self.live[self.sequence] = Agent(prefix, calls, self._start_tokens(prefix), last_ok=self.now)
            self._call(self.sequence)

    def _start_tokens(self, prefix: str) -> float:
        ready, until = self.warm.get(prefix, (0.0, -1.0))
        if self.now >= until:
            self.warm[prefix] = (self.now + CACHE_READY_SECONDS, self.now + CACHE_TTL_SECONDS)
            return COLD_TOKENS
        self.warm[prefix] = (ready, self.now + CACHE_TTL_SECONDS)
        return WARM_TOKENS if self.now >= ready else COLD_TOKENS

    def _call(self, number: int) -> None:
        agent = self.live[number]
        if agent.retries == 0:
            agent.step_began = self.now
        if self.now - agent.last_ok > CACHE_TTL_SECONDS:
            agent.next_input, agent.last_ok = agent.context, self.now
        self.requests.refill(self.now)
        self.input.refill(self.now)
        need = min(agent.next_input, self.input.size)
        if self.requests.level < 1 or self.input.level < need or self.in_flight >= self.at_once:
            self._reject(number, agent, need)
            return
        self.requests.level -= 1
        self.input.level -= need
        self.in_flight += 1
        self.outcome.calls += 1
        self.outcome.input_tokens += agent.next_input
        seconds = self.regime.answer_scale * self.random.lognormvariate(2.1, 0.5)
        self._at(self.now + seconds, lambda: self._answered(number))

    def _reject(self, number: int, agent: Agent, need: float) -> None:
        self.outcome.rejected += 1
        if self.regime.charges_rejects:
            self.requests.level = max(0.0, self.requests.level - 1)
        wait = min(60.0, 2.0**agent.retries) * self.random.uniform(0.5, 1.0)
        retry_after = max(self.requests.seconds_until(1), self.input.seconds_until(need))
        told = retry_after if self.regime.shows_headers else None
        self.policy.on_reject(self.now, told)
        agent.retries += 1
        if agent.retries > RETRIES:
            self.outcome.died += 1
            del self.live[number]
            self._start_what_is_allowed()
            return
        self._at(self.now + max(wait, told or 0.0), lambda: self._call(number))

    def _answered(self, number: int) -> None:
        self.in_flight -= 1
        if self.regime.shows_headers:
            self.requests.refill(self.now)
            self.input.refill(self.now)
            shown = (("requests", self.requests), ("input", self.input))
            limits = {name: (b.limit, b.level) for name, b in shown if b.limit < UNLIMITED / 4}
            self.policy.on_headers(self.now, limits)
        self._at(self.now + self.random.expovariate(1 / 3.0), lambda: self._tool(number))

    def _tool(self, number: int) -> None:
        self.tools += 1
        crowd = self.tools / self.regime.cores if self.regime.cores else 0.0
        # Beyond one tool per core they share, and lose a tenth per further one to switching and cold caches.
        slowdown = max(1.0, crowd) * (1 + 0.1 * max(0.0, crowd - 1))
        seconds = self.regime.tool_scale * self.random.lognormvariate(1.0, 0.8) * slowdown
        self._at(self.now + seconds, lambda: self._stepped(number))

    def _stepped(self, number: int) -> None:
        agent = self.live[number]
        self.tools -= 1
        output = self.random.lognormvariate(5.8, 0.8)
        seconds = self.now - agent.step_began
        self.policy.on_call(self.now, Call(agent.next_input, output, seconds, agent.calls_done == 0))
        agent.calls_done += 1
        agent.calls_left -= 1
        agent.retries = 0
        agent.last_ok = self.now
        agent.context += agent.next_input + output
        if agent.calls_left == 0:
            self.outcome.finished += 1
            self.outcome.work += agent.calls_done
            del self.live[number]
            self._start_what_is_allowed()
            return
        agent.next_input = self.random.lognormvariate(8.0, 0.73)
        self._call(number)


def _full_bucket(limit: float, stored_minutes: float) -> Bucket:
    return Bucket(limit, limit * stored_minutes, limit * stored_minutes)
