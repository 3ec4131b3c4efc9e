import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from paddock.sessions.identity import ProcessIdentity
from paddock.sessions.local import find_runner
from paddock.sessions.marks import find_marked
from paddock.sessions.process import block_until_exit, signal_process
from paddock.sessions.protocol import Exited, NeverStarted, Running, TurnOrder
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, returned
from tests.sessions.starter import Told

REPOSITORY = Path(__file__).parents[2]


@contextlib.contextmanager
def starter(workshop: Workshop, spec: TurnOrder, step: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that starts `spec` once its standard input is closed."""
    told = Told(spec.turn.owner, spec.turn.number, spec.argv, dict(spec.env), str(workshop.root), workshop.marker)
    text = msgspec.json.encode(told).decode()
    command = [sys.executable, "-m", "tests.sessions.starter", text, step]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, start_new_session=True) as process:
        yield process


def counted(workshop: Workshop, code: int = 0) -> TurnOrder:
    return workshop.shell(f'echo ran >>"$ROOT/runs"; exit {code}')


def runs(workshop: Workshop) -> int:
    path = workshop.root / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_starting_again_returns_the_first_process_and_starts_nothing(workshop: Workshop) -> None:
    first = workshop.start(counted(workshop))
    assert workshop.start(counted(workshop)) == first
    assert block_until_exit(first, PATIENCE_SECONDS)
    assert workshop.start(counted(workshop)) == first
    workshop.wait_until_nothing_is_left()
    assert runs(workshop) == 1


def test_many_starters_of_one_turn_start_one_process(workshop: Workshop) -> None:
    with contextlib.ExitStack() as stack:
        starters = [stack.enter_context(starter(workshop, counted(workshop))) for _ in range(8)]
        for process in starters:
            assert process.stdin is not None
            process.stdin.close()
        answers = {process.stdout.read() for process in starters if process.stdout is not None}
    assert len(answers) == 1
    winner = ProcessIdentity.from_text(answers.pop().decode())
    assert winner is not None
    assert block_until_exit(winner, PATIENCE_SECONDS)
    workshop.wait_until_nothing_is_left()
    assert runs(workshop) == 1
    assert returned(workshop.state()) == 0


@pytest.mark.parametrize(
    "step", ["turn.opened", "turn.spawned", "turn.drafted", "turn.linked", "turn.claimed", "turn.released"]
)
def test_a_starter_killed_at_any_step_leaves_a_turn_that_runs_exactly_once(workshop: Workshop, step: str) -> None:
    with starter(workshop, counted(workshop), step) as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    left_by_the_dead = workshop.state()
    if step in ("turn.opened", "turn.spawned", "turn.drafted"):
        assert left_by_the_dead == NeverStarted()
    else:
        assert isinstance(left_by_the_dead, Running | Exited)
    shim = workshop.start(counted(workshop))
    assert block_until_exit(shim, PATIENCE_SECONDS)
    workshop.wait_until_nothing_is_left()
    assert returned(workshop.state()) == 0
    assert runs(workshop) == 1
    assert not list(workshop.folder.glob("*.claim"))


def test_a_signal_to_a_shim_that_waits_for_its_starter_does_not_lose_the_turn(workshop: Workshop) -> None:
    def signal_shim(name: str) -> None:
        if name != "turn.spawned":
            return
        [shim] = find_marked(workshop.marker)
        status = Path(f"/proc/{shim.identity.pid}/status")
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not hears(status, signal.SIGTERM):
            assert time.monotonic() < give_up_at
        for _ in range(3):
            assert signal_process(shim.identity, signal.SIGTERM)

    shim = workshop.start(counted(workshop), signal_shim)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert returned(workshop.state()) == 0
    assert runs(workshop) == 1


def hears(status: Path, signum: int) -> bool:
    """Whether a process has done something about a signal that would end it."""
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return any(int(lines[mask], 16) >> (signum - 1) & 1 for mask in ("SigIgn", "SigCgt"))


def test_a_shim_without_a_claim_leaves_without_a_trace(workshop: Workshop) -> None:
    with starter(workshop, counted(workshop), "turn.spawned") as process:
        process.communicate()
    workshop.wait_until_nothing_is_left()
    assert workshop.state() == NeverStarted()
    assert runs(workshop) == 0
    assert (workshop.files().err.read_text(), workshop.files().out.read_text()) == ("", "")


def test_a_turn_outlives_its_killed_starter_and_is_adopted_with_its_exit_status(workshop: Workshop) -> None:
    up, release = workshop.fifo("up"), workshop.fifo("release")
    spec = workshop.shell('echo up >"$ROOT/up"; read answer <"$ROOT/release"; echo "$answer"; exit 7')
    with starter(workshop, spec) as process:
        answer, _ = process.communicate()
        assert up.read_text() == "up\n"
    shim = ProcessIdentity.from_text(answer.decode())
    assert shim is not None
    assert isinstance(workshop.state(), Running)
    assert find_runner(workshop.files()) == shim
    release.write_text("adopted\n")
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert returned(workshop.state()) == 7
    assert workshop.files().out.read_text() == "adopted\n"


def test_killing_the_whole_group_of_the_starter_does_not_reach_the_turn(workshop: Workshop) -> None:
    fifo = workshop.fifo("up")
    with starter(workshop, workshop.shell('echo up >"$ROOT/up"; exec sleep 600'), "nowhere") as process:
        assert process.stdin is not None
        process.stdin.close()
        fifo.read_text()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert isinstance(workshop.state(), Running)
