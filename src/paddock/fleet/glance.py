"""What only the daemon knows about the agents at work: a small file, so that others need not read agents' output.

It is a hint for those who look, and nobody decides by it. The daemon renames it into place when something has changed,
and once in a while so that it is not taken for a dead daemon's. Readers look as often as they like: as long as the
file is the same one, that is one `stat`.
"""

import contextlib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.board import Board
from paddock.core.ids import AttemptId, task_of
from paddock.core.money.budget import DayCost
from paddock.core.money.spending import day_of
from paddock.sessions.hints import read_hint, write_hint
from paddock.sessions.regular import stat_regular

FILE = "glance.json"
RENEWED_SECONDS = 30.0
OLD_SECONDS = 120.0
"""The daemon that wrote it has ended without removing it, or it hangs."""
KEPT_FILES = 16
"""Readers of several repositories in one process."""

_Moment = Annotated[float, Meta(ge=0, le=1e11)]
_Count = Annotated[int, Meta(ge=0, le=10**15)]
_Money = Annotated[float, Meta(ge=0, le=1e12)]
_Words = Annotated[str, Meta(max_length=2000)]


class AgentGlance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attempt at work. `step` is what it did last, in its own words, and `step_at` when; `turn` the one it is in.

    All other numbers are of the whole attempt so far: those of ended turns as the log has them, and what the open one
    has told. `cost_usd` is None where no price is known, and `assumed_usd` is then what budgets count. `insertions`,
    `deletions` and `files` are an estimate from the edits that were seen. `stuck` is why it looks stuck, if it does.
    """

    step: _Words = ""
    step_at: _Moment | None = None
    steps: _Count = 0
    turn: _Count = 0
    cost_usd: _Money | None = None
    assumed_usd: _Money = 0.0
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    insertions: _Count = 0
    deletions: _Count = 0
    files: _Count = 0
    stuck: _Words = ""


class Glance(msgspec.Struct, frozen=True, omit_defaults=True):
    """`agents` by attempt. `limit` is what keeps ready tasks from starting (`core/admission` `LimitedBy`), empty if
    nothing does; `limit_on` the account, engine or budget that it is about, and `limit_until` when to ask again, where
    time helps. `running` of at most `cap` agents are driven by the daemon, and `most` could be, as far as is known.
    `at` is 0 where there is no daemon to tell.
    """

    at: _Moment = 0.0
    agents: dict[str, AgentGlance] = {}
    running: _Count = 0
    cap: _Count = 0
    most: _Count = 0
    limit: _Words = ""
    limit_reason: _Words = ""
    limit_until: _Moment | None = None
    limit_on: _Words = ""


NOTHING = Glance()
_Identity = tuple[int, int, int]
_seen: dict[Path, tuple[_Identity, Glance]] = {}


def read_glance(state_dir: Path, now: float | None = None) -> Glance:
    """The same object as long as nothing has changed. Empty where no daemon tells, or nothing that can be read."""
    path = state_dir / FILE
    found = stat_regular(path)
    if found is None:
        return NOTHING
    identity = (found.st_mtime_ns, found.st_ino, found.st_size)
    known = _seen.get(path)
    if known is None or known[0] != identity:
        known = identity, read_hint(path, Glance) or NOTHING
        if len(_seen) >= KEPT_FILES:
            _seen.clear()
        _seen[path] = known
    if now is None:
        # It imports asyncio, which would slow down commands that know the time.
        from paddock.fleet.clock import SYSTEM_CLOCK

        now = SYSTEM_CLOCK.now()
    age = now - known[1].at
    return known[1] if abs(age) <= OLD_SECONDS else NOTHING


def cost_of_day(board: Board, glance: Glance, day: str) -> DayCost | None:
    """As the board has it, with what agents have used since in turns that have not ended; None if nothing was."""
    known = board.cost_of_day(day)
    if known is None:
        return None
    cost, assumed = known.known, known.assumed
    for name, agent in glance.agents.items():
        task = board.tasks.get(task_of(AttemptId(name)))
        attempt = None if task is None else task.live_attempt
        if attempt is not None and attempt.id == name and day_of(attempt.started) == day:
            cost += max(0.0, (agent.cost_usd or 0.0) - (attempt.cost_usd or 0.0))
            assumed += max(0.0, agent.assumed_usd - attempt.assumed_usd)
    return DayCost(cost, assumed)


def write_glance(state_dir: Path, glance: Glance) -> None:
    """Raises OSError."""
    write_hint(state_dir / FILE, glance)


def remove_glance(state_dir: Path) -> None:
    with contextlib.suppress(OSError):
        (state_dir / FILE).unlink()
