"""The log's history of a change, a CI run or main, including what the queue has forgotten."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import MessageSent, Record, TaskApproved
from paddock.core.ids import printable
from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.store.protocol import Query

FAILURES = (Result.FAIL, Result.TIMEOUT, Result.INFRA)
EVERYTHING = Query(kind="queue.*")

Ask = Callable[[Query], Iterable[Record]]
"""How to get records of the log."""


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One event in words. `run` is the CI run it is about, if any; `head` is of a version that was queued."""

    seq: int
    at: float
    words: str
    run: str = ""
    failed: bool = False
    conflict: qe.ChangeConflicted | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An unresolved conflict: the version that was returned, and the base it conflicts with."""

    head: str
    base: str
    paths: tuple[str, ...]
    against: str | None


@dataclass(frozen=True, slots=True)
class RunStory:
    """What the log holds about one run. `ended` is None while it runs."""

    started: qe.RunStarted
    began: float
    ended: qe.RunEnded | None
    over: float | None
    events: tuple[StoryLine, ...]

    @property
    def state(self) -> str:
        return self.ended.result.value if self.ended is not None else "running"

    @property
    def tested(self) -> str:
        return ", ".join(member.id for member in self.started.members) or "main itself"


def story_of_change(ask: Ask, change: str) -> list[StoryLine]:
    """Raises PaddockError if the queue never had it."""
    mine: dict[str, qe.RunStarted] = {}
    story = [line for record in ask(EVERYTHING) if (line := _about_change(record, change, mine)) is not None]
    story += [*_requests(ask, change), *_notes(ask, change)]
    if not story:
        raise PaddockError(
            f"`{printable(change, 40)}` has never been in the merge queue", "`paddock queue` shows what is"
        )
    return sorted(story, key=lambda line: line.seq)


def open_conflict(story: list[StoryLine]) -> OpenConflict | None:
    """The conflict the story ends with; None if there was none or it went on afterwards."""
    heads = [line.head for line in story if line.head]
    ends = [line.conflict for line in story if line.head or line.conflict is not None]
    last = ends[-1] if ends else None
    return None if last is None else OpenConflict(heads[-1], last.base, last.paths, last.against)


def story_of_run(ask: Ask, run: str) -> RunStory:
    """Raises PaddockError if there never was one with that id."""
    records = list(ask(EVERYTHING))
    starts = [(record, record.event) for record in records if isinstance(record.event, qe.RunStarted)]
    mine = next(((record, event) for record, event in starts if event.run == run), None)
    if mine is None:
        newest = f"the newest is `{starts[-1][1].run}`" if starts else "there has been none"
        raise PaddockError(f"there is no CI run `{run}`: {newest}", "`paddock queue` lists those that are running")
    end = next((r for r in records if isinstance(r.event, qe.RunEnded) and r.event.run == run), None)
    ended = end.event if end is not None and isinstance(end.event, qe.RunEnded) else None
    story = tuple(line for record in records if (line := _about_run(record, run)) is not None)
    return RunStory(mine[1], mine[0].at, ended, end.at if end is not None else None, story)


def story_of_main(ask: Ask) -> list[StoryLine]:
    runs: dict[str, qe.RunStarted] = {}
    return [line for record in ask(EVERYTHING) if (line := _about_main(record, runs)) is not None]


def _requests(ask: Ask, change: str) -> list[StoryLine]:
    """What the agent was asked to do about it."""
    sent = ask(Query(task=change, kind=MessageSent.kind))
    return [
        StoryLine(record.seq, record.at, f"asked its agent: {' '.join(record.event.text.split())}")
        for record in sent
        if record.actor == "daemon" and isinstance(record.event, MessageSent)
    ]


def _notes(ask: Ask, change: str) -> list[StoryLine]:
    """What people said when they approved it."""
    approved = ask(Query(task=change, kind=TaskApproved.kind))
    return [
        StoryLine(record.seq, record.at, f"approved by {record.actor}: {' '.join(record.event.message.split())}")
        for record in approved
        if isinstance(record.event, TaskApproved) and record.event.message
    ]


def _scope(event: qe.RunStarted) -> str:
    if not event.since:
        return ""
    return f", only {', '.join(event.checks)}" if event.checks else ", which no check covers"


def _about_change(record: Record, change: str, mine: dict[str, qe.RunStarted]) -> StoryLine | None:
    event = record.event
    words, run, failed, conflict, head = "", "", False, None, ""
    match event:
        case qe.ChangeQueued(change=queued) if queued.id == change:
            head = queued.head
            words = f"queued version {queued.version} at {head[:10]} by {record.actor}"
            words += f", after {', '.join(queued.depends_on)}" if queued.depends_on else ""
            words += f": {' '.join(event.note.split())}" if event.note else ""
        case qe.ChangeRestacked(id=name) if name == change:
            words = f"found to build on {', '.join(member.id for member in event.stacked_on)}: waits for it"
        case qe.RunStarted() if any(member.id == change for member in event.members):
            mine[event.run] = event
            with_ = ", ".join(member.id for member in event.members if member.id != change)
            together = f" together with {with_}" if with_ else ""
            where = f"on {event.base[:10]}, tree {event.tree[:10]}{_scope(event)}"
            words, run = f"{event.purpose.value} {event.run}{together} {where}", event.run
        case qe.RunEnded() if event.run in mine:
            words, run = f"{mine[event.run].purpose.value} {event.run} {_end_words(event)}", event.run
            failed = event.result in FAILURES
        case qe.CompositionRefused(id=name) if name == change:
            against = f" with {event.against}" if event.against else f" with {event.base[:10]}"
            words = f"could not be merged ({event.cause.value}){against}: {', '.join(event.paths)}"
        case qe.ChangeConflicted(id=name) if name == change:
            words = f"returned: conflicts with {event.against or event.base[:10]} in {', '.join(event.paths)}"
            conflict = event
        case qe.ChangeRejected(id=name) if name == change:
            flaky = f"; {event.needed} failures were needed, because CI flakes" if event.needed > 2 else ""
            proof = ", ".join(event.runs) or event.by or "nobody"
            words = f"rejected: {event.reason}, on the evidence of {proof}{flaky}"
        case qe.ChangeCancelled(id=name) | qe.ChangeFoundEmpty(id=name) if name == change:
            words = f"removed from the queue: {getattr(event, 'reason', 'main already has everything it changes')}"
        case qe.ChangeMoved(id=name) if name == change:
            words = f"moved to priority {event.priority} by {event.by}"
        case qe.TrainLanded() if event.run in mine:
            words, run = f"landed: main moved from {event.old[:10]} to {event.new[:10]}", event.run
        case qe.LandingRefused() if event.run in mine:
            words, run = f"did not land: {event.reason}", event.run
        case _:
            return None
    return StoryLine(record.seq, record.at, words, run, failed, conflict, head)


def _about_run(record: Record, run: str) -> StoryLine | None:
    match record.event:
        case qe.RunStarted() as event if event.run == run:
            words = f"began on {event.base[:10]}, tree {event.tree[:10]}"
        case qe.RunCancelAsked(run=name, reason=reason) if name == run:
            words = f"is being stopped: {reason}"
        case qe.RunEnded() as event if event.run == run:
            words = _end_words(event)
        case qe.TrainLanded() as event if event.run == run:
            words = f"landed: main moved from {event.old[:10]} to {event.new[:10]}"
        case qe.LandingRefused() as event if event.run == run:
            words = f"did not land: {event.reason}"
        case qe.ChangeRejected(id=name, runs=runs) if run in runs:
            words = f"{name} was rejected because of it and {', '.join(r for r in runs if r != run) or 'nothing else'}"
        case qe.QueueHalted(reason=reason, runs=runs) if run in runs:
            words = f"halted the queue: {reason}"
        case _:
            return None
    return StoryLine(record.seq, record.at, words, run)


def _about_main(record: Record, runs: dict[str, qe.RunStarted]) -> StoryLine | None:
    run, failed = "", False
    match record.event:
        case qe.MainMoved(commit=commit, descends=descends):
            words = f"seen at {commit[:10]}{'' if descends else ', which does not descend from the last one'}"
        case qe.CiDefined(ci=ci):
            words = f"CI definition {ci[:10]} in force"
        case qe.RunStarted(members=()) as event:
            runs[event.run] = event
            words, run = f"{event.purpose.value} {event.run} began on {event.commit[:10]}", event.run
        case qe.RunEnded() as event if event.run in runs:
            words, run = f"{runs[event.run].purpose.value} {event.run} {_end_words(event)}", event.run
            failed = event.result in FAILURES
        case qe.TrainLanded(run=name, old=old, new=new):
            words, run = f"moved from {old[:10]} to {new[:10]} by {name}", name
        case qe.QueueHalted(reason=reason):
            words = f"queue halted: {reason}"
        case qe.QueueResumed():
            words = f"queue resumed by {record.actor}"
        case _:
            return None
    return StoryLine(record.seq, record.at, words, run, failed)


def _end_words(event: qe.RunEnded) -> str:
    again = f" (already known from {event.reused})" if event.reused else ""
    return f"ended: {event.result.value}{again}{f': {event.note}' if event.note else ''}"
