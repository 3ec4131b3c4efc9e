"""How full each limit is, as JSON."""

import msgspec

from paddock.core.admission.ladder import Rung, amount_words
from paddock.core.ids import printable
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
