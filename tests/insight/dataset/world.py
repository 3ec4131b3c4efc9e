"""A fleet whose log and transcripts a test writes line by line, with a real site around them."""

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from paddock.config.schema import Config
from paddock.core import events as ev
from paddock.core.events import Record
from paddock.core.ids import AttemptId, TaskId, attempt_id
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.site import Site
from paddock.git.repo import discover
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.fleet import FleetFollower, LogMark, Looked
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.trace import Trace
from paddock.store.protocol import Query
from tests.insight.fleet_log import FleetLog

WRITTEN = 1_800_000_000.0


class World(FleetLog):
    """`told` are the attempts at work, with how much each has written."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        subprocess.run(("git", "init", "-q", "-b", "main", str(folder)), check=True)
        self.state = folder / ".git" / "paddock"
        self.site = Site(discover(folder), Config(), self.state, "m", log_identity="log")
        self.told: dict[AttemptId, int] = {}
        self.writers: list[DatasetWriter] = []

    # -- what happens -----------------------------------------------------------------------------------------

    def start(self, task: TaskId) -> AttemptId:
        name = attempt_id(task, self.board.task(task).newest + 1)
        self.write(ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", worktree="/w", host="h"), task, name)
        self.write(ev.TurnStarted(1, worktree="/w"), task, name)
        self.told[name] = 0
        self.out(name).parent.mkdir(parents=True)
        self.say(name, {"type": "system", "subtype": "init", "session_id": "s", "model": "opus", "tools": []})
        return name

    def out(self, attempt: AttemptId) -> Path:
        return self.site.attempt_folder(attempt) / "turn-1.out"

    def say(self, attempt: AttemptId, *lines: object, noted: bool = True, torn: bool = False) -> None:
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        with self.out(attempt).open("a") as file:
            file.write(text[:-5] if torn else text)
        self.wait(1.0)
        if noted:
            self.note(attempt)

    def note(self, attempt: AttemptId) -> None:
        """When what was written so far was there, as whoever follows a turn notes it."""
        out = self.out(attempt)
        with out.with_suffix(".times").open("a") as file:
            file.write(f"{out.stat().st_size} {self.now:.1f}\n")

    def step(self, attempt: AttemptId, command: str = "pytest -q", *, fails: bool = False, noted: bool = True) -> None:
        self.told[attempt] += 1
        call = f"c{self.told[attempt]}"
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        message = {"id": f"m{call}", "role": "assistant", "model": "opus", "content": [use], "usage": usage}
        result = {"type": "tool_result", "tool_use_id": call, "content": "it said so", "is_error": fails}
        self.say(
            attempt,
            {"type": "assistant", "message": message, "session_id": "s"},
            {"type": "user", "message": {"role": "user", "content": [result]}, "session_id": "s"},
            noted=noted,
        )

    def end(self, attempt: AttemptId, outcome: Outcome = Outcome.DELIVERED, *, head: str | None = None) -> None:
        task = TaskId(attempt.partition(".")[0])
        self.say(attempt, {"type": "result", "subtype": "success", "result": "done", "session_id": "s"})
        ended = ev.TurnEnded(1, exit=0, steps=self.told.pop(attempt), input_tokens=10, output_tokens=5, model="opus")
        self.write(ended, task, attempt)
        then = Step.APPROVAL if outcome is Outcome.DELIVERED else Step.RETRY
        found = head or (self.new_head() if outcome is Outcome.DELIVERED else None)
        reason = "" if outcome is Outcome.DELIVERED else "it did not work"
        self.write(
            ev.AttemptEnded(outcome, then, counted=False, head=found, base="b" * 40, reason=reason), task, attempt
        )

    def reject_in_queue(self, task: TaskId) -> None:
        head = self.board.task(task).head or ""
        if not self.runs:
            self.begin_queue()
        self.write(ev.TaskApproved(head), task)
        self.write(qe.ChangeQueued(Change(task, 1, head, "b" * 40, title="", task=task)), task)
        self.write(qe.ChangeRejected(task, 1, "no", by="ana"))

    def send_back(self, task: TaskId) -> None:
        self.write(ev.TaskRejected(self.board.task(task).head or "", "no"), task)

    # -- who reads it -----------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return WRITTEN + len(self.records) + self.ledger.waited_seconds

    @property
    def mark(self) -> LogMark:
        return LogMark("this log", len(self.records))

    def ask(self, query: Query) -> Iterable[Record]:
        for record in self.records:
            if record.seq <= query.after or (query.until is not None and record.seq > query.until):
                continue
            if query.task is not None and record.task != query.task:
                continue
            if query.kind is None or record.event.kind == query.kind:
                yield record

    def follower(self, path: Path, *, stays: bool = True) -> FleetFollower:
        self.writers.append(DatasetWriter.open(path))
        return FleetFollower(self.site, self.writers[-1], stays=stays)

    def close(self) -> None:
        for writer in self.writers:
            writer.close()

    def look(self, follower: FleetFollower, ask: Callable[[Query], Iterable[Record]] | None = None) -> list[Looked]:
        looks = [follower.look(ask or self.ask, self.mark, self.now)]
        while looks[-1].more:
            looks.append(follower.look(ask or self.ask, self.mark, self.now))
        return looks


def traces_in(path: Path) -> dict[str, Trace]:
    with Dataset.open(path) as dataset:
        return {kept.trace.run: dataset.whole(kept.key) for kept in dataset.runs()}


def paths_in(path: Path) -> dict[str, tuple[str, ...]]:
    """With what a cohort is computed from besides."""
    with Dataset.open(path) as dataset:
        return {
            kept.trace.run: (
                *(dataset.symbols.text(code) for code in kept.path),
                str(kept.step_count),
                *(step.target for step in kept.closing),
            )
            for kept in dataset.runs()
        }
