"""A turn whose starter slept until another daemon led: the command runs once, by the word of the one that leads."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paddock.core.lead import Succeeded
from paddock.sessions.local import find_runner
from paddock.sessions.marks import find_marked
from paddock.sessions.process import block_until_exit
from paddock.sessions.protocol import NeverStarted, Running, Vanished
from paddock.sessions.stopping import TurnToStop, stop_turn
from paddock.sessions.sweep import sweep
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, no_checkpoint, returned


@dataclass
class Crown:
    """A lead that holds while the file says so, as a daemon's does."""

    file: Path
    generation: int
    leader: str = ""
    sign: str = field(init=False)
    post: str = field(init=False)

    def __post_init__(self) -> None:
        self.post, self.sign = str(self.file), f"{self.generation} log"

    def take(self) -> "Crown":
        self.file.write_text(f"{self.sign}\n")
        return self

    def require(self) -> None:
        if self.file.read_text() != f"{self.sign}\n":
            raise Succeeded("another leads")

    def reassert(self) -> None:
        self.require()


@pytest.fixture
def first(workshop: Workshop) -> Crown:
    return Crown(workshop.root / "leader", 1).take()


def succeed(first: Crown) -> Crown:
    return Crown(first.file, first.generation + 1).take()


def sleeping_at(step: str, wake: threading.Event, asleep: threading.Event) -> Callable[[str], None]:
    def checkpoint(name: str) -> None:
        if name == step:
            asleep.set()
            assert wake.wait(PATIENCE_SECONDS)

    return checkpoint


STEPS = ("turn.opened", "turn.spawned", "turn.drafted", "turn.linked", "turn.claimed")


@pytest.mark.parametrize("step", STEPS)
def test_a_starter_that_slept_there_starts_nothing_and_its_successor_runs_the_turn_once(
    workshop: Workshop, first: Crown, step: str
) -> None:
    """Its word alone must not be enough: nobody asks it for its lead when it wakes."""
    wake, asleep = threading.Event(), threading.Event()
    order = workshop.shell('echo ran >>"$ROOT/ran"')
    sleeper = threading.Thread(target=workshop.start, args=(order, sleeping_at(step, wake, asleep), first))
    sleeper.start()
    assert asleep.wait(PATIENCE_SECONDS)
    shim = workshop.start(order, lead=succeed(first))
    assert block_until_exit(shim, PATIENCE_SECONDS)
    wake.set()
    sleeper.join(PATIENCE_SECONDS)
    workshop.wait_until_nothing_is_left()
    assert returned(workshop.state()) == 0
    assert (workshop.root / "ran").read_text() == "ran\n"
    assert find_runner(workshop.files()) == shim


def test_what_a_former_daemon_started_in_time_is_gone_on_with(workshop: Workshop, first: Crown) -> None:
    fifo = workshop.fifo("up")
    order = workshop.shell(f"echo up >'{fifo}'; exec sleep 600")
    shim = workshop.start(order, lead=first)
    assert fifo.read_text() == "up\n"
    assert workshop.start(order, lead=succeed(first)) == shim
    assert isinstance(workshop.state(), Running)


def test_a_shim_of_a_former_daemon_leaves_the_turn_to_the_next(workshop: Workshop, first: Crown) -> None:
    """The starter has died, and the other daemon led before the shim came to look."""
    order = workshop.shell('echo ran >>"$ROOT/ran"')

    def succeeded_meanwhile(name: str) -> None:
        if name == "turn.claimed":
            succeed(first)

    shim = workshop.start(order, succeeded_meanwhile, lead=first)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert isinstance(workshop.state(), Vanished)
    assert not (workshop.root / "ran").exists()
    assert block_until_exit(workshop.start(order, lead=Crown(first.file, 2)), PATIENCE_SECONDS)
    assert returned(workshop.state()) == 0
    assert (workshop.root / "ran").read_text() == "ran\n"


def test_a_former_daemon_can_start_nothing(workshop: Workshop, first: Crown) -> None:
    succeed(first)
    with pytest.raises(Succeeded):
        workshop.start(workshop.shell(":"), lead=first)
    assert workshop.state() == NeverStarted()


def test_a_former_daemon_can_neither_stop_nor_sweep_what_runs(workshop: Workshop, first: Crown) -> None:
    shim = workshop.start_blocked()
    succeed(first)
    with pytest.raises(Succeeded):
        asyncio.run(stop_turn(TurnToStop(workshop.mark, shim, 0.0), first, no_checkpoint))
    with pytest.raises(Succeeded):
        sweep({workshop.mark}, first)
    assert isinstance(workshop.state(), Running)
    assert len(find_marked(workshop.marker)) == 2


def test_one_that_is_succeeded_while_it_stops_a_turn_sends_no_further_signal(workshop: Workshop, first: Crown) -> None:
    shim = workshop.start_blocked("trap '' TERM")

    def succeeded_meanwhile(name: str) -> None:
        if name == "turn.signalled":
            succeed(first)

    with pytest.raises(Succeeded):
        asyncio.run(stop_turn(TurnToStop(workshop.mark, shim, 0.1), first, succeeded_meanwhile))
    assert isinstance(workshop.state(), Running)
