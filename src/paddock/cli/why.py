"""The story of one change, read from the log: nothing the queue has forgotten is missing here."""

from dataclasses import dataclass

from paddock.cli.text import clock, cut, iso
from paddock.cli.workspace import Workspace
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.merge import events as qe
from paddock.store.protocol import Query


@dataclass(frozen=True, slots=True)
class StoryLine:
    seq: int
    at: float
    words: str
    run: str = ""
    failed: bool = False

    def text(self) -> str:
        return f"{clock(self.at)}  {cut(self.words, 200)}"

    def view(self) -> dict[str, object]:
        return {"seq": self.seq, "at": iso(self.at), "words": self.words, "run": self.run or None}


def history_of(workspace: Workspace, change: str) -> list[StoryLine]:
    """Raises PaddockError when the queue never heard of it."""
    store = workspace.read()
    story: list[StoryLine] = []
    mine: dict[str, qe.RunStarted] = {}
    for record in store.records(Query(kind="queue.*")):
        line = _line(record, change, mine)
        if line is not None:
            story.append(line)
    store.close()
    if not story:
        raise PaddockError(f"`{cut(change, 40)}` has never been in the merge queue", "`paddock queue` shows what is")
    return story


def _line(record: Record, change: str, mine: dict[str, qe.RunStarted]) -> StoryLine | None:
    event = record.event
    words, run, failed = "", "", False
    match event:
        case qe.ChangeQueued(change=queued) if queued.id == change:
            approved = event.approved_by or "nobody yet"
            words = f"queued version {queued.version} at {queued.head[:10]}, approved by {approved}"
        case qe.RunStarted() if any(member.id == change for member in event.members):
            mine[event.run] = event
            with_ = ", ".join(member.id for member in event.members if member.id != change)
            together = f" together with {with_}" if with_ else ""
            words, run = (
                f"{event.purpose.value} {event.run}{together} on {event.base[:10]}, tree {event.tree[:10]}",
                event.run,
            )
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
            words = f"sent back: conflicts with {event.against or event.base[:10]} in {', '.join(event.paths)}"
        case qe.ChangeRejected(id=name) if name == change:
            words = f"rejected: {event.reason}, on the evidence of {', '.join(event.runs) or event.by or 'nobody'}"
        case qe.ChangeCancelled(id=name) | qe.ChangeFoundEmpty(id=name) if name == change:
            words = f"taken out: {getattr(event, 'reason', 'everything it does is in main already')}"
        case qe.ChangeMoved(id=name) if name == change:
            words = f"moved to priority {event.priority} by {event.by}"
        case qe.TrainLanded() if event.run in mine:
            words, run = f"landed: main moved from {event.old[:10]} to {event.new[:10]}", event.run
        case qe.LandingRefused() if event.run in mine:
            words, run = f"did not land: {event.reason}", event.run
        case _:
            return None
    return StoryLine(record.seq, record.at, words, run, failed)
