"""The stories of a change, a CI run and main, and a trial of CI, as JSON."""

from collections.abc import Iterable, Sequence

import msgspec

from paddock.core.merge.model import Member, Queue
from paddock.fleet.landing.ci_trial import Trial
from paddock.fleet.landing.conflicts import BothSides
from paddock.views.document import Document, iso, iso_or_none, view_of
from paddock.views.queue.halts import HaltView, view_halt
from paddock.views.queue.history import OpenConflict, RunStory, StoryLine

SHOWN_EVENTS = 30


class EventView(msgspec.Struct, frozen=True):
    seq: int
    at: str
    words: str
    run: str | None


class ConflictView(msgspec.Struct, frozen=True):
    """`ours` and `theirs` are diffs from the `fork`."""

    against: str | None
    paths: tuple[str, ...]
    fork: str
    head: str
    base: str
    ours: str
    theirs: str


class ChangeStoryView(Document, frozen=True, kw_only=True):
    id: str
    events: list[EventView]
    conflict: ConflictView | None


class StepView(msgspec.Struct, frozen=True):
    number: int
    name: str
    bytes: int


class RunStoryView(Document, frozen=True, kw_only=True):
    run: str
    purpose: str
    members: tuple[Member, ...]
    base: str
    commit: str
    tree: str
    state: str
    started: str
    ended: str | None
    exit: int | None
    note: str
    cannot_run: str
    reused: str | None
    log: str
    steps: Sequence[StepView]
    output: Sequence[str]
    events: list[EventView]


class MainStoryView(Document, frozen=True, kw_only=True):
    main: str | None
    verified_by: str | None
    halted: HaltView | None
    output: Sequence[str]
    events: list[EventView]


def view_events(story: Iterable[StoryLine]) -> list[EventView]:
    return [EventView(line.seq, iso(line.at), line.words, line.run or None) for line in story]


def view_change_story(
    change: str, story: Sequence[StoryLine], conflict: OpenConflict | None, sides: BothSides | None
) -> ChangeStoryView:
    """`sides` are what both sides of the conflict changed, if there is one."""
    both = None
    if conflict is not None and sides is not None:
        both = view_of(ConflictView, conflict, fork=sides.fork, ours=sides.ours, theirs=sides.theirs)
    return ChangeStoryView(id=change, events=view_events(story), conflict=both)


def view_run_story(story: RunStory, log: str, steps: Sequence[StepView], output: Sequence[str]) -> RunStoryView:
    """`log` is the folder of what CI printed; `output` is the end of it."""
    ended = story.ended
    return view_of(
        RunStoryView,
        story.started,
        state=story.state,
        started=iso(story.began),
        ended=iso_or_none(story.over),
        exit=ended.exit if ended is not None else None,
        note=ended.note if ended is not None else "",
        cannot_run=ended.cannot_run if ended is not None else "",
        reused=ended.reused if ended is not None else None,
        log=log,
        steps=steps,
        output=output,
        events=view_events(story.events),
    )


def view_main_story(queue: Queue, story: Sequence[StoryLine], output: Sequence[str]) -> MainStoryView:
    """`output` is the end of what the run printed that speaks against main, if any."""
    return MainStoryView(
        main=queue.main.commit if queue.main is not None else None,
        verified_by=queue.main.verified_by if queue.main is not None else None,
        halted=view_halt(queue.halted) if queue.halted is not None else None,
        output=output,
        events=view_events(story[-SHOWN_EVENTS:]),
    )


class TrialView(msgspec.Struct, frozen=True):
    commit: str
    result: str
    exit: int | None
    note: str
    cannot_run: str
    seconds: float
    output: list[str]


def view_trial(trial: Trial) -> TrialView:
    seconds, output = round(trial.seconds, 1), trial.output.splitlines()
    return view_of(TrialView, trial.ended, commit=trial.commit, seconds=seconds, output=output)
