"""A merge queue that stopped by itself, in words: why, what to do, and when it goes on by itself."""

import time

from paddock.cli.text import age, cut, iso, paint
from paddock.core.merge.halts import next_probe_at
from paddock.core.merge.model import HaltCause, Halted

_CURES = {
    HaltCause.MAIN_RED: "push a commit that fixes it, or queue one: `paddock land --repair`",
    HaltCause.CI_CANNOT_RUN: (
        "edit `[land]` in paddock.toml (ci, checks, setup, timeout), or install what it needs\n"
        "`paddock doctor --ci` tries it"
    ),
    HaltCause.OUTAGE: "check the machine: memory, disk, and anything that kills processes",
    HaltCause.OTHER: "investigate, then run `paddock queue resume`",
}


def cure_of(halted: Halted) -> list[str]:
    """What a person can do, and what happens otherwise."""
    lines = _CURES[_cause(halted)].split("\n")
    if (at := next_probe_at(halted)) is None:
        return lines
    left = at - time.time()
    when = f"in {age(0.0, left)}" if left >= 1 else "now"
    return [*lines, f"a running daemon tests main again {when}, and resumes once it passes"]


def _cause(halted: Halted) -> HaltCause:
    """Also of a halt that was recorded before causes were."""
    old = halted.cause is HaltCause.OTHER and halted.until_main_moves
    return HaltCause.MAIN_RED if old else halted.cause


def halt_lines(halted: Halted) -> list[str]:
    """For whoever looks at something other than the queue."""
    return [
        paint(f"merge queue halted: {cut(halted.reason, 200)}", "red"),
        *(f"  {line}" for line in cure_of(halted)),
        "  `paddock queue why main` has the details",
    ]


def view_halt(halted: Halted | None) -> dict[str, object] | None:
    if halted is None:
        return None
    at = next_probe_at(halted)
    return {
        "reason": halted.reason,
        "cause": _cause(halted).value,
        "since": iso(halted.at),
        "runs": list(halted.runs),
        "cure": "; ".join(_CURES[_cause(halted)].split("\n")),
        "tested_again": iso(at) if at is not None else None,
    }
