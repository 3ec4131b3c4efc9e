"""What a fence shows, as bubblewrap's arguments and as a command in one sees it."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.fence import Level
from paddock.core.lead import BY_HAND
from paddock.sessions.fence import INNER_COMMAND, Fence, System, fence_argv
from paddock.sessions.identity import identify
from paddock.sessions.local import is_shim
from paddock.sessions.marks import find_marked
from paddock.sessions.process import block_until_exit, signal_process
from paddock.sessions.protocol import TurnOrder
from paddock.sessions.stopping import TurnToStop, stop_turn
from tests.bubblewrap import need_bubblewrap
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, ended_by, no_checkpoint, returned

MACHINE = System("bwrap", reads=(Path("/usr"),), links=(("usr/bin", "/bin"),), hidden_files=(Path("/etc/shadow"),))
HOME = Path("/home/ann")
PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda parts: Path("/", *parts))


def arguments(fence: Fence, machine: System = MACHINE) -> list[str]:
    argv = fence_argv(fence, machine, Path("/w"), ("true",))
    return list(argv[: argv.index("--")])


def places(words: list[str]) -> list[str]:
    """Where something is mounted, in the order of mounting."""
    two, one = ("--bind-try", "--ro-bind-try", "--ro-bind"), ("--tmpfs", "--proc", "--dev")
    at = {**dict.fromkeys(two, 2), **dict.fromkeys(one, 1)}
    return [words[number + at[word]] for number, word in enumerate(words) if word in at]


def test_the_command_comes_last_behind_the_shell_that_tells_how_it_ended() -> None:
    argv = fence_argv(Fence(Level.FILES), MACHINE, Path("/w"), ("echo", "--bind"))
    assert argv[argv.index("--") + 1 :] == (*INNER_COMMAND, "echo", "--bind")


def test_only_the_strongest_level_takes_the_network_away() -> None:
    assert "--unshare-net" not in arguments(Fence(Level.FILES))
    assert "--unshare-net" in arguments(Fence(Level.FILES_AND_NETWORK))


@given(
    private=st.lists(PATHS), reads=st.lists(PATHS), writes=st.lists(PATHS), hidden=st.lists(PATHS), kept=st.lists(PATHS)
)
def test_every_path_is_mounted_once_and_after_its_parents(
    private: list[Path], reads: list[Path], writes: list[Path], hidden: list[Path], kept: list[Path]
) -> None:
    sources = tuple((place, Path("/kept") / place.name) for place in kept)
    made = places(arguments(Fence(Level.FILES, tuple(private), tuple(hidden), tuple(reads), tuple(writes), sources)))
    assert len(made) == len(set(made))
    for number, place in enumerate(made):
        assert not any(Path(later) in Path(place).parents for later in made[number + 1 :])


@given(path=PATHS)
def test_what_must_be_writable_is_so_whatever_else_names_it(path: Path) -> None:
    words = arguments(Fence(Level.FILES, private=(path,), reads=(path,), writes=(path,), hidden=(path,)))
    assert words[words.index(str(path)) - 1] == "--bind-try"
    assert words.count("--bind-try") == 1


def test_a_folder_is_shown_at_another_place_where_it_is_kept_for_later() -> None:
    words = arguments(Fence(Level.FILES, private=(HOME,), kept=((HOME / ".cli", Path("/slots/w1/cli")),)))
    start = words.index("--bind-try")
    assert words[start : start + 3] == ["--bind-try", "/slots/w1/cli", "/home/ann/.cli"]
    assert words.index("/home/ann") < start


# -- real ones ----------------------------------------------------------------------------------------------


def fenced(workshop: Workshop, script: str, level: Level = Level.FILES) -> TurnOrder:
    need_bubblewrap()
    return replace(workshop.shell(script), fence=lambda: Fence(level, writes=(workshop.root,)))


@pytest.mark.parametrize("code", [0, 1, 7, 126, 137, 143, 255])
def test_a_status_passes_through_the_fence(workshop: Workshop, code: int) -> None:
    assert returned(workshop.run(fenced(workshop, f"exit {code}"))) == code


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGHUP])
def test_a_signal_passes_through_the_fence_as_one(workshop: Workshop, signum: int) -> None:
    assert ended_by(workshop.run(fenced(workshop, f"kill -{int(signum)} $$"))) == signum


def test_both_streams_are_the_commands_own(workshop: Workshop) -> None:
    assert returned(workshop.run(fenced(workshop, "echo out; echo err >&2; ls /proc/self/fd | wc -l; exit 3"))) == 3
    files = workshop.files()
    assert files.out.read_text().split() == ["out", "4"], "no descriptor but the three, and the one that ls reads"
    assert files.err.read_text() == "err\n"


def test_a_fence_is_made_for_a_turn_that_begins_and_not_for_one_that_is_found(workshop: Workshop) -> None:
    up = workshop.fifo("up")
    order = fenced(workshop, f"echo up >{up}; exec sleep 600")
    made = []

    def make() -> Fence | None:
        made.append(order.fence())
        return made[-1]

    shim = workshop.start(replace(order, fence=make))
    up.read_text()
    assert workshop.start(replace(order, fence=make)) == shim
    assert len(made) == 1


def test_nothing_survives_the_command_even_without_mark_group_or_parent(workshop: Workshop) -> None:
    up, go = workshop.fifo("up"), workshop.fifo("go")
    away = f"env -i /usr/bin/setsid /bin/sh -c '(trap \"\" TERM HUP; echo up >{up}; while :; do sleep 600; done) &'"
    shim = workshop.start(fenced(workshop, f"{away}; read _ <{go}; exit 5"))
    up.read_text()
    family = find_marked(workshop.marker)
    go.write_text("go on\n")
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert returned(workshop.state()) == 5
    assert any("sleep" in found.command for found in family), "it is found by the fence's first process, its parent"
    for found in family:
        assert block_until_exit(found.identity, PATIENCE_SECONDS), found
    assert find_marked(workshop.marker) == ()


def test_a_stop_ends_what_cleared_its_environment_and_left(workshop: Workshop) -> None:
    up = workshop.fifo("up")
    deaf = f'trap "" TERM; echo $$ >{up}; while :; do sleep 600; done'
    shim = workshop.start(fenced(workshop, f"env -i /usr/bin/setsid /bin/sh -c '{deaf}' & exec sleep 600"))
    up.read_text()
    report = asyncio.run(stop_turn(TurnToStop(workshop.mark, shim, PATIENCE_SECONDS), BY_HAND, no_checkpoint))
    assert not report.forced
    assert ended_by(workshop.state()) == signal.SIGTERM
    workshop.wait_until_nothing_is_left()


@pytest.mark.parametrize("victim", ["bwrap", "shell"])
def test_a_fence_that_is_killed_takes_all_with_it_and_was_killed(workshop: Workshop, victim: str) -> None:
    up = workshop.fifo("up")
    shim = workshop.start(fenced(workshop, f"echo up >{up}; exec sleep 600"))
    up.read_text()
    wanted = "/bin/sh -c" if victim == "shell" else "bwrap --"
    parts = [found for found in find_marked(workshop.marker) if is_shim(found) and wanted in found.command]
    assert signal_process(parts[-1].identity, signal.SIGKILL)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert ended_by(workshop.state()) == signal.SIGKILL
    workshop.wait_until_nothing_is_left()


def test_a_shim_that_is_killed_takes_its_fence_with_it(workshop: Workshop) -> None:
    up = workshop.fifo("up")
    shim = workshop.start(fenced(workshop, f"echo up >{up}; exec sleep 600"))
    up.read_text()
    assert signal_process(shim, signal.SIGKILL)
    workshop.wait_until_nothing_is_left()


def test_other_processes_files_and_temporary_ones_are_not_there(
    workshop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("canary\n")
    script = f"""
        cat '{secret}' /etc/shadow /proc/{os.getpid()}/environ
        ls /tmp; kill -0 {os.getpid()} && echo reached
        touch /usr/here /etc/here /here-too; ls /here* /usr/here /etc/here
        grep -h CapEff /proc/self/status; id -u
        echo x >/tmp/mine; cat /tmp/mine
    """
    assert identify(os.getpid()) is not None
    workshop.run(fenced(workshop, script))
    said = workshop.files().out.read_text()
    assert said.split() == ["/here-too", "CapEff:", "0" * 16, str(os.getuid()), "x"], said
    assert not Path("/tmp/mine").exists()
    assert not Path("/here-too").exists()


def test_the_strongest_level_has_a_loopback_of_its_own_and_nothing_else(workshop: Workshop) -> None:
    workshop.run(fenced(workshop, "ls /sys/class/net >/dev/null; cat /proc/net/dev", Level.FILES_AND_NETWORK))
    lines = workshop.files().out.read_text().splitlines()
    assert [line.split(":")[0].strip() for line in lines if ":" in line] == ["lo"]
