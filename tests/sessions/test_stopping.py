import asyncio
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.core.lead import BY_HAND
from paddock.sessions.ancestry import MARK_VARIABLE
from paddock.sessions.identity import ProcessIdentity, same_process
from paddock.sessions.local import is_shim
from paddock.sessions.marks import Mark, find_attempts, find_marked
from paddock.sessions.process import block_until_exit, signal_process
from paddock.sessions.protocol import Running, SweepReport, Turn, Vanished
from paddock.sessions.stopping import StopReport, TurnToStop, stop_turn
from paddock.sessions.sweep import sweep
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, ended_by, no_checkpoint, returned

DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('up', 'w').close(); signal.pause()"


def stop(workshop: Workshop, shim: ProcessIdentity, grace_seconds: float = PATIENCE_SECONDS) -> StopReport:
    return asyncio.run(stop_turn(TurnToStop(workshop.mark, shim, grace_seconds), BY_HAND, no_checkpoint))


def orphan(workshop: Workshop, seconds: int) -> str:
    """A shell command that announces itself in the fifo `away` and then sleeps so long."""
    away = workshop.root / "away"
    if not away.exists():
        os.mkfifo(away)
    # What tells them apart comes first: evidence is cut, and temporary paths can be long.
    script = f'"sleep {seconds}"; import time; open("{away}", "w").write("x\\n"); time.sleep({seconds})'
    return f"'{sys.executable}' -c '{script}'"


def await_orphans(count: int) -> str:
    return f'exec 9<>"$ROOT/away"; {"read _ <&9; " * count}exec 9<&-'


def sleeping_seconds(report: SweepReport) -> list[int]:
    found = (re.search(r"sleep (\d+)", process.command) for process in report.ended)
    return sorted(int(match[1]) for match in found if match)


@pytest.mark.usefixtures("any_system")
def test_a_polite_command_ends_within_its_grace(workshop: Workshop) -> None:
    report = stop(workshop, workshop.start_blocked())
    assert report == StopReport(forced=False, left=SweepReport())
    assert ended_by(workshop.state()) == signal.SIGTERM


@pytest.mark.usefixtures("any_system")
def test_a_command_deaf_to_term_is_killed_and_its_end_recorded(workshop: Workshop) -> None:
    up = workshop.fifo("up")
    shim = workshop.start(workshop.python(DEAF))
    up.read_bytes()
    report = stop(workshop, shim, grace_seconds=0.05)
    assert report.forced
    assert report.left.survivors == ()
    assert ended_by(workshop.state()) == signal.SIGKILL


def test_the_engine_chooses_the_signal(workshop: Workshop) -> None:
    up = workshop.fifo("up")
    script = "import signal, sys; signal.signal(2, lambda *_: sys.exit(9)); open('up', 'w').close(); signal.pause()"
    shim = workshop.start(workshop.python(script))
    up.read_bytes()
    asyncio.run(stop_turn(TurnToStop(workshop.mark, shim, PATIENCE_SECONDS, signal.SIGINT), BY_HAND, no_checkpoint))
    assert returned(workshop.state()) == 9


@pytest.mark.usefixtures("any_system")
def test_an_orphan_in_a_session_of_its_own_is_swept_with_evidence(workshop: Workshop) -> None:
    shim = workshop.start_blocked(
        f"setsid {orphan(workshop, 700)} & setsid {orphan(workshop, 701)} & {await_orphans(2)}"
    )
    report = stop(workshop, shim)
    assert not report.forced
    assert sleeping_seconds(report.left) == [700, 701]
    assert all(process.age_seconds >= 0 and process.owner == workshop.mark.attempt for process in report.left.ended)
    assert find_marked(workshop.marker) == ()


def test_a_descendant_with_an_empty_environment_is_swept(workshop: Workshop) -> None:
    shim = workshop.start_blocked(f"env -i setsid {orphan(workshop, 702)} & {await_orphans(1)}")
    # The command hears TERM and ends first, so its child has lost every trace of the attempt by the sweep.
    report = stop(workshop, shim)
    assert sleeping_seconds(report.left) == [702]


def test_a_process_that_keeps_breeding_is_swept(workshop: Workshop) -> None:
    breeder = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for generation in range(2000):\n"
        "    if os.fork(): time.sleep(0.03); os._exit(0)\n"
        "    os.setsid()\n"
        "    if generation == 3: open('up', 'w').close()\n"
        "    time.sleep(0.03)\n"
    )
    up = workshop.fifo("up")
    shim = workshop.start(workshop.python(breeder))
    up.read_bytes()
    report = stop(workshop, shim, grace_seconds=0.05)
    assert report.left.survivors == ()
    assert find_marked(workshop.marker) == ()


def test_a_process_that_forks_and_ends_all_the_time_is_seen(workshop: Workshop) -> None:
    breeder = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for generation in range(20_000):\n"
        "    if os.fork(): time.sleep(0.003); os._exit(0)\n"
        "    if generation == 3: open('up', 'w').close()\n"
        "    time.sleep(0.003)\n"
    )
    up = workshop.fifo("up")
    workshop.start(workshop.python(breeder))
    up.read_bytes()
    commands = [[seen for seen in find_marked(workshop.marker) if not is_shim(seen)] for _ in range(40)]
    assert sum(map(bool, commands)) > 30, "a list made once misses most of them"


@pytest.mark.usefixtures("any_system")
def test_other_attempts_and_other_logs_are_never_touched(workshop: Workshop) -> None:
    other_log = f"other-{workshop.marker}"
    mine = workshop.start_blocked()
    others = []
    for turn, (marker, attempt) in enumerate(
        [(workshop.marker, "t1.10"), (other_log, "t1.1"), (workshop.marker, "t2.1")]
    ):
        spec = replace(workshop.spec("sleep", "600"), turn=Turn(attempt, 10 + turn))
        others.append(replace(workshop, marker=marker).start(spec))
    stop(workshop, mine)
    assert [same_process(other) for other in others] == [True, True, True]
    assert {found.mark.attempt for found in find_marked(workshop.marker)} == {"t1.10", "t2.1"}
    sweep({Mark(other_log, "t1.1")})
    assert [same_process(other) for other in others] == [True, False, True]


def test_a_turn_stopped_before_its_command_runs_still_hears_the_signal(workshop: Workshop) -> None:
    for turn in range(1, 21):
        shim = workshop.start(workshop.spec("sleep", "600", turn=turn))
        assert not stop(workshop, shim).forced
        assert ended_by(workshop.state(turn)) == signal.SIGTERM


def test_a_command_that_left_its_group_hears_the_signal(workshop: Workshop) -> None:
    script = "import os, signal; os.setpgid(0, 0); open('up', 'w').close(); signal.pause()"
    up = workshop.fifo("up")
    shim = workshop.start(workshop.python(script))
    up.read_bytes()
    assert not stop(workshop, shim).forced
    assert ended_by(workshop.state()) == signal.SIGTERM


def test_stopping_an_ended_turn_sweeps_what_it_left(workshop: Workshop) -> None:
    shim = workshop.start(workshop.shell("sleep 703 & exit 4"))
    assert block_until_exit(shim, PATIENCE_SECONDS)
    report = stop(workshop, shim)
    assert not report.forced
    assert len(report.left.ended) == 1
    assert returned(workshop.state()) == 4


def test_a_turn_whose_shim_was_killed_is_stopped_too(workshop: Workshop) -> None:
    shim = workshop.start_blocked()
    signal_process(shim, signal.SIGKILL)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    report = stop(workshop, shim, grace_seconds=0)
    assert find_marked(workshop.marker) == ()
    assert not report.forced
    assert isinstance(workshop.state(), Vanished)


def test_many_turns_are_stopped_at_once_and_no_other(workshop: Workshop) -> None:
    turns = []
    for number in range(1, 21):
        spec = replace(workshop.spec("sleep", "600"), turn=Turn(f"t{number}.1", number))
        turns.append(TurnToStop(Mark(workshop.marker, spec.turn.owner), workshop.start(spec), PATIENCE_SECONDS))
    bystander = replace(workshop.spec("sleep", "600"), turn=Turn("t99.1", 99))
    workshop.start(bystander)

    async def stop_all() -> None:
        async with asyncio.TaskGroup() as stops:
            for turn in turns:
                stops.create_task(stop_turn(turn, BY_HAND, no_checkpoint))

    asyncio.run(stop_all())
    assert isinstance(workshop.state(turn=99), Running)
    assert {found.mark.attempt for found in find_marked(workshop.marker)} == {"t99.1"}


def test_the_sweeper_and_its_ancestors_are_spared(workshop: Workshop) -> None:
    script = (
        "import sys\n"
        "from paddock.sessions.marks import Mark\n"
        "from paddock.sessions.sweep import sweep\n"
        "print(len(sweep({Mark(sys.argv[1], 't1.1')}).ended))"
    )
    environment = os.environ | workshop.mark.variables()
    command = ["sh", "-c", '"$@"; echo "and the shell lives"', "sh", sys.executable, "-c", script, workshop.marker]
    ran = subprocess.run(command, cwd=Path("/"), env=environment, stdout=subprocess.PIPE, check=True, text=True)
    assert ran.stdout == "0\nand the shell lives\n"


def test_a_process_that_is_just_being_started_is_not_missed(workshop: Workshop) -> None:
    for turn in range(1, 31):
        shim = workshop.start(workshop.spec("sleep", "600", turn=turn))
        assert shim in {found.identity for found in find_attempts([workshop.mark])}


def test_what_an_agent_adds_to_its_mark_does_not_hide_the_rest(workshop: Workshop) -> None:
    mark = workshop.mark.as_text()
    workshop.start_blocked()
    other = subprocess.Popen(["sleep", "600"], env=os.environ | {MARK_VARIABLE: f"{mark} {mark}:x {mark[:-4]}"})
    try:
        found = {process.identity.pid: process.mark for process in find_marked(workshop.marker)}
    finally:
        other.kill()
        other.wait()
    assert len(found) == 3
    assert set(found.values()) == {workshop.mark}


def test_a_sweep_of_nothing_looks_at_nothing(workshop: Workshop) -> None:
    workshop.start_blocked()
    assert sweep(set()) == SweepReport()
    assert find_attempts([Mark(workshop.marker, "t7.7")]) == ()
    assert len(find_attempts([workshop.mark])) == 2


@pytest.mark.parametrize("word", ["", "a b", "a:b", "a\n"])
def test_a_mark_that_could_be_misread_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="a mark is made of words"):
        Mark(word, "t1.1")
