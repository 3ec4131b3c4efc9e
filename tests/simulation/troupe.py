"""Sessions without processes: every turn plays a part that was written before it began.

A `Troupe` is the machine: it outlives the daemons, each of which has a `PlayedSessions` of its own. What a turn
has said by now follows from its part and the time, so nothing runs between two looks at it.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from signal import SIGKILL, SIGTERM

from paddock.core.errors import PaddockError
from paddock.core.lead import BY_HAND, Lead
from paddock.core.trace import MessagesTaken
from paddock.engines.bridge_lines import bridge_line
from paddock.sessions.host import Host
from paddock.sessions.mailbox import Letter
from paddock.sessions.protocol import (
    Exited,
    Line,
    LiveProcess,
    NeverStarted,
    Running,
    Stream,
    SweepReport,
    Turn,
    TurnOrder,
    TurnState,
    Vanished,
)
from tests.simulation.virtual import VirtualTime

HERE = Host("stage", "stage")


@dataclass(frozen=True)
class Part:
    """What a turn will do: lines with the seconds after its start at which it says them; at `ends` it exits with
    `code`, or never if that is None. `vanishes`: nobody writes down how. `deaf`: it does not hear requests to stop.
    `leaves`: a process that outlives it. `early`: commits it makes at once; `commits`: those it makes last, unless it
    is stopped. `refuses`: it cannot start. `breaks`: Paddock cannot even try. `takes`: so many seconds after a
    letter it says that it has it."""

    says: tuple[tuple[float, str], ...] = ()
    ends: float | None = 60.0
    code: int = 0
    vanishes: bool = False
    deaf: bool = False
    leaves: bool = False
    early: int = 0
    commits: int = 0
    refuses: str = ""
    breaks: str = ""
    takes: float | None = None


@dataclass
class Played:
    """A turn that was started. `stopped` is when and by which signal it was ended before its part was over."""

    order: TurnOrder
    part: Part
    started_at: float
    stopped: tuple[float, int] | None = None
    leftover: bool = False

    def __post_init__(self) -> None:
        self._said = [(self.started_at + after, line) for after, line in self.part.says]
        self._learn()

    def _learn(self) -> None:
        self._moments = [at for at, _ in self._said]
        self._text = b"".join(line.encode() + b"\n" for _, line in self._said)
        self._lengths = [0, *accumulate(len(line.encode()) + 1 for _, line in self._said)]

    def say(self, at: float, line: str) -> None:
        """Beside what was written for it."""
        self._said = sorted([*self._said, (at, line)], key=lambda one: one[0])
        self._learn()

    def lines(self, now: float) -> list[str]:
        return [line for _, line in self._said[: self._lines_said(now)]]

    @property
    def ends_at(self) -> float | None:
        own = None if self.part.ends is None else self.started_at + self.part.ends
        if self.stopped is None:
            return own
        return self.stopped[0] if own is None else min(own, self.stopped[0])

    def has_ended(self, now: float) -> bool:
        return self.ends_at is not None and now >= self.ends_at

    def _lines_said(self, now: float) -> int:
        return bisect_right(self._moments, now if self.ends_at is None else min(now, self.ends_at))

    def size(self, now: float) -> int:
        return self._lengths[self._lines_said(now)]

    def text(self, now: float) -> bytes:
        return self._text[: self.size(now)]

    def last_said_at(self, now: float) -> float | None:
        said = self._lines_said(now)
        return self._moments[said - 1] if said else None

    def next_moment(self, now: float) -> float | None:
        """When there is something new to see."""
        said = bisect_right(self._moments, now)
        moments = self._moments[said : said + 1] + ([] if self.ends_at is None else [self.ends_at])
        until = self.ends_at
        return min((at for at in moments if at > now and (until is None or at <= until)), default=None)


@dataclass
class Troupe:
    time: VirtualTime
    write_part: Callable[[Turn, TurnOrder], Part]
    turns: dict[Turn, Played] = field(default_factory=dict)
    letters: dict[Turn, dict[int, Letter]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    """Processes that kept attempts for people, and are gone."""
    on_start: Callable[[Turn], None] = lambda _turn: None
    on_act: Callable[[Lead, str], None] = lambda _lead, _what: None

    def running(self) -> list[Turn]:
        now = self.time.awake()
        return [turn for turn, played in self.turns.items() if not played.has_ended(now)]

    def alive(self, owner: str) -> bool:
        now = self.time.awake()
        return any(
            turn.owner == owner and (played.leftover or not played.has_ended(now))
            for turn, played in self.turns.items()
        )


class PlayedOutput:
    def __init__(self, troupe: Troupe, turn: Turn, stream: Stream, offset: int) -> None:
        self._troupe, self._turn, self._stream = troupe, turn, stream
        self.offset = offset
        self.at_end = False

    def _text(self) -> bytes:
        played = self._troupe.turns.get(self._turn)
        return b"" if played is None or self._stream is not Stream.STDOUT else played.text(self._troupe.time.awake())

    def size(self) -> int:
        return len(self._text())

    def read(self) -> list[Line]:
        text = self._text()
        whole = text[self.offset : text.rfind(b"\n") + 1]
        lines = []
        for line in whole.split(b"\n")[:-1]:
            lines.append(Line(self.offset, line.decode()))
            self.offset += len(line) + 1
        self.at_end = True
        return lines

    def skip_to_tail(self, keep_bytes: int) -> None:
        if (size := self.size()) - self.offset > keep_bytes:
            self.offset = self._text().find(b"\n", size - keep_bytes) + 1

    def finish(self) -> list[Line]:
        return []

    def written_at(self, offset: int) -> float | None:
        return None


class PlayedSessions:
    """One daemon's hand on the troupe. `gone`: its process was killed, and can do nothing any more."""

    host = HERE

    def __init__(self, troupe: Troupe) -> None:
        self._troupe = troupe
        self._followed: dict[Turn, asyncio.TimerHandle | None] = {}
        self._wakes: dict[Turn, Callable[[], None]] = {}
        self.gone = False
        self.lead: Lead = BY_HAND

    def reaches(self, host: Host) -> bool:
        return host == HERE

    def start(self, order: TurnOrder) -> None:
        assert not self.gone
        self._act(f"start {order.turn}")
        if order.turn in self._troupe.turns:
            return
        part = self._troupe.write_part(order.turn, order)
        if part.refuses:
            raise PaddockError(part.refuses)
        if part.breaks:
            raise OSError(part.breaks)
        self._troupe.on_start(order.turn)
        self._troupe.turns[order.turn] = Played(order, part, self._troupe.time.awake(), leftover=part.leaves)

    def observe(self, turn: Turn) -> TurnState:
        played, now = self._troupe.turns.get(turn), self._troupe.time.awake()
        if played is None:
            return NeverStarted()
        wall_at = self._troupe.time.wall_at
        started_at = wall_at(played.started_at)
        if not played.has_ended(now):
            said_at = played.last_said_at(now)
            return Running(started_at, None if said_at is None else wall_at(said_at), played.size(now))
        assert played.ends_at is not None
        if played.part.vanishes and played.stopped is None:
            return Vanished(started_at, rebooted=False)
        signum = played.stopped[1] if played.stopped is not None else None
        return Exited(None if signum else played.part.code, signum, started_at, wall_at(played.ends_at))

    def runs_child(self, turn: Turn, since: float) -> bool:
        return False

    def outputs(self, turn: Turn) -> tuple[tuple[Stream, PlayedOutput], ...]:
        return tuple((stream, self.output(turn, stream)) for stream in (Stream.STDOUT, Stream.STDERR))

    def output(self, turn: Turn, stream: Stream, offset: int = 0) -> PlayedOutput:
        return PlayedOutput(self._troupe, turn, stream, offset)

    def find_log(self, _turn: Turn, _pattern: str) -> PlayedOutput | None:
        return None

    def tail(self, turn: Turn, stream: Stream, most_bytes: int) -> str:
        return self.output(turn, stream)._text()[-most_bytes:].decode()

    def bound(self, turn: Turn, limit_bytes: int) -> bool:
        return True

    def is_gone(self, process: str) -> bool:
        return process in self._troupe.ended

    def mailbox(self, turn: Turn) -> Path:
        return Path(f"/mail/{turn.owner}/{turn.number}")

    def post(self, turn: Turn, letter: Letter) -> None:
        assert not self.gone
        self.lead.require()
        letters, played = self._troupe.letters.setdefault(turn, {}), self._troupe.turns[turn]
        is_new = letter.number not in letters
        letters[letter.number] = letter
        if is_new and played.part.takes is not None:
            taken = bridge_line(MessagesTaken((letter.number,), "its own word")).decode().strip()
            played.say(self._troupe.time.awake() + played.part.takes, taken)
            if (wake := self._wakes.get(turn)) is not None:
                self.follow(turn, wake)

    def follow(self, turn: Turn, wake: Callable[[], None]) -> None:
        self.forget(turn)
        self._wakes[turn] = wake
        played = self._troupe.turns.get(turn)
        if played is not None:
            self._followed[turn] = asyncio.get_running_loop().call_soon(self._wake, turn, played, wake)  # type: ignore[assignment]

    def _wake(self, turn: Turn, played: Played, wake: Callable[[], None]) -> None:
        now = self._troupe.time.awake()
        if turn not in self._followed:
            return
        if played.size(now) or played.has_ended(now):
            wake()
        moment = played.next_moment(now)
        if moment is None:
            self._followed[turn] = None
        else:
            loop = asyncio.get_running_loop()
            # A moment later: sums of floats must not end just before what they wait for.
            self._followed[turn] = loop.call_later(moment - now + 1e-3, self._wake, turn, played, wake)

    def forget(self, turn: Turn) -> None:
        self._wakes.pop(turn, None)
        handle = self._followed.pop(turn, None)
        if handle is not None:
            handle.cancel()

    async def stop(self, turn: Turn, grace_seconds: float, signum: int = SIGTERM) -> bool:
        played = self._troupe.turns.get(turn)
        if played is None:
            return False
        forced = played.part.deaf and not played.has_ended(self._troupe.time.awake())
        await asyncio.sleep(grace_seconds if forced else min(grace_seconds, 0.1))
        assert not self.gone
        self._act(f"stop {turn}")
        self._end(played, SIGKILL if forced else signum)
        return forced

    def _end(self, played: Played, signum: int) -> None:
        now = self._troupe.time.awake()
        if not played.has_ended(now):
            played.stopped = (now, signum)
        played.leftover = False

    def find(self) -> tuple[LiveProcess, ...]:
        return tuple(self._describe(turn) for turn in self._troupe.turns if self._is_alive(turn))

    def sweep(self, owners: Collection[str]) -> SweepReport:
        assert not self.gone
        self._act(f"sweep {sorted(owners)}")
        found = [turn for turn in self._troupe.turns if turn.owner in owners and self._is_alive(turn)]
        for turn in found:
            self._end(self._troupe.turns[turn], SIGKILL)
        return SweepReport(tuple(map(self._describe, found)))

    def _act(self, what: str) -> None:
        self.lead.require()
        self._troupe.on_act(self.lead, what)

    def _is_alive(self, turn: Turn) -> bool:
        played = self._troupe.turns[turn]
        return played.leftover or not played.has_ended(self._troupe.time.awake())

    def _describe(self, turn: Turn) -> LiveProcess:
        return LiveProcess(turn.owner, f"turn {turn.number}", 0.0, "player")

    def close(self) -> None:
        for turn in tuple(self._followed):
            self.forget(turn)
