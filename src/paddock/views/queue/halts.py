"""A merge queue that stopped by itself: why, what to do, and when it resumes by itself."""

from typing import TYPE_CHECKING

import msgspec

from paddock.core.durations import rough_duration
from paddock.core.merge.branch import main_to_restore
from paddock.core.merge.halts import next_probe_at
from paddock.core.merge.model import HaltCause, Halted, Queue
from paddock.core.merge.switches import switches_of
from paddock.views.document import iso, iso_or_none, view_of

if TYPE_CHECKING:
    from paddock.store.protocol import Ask

_CURES = {
    HaltCause.MAIN_RED: (
        "push a commit that fixes it, or queue one: `paddock land --repair`",
        "`paddock queue restore` puts back the last tested main, if somebody else moved it",
    ),
    HaltCause.CI_CANNOT_RUN: (
        "edit `[land]` in paddock.toml (ci, checks, setup, timeout), or install what it needs",
        "`paddock doctor --ci` tries it",
    ),
    HaltCause.OUTAGE: ("check the machine: memory, disk, and anything that kills processes",),
    HaltCause.OTHER: ("investigate, then run `paddock queue resume`",),
}


_RESTORE = "or run `paddock queue restore`: it puts back the last tested main and keeps what is there now"


class HaltView(msgspec.Struct, frozen=True):
    reason: str
    cause: str
    since: str
    runs: tuple[str, ...]
    cure: str
    tested_again: str | None
    rewound: bool


def view_halt(halted: Halted) -> HaltView:
    cure, again = "; ".join(_CURES[halted.cause]), iso_or_none(next_probe_at(halted))
    return view_of(HaltView, halted, since=iso(halted.at), cure=cure, tested_again=again)


def cure_of(halted: Halted, now: float) -> list[str]:
    """What a person can do, and what happens otherwise."""
    lines = [*_CURES[halted.cause], *([_RESTORE] if halted.rewound else [])]
    if (at := next_probe_at(halted)) is None:
        return lines
    when = f"in {rough_duration(at - now)}" if at - now >= 1 else "now"
    return [*lines, f"a running daemon tests main again {when}, and resumes once it passes"]


def restoring_words(queue: Queue) -> str:
    """What `paddock queue restore` would do to main; empty while there is nothing for it to do."""
    wanted = main_to_restore(queue)
    if wanted is None or queue.landing is not None:
        return ""
    rewound = queue.halted is not None and queue.halted.rewound
    if queue.main is not None and queue.main.commit == wanted.commit and not rewound:
        return ""
    known = "the last that passed its tests" if wanted.verified_by is not None else "the first that was seen"
    return f"puts main back to {wanted.commit[:10]}, {known}; what it has now is kept by a ref"


def why_stopped(queue: Queue, ask: "Ask") -> str:
    """What the queue itself found, or the reason given by whoever stopped it; empty while it is open."""
    if queue.halted is not None:
        return queue.halted.reason
    state = switches_of(queue).state
    if state == "open":
        return ""
    from paddock.core.merge import events as qe
    from paddock.store.protocol import Query

    kinds = {"frozen": qe.QueueFrozen, "paused": qe.QueuePaused, "draining": qe.QueueDrained}
    last = list(ask(Query(kind=kinds[state].kind)))[-1]
    said = last.event.reason if isinstance(last.event, qe.QueueFrozen | qe.QueuePaused) else ""
    return f"by {last.actor}: {said}" if said else f"by {last.actor}"
