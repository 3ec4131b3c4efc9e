"""The log's history of a change, a CI run or main, including what the queue has forgotten."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from paddock.core.errors import NotFound
from paddock.core.events import MessageSent, Record, TaskApproved
from paddock.core.ids import printable
from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.store.protocol import Ask, Query

FAILURES = (Result.FAIL, Result.TIMEOUT, Result.INFRA)
EVERYTHING = Query(kind="queue.*")
MAIN = "main itself"
"""No change can have this name: it has a space."""

MembersOf = Callable[[str], Sequence[str]]
"""The changes that a CI run tests."""


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One event in words. `about` are the changes and runs it concerns, and `MAIN`; `run` is the CI run it is about, if
    any; `head` is of a version that was queued. What is `minor` is left to those who ask."""

    seq: int
    at: float
    words: str
    about: tuple[str, ...] = ()
    run: str = ""
    minor: bool = False
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
        return ", ".join(member.id for member in self.started.members) or MAIN


def story_of_change(ask: Ask, change: str) -> list[StoryLine]:
    """Raises NotFound if the queue never had it."""
    story = [*_story(ask(EVERYTHING), change), *_said(ask, change)]
    if not story:
        raise NotFound(f"`{printable(change, 40)}` has never been in the merge queue", "`paddock queue` shows what is")
    return sorted(story, key=lambda line: line.seq)


def open_conflict(story: list[StoryLine]) -> OpenConflict | None:
    """The conflict the story ends with; None if there was none or it went on afterwards."""
    heads = [line.head for line in story if line.head]
    ends = [line.conflict for line in story if line.head or line.conflict is not None]
    last = ends[-1] if ends else None
    return None if last is None else OpenConflict(heads[-1], last.base, last.paths, last.against)


def story_of_run(ask: Ask, run: str) -> RunStory:
    """Raises NotFound if there never was one with that id."""
    records = list(ask(EVERYTHING))
    starts = [(record, record.event) for record in records if isinstance(record.event, qe.RunStarted)]
    mine = next(((record, event) for record, event in starts if event.run == run), None)
    if mine is None:
        newest = f"the newest is `{starts[-1][1].run}`" if starts else "there has been none"
        raise NotFound(f"there is no CI run `{run}`: {newest}", "`paddock queue` lists those that are running")
    end = next((r for r in records if isinstance(r.event, qe.RunEnded) and r.event.run == run), None)
    ended = end.event if end is not None and isinstance(end.event, qe.RunEnded) else None
    story = tuple(replace(line, run=run) for line in _story(records, run))
    return RunStory(mine[1], mine[0].at, ended, end.at if end is not None else None, story)


def story_of_main(ask: Ask) -> list[StoryLine]:
    return _story(ask(EVERYTHING), MAIN)


def _story(records: Iterable[Record], name: str) -> list[StoryLine]:
    members: dict[str, tuple[str, ...]] = {}
    story = []
    for record in records:
        if isinstance(record.event, qe.RunStarted):
            members[record.event.run] = tuple(member.id for member in record.event.members)
        line = tell(record, lambda run: members.get(run, ()))
        if line is not None and name in line.about:
            story.append(line)
    return story


def _said(ask: Ask, change: str) -> Iterator[StoryLine]:
    """What its agent was asked to do about it, and what people said when they approved it."""
    for kind in (MessageSent.kind, TaskApproved.kind):
        for record in ask(Query(task=change, kind=kind)):
            line = partial(StoryLine, record.seq, record.at)
            match record.event:
                case MessageSent(text=text) if record.actor == "daemon":
                    yield line(f"asked its agent: {' '.join(text.split())}")
                case TaskApproved(message=message) if message:
                    yield line(f"approved by {record.actor}: {' '.join(message.split())}")


def tell(record: Record, members_of: MembersOf) -> StoryLine | None:
    """What the queue recorded, in words; None for what is not worth any, or not the queue's."""
    return _tell_change(record) or _tell_run(record, members_of) or _tell_queue(record)


def _tell_change(record: Record) -> StoryLine | None:
    line = partial(StoryLine, record.seq, record.at)
    match record.event:
        case qe.ChangeQueued(change=change, note=note):
            after = f", after {', '.join(change.depends_on)}" if change.depends_on else ""
            said = f" ({' '.join(note.split())})" if note else ""
            words = f"queued {change.id} version {change.version} at {change.head[:10]} by {record.actor}{after}"
            return line(f"{words}: {change.title}{said}", (change.id,), head=change.head)
        case qe.ChangeRestacked(id=name, stacked_on=members):
            words = f"{name} was found to build on {', '.join(member.id for member in members)}: waits for it"
            return line(words, (name,), minor=True)
        case qe.CompositionRefused(id=name) as event:
            paths = f": {', '.join(event.paths)}" if event.paths else ""
            words = f"{name} could not be merged ({event.cause.value}) with {event.against or event.base[:10]}{paths}"
            return line(words, (name,), minor=True)
        case qe.ChangeConflicted(id=name) as event:
            words = f"returned {name}: conflicts with {event.against or event.base[:10]} in {', '.join(event.paths)}"
            return line(words, (name,), conflict=event)
        case qe.ChangeRejected(id=name) as event:
            flaky = f"; {event.needed} failures were needed, because CI flakes" if event.needed > 2 else ""
            proof = ", ".join(event.runs) or event.by or "nobody"
            words = f"rejected {name}: {event.reason}, on the evidence of {proof}{flaky}"
            return line(words, (name, *event.runs))
        case qe.ChangeCancelled(id=name, reason=reason, fell_with=base):
            return line(f"removed {name} from the queue: {reason}", (name,), minor=base is None)
        case qe.ChangeFoundEmpty(id=name):
            return line(f"removed {name} from the queue: main already has everything it changes", (name,))
        case qe.ChangeMoved(id=name, priority=priority, by=by):
            return line(f"moved {name} to priority {priority} by {by}", (name,), minor=True)
        case qe.WorkLost(ids=ids):
            return line(f"lost from main: {', '.join(ids)}; `paddock land` queues a task again", ids)
        case qe.WorkFound(ids=ids):
            return line(f"in main again: {', '.join(ids)}", ids)
        case _:
            return None


def _tell_run(record: Record, members_of: MembersOf) -> StoryLine | None:
    line = partial(StoryLine, record.seq, record.at)
    match record.event:
        case qe.RunStarted(run=run) as event:
            names = [member.id for member in event.members]
            what = f"{event.purpose.value} {run} of {', '.join(names) or MAIN}"
            words = f"{what} began on {event.base[:10]}, tree {event.tree[:10]}{_scope(event)}"
            return line(words, (*(names or [MAIN]), run), run, minor=True)
        case qe.RunCancelAsked(run=run, reason=reason):
            return line(f"CI run {run} is being stopped: {reason}", (run,), run, minor=True)
        case qe.RunEnded(run=run, reused=reused, note=note, result=result):
            again = f" (already known from {reused})" if reused else ""
            words = f"CI run {run}: {result.value}{again}{f': {note}' if note else ''}"
            about = (*(members_of(run) or [MAIN]), run)
            return line(words, about, run, minor=reused is not None, failed=result in FAILURES)
        case qe.TrainLanded(run=run, new=new):
            words = f"landed {', '.join(members_of(run)) or run}: main is now at {new[:10]}, tested by {run}"
            return line(words, (*members_of(run), run, MAIN), run)
        case qe.LandingRefused(run=run, reason=reason):
            return line(f"{run} did not land: {reason}", (*members_of(run), run), run, minor=True)
        case _:
            return None


def _scope(event: qe.RunStarted) -> str:
    if not event.since:
        return ""
    return f", only {', '.join(event.checks)}" if event.checks else ", which no check covers"


def _tell_queue(record: Record) -> StoryLine | None:
    line = partial(StoryLine, record.seq, record.at)
    match record.event:
        case qe.MainMoved(commit=commit, descends=descends, by=by):
            lost = "" if descends else ", which does not descend from the last one"
            who = f"; moved by {by}" if by else ""
            return line(f"main seen at {commit[:10]}{lost}{who}", (MAIN,), minor=True)
        case qe.MainRestored(commit=commit, old=old, kept=kept):
            where = f"; {old[:10]} is kept at {kept}" if kept else ""
            return line(f"main restored to {commit[:10]} by {record.actor}{where}", (MAIN,))
        case qe.CiDefined(ci=ci):
            return line(f"CI definition {ci[:10]} in force", (MAIN,), minor=True)
        case qe.QueueHalted(reason=reason, runs=runs):
            return line(f"merge queue halted: {reason}", (MAIN, *runs))
        case qe.QueueFrozen(reason=reason):
            return line(f"merge queue frozen: nothing lands{f': {reason}' if reason else ''}")
        case qe.QueueUnfrozen():
            return line("merge queue unfrozen")
        case qe.QueuePaused(reason=reason):
            return line(f"merge queue paused: nothing is tested{f': {reason}' if reason else ''}")
        case qe.QueueDrained():
            return line("merge queue draining: changes queued from now on wait")
        case qe.QueueResumed():
            return line(f"merge queue resumed by {record.actor}", (MAIN,))
        case qe.RemoteLost(remote=remote, problem=problem):
            return line(f"cannot reach the remote `{remote}`: {problem}")
        case qe.RemoteReached(remote=remote):
            return line(f"the remote `{remote}` answers again")
        case _:
            return None
