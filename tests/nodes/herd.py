"""Agents on nodes that note when they begin, and go on when they are let go."""

import os
import signal
from collections import Counter
from collections.abc import Iterator

from paddock.core.board import Board
from paddock.core.events import AttemptEnded
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from paddock.sessions.identity import ProcessIdentity
from tests.fleet.yard import Step, commit, play, write
from tests.nodes.ranch import Ranch
from tests.warm import RunningCommand

NODES = ("n1", "n2", "n3")
AGENTS = 6


class Herd:
    """Agents that note each time one of them begins, and go on when they are let go."""

    def __init__(self, ranch: Ranch, count: int = AGENTS) -> None:
        self.ranch, self.yard = ranch, ranch.yard
        self.notes = self.yard.folder / "begun"
        self.go = self.yard.folder / "go"
        briefs = [{"brief": play(*self._steps(number))} for number in range(count)]
        self.names = self.yard.add_all(briefs)

    def _steps(self, number: int) -> Iterator[Step]:
        yield {"run": ["sh", "-c", f'echo "$PADDOCK_ATTEMPT" >> {self.notes}']}
        yield from (write(f"first{number}.txt"), commit("First"), {"wait_for": str(self.go)})
        yield from (write(f"second{number}.txt"), commit("Second"))

    def begun(self) -> Counter[str]:
        """How often each attempt has begun, by its id."""
        lines = self.notes.read_text().split() if self.notes.exists() else []
        return Counter(line.rpartition(":")[2] for line in lines)

    def start(self, **env: str) -> RunningCommand:
        return self.yard.start("run", "--until-idle", env={"PADDOCK_LIMITS_MAX_AGENTS": "24", **env})

    def await_work(self) -> Board:
        """All of them are at their second step."""
        self.yard.await_that(lambda: len(self.begun()) >= len(self.names), "agents at work on nodes")
        return self.yard.board()

    def on(self, board: Board, node: str) -> list[str]:
        live = [board.tasks[name].live_attempt for name in board.live]
        return [str(one.id) for one in live if one is not None and one.host == node]

    def live(self, board: Board) -> set[str]:
        return {str(one.id) for name in board.live if (one := board.tasks[name].live_attempt) is not None}

    def busiest(self, board: Board) -> str:
        node = max(NODES, key=lambda name: len(self.on(board, name)))
        assert self.on(board, node)
        return node

    def pushed(self) -> set[str]:
        """The attempts of which the remote has something."""
        refs = self.yard.git("ls-remote", "origin", "refs/paddock/nodes/*/attempts/*").splitlines()
        return {ref.rpartition("/")[2] for ref in refs}

    def finish(self, daemon: RunningCommand) -> Board:
        self.go.touch()
        assert daemon.wait() == 0, daemon.words
        board = self.yard.board()
        assert board.counts.get(Phase.APPROVAL) == len(self.names), self.yard.paddock("status")
        assert max(self.begun().values()) == 1, f"an attempt was begun twice: {self.begun()}"
        for number, name in enumerate(self.names):
            files = self.yard.git("ls-tree", "--name-only", str(board.task(TaskId(name)).head)).split()
            assert {f"first{number}.txt", f"second{number}.txt"} <= set(files)
        assert not self.ranch.processes()
        return board

    def outcomes(self) -> Counter[Outcome]:
        events = (record.event for record in self.yard.records(AttemptEnded))
        return Counter(event.outcome for event in events if isinstance(event, AttemptEnded))


def end(sign: str, signum: signal.Signals = signal.SIGKILL) -> None:
    """The process that has left this sign of life."""
    identity = ProcessIdentity.from_text(sign)
    assert identity is not None
    os.kill(identity.pid, signum)
