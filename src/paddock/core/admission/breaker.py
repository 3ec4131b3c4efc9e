"""An engine whose agents never run at all is stopped: three such attempts in a row are no coincidence.

It takes two tasks: one whose own prompt or settings are at fault only ever stops itself. After a while one agent may
try whether the engine runs again; if it does not either, the next one may after twice the time.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from paddock.core.causes.model import STREAK_STOPS, STREAK_TASKS, Streak, how_to_clear
from paddock.core.causes.strikes import TRIAL_BASE_SECONDS, trial_pause

KEPT_TASKS = 8


class Breaker(msgspec.Struct, frozen=True):
    """`never_ran` counts attempts in a row, `tasks` are those they belonged to. `opened` is when the engine was stopped
    or failed a trial, of which there were `trials`; `tried` is when the latest one began, 0 where none did since.
    `cause` is what the log has about it, see `core/causes`: then that decides when it ends."""

    never_ran: int = 0
    evidence: str = ""
    tasks: tuple[str, ...] = ()
    cause: str = ""
    opened: float = 0.0
    trials: int = 0
    tried: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.never_ran >= STREAK_STOPS and len(self.tasks) >= STREAK_TASKS

    @property
    def trial_at(self) -> float:
        """When one agent may try: also after a trial of which nobody has heard for as long as that."""
        return max(self.opened, self.tried) + trial_pause(self.trials)

    def may_try(self, now: float) -> bool:
        return now >= self.trial_at or now < self.opened - TRIAL_BASE_SECONDS


def note_never_ran(breaker: Breaker, evidence: str, task: str, now: float) -> Breaker:
    """One that was at work already when the engine was stopped says nothing new about when it may be tried."""
    tasks = breaker.tasks if task in breaker.tasks else (*breaker.tasks, task)[-KEPT_TASKS:]
    noted = replace(breaker, never_ran=breaker.never_ran + 1, evidence=evidence, tasks=tasks)
    if not breaker.is_open:
        return replace(noted, opened=now) if noted.is_open else noted
    return replace(noted, opened=now, trials=breaker.trials + 1, tried=0.0) if breaker.tried else noted


def note_ran(breaker: Breaker, started: float) -> Breaker:
    """An agent of the engine did something. Once the breaker is open, only one that was let try closes it."""
    if not breaker.is_open:
        return Breaker()
    was_trial = 0.0 < breaker.tried <= started
    return Breaker() if was_trial and not breaker.cause else breaker


def note_trial(breaker: Breaker, now: float) -> Breaker:
    """An agent was started although the engine is stopped."""
    return replace(breaker, tried=now) if breaker.is_open else breaker


def follow_streaks(breakers: Mapping[str, Breaker], streaks: Mapping[str, Streak]) -> dict[str, Breaker]:
    """As the log has it: what it knows to have never run stops its engine, until the log has forgotten that."""
    followed = {name: Breaker() if one.cause and name not in streaks else one for name, one in breakers.items()}
    for name, streak in streaks.items():
        breaker = followed.get(name) or Breaker()
        if streak.stops or breaker.is_open:
            followed[name] = Breaker(
                max(streak.runs, breaker.never_ran),
                streak.evidence,
                tuple(dict.fromkeys((*breaker.tasks, *streak.tasks)))[-KEPT_TASKS:],
                streak.cause,
                max(streak.last, breaker.opened) if streak.stops else breaker.opened,
                max(streak.trials, breaker.trials),
                breaker.tried if breaker.tried > streak.last else 0.0,
            )
    return followed


def why_stopped(breaker: Breaker, engine: str) -> str | None:
    if not breaker.is_open:
        return None
    many = f"{breaker.never_ran} attempts in a row, of {len(breaker.tasks)} tasks, never ran"
    when = datetime.fromtimestamp(breaker.trial_at, UTC).strftime("%H:%M UTC")
    return f"engine {engine} stopped: {many} ({breaker.evidence}); one may try again at {when}"


def how_to_restart(engine: str, cause: str = "") -> str:
    cure = how_to_clear(cause) if cause else f"paddock limits --reset {engine}"
    return f"paddock engines check {engine}, then {cure}"
