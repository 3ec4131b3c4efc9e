import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.sessions.identity import ProcessIdentity, identify, read_stat, same_process
from paddock.sessions.process import block_until_exit, signal_process, wait_for_exit
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "600"], cwd="/", start_new_session=True) as child:
        yield child
        child.kill()


def identity_of(child: "subprocess.Popen[bytes]") -> ProcessIdentity:
    identity = identify(child.pid)
    assert identity is not None
    return identity


@pytest.mark.usefixtures("any_system")
def test_a_running_process_is_itself(sleeper: "subprocess.Popen[bytes]") -> None:
    stat = read_stat(sleeper.pid)
    assert stat is not None
    assert (stat.parent, stat.group, stat.session) == (os.getpid(), sleeper.pid, sleeper.pid)
    assert same_process(stat.identity)


@pytest.mark.usefixtures("any_system")
def test_a_reused_pid_is_never_signalled(sleeper: "subprocess.Popen[bytes]") -> None:
    earlier_owner = replace(identity_of(sleeper), started=identity_of(sleeper).started - 1)
    assert not same_process(earlier_owner)
    assert not signal_process(earlier_owner, signal.SIGKILL)
    assert same_process(identity_of(sleeper))


def test_a_process_of_an_earlier_boot_is_never_signalled(sleeper: "subprocess.Popen[bytes]") -> None:
    earlier_boot = replace(identity_of(sleeper), boot="00000000-0000-0000-0000-000000000000")
    assert not signal_process(earlier_boot, signal.SIGKILL)
    assert same_process(identity_of(sleeper))


@pytest.mark.usefixtures("any_system")
def test_a_signal_reaches_the_process_it_is_meant_for(sleeper: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(sleeper)
    assert signal_process(identity, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM
    assert not signal_process(identity, signal.SIGTERM)


@pytest.mark.usefixtures("any_system")
def test_a_zombie_has_ended(sleeper: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(sleeper)
    os.kill(sleeper.pid, signal.SIGKILL)
    assert block_until_exit(identity, PATIENCE_SECONDS)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert not same_process(identity)
    assert identify(sleeper.pid) is None


@pytest.mark.usefixtures("any_system")
def test_the_exit_of_a_process_that_is_no_child_is_awaited(workshop: Workshop) -> None:
    release = workshop.fifo("release")
    child = f"subprocess.Popen(['sh', '-c', 'cat <{release}'], cwd='/', stdout=subprocess.DEVNULL)"
    starter = [sys.executable, "-c", f"import subprocess; print({child}.pid)"]
    ran = subprocess.run(starter, cwd="/", stdout=subprocess.PIPE, check=True)
    identity = identify(int(ran.stdout))
    assert identity is not None

    async def release_and_wait() -> bool:
        assert not await wait_for_exit(identity, 0.01)
        waiting = asyncio.create_task(wait_for_exit(identity, PATIENCE_SECONDS))
        await asyncio.sleep(0)
        release.write_text("go")
        return await waiting

    assert asyncio.run(release_and_wait())


@pytest.mark.usefixtures("any_system")
def test_waiting_for_a_live_process_ends_with_the_time(sleeper: "subprocess.Popen[bytes]") -> None:
    assert not block_until_exit(identity_of(sleeper), 0.01)


def test_a_name_with_brackets_and_blanks_does_not_confuse_the_start_time(tmp_path: Path) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    odd = shutil.copy(sleep, tmp_path / "a) Z 1 (b")
    with subprocess.Popen([odd, "600"], cwd="/") as child:
        stat = read_stat(child.pid)
        child.kill()
    assert stat is not None
    assert stat.parent == os.getpid()


@given(st.integers(1, 2**22), st.integers(0, 2**63), st.uuids())
def test_an_identity_survives_being_written_down(pid: int, started: int, boot: object) -> None:
    identity = ProcessIdentity(pid, started, str(boot))
    assert ProcessIdentity.from_text(f"{identity.as_text()} claim\n") == identity


@pytest.mark.parametrize("text", ["", "1", "1 2", "x 2 boot", "1 -2 boot", "\0\0\0"])
def test_what_is_not_an_identity_is_not_read_as_one(text: str) -> None:
    assert ProcessIdentity.from_text(text) is None
