"""Sessions as detached processes of this machine, found again by their files and their marks."""

import glob
import signal
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path

from paddock.core.lead import BY_HAND, Lead
from paddock.sessions.host import Host, is_this_host, this_host
from paddock.sessions.identity import has_ended
from paddock.sessions.local import TurnFiles, find_runner, observe_turn, start_turn
from paddock.sessions.mailbox import Letter, make_mailbox, post
from paddock.sessions.marks import Mark, describe, find_marked
from paddock.sessions.output import LineReader, bound_output, read_tail
from paddock.sessions.process import has_child_since
from paddock.sessions.protocol import LiveProcess, Stream, SweepReport, Turn, TurnOrder, TurnState
from paddock.sessions.stopping import TurnToStop, stop_turn
from paddock.sessions.sweep import sweep
from paddock.sessions.watch import TurnWatch

MOST_REMEMBERED = 1024


class DetachedSessions:
    def __init__(self, marker: str, folder_of: Callable[[str], Path], checkpoint: Callable[[str], None]) -> None:
        self._marker = marker
        self._folder_of = folder_of
        self._checkpoint = checkpoint
        self._watch = TurnWatch()
        # Asked for several times a turn, of hundreds of turns at once after a restart.
        self._files = lru_cache(MOST_REMEMBERED)(self._find_files)
        self.lead: Lead = BY_HAND

    @property
    def host(self) -> Host:
        return this_host()

    def reaches(self, host: Host) -> bool:
        return is_this_host(host)

    def start(self, order: TurnOrder) -> None:
        if order.mail:
            make_mailbox(self.mailbox(order.turn))
        start_turn(order, self._files(order.turn), self._mark(order.turn.owner), self.lead, self._checkpoint)

    def observe(self, turn: Turn) -> TurnState:
        return observe_turn(self._files(turn))

    def runs_child(self, turn: Turn, since: float) -> bool:
        runner = find_runner(self._files(turn))
        return runner is not None and has_child_since(runner, since)

    def outputs(self, turn: Turn) -> tuple[tuple[Stream, LineReader], ...]:
        standard = [(stream, self.output(turn, stream)) for stream in (Stream.STDOUT, Stream.STDERR)]
        return (*standard, *((Stream.LOG, LineReader(path)) for path in self._files(turn).read_logs()))

    def output(self, turn: Turn, stream: Stream, offset: int = 0) -> LineReader:
        return LineReader(self._files(turn).of_stream(stream), offset)

    def find_log(self, turn: Turn, pattern: str) -> LineReader | None:
        del turn
        path = max(glob.glob(pattern), default=None)
        return None if path is None else LineReader(Path(path))

    def tail(self, turn: Turn, stream: Stream, most_bytes: int) -> str:
        return read_tail(self._files(turn).of_stream(stream), most_bytes)

    def bound(self, turn: Turn, limit_bytes: int) -> bool:
        self.lead.require()
        files = self._files(turn)
        out, err = (bound_output(path, limit_bytes) for path in (files.out, files.err))
        return out and err

    def is_gone(self, process: str) -> bool:
        return has_ended(process)

    def mailbox(self, turn: Turn) -> Path:
        return self._files(turn).mail

    def post(self, turn: Turn, letter: Letter) -> None:
        self.lead.require()
        post(self.mailbox(turn), letter)
        self._watch.look_soon()

    def follow(self, turn: Turn, wake: Callable[[], None]) -> None:
        files = self._files(turn)
        runner = find_runner(files)
        if runner is not None:
            self._watch.follow(files, runner, wake)

    def forget(self, turn: Turn) -> None:
        self._watch.forget(self._files(turn))

    async def stop(self, turn: Turn, grace_seconds: float, signum: int = signal.SIGTERM) -> bool:
        runner = find_runner(self._files(turn))
        if runner is None:
            return False
        to_stop = TurnToStop(self._mark(turn.owner), runner, grace_seconds, signum)
        return (await stop_turn(to_stop, self.lead, self._checkpoint)).forced

    def find(self) -> tuple[LiveProcess, ...]:
        return tuple(map(describe, find_marked(self._marker)))

    def sweep(self, owners: Collection[str]) -> SweepReport:
        return sweep({self._mark(owner) for owner in owners}, self.lead)

    def close(self) -> None:
        self._watch.close()

    def _find_files(self, turn: Turn) -> TurnFiles:
        return TurnFiles.of(self._folder_of(turn.owner), turn.number)

    def _mark(self, owner: str) -> Mark:
        return Mark(self._marker, owner)
