"""The story of one change, read from the log: nothing the queue has forgotten is missing here."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import click

from paddock.cli.text import clock, cut, iso, plural
from paddock.core.errors import PaddockError
from paddock.core.events import MessageSent, Record, TaskApproved
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.tasks.landing import next_step
from paddock.fleet.landing.ci_output import last_lines
from paddock.fleet.landing.conflicts import BothSides, both_sides
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query


@dataclass(frozen=True, slots=True)
class StoryLine:
    seq: int
    at: float
    words: str
    run: str = ""
    failed: bool = False
    conflict: qe.ChangeConflicted | None = None
    head: str = ""

    def text(self) -> str:
        return f"{clock(self.at)}  {cut(self.words, 200)}"

    def view(self) -> dict[str, object]:
        return {"seq": self.seq, "at": iso(self.at), "words": self.words, "run": self.run or None}


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """A conflict nobody has resolved yet: the version that was sent back, and on what."""

    head: str
    base: str
    paths: tuple[str, ...]
    against: str | None


def view_story(workspace: Workspace, change: str) -> dict[str, object]:
    story = history_of(workspace, change)
    clash = open_clash(story)
    both = None if clash is None else _view_clash(clash, _sides(workspace.site, clash))
    return {"events": [line.view() for line in story], "conflict": both}


def tell_story(workspace: Workspace, change: str) -> None:
    story = history_of(workspace, change)
    site = workspace.site
    for line in story:
        click.echo(line.text())
    clash = open_clash(story)
    if clash is not None:
        _show_both_sides(clash, _sides(site, clash))
    _point_to_logs(site, [line.run for line in story if line.run and line.failed])
    board = workspace.board()
    task = board.tasks.get(TaskId(change))
    step = task.unblock if task is not None and "queue why" not in task.unblock else ""
    if task is None and change not in board.queue.entries:
        step = next((next_step(old) for old in reversed(board.queue.decided) if old.id == change), "")
    if step:
        click.echo(f"\nnext: {step}")


def _sides(site: Site, clash: OpenConflict) -> BothSides:
    return both_sides(site, clash.head, clash.base, clash.paths)


def _view_clash(clash: OpenConflict, sides: BothSides) -> dict[str, object]:
    return {
        "against": clash.against,
        "paths": list(clash.paths),
        "fork": sides.fork,
        "head": clash.head,
        "base": clash.base,
        "ours": sides.ours,
        "theirs": sides.theirs,
    }


def _show_both_sides(clash: OpenConflict, sides: BothSides) -> None:
    files = " ".join(shlex.quote(path) for path in sides.paths)
    for whose, tip, text in (
        ("what it changes there", sides.head, sides.ours),
        (f"what {clash.against or 'main'} changed there", sides.base, sides.theirs),
    ):
        click.echo(f"\n{whose} (git diff {sides.fork[:10]} {tip[:10]} -- {files}):")
        for line in text.splitlines():
            click.echo(f"  {cut(line, 200)}")


def _point_to_logs(site: Site, runs: Sequence[str]) -> None:
    if not runs:
        return
    click.echo(
        f"\nthe end of run {runs[-1]} ({plural(len(set(runs)), 'failed run')}; logs in {site.run_folder(runs[-1])}):"
    )
    for line in last_lines(site, runs[-1], 20).splitlines():
        click.echo(f"  {cut(line, 200)}")


def history_of(workspace: Workspace, change: str) -> list[StoryLine]:
    """Raises PaddockError when the queue never heard of it."""
    mine: dict[str, qe.RunStarted] = {}
    records = workspace.records(Query(kind="queue.*"))
    story = [line for record in records if (line := _line(record, change, mine)) is not None]
    story += [*_requests(workspace, change), *_notes(workspace, change)]
    if not story:
        raise PaddockError(f"`{cut(change, 40)}` has never been in the merge queue", "`paddock queue` shows what is")
    return sorted(story, key=lambda line: line.seq)


def open_clash(story: list[StoryLine]) -> OpenConflict | None:
    """The conflict the story ends with, None when it went on after it or never had one."""
    heads = [line.head for line in story if line.head]
    ends = [line.conflict for line in story if line.head or line.conflict is not None]
    last = ends[-1] if ends else None
    return None if last is None else OpenConflict(heads[-1], last.base, last.paths, last.against)


def _requests(workspace: Workspace, change: str) -> list[StoryLine]:
    """What the agent was asked to do about it."""
    sent = workspace.records(Query(task=change, kind=MessageSent.kind))
    return [
        StoryLine(record.seq, record.at, f"asked its agent: {' '.join(record.event.text.split())}")
        for record in sent
        if record.actor == "daemon" and isinstance(record.event, MessageSent)
    ]


def _notes(workspace: Workspace, change: str) -> list[StoryLine]:
    """What people said when they approved it."""
    approved = workspace.records(Query(task=change, kind=TaskApproved.kind))
    return [
        StoryLine(record.seq, record.at, f"approved by {record.actor}: {' '.join(record.event.message.split())}")
        for record in approved
        if isinstance(record.event, TaskApproved) and record.event.message
    ]


def _scope(event: qe.RunStarted) -> str:
    if not event.since:
        return ""
    return f", only {', '.join(event.checks)}" if event.checks else ", which no check covers"


def _line(record: Record, change: str, mine: dict[str, qe.RunStarted]) -> StoryLine | None:
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
            note = f": {event.note}" if event.note else ""
            again = f" (already known from {event.reused})" if event.reused else ""
            words, run = (
                f"{mine[event.run].purpose.value} {event.run} ended: {event.result.value}{again}{note}",
                event.run,
            )
            failed = event.result.value in ("fail", "timeout", "infra")
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
