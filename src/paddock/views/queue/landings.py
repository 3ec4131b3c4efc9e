"""What lands next and when, and the sentence the queue's page opens with."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from paddock.core.durations import format_duration
from paddock.core.ids import printable
from paddock.core.merge import estimate
from paddock.core.merge.forecast import Forecast, PlannedLanding, odds_of_passing
from paddock.core.merge.model import Purpose, Queue
from paddock.core.merge.recent import Switched
from paddock.core.merge.whereabouts import QueuePlace
from paddock.fleet.service.presence import Presence
from paddock.views.document import iso_or_none
from paddock.views.queue.halving import HalvingView

MOST_LANDINGS = 6
SURE = 0.9
REASON = 300


class NextView(msgspec.Struct, frozen=True):
    """What reaches main together. `at` is expected if it passes, `late` nine times out of ten also if it does not at
    first; None when that is not known. `odds` is how likely it passes."""

    title: str
    words: str
    run: str | None
    members: tuple[str, ...]
    at: str | None
    late: str | None
    odds: float | None


@dataclass(frozen=True, slots=True)
class QueuePulse:
    """`lands` is when each change may land by the queue's own estimate, in epoch seconds; `moves`: times mean
    something."""

    queue: Queue
    ahead: Forecast
    lands: Mapping[str, float | None]
    places: Mapping[str, QueuePlace]
    now: float
    moves: bool


def view_next(pulse: QueuePulse) -> list[NextView]:
    """The landings that can be foreseen, then everything else that is queued."""
    ahead = pulse.ahead.landings[: MOST_LANDINGS if pulse.moves else 2]
    first = next((place for place, one in enumerate(ahead) if not one.is_running and not one.suspects), None)
    shown = [_view_landing(pulse, one, place, is_next=place == first) for place, one in enumerate(ahead)]
    named = {name for one in shown for name in one.members}
    rest = tuple(name for name in pulse.queue.entries if name not in named)
    if rest:
        times = [at for name in rest if (at := pulse.lands.get(name)) is not None]
        riding = all(pulse.places[name] is QueuePlace.RIDING for name in rest)
        later = "on trains behind these" if riding else "what has passed alone by then"
        words = later if shown else "nothing of it can be foreseen yet"
        at = max(times) if times and pulse.moves else None
        shown.append(NextView("The rest" if shown else "Queued", words, None, rest, iso_or_none(at), None, None))
    return shown


def _view_landing(pulse: QueuePulse, landing: PlannedLanding, place: int, *, is_next: bool) -> NextView:
    odds = odds_of_passing(pulse.queue, landing.members)
    at = landing.at if pulse.moves else None
    late = _late(pulse, landing, odds, place) if pulse.moves else None
    title, words = _describe(pulse.queue, landing, is_next=is_next)
    run = landing.run if landing.is_running else None
    return NextView(title, words, run, landing.members, iso_or_none(at), iso_or_none(late), round(odds, 3))


def _late(pulse: QueuePulse, landing: PlannedLanding, odds: float, place: int) -> float | None:
    """When it has landed nine times out of ten; None if it fails more often than that."""
    if odds <= SURE:
        return None
    stats, run = pulse.queue.stats, pulse.queue.running.get(landing.run)
    if run is not None:
        left = estimate.seconds_left(stats, pulse.now - run.started_at, SURE / odds)
        return None if left is None else max(landing.at, pulse.now + left)
    usual, long = estimate.run_seconds(stats, 0.5), estimate.run_seconds(stats, SURE / odds)
    return None if usual is None or long is None else landing.at + (place + 1) * (long - usual)


def _describe(queue: Queue, landing: PlannedLanding, *, is_next: bool) -> tuple[str, str]:
    size = f"{len(landing.members)} change{'s' * (len(landing.members) != 1)}"
    run = queue.running.get(landing.run) or queue.ended.get(landing.run)
    if landing.is_running and run is not None:
        on_main = queue.main is not None and run.base == queue.main.commit
        below = "" if on_main else ", behind the train before it"
        where = f"{size}, on main {run.base[:7]}" if on_main else f"{size}{below}"
        if landing.suspects:
            return f"Search {run.id}", f"{size} of a failed train; cleared if it passes"
        return f"{'Train' if run.purpose is Purpose.TRAIN else 'Run'} {run.id}", where
    if landing.suspects:
        return "Cleared suspects", "if they pass they leave at once, ahead of what is tested alone"
    return ("Next train", "leaves when a slot is free") if is_next else ("A train after", "if everything passes")


def opening_words(pulse: QueuePulse, switch: Switched | None, daemon: Presence, search: HalvingView | None) -> str:
    """One sentence or two that would do if nothing else were shown."""
    queue = pulse.queue
    count = f"{len(queue.entries)} change{'s' * (len(queue.entries) != 1)}"
    if queue.halted is not None:
        return f"Halted {_ago(pulse.now - queue.halted.at)}: {printable(queue.halted.reason, REASON)}."
    stopped = _stopped_words(pulse, switch)
    if stopped:
        return f"{stopped} {count} queued." if queue.entries else stopped
    if queue.lost_remote is not None:
        return f"The remote {queue.lost_remote.remote} cannot be reached: what has passed lands once it answers."
    if not queue.entries and not queue.running:
        return "Nothing is queued. What is approved appears here, is tested and lands."
    if daemon is not Presence.RUNNING:
        return f"{count} queued, and no daemon runs to test and land them: `paddock up` starts one."
    searched = "; a failed train is being searched and holds up nobody else" if search and not search.done else ""
    first = next((one for one in pulse.ahead.landings if one.is_running), None) or next(
        iter(pulse.ahead.landings), None
    )
    if first is None or not pulse.moves:
        doing = "Main itself is being tested" if queue.entries and not _tests_changes(queue) else "Testing"
        return f"{doing}. {count} queued; how long a run takes is known after the first{searched}."
    what = "change reaches" if len(first.members) == 1 else f"{len(first.members)} changes reach"
    return f"Landing. The next {what} main in about {_about(first.at - pulse.now)}{searched}."


def _tests_changes(queue: Queue) -> bool:
    return any(run.members for run in queue.running.values())


def _stopped_words(pulse: QueuePulse, switch: Switched | None) -> str:
    queue = pulse.queue
    who = f" by {switch.by} {_ago(pulse.now - switch.at)}" if switch is not None else ""
    why = f" ({printable(switch.reason, REASON)})" if switch is not None and switch.reason else ""
    if queue.frozen:
        also = ", and nothing starts" if queue.paused else "; testing goes on"
        return f"Frozen{who}{why}: nothing lands{also}."
    if queue.paused:
        return f"Paused{who}{why}: no run starts; what has passed may still land."
    if queue.draining_since is not None:
        return f"Draining{who}: what came later waits until the queue is resumed."
    return ""


def _ago(seconds: float) -> str:
    return f"{_about(seconds)} ago"


def _about(seconds: float) -> str:
    """In steps that grow, so that the sentence does not change every second."""
    step = 5 if seconds < 60 else 10 if seconds < 300 else 60
    return format_duration(max(step, round(seconds / step) * step))
