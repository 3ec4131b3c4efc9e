"""The search for the culprit of a failed train or pool, as a tree: what was tried, who was cleared, what comes next."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

import msgspec

from paddock.core.merge import guards
from paddock.core.merge.groups import first_half
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Ending, Queue, Result
from paddock.core.merge.recent import RecentQueue, RecentRun, RunKind
from paddock.core.merge.standing import Stage, standing_of
from paddock.views.document import iso_or_none

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SHOWN_AFTER_SECONDS = 1200.0
DEEPEST = 8


class HalfView(msgspec.Struct, frozen=True):
    """`state`: failed, running, passed, next, waiting, innocent, rejected, landed or gone. `run` is the CI run that
    tried exactly these, if one did, `at` when it ended."""

    members: tuple[str, ...]
    state: str
    run: str | None = None
    at: str | None = None
    words: str = ""
    halves: tuple["HalfView", ...] = ()


class HalvingView(msgspec.Struct, frozen=True):
    """`done`: everybody in it was cleared or rejected. `runs_left` is about how many more runs it takes."""

    run: str
    kind: str
    title: str
    done: bool
    found: tuple[str, ...]
    runs_left: int
    hints: tuple[str, ...]
    tree: HalfView


def view_halving(queue: Queue, recent: RecentQueue, now: float) -> HalvingView | None:
    """The search that is under way, a train's before a pool's; one that is over for a while; None without any."""
    roots = [run for run in _failed_groups(recent, now) if run.searched_from not in recent.runs]
    parts = _parts_of(recent.runs.values(), min((run.started for run in roots), default=now))
    states = _states(queue)
    open_ = [run for run in roots if _is_open(run, parts, states)]
    trains = [run for run in open_ if run.kind is not RunKind.SCREEN]
    over = [run for run in roots if parts.get(run.id) and (run.ended or 0.0) >= now - SHOWN_AFTER_SECONDS]
    chosen = (trains or open_ or over)[:1]
    return _view(queue, chosen[0], parts, states) if chosen else None


def _failed_groups(recent: RecentQueue, now: float) -> list[RecentRun]:
    """Newest first."""
    ended = recent.ended_since(now - 4 * 3600.0)
    return [run for run in ended if run.result in BLAMING and len(run.members) > 1]


def _parts_of(runs: Iterable[RecentRun], since: float) -> dict[str, list[RecentRun]]:
    parts: dict[str, list[RecentRun]] = defaultdict(list)
    for run in runs:
        lost = run.result in (Result.CANCELLED, Result.INFRA)
        if run.searched_from is not None and run.started >= since and not lost:
            parts[run.searched_from].append(run)
    return parts


_STATES = {
    Stage.SUSPECT: "next",
    Stage.SINGLE: "next",
    Stage.BEHIND: "waiting",
    Stage.LATER: "waiting",
    Stage.CONFIRM: "next",
    Stage.CONVICTED: "next",
    Stage.HELD: "waiting",
}


def _states(queue: Queue) -> dict[str, str]:
    """Of each change that is or was queued."""
    live = guards.live_bases(queue)
    ends = {Ending.LANDED: "landed", Ending.REJECTED: "rejected"}
    states = {decided.id: ends.get(decided.outcome, "gone") for decided in queue.decided}
    for name, entry in queue.entries.items():
        states[name] = _STATES.get(standing_of(queue, entry, live).stage, "innocent")
    return states


def _is_open(run: RecentRun, parts: Mapping[str, Sequence[RecentRun]], states: Mapping[str, str]) -> bool:
    tried = [run, *(part for part in parts.get(run.id, ()))]
    return any(part.ended is None for part in tried) or any(
        states.get(member) in ("next", "waiting") for member in run.members
    )


def _view(
    queue: Queue, root: RecentRun, parts: Mapping[str, Sequence[RecentRun]], states: Mapping[str, str]
) -> HalvingView:
    tree = _half(root, parts, states, DEEPEST)
    found = tuple(member for member in root.members if states.get(member) == "rejected")
    suspects = [member for member in root.members if states.get(member) in ("next", "waiting")]
    needed = guards.failures_needed(queue.stats)
    left = ceil(log2(len(suspects))) + needed if suspects else 0
    return HalvingView(
        root.id,
        root.kind.value,
        _title(root, found, suspects),
        not suspects,
        found,
        left,
        _hints(tree, suspects, needed),
        tree,
    )


def _title(root: RecentRun, found: tuple[str, ...], suspects: list[str]) -> str:
    if suspects:
        size = len(root.members)
        return f"Which of the {NUMBERS[size] if size < len(NUMBERS) else size}?"
    return f"It was {' and '.join(found)}" if found else "Nobody: they pass by now"


def _half(run: RecentRun, parts: Mapping[str, Sequence[RecentRun]], states: Mapping[str, str], depth: int) -> HalfView:
    state = "running" if run.ended is None else "passed" if run.result is Result.PASS else "failed"
    halves: list[HalfView] = []
    if state == "failed" and depth and len(run.members) > 1:
        tried = {member: part for part in parts.get(run.id, ()) for member in part.members}
        below = list(dict.fromkeys(part.id for part in tried.values()))
        by_id = {part.id: part for part in parts.get(run.id, ())}
        halves = [_half(by_id[name], parts, states, depth - 1) for name in below]
        halves += _rest([member for member in run.members if member not in tried], states)
    return HalfView(run.members, state, run.id, iso_or_none(run.ended), _words(run, state), tuple(halves))


def _rest(members: list[str], states: Mapping[str, str]) -> list[HalfView]:
    groups: dict[str, list[str]] = defaultdict(list)
    for member in members:
        groups[states.get(member, "gone")].append(member)
    words = {
        "next": "tried next",
        "waiting": "wait for the answer",
        "innocent": "innocent as before, ride on",
        "landed": "landed since",
        "rejected": "rejected",
        "gone": "left the queue",
    }
    return [HalfView(tuple(names), state, words=words[state]) for state, names in groups.items()]


def _words(run: RecentRun, state: str) -> str:
    size = len(run.members)
    what = {RunKind.TRAIN: f"train of {size}", RunKind.SCREEN: f"pool of {size}"}.get(run.kind, "")
    if state == "running":
        return "tried now"
    if state == "passed":
        return "cleared" if run.searched_from else f"{what} passed"
    if run.searched_from is None:
        return f"{what} failed"
    return "failed too: it is in here" if size > 1 else "failed alone"


def _hints(tree: HalfView, suspects: list[str], needed: int) -> tuple[str, ...]:
    """What happens next, either way."""
    if not suspects:
        return ()
    trying = _running_in(tree)
    hints = []
    if trying is not None:
        half = first_half(list(trying.members))
        if len(trying.members) > 1:
            hints.append(f"If {trying.run} fails, {_names(half)} tried {'alone' if len(half) == 1 else 'next'}.")
        tried = _tried_now(tree)
        others = [member for member in suspects if member not in tried]
        after = first_half(others) if others else []
        follows = f" and {_names(after)} tried" if after else ""
        goes = "it goes" if len(trying.members) == 1 else "they go"
        hints.append(f"If {'it passes' if hints else f'{trying.run} passes'}, {goes} on{follows}.")
    hints.append(f"{NUMBERS[needed].capitalize()} failures at least before any blame.")
    return tuple(hints)


def _names(members: list[str]) -> str:
    shown = members[0] if len(members) == 1 else f"{members[0]} to {members[-1]}"
    return f"{shown} {'is' if len(members) == 1 else 'are'}"


def _tried_now(half: HalfView) -> set[str]:
    own = set(half.members) if half.state == "running" else set()
    return own.union(*(_tried_now(part) for part in half.halves))


def _running_in(half: HalfView) -> HalfView | None:
    if half.state == "running":
        return half
    return next((found for part in half.halves if (found := _running_in(part)) is not None), None)
