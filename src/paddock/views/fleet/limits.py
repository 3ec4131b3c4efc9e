"""How full each limit is, as JSON."""

import msgspec

from paddock.core.admission.controls import Controls
from paddock.core.admission.ladder import Rung, amount_words, rungs_of
from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.fleet.dispatch.gate import LimitsFile, running_by_account, take_snapshot
from paddock.fleet.site import Site
from paddock.views.document import iso_or_none

WORDS = 300


class LimitRow(msgspec.Struct, frozen=True):
    """`used` of at most `most`, in `unit` (agents, changes, usd, tokens); `most` is null where it has no number.

    `by` is the kind of limit, `on` the account, engine or budget. `binds`: it keeps ready tasks from starting now.
    """

    name: str
    by: str
    on: str
    used: float
    most: float | None
    unit: str
    amount: str
    words: str
    until: str | None
    run: str
    binds: bool


def rungs_now(site: Site, board: Board, kept: LimitsFile | None, now: float) -> tuple[Rung, ...]:
    """As the gate would see it with what it last wrote down."""
    known = LimitsFile(0.0, Controls(), {}) if kept is None else kept
    running, cap = running_by_account(site, board), site.config.limits.max_agents
    return rungs_of(take_snapshot(site, board, known, running, cap, now), now)


def view_limits(site: Site, board: Board, kept: LimitsFile | None, now: float) -> list[LimitRow]:
    return [view_rung(rung) for rung in rungs_now(site, board, kept, now)]


def view_rung(rung: Rung, *, binds: bool = False, words: str = "", until: float | None = None) -> LimitRow:
    """`words` and `until` are the gate's own, where it is the one that binds."""
    return LimitRow(
        rung.name,
        rung.by.value,
        rung.on,
        round(rung.used, 4),
        None if rung.most is None else round(rung.most, 4),
        rung.unit.value,
        amount_words(rung),
        printable(words or rung.reason, WORDS),
        iso_or_none(until if until is not None else rung.until),
        rung.cure,
        binds,
    )
