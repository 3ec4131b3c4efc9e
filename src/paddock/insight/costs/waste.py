"""Where the money went, and what of it was thrown away.

Every attempt has one fate, so the parts add up to the whole. An attempt that came to nothing is not lost where a later
one went on with its branch and its conversation, and that one was of use: then it counts as carried on.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

import msgspec

from paddock.core.board import Board
from paddock.core.causes.probing import PROBE
from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import PROVIDERS_DOING, USEFUL, Outcome, Role
from paddock.insight.costs.attempts import AttemptCost, FleetCosts, of_task
from paddock.insight.costs.runs import RunCost

_IN_BETWEEN = frozenset({Outcome.ASKED, Outcome.LEFT, Outcome.UNCHANGED})
"""Neither of use by itself nor a failure: a conversation that goes on, or an earlier delivery that stands."""


class MoneyFate(StrEnum):
    """What became of an attempt. `WORK` has landed, may still land, or has given its answer. `PROBE` was only to tell
    why others fail."""

    WORK = "work"
    REVIEW = "review"
    FAILED = "failed"
    THROTTLED = "throttled"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    ABANDONED = "abandoned"
    PROBE = "probe"


FATE_WORDS: Mapping[MoneyFate, str] = {
    MoneyFate.FAILED: "failed attempts",
    MoneyFate.THROTTLED: "attempts that a provider refused",
    MoneyFate.REJECTED: "versions that were rejected",
    MoneyFate.SUPERSEDED: "versions that another replaced",
    MoneyFate.ABANDONED: "work on tasks that failed or were cancelled",
    MoneyFate.PROBE: "probes",
}
THROWN_AWAY = tuple(FATE_WORDS)


class ThrownAway(msgspec.Struct, frozen=True):
    """Attempts of one fate. `lost_usd` is what came to nothing; `carried` ones were gone on with, at `carried_usd` so
    far, and `again_usd` was paid for the start-up of those that did. None if no price is known, and `unpriced` counts
    the attempts that have none."""

    fate: MoneyFate
    attempts: int
    lost: int
    lost_usd: float | None
    carried: int
    carried_usd: float | None
    again_usd: float | None
    unpriced: int


class MoneySplit(msgspec.Struct, frozen=True):
    """US dollars of attempts. The first five add up to `cost_usd`, which is None if nothing has a price: start-up
    context and work of what is of use, what of that nobody can divide, reviews, and what was thrown away. `unpriced`
    and `unknown` count turns that are left out: they have no price, or not even tokens."""

    startup_usd: float = 0.0
    work_usd: float = 0.0
    unsplit_usd: float = 0.0
    review_usd: float = 0.0
    thrown_usd: float = 0.0
    cost_usd: float | None = None
    attempts: int = 0
    unpriced: int = 0
    unknown: int = 0


def fates_of(board: Board, costs: FleetCosts) -> dict[AttemptId, MoneyFate]:
    fates: dict[AttemptId, MoneyFate] = {}
    for name, attempts in of_task(costs.attempts).items():
        task = board.tasks.get(name)
        phase = task.phase if task is not None else None
        is_probe = task is not None and PROBE in task.labels and phase is not Phase.LANDED
        for at, attempt in enumerate(attempts):
            fates[attempt.name] = (
                MoneyFate.PROBE if is_probe else _fate(attempt, attempts[at + 1 :], phase, costs.rejected)
            )
    return fates


def _fate(
    attempt: AttemptCost, later: Sequence[AttemptCost], phase: Phase | None, rejected: frozenset[str]
) -> MoneyFate:
    outcome = attempt.outcome
    if outcome in PROVIDERS_DOING:
        return MoneyFate.THROTTLED
    if outcome is not None and outcome not in USEFUL | _IN_BETWEEN:
        return MoneyFate.FAILED
    if attempt.role is Role.REVIEW:
        return MoneyFate.REVIEW
    if attempt.role.only_reads or outcome is None:
        return MoneyFate.WORK
    if attempt.head in rejected:
        return MoneyFate.REJECTED
    if attempt.head and any(one.outcome in USEFUL and one.head not in (None, attempt.head) for one in later):
        return MoneyFate.SUPERSEDED
    return MoneyFate.ABANDONED if phase in (Phase.FAILED, Phase.CANCELLED) else MoneyFate.WORK


def carried_on(costs: FleetCosts, fates: Mapping[AttemptId, MoneyFate]) -> frozenset[AttemptId]:
    """Attempts whose branch and conversation live on in one that was of use, or is at work."""
    alive: set[AttemptId] = set()
    for attempt in reversed(costs.attempts):
        useful = fates[attempt.name] not in THROWN_AWAY
        if attempt.continues is not None and (useful or attempt.name in alive):
            alive.add(attempt.continues)
    return frozenset(name for name in alive if fates.get(name) in THROWN_AWAY)


def find_waste(costs: FleetCosts, fates: Mapping[AttemptId, MoneyFate]) -> list[ThrownAway]:
    """The dearest first; fates that nothing met are left out."""
    carried = carried_on(costs, fates)
    again: dict[AttemptId, RunCost] = {one.continues: one.run for one in costs.attempts if one.continues is not None}
    rows = []
    for fate in THROWN_AWAY:
        mine = [one for one in costs.attempts if fates[one.name] is fate]
        if mine:
            rows.append(_row(fate, mine, carried, again))
    return sorted(rows, key=lambda row: (-(row.lost_usd or 0.0), -row.attempts))


def _row(
    fate: MoneyFate, attempts: Sequence[AttemptCost], carried: Collection[AttemptId], again: Mapping[AttemptId, RunCost]
) -> ThrownAway:
    lost = [one.run for one in attempts if one.name not in carried]
    kept = [one for one in attempts if one.name in carried]
    return ThrownAway(
        fate=fate,
        attempts=len(attempts),
        lost=len(lost),
        lost_usd=_sum([run.cost_usd for run in lost]),
        carried=len(kept),
        carried_usd=_sum([one.run.cost_usd for one in kept]),
        again_usd=_sum([again[one.name].startup_usd for one in kept]),
        unpriced=sum(bool(one.run.unpriced or one.run.unknown) for one in attempts),
    )


def split_money(
    costs: FleetCosts, fates: Mapping[AttemptId, MoneyFate], carried: Collection[AttemptId] | None = None
) -> MoneySplit:
    """`carried` are told where `costs` are only some of the attempts, and what went on with them may not be there."""
    carried = carried_on(costs, fates) if carried is None else carried
    parts: defaultdict[str, float] = defaultdict(float)
    for attempt in costs.attempts:
        thrown = fates[attempt.name] in THROWN_AWAY and attempt.name not in carried
        for part, dollars in _parts(attempt.run, fates[attempt.name], thrown=thrown).items():
            parts[part] += dollars
    runs = [one.run for one in costs.attempts]
    told = any(run.cost_usd is not None for run in runs)
    return MoneySplit(
        startup_usd=parts["startup"],
        work_usd=parts["work"],
        unsplit_usd=parts["unsplit"],
        review_usd=parts["review"],
        thrown_usd=parts["thrown"],
        cost_usd=sum(parts.values()) if told or not runs else None,
        attempts=len(runs),
        unpriced=sum(run.unpriced for run in runs),
        unknown=sum(run.unknown for run in runs),
    )


def _parts(run: RunCost, fate: MoneyFate, *, thrown: bool) -> dict[str, float]:
    if run.cost_usd is None:
        return {}
    if thrown or fate is MoneyFate.REVIEW:
        return {"thrown" if thrown else "review": run.cost_usd}
    if run.startup_usd is None:
        return {"unsplit": run.cost_usd}
    return {"startup": run.startup_usd, "work": run.cost_usd - run.startup_usd}


def _sum(amounts: Sequence[float | None]) -> float | None:
    """Of those that are known; None if none is. Nothing at all costs nothing."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known or not amounts else None
