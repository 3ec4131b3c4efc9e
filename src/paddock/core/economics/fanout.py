"""Is fanning out worth it? The arithmetic of one agent working alone against several at once.

One warm agent needs the sum of all pieces. m agents need the spawn cost and then the longest of their shares, plus
what waiting for a straggler is expected to add when durations are uncertain. They also read the start-up context m
times over: what those tokens cost is set against the time saved, by what an hour is worth. With unlimited slots, N
equal pieces of t seconds and tokens for nothing this is exactly (N−1)·t > spawn cost.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from itertools import pairwise

from paddock.core.durations import format_duration

# All ways to share out this many pieces are tried (877 at 7); more are shared out longest first, which is never more
# than a third off. Moving and swapping pieces afterwards was tried: it gained nothing for pieces of three kinds and 1 %
# for pieces of any length, far less than is known about how long they take.
EXACT_PIECES = 7
# Of unequal pieces: more agents than this are not looked at.
MAX_AGENTS = 256

Shares = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """`spread_seconds` is the standard deviation of the duration."""

    name: str
    seconds: float
    spread_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Spawn:
    """What one more agent costs before its first useful step. `money` is None where no price is known."""

    seconds: float
    tokens: float = 0.0
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Worth:
    """What an hour of waiting is worth, in money and in tokens; 0 leaves that side out of the decision."""

    money_per_hour: float = 0.0
    tokens_per_hour: float = 0.0

    def in_seconds(self, tokens: float, money: float | None) -> float:
        seconds = 0.0
        if self.money_per_hour > 0 and money is not None:
            seconds += 3600.0 * money / self.money_per_hour
        if self.tokens_per_hour > 0:
            seconds += 3600.0 * tokens / self.tokens_per_hour
        return seconds


TIME_ONLY = Worth()


@dataclass(frozen=True, slots=True)
class FanoutPlan:
    """`gain_seconds` is the time saved over one agent, less `price_seconds`, what extra tokens and money are worth."""

    shares: tuple[tuple[str, ...], ...]
    wall_seconds: float
    straggle_seconds: float
    extra_tokens: float
    extra_money: float | None
    price_seconds: float
    gain_seconds: float

    @property
    def agents(self) -> int:
        return len(self.shares)


@dataclass(frozen=True, slots=True)
class FanOut:
    """`chosen` is `serial` itself when fanning out is not worth it; `plans` holds the best plan per agent count."""

    chosen: FanoutPlan
    serial: FanoutPlan
    plans: tuple[FanoutPlan, ...]
    reasons: tuple[str, ...]

    @property
    def pays(self) -> bool:
        return self.chosen.agents > 1


def decide_fan_out(pieces: Sequence[Piece], spawn: Spawn, slots: int | None = None, worth: Worth = TIME_ONLY) -> FanOut:
    """The plan with the largest gain; among equal ones, the one with the fewest agents. `slots` None means no limit."""
    serial = _serial(pieces)
    plans = [best_plan(pieces, spawn, agents, worth) for agents in _agent_counts(pieces, slots)]
    chosen = max([serial, *plans], key=lambda plan: (plan.gain_seconds, -plan.agents))
    return FanOut(chosen, serial, tuple(plans), _explain(pieces, spawn, slots, serial, plans, chosen, worth))


def _agent_counts(pieces: Sequence[Piece], slots: int | None) -> list[int]:
    """The numbers of agents worth a look. Of equal pieces, for each length of the longest share the fewest."""
    count = len(pieces)
    most = count if slots is None else min(count, slots)
    if _all_equal(pieces):
        fewest = {-(-count // longest_share) for longest_share in range(1, count + 1)}
        return sorted(agents for agents in fewest if 2 <= agents <= most)
    return list(range(2, min(most, MAX_AGENTS) + 1))


def best_plan(pieces: Sequence[Piece], spawn: Spawn, agents: int, worth: Worth = TIME_ONLY) -> FanoutPlan:
    """The best way to share the pieces among exactly this many agents (at most one per piece)."""
    if agents == 1:
        return _serial(pieces)
    if _all_equal(pieces):
        candidates: Iterator[Shares] = iter((_deal_out(len(pieces), agents),))
    elif len(pieces) <= EXACT_PIECES:
        candidates = _partitions(len(pieces), agents)
    else:
        candidates = iter((_longest_first(pieces, agents),))
    return max((evaluate(pieces, shares, spawn, worth) for shares in candidates), key=lambda plan: plan.gain_seconds)


def evaluate(pieces: Sequence[Piece], shares: Shares, spawn: Spawn, worth: Worth = TIME_ONLY) -> FanoutPlan:
    """What this assignment of piece numbers to two or more agents takes and saves."""
    loads = [math.fsum(pieces[index].seconds for index in share) for share in shares]
    longest = max(range(len(shares)), key=lambda index: loads[index])
    # Summed from the pieces and not as a difference of sums, the saving of equal pieces is (N−1)·t to the last bit.
    saved = math.fsum(pieces[i].seconds for n, share in enumerate(shares) if n != longest for i in share)
    straggle = _expected_straggle(pieces, shares, loads)
    extra = len(shares) - 1
    tokens, money = extra * spawn.tokens, None if spawn.money is None else extra * spawn.money
    price = worth.in_seconds(tokens, money)
    return FanoutPlan(
        shares=tuple(tuple(pieces[index].name for index in share) for share in shares),
        wall_seconds=spawn.seconds + loads[longest] + straggle,
        straggle_seconds=straggle,
        extra_tokens=tokens,
        extra_money=money,
        price_seconds=price,
        gain_seconds=saved - spawn.seconds - straggle - price,
    )


def _serial(pieces: Sequence[Piece]) -> FanoutPlan:
    wall = math.fsum(piece.seconds for piece in pieces)
    return FanoutPlan((tuple(piece.name for piece in pieces),), wall, 0.0, 0.0, 0.0, 0.0, 0.0)


def _all_equal(pieces: Sequence[Piece]) -> bool:
    return all((a.seconds, a.spread_seconds) == (b.seconds, b.spread_seconds) for a, b in pairwise(pieces))


def _deal_out(count: int, agents: int) -> Shares:
    return tuple(tuple(range(agent, count, agents)) for agent in range(agents))


def _partitions(count: int, groups: int) -> Iterator[Shares]:
    """Every partition of 0..count-1 into exactly this many non-empty groups, each once."""

    def place(index: int, partial: list[list[int]]) -> Iterator[Shares]:
        if len(partial) + count - index < groups:
            return
        if index == count:
            yield tuple(tuple(group) for group in partial)
            return
        for group in list(partial):
            group.append(index)
            yield from place(index + 1, partial)
            group.pop()
        if len(partial) < groups:
            partial.append([index])
            yield from place(index + 1, partial)
            partial.pop()

    yield from place(0, [])


def _longest_first(pieces: Sequence[Piece], agents: int) -> Shares:
    shares: list[list[int]] = [[] for _ in range(agents)]
    loads = [(0.0, 0, agent) for agent in range(agents)]
    for index in sorted(range(len(pieces)), key=lambda i: -pieces[i].seconds):
        load, held, agent = loads[0]
        shares[agent].append(index)
        heapreplace(loads, (load + pieces[index].seconds, held + 1, agent))
    return tuple(map(tuple, shares))


def _expected_straggle(pieces: Sequence[Piece], shares: Shares, loads: Sequence[float]) -> float:
    """How far the expected end of the last share lies behind the longest load (Clark's moments of a maximum)."""
    variances = [math.fsum(pieces[i].spread_seconds ** 2 for i in share) for share in shares]
    if not any(variances):
        return 0.0
    # The approximation depends on the order a little: a fixed one makes equal assignments cost the same.
    (mean, variance), *others = sorted(zip(loads, variances, strict=True))
    for load, other in others:
        mean, variance = _maximum_of_normals(mean, variance, load, other)
    return max(0.0, mean - max(loads))


def _maximum_of_normals(mean1: float, var1: float, mean2: float, var2: float) -> tuple[float, float]:
    spread = math.sqrt(var1 + var2)
    if spread == 0.0:
        return max(mean1, mean2), 0.0
    distance = (mean1 - mean2) / spread
    first = 0.5 * (1 + math.erf(distance / math.sqrt(2)))
    density = math.exp(-distance * distance / 2) / math.sqrt(2 * math.pi)
    mean = mean1 * first + mean2 * (1 - first) + spread * density
    square = (mean1**2 + var1) * first + (mean2**2 + var2) * (1 - first) + (mean1 + mean2) * spread * density
    return mean, max(0.0, square - mean * mean)


def _explain(
    pieces: Sequence[Piece],
    spawn: Spawn,
    slots: int | None,
    serial: FanoutPlan,
    plans: Sequence[FanoutPlan],
    chosen: FanoutPlan,
    worth: Worth,
) -> tuple[str, ...]:
    count = len(pieces)
    reasons = [f"{count} piece{'s' * (count != 1)}, {format_duration(serial.wall_seconds)} for one agent alone"]
    if count < 2:
        return (*reasons, "nothing to split")
    if not plans:
        return (*reasons, f"{slots or 0} free slot{'s' * (slots != 1)}: no room for a second agent")
    best = max(plans, key=lambda plan: (plan.gain_seconds, -plan.agents))
    reasons.append(_price(best, spawn))
    saved = serial.wall_seconds - best.wall_seconds
    if slots is None and _all_equal(pieces) and pieces[0].spread_seconds == 0:
        gain, sign = (count - 1) * pieces[0].seconds, ">" if (count - 1) * pieces[0].seconds > spawn.seconds else "≤"
        reasons.append(f"(N−1)·t = {format_duration(gain)} {sign} {format_duration(spawn.seconds)} to spawn")
    if best.price_seconds > 0:
        reasons.append(_trade(best, worth))
    if chosen is serial and saved > 0:
        reasons.append(f"the {format_duration(saved)} saved would be worth less than the extra agents cost")
    elif chosen is serial:
        reasons.append(f"no sooner than one agent alone ({format_duration(-saved)} later)")
    else:
        reasons.append(f"done {format_duration(saved)} sooner")
        if chosen.agents < min(count, slots or count):
            reasons.append(f"more than {chosen.agents} agents would not be worth it")
    return tuple(reasons)


def _price(plan: FanoutPlan, spawn: Spawn) -> str:
    work = plan.wall_seconds - spawn.seconds - plan.straggle_seconds
    text = f"{plan.agents} agents: {format_duration(spawn.seconds)} to spawn"
    text += f" + {format_duration(work)} for the longest share"
    if plan.straggle_seconds > 0:
        text += f" + {format_duration(plan.straggle_seconds)} for stragglers"
    text += f" = {format_duration(plan.wall_seconds)}"
    if plan.extra_tokens:
        text += f", {plan.extra_tokens / 1000:.0f}k more tokens"
    if plan.extra_money:
        text += f" (${plan.extra_money:.2f})"
    return text


def _trade(plan: FanoutPlan, worth: Worth) -> str:
    """What the extra starts cost, in the time it is worth."""
    hour = []
    if worth.money_per_hour > 0 and plan.extra_money:
        hour.append(f"${worth.money_per_hour:,.2f}")
    if worth.tokens_per_hour > 0 and plan.extra_tokens:
        hour.append(f"{worth.tokens_per_hour:,.0f} tokens")
    starts = "1 more start costs" if plan.agents == 2 else f"{plan.agents - 1} more starts cost"
    return f"{starts} as much as {format_duration(plan.price_seconds)} at {' and '.join(hour)} an hour"
