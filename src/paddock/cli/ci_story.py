"""CI runs and main, as the log tells of them: `paddock show r7`, `paddock queue why r7`, `paddock queue why main`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from paddock.cli.halts import cure_of, view_halt
from paddock.cli.text import SCHEMA, age, clock, cut, iso, paint, print_json
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.merge import events as qe
from paddock.core.merge.model import Ending, Queue, Result
from paddock.core.tasks.task import Task
from paddock.fleet.landing.ci_output import CiStep, last_lines, steps_of
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.sessions.protocol import Stream
from paddock.store.protocol import Query

SHOWN_OUTPUT = 20
SHOWN_EVENTS = 30


@dataclass(frozen=True, slots=True)
class Told:
    """One event in words. `run` is the CI run it is about, if any."""

    seq: int
    at: float
    words: str
    run: str = ""
    failed: bool = False

    def text(self) -> str:
        return f"{clock(self.at)}  {cut(self.words, 200)}"

    def view(self) -> dict[str, object]:
        return {"seq": self.seq, "at": iso(self.at), "words": self.words, "run": self.run or None}


@dataclass(frozen=True, slots=True)
class RunStory:
    """What the log holds about one run. `ended` is None while it runs."""

    started: qe.RunStarted
    began: float
    ended: qe.RunEnded | None
    over: float | None
    events: tuple[Told, ...]

    @property
    def state(self) -> str:
        return self.ended.result.value if self.ended is not None else "running"

    @property
    def tested(self) -> str:
        return ", ".join(member.id for member in self.started.members) or "main itself"


def end_of_run(site: Site, runs: Sequence[str], count: int = 5) -> list[str]:
    """The last lines of the last of `runs`, under a heading; nothing when it printed nothing or is gone."""
    words = last_lines(site, runs[-1], count) if runs else ""
    if not words:
        return []
    lines = [f"  {cut(line, 200)}" for line in words.splitlines()]
    return ["", f"the end of run {runs[-1]} (`paddock tail {runs[-1]}` shows all of it):", *lines]


def find_run(workspace: Workspace, run: str) -> RunStory:
    """Raises PaddockError when there never was one of that id."""
    records = list(workspace.records(Query(kind="queue.*")))
    starts = [record for record in records if isinstance(record.event, qe.RunStarted)]
    mine = next((record for record in starts if _started(record).run == run), None)
    if mine is None:
        newest = f"the newest is `{_started(starts[-1]).run}`" if starts else "there has been none"
        raise PaddockError(f"there is no CI run `{run}`: {newest}", "`paddock queue` lists those that are running")
    end = next((r for r in records if isinstance(r.event, qe.RunEnded) and r.event.run == run), None)
    ended = end.event if end is not None and isinstance(end.event, qe.RunEnded) else None
    story = tuple(told for record in records if (told := _about_run(record, run)) is not None)
    return RunStory(_started(mine), mine.at, ended, end.at if end is not None else None, story)


def failed_run(queue: Queue, task: Task) -> str | None:
    """The CI run that speaks against what the task delivered last, None when none does."""
    entry = queue.entries.get(task.id)
    if entry is not None:
        last = queue.ended.get(entry.evidence[-1]) if entry.evidence else None
        return last.id if last is not None and last.result is not Result.PASS else None
    decided = next((old for old in reversed(queue.decided) if old.task == task.id), None)
    rejected = decided is not None and decided.outcome is Ending.REJECTED and decided.head == task.head
    return decided.runs[-1] if decided is not None and rejected and decided.runs else None


def _started(record: Record) -> qe.RunStarted:
    assert isinstance(record.event, qe.RunStarted)
    return record.event


def _about_run(record: Record, run: str) -> Told | None:
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
    return Told(record.seq, record.at, words, run)


def _end_words(event: qe.RunEnded) -> str:
    again = f" (already known from {event.reused})" if event.reused else ""
    return f"ended: {event.result.value}{again}{f': {event.note}' if event.note else ''}"


def tell_run(workspace: Workspace, run: str, *, as_json: bool) -> None:
    story, site = find_run(workspace, run), workspace.site
    if as_json:
        print_json(_view_run(story, site))
        return
    for line in _run_lines(story, site):
        click.echo(line)


def _view_run(story: RunStory, site: Site) -> dict[str, object]:
    started, ended = story.started, story.ended
    folder = site.run_folder(started.run)
    steps = [
        {"number": step.turn.number, "name": step.name, "bytes": _size(site, step)}
        for step in steps_of(site, started.run)
    ]
    return {
        "schema": SCHEMA,
        "run": started.run,
        "purpose": started.purpose.value,
        "members": [{"id": one.id, "version": one.version, "head": one.head} for one in started.members],
        "base": started.base,
        "commit": started.commit,
        "tree": started.tree,
        "state": story.state,
        "started": iso(story.began),
        "ended": iso(story.over),
        "exit": ended.exit if ended is not None else None,
        "note": ended.note if ended is not None else "",
        "cannot_run": ended.cannot_run if ended is not None else "",
        "reused": ended.reused if ended is not None else None,
        "log": str(folder),
        "steps": steps,
        "output": last_lines(site, started.run).splitlines(),
        "events": [told.view() for told in story.events],
    }


def _size(site: Site, step: CiStep) -> int:
    return site.sessions.output(step.turn, Stream.STDOUT).size()


def _run_lines(story: RunStory, site: Site) -> Iterator[str]:
    started, ended = story.started, story.ended
    took = age(story.began, story.over)
    yield f"{paint(started.run, bold=True)}  {started.purpose.value} of {cut(story.tested, 120)}"
    yield f"  {story.state} {'after' if story.over is not None else 'for'} {took}"
    rows = (
        ("because", ended.note if ended is not None else ""),
        ("known", f"from {ended.reused}, which passed the same tree" if ended is not None and ended.reused else ""),
        ("confirms", started.confirms or ""),
        ("base", started.base),
        ("commit", started.commit),
        ("tree", started.tree),
        ("log", str(site.run_folder(started.run))),
    )
    yield from (f"  {name:<9} {cut(value, 200)}" for name, value in rows if value)
    yield ""
    yield from (told.text() for told in story.events)
    output = end_of_run(site, (started.run,), SHOWN_OUTPUT)
    yield from output
    if not output and not (ended is not None and ended.reused):
        kept = steps_of(site, started.run)
        yield "\nit printed nothing" if kept or story.over is None else "\nits output has been deleted"


def tell_main(workspace: Workspace, *, as_json: bool) -> None:
    queue, site = workspace.board().queue, workspace.site
    story = _story_of_main(workspace)
    bad = [told.run for told in story if told.failed]
    red = queue.main is None or queue.main.verified_by is None or queue.halted is not None
    shown = bad[-1:] if red else []
    if as_json:
        print_json(_view_main(queue, story, last_lines(site, shown[0]).splitlines() if shown else []))
        return
    click.echo(_where(workspace, queue))
    if queue.halted is not None:
        click.echo(paint(f"halted: {cut(queue.halted.reason, 300)}", "red"))
        for line in cure_of(queue.halted):
            click.echo(line)
    if len(story) > SHOWN_EVENTS:
        click.echo(f"\n… {len(story) - SHOWN_EVENTS:,} earlier events; `paddock log --kind 'queue.*'` has them")
    for told in ("", *(told.text() for told in story[-SHOWN_EVENTS:])):
        click.echo(told)
    for line in end_of_run(site, shown, SHOWN_OUTPUT):
        click.echo(line)


def _view_main(queue: Queue, story: list[Told], output: list[str]) -> dict[str, object]:
    main = queue.main
    return {
        "schema": SCHEMA,
        "main": main.commit if main is not None else None,
        "verified_by": main.verified_by if main is not None else None,
        "halted": view_halt(queue.halted),
        "output": output,
        "events": [told.view() for told in story[-SHOWN_EVENTS:]],
    }


def _where(workspace: Workspace, queue: Queue) -> str:
    if queue.main is None:
        return f"{workspace.config.landing_branch} has not been checked yet: nothing has been queued"
    by = queue.main.verified_by
    words = f"verified by {by}" if by is not None else "not verified"
    return f"{workspace.config.landing_branch} is at {queue.main.commit[:10]}, {words}"


def _story_of_main(workspace: Workspace) -> list[Told]:
    runs: dict[str, qe.RunStarted] = {}
    records = workspace.records(Query(kind="queue.*"))
    return [told for record in records if (told := _about_main(record, runs)) is not None]


def _about_main(record: Record, runs: dict[str, qe.RunStarted]) -> Told | None:
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
            failed = event.result in (Result.FAIL, Result.TIMEOUT, Result.INFRA)
        case qe.TrainLanded(run=name, old=old, new=new):
            words, run = f"moved from {old[:10]} to {new[:10]} by {name}", name
        case qe.QueueHalted(reason=reason):
            words = f"queue halted: {reason}"
        case qe.QueueResumed():
            words = f"queue resumed by {record.actor}"
        case _:
            return None
    return Told(record.seq, record.at, words, run, failed)
