import json
import os
import signal
import stat
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from paddock.core.errors import PaddockError
from paddock.sessions.local import TurnFiles, observe_turn, reap_children
from paddock.sessions.marks import Mark, find_marked
from paddock.sessions.process import block_until_exit, signal_process
from paddock.sessions.protocol import NeverStarted, Running, Vanished
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, ended_by, returned


@pytest.mark.parametrize("code", [0, 3, 127, 143, 145, 173])
def test_an_exit_code_is_recorded_and_never_taken_for_a_signal(workshop: Workshop, code: int) -> None:
    assert returned(workshop.run(workshop.shell(f"exit {code}"))) == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "HUP", "INT", "PIPE"])
def test_the_signal_that_ended_a_command_is_recorded(workshop: Workshop, name: str) -> None:
    assert ended_by(workshop.run(workshop.shell(f"kill -{name} $$"))) == signal.Signals[f"SIG{name}"]


def test_a_group_wide_signal_spares_the_shim_that_records_the_end(workshop: Workshop) -> None:
    script = "import signal, sys; signal.signal(15, lambda *_: sys.exit(143)); open('up', 'w').close(); signal.pause()"
    fifo = workshop.fifo("up")
    shim = workshop.start(workshop.python(script))
    fifo.read_bytes()
    os.killpg(shim.pid, signal.SIGTERM)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert returned(workshop.state()) == 143


def test_arguments_reach_the_command_as_they_are(workshop: Workshop) -> None:
    hostile = ("$(touch pwned)", "`touch pwned`", "; touch pwned", "", "a b", 'it\'s "so"', "-n", "\n", "*", "ü€")
    spec = workshop.python("import json, sys; print(json.dumps(sys.argv[1:]))")
    assert returned(workshop.run(replace(spec, argv=(*spec.argv, *hostile)))) == 0
    assert json.loads(workshop.files().out.read_text()) == list(hostile)
    assert not (workshop.root / "pwned").exists()


def test_a_command_named_like_a_word_of_the_shell_is_the_command(workshop: Workshop) -> None:
    program = workshop.root / "exit"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    assert returned(workshop.run(replace(workshop.spec("exit"), env={"PATH": f"{workshop.root}:/bin"}))) == 0
    assert workshop.files().out.read_text() == "ran\n"


def test_a_command_gets_its_own_environment_and_the_mark_and_nothing_else(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PADDOCK_MARKER", raising=False)
    env = {"PATH": os.environ["PATH"], "limit": "1", "record": "2", "TEXT": "a b\nc"}
    spec = workshop.python("import json, os; print(json.dumps(dict(os.environ)))")
    workshop.run(replace(spec, env=env))
    seen = json.loads(workshop.files().out.read_text())
    added = {"PADDOCK_ATTEMPT": "t1.1", "PADDOCK_MARKER": f"{workshop.marker}:t1.1", "PWD": str(workshop.root)}
    added |= {name: seen[name] for name in ("LC_CTYPE", "OLDPWD", "SHLVL", "_") if name in seen}
    assert seen == env | added


def test_a_fleet_inside_an_attempt_adds_its_mark_to_the_outer_one(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = f"outer-{workshop.marker}"
    monkeypatch.setenv("PADDOCK_MARKER", f"{outer}:t9.1")
    workshop.start_blocked()
    assert {found.mark for found in find_marked(outer)} == {Mark(outer, "t9.1")}
    assert {found.mark for found in find_marked(workshop.marker)} == {workshop.mark}


def test_a_turn_has_a_session_of_its_own_and_no_input(workshop: Workshop) -> None:
    script = "import os, sys; print(os.getsid(0), os.getpgid(0), os.getcwd(), repr(sys.stdin.read()))"
    shim = workshop.start(workshop.python(script))
    assert block_until_exit(shim, PATIENCE_SECONDS)
    assert workshop.files().out.read_text() == f"{shim.pid} {shim.pid} {workshop.root} ''\n"


def test_a_turn_holds_no_descriptor_of_its_starter(workshop: Workshop, tmp_path: Path) -> None:
    with open(tmp_path / "open", "wb") as file:
        os.set_inheritable(file.fileno(), True)
        workshop.run(workshop.python("import os; print(sorted(os.listdir('/proc/self/fd')))"))
    # The fourth is the listing's own.
    assert workshop.files().out.read_text() == "['0', '1', '2', '3']\n"


def test_output_goes_to_two_files(workshop: Workshop) -> None:
    workshop.run(workshop.shell("echo out; echo err >&2"))
    assert workshop.files().out.read_text() == "out\n"
    assert workshop.files().err.read_text() == "err\n"


def test_with_one_stream_both_are_in_one_file_in_the_order_they_were_written(workshop: Workshop) -> None:
    lines = [f"line {number}" for number in range(50)]
    script = "; ".join(f"echo {line} >&{1 + number % 2}" for number, line in enumerate(lines))
    workshop.run(replace(workshop.shell(script), one_stream=True))
    assert workshop.files().out.read_text().splitlines() == lines
    assert not workshop.files().err.exists()


def test_a_turn_leaves_only_its_record(workshop: Workshop) -> None:
    workshop.run(workshop.shell(":"))
    names = sorted(path.name for path in workshop.folder.iterdir())
    assert names == ["turn-1.err", "turn-1.exit", "turn-1.out", "turn-1.pid"]


def test_a_running_turn_shows_its_output_growing(workshop: Workshop) -> None:
    workshop.start_blocked()
    silent = workshop.state()
    assert isinstance(silent, Running)
    assert (silent.last_output_at, silent.output_bytes) == (None, 0)
    workshop.start_blocked("echo four; echo five5 >&2", turn=2)
    talking = workshop.state(turn=2)
    assert isinstance(talking, Running)
    assert talking.output_bytes == 11
    assert talking.last_output_at == max(
        path.stat().st_mtime for path in (workshop.files(2).out, workshop.files(2).err)
    )


@pytest.mark.parametrize("command", ["no-such-command", "./no-such-command", "./not-executable"])
def test_a_command_that_cannot_run_is_refused_and_never_started(workshop: Workshop, command: str) -> None:
    (workshop.root / "not-executable").write_text("#!/bin/sh\n")
    (workshop.root / "not-executable").chmod(stat.S_IRUSR)
    with pytest.raises(PaddockError, match=f"command `{command}` was not found"):
        workshop.start(workshop.spec(command))
    assert workshop.state() == NeverStarted()


def test_a_command_line_the_kernel_refuses_is_refused_in_words(workshop: Workshop) -> None:
    with pytest.raises(PaddockError, match="Argument list too long") as refused:
        workshop.start(workshop.spec("echo", "x" * 4_000_000))
    assert "{prompt_file}" in (refused.value.hint or "")
    assert workshop.state() == NeverStarted()


def test_a_missing_directory_is_refused(workshop: Workshop) -> None:
    with pytest.raises(PaddockError, match="does not exist"):
        workshop.start(replace(workshop.shell(":"), cwd=workshop.root / "gone"))
    assert observe_turn(TurnFiles.of(workshop.root / "gone", 1)) == NeverStarted()


def test_a_missing_interpreter_ends_the_turn_with_the_reason_in_its_errors(workshop: Workshop) -> None:
    program = workshop.root / "agent"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    assert returned(workshop.run(workshop.spec("./agent"))) in (126, 127)
    assert "agent" in workshop.files().err.read_text()


def test_a_shim_killed_outright_is_vanished_and_its_command_is_still_found(workshop: Workshop) -> None:
    shim = workshop.start_blocked()
    assert signal_process(shim, signal.SIGKILL)
    assert block_until_exit(shim, PATIENCE_SECONDS)
    state = workshop.state()
    assert isinstance(state, Vanished)
    assert not state.rebooted
    [command] = find_marked(workshop.marker)
    assert command.group == shim.pid


def test_a_turn_of_an_earlier_boot_is_vanished_with_the_host(workshop: Workshop) -> None:
    shim = workshop.start_blocked()
    workshop.files().pid.write_text(structs.replace(shim, boot="another-boot").as_text())
    state = workshop.state()
    assert isinstance(state, Vanished)
    assert state.rebooted


def test_a_turn_runs_until_its_shim_has_left_for_a_sweep_would_take_that_for_a_leftover(workshop: Workshop) -> None:
    program, left = workshop.root / "mv", workshop.fifo("left")
    program.write_text(f'#!/bin/sh\n/bin/mv "$@"; echo recorded >"{left}"; exec sleep 600\n')
    program.chmod(0o755)
    workshop.start(replace(workshop.shell(":"), env={"PATH": f"{workshop.root}:{os.environ['PATH']}"}))
    assert left.read_text() == "recorded\n"
    assert workshop.files().exit.exists()
    assert isinstance(workshop.state(), Running)


@pytest.mark.parametrize("text", ["", "Terminated\n", "\0\0\0\0"])
def test_a_torn_exit_record_says_nothing(workshop: Workshop, text: str) -> None:
    workshop.run(workshop.shell(":"))
    workshop.files().exit.write_text(text)
    assert isinstance(workshop.state(), Vanished)


@pytest.mark.parametrize("first", ["", '/bin/mv "$@"; '])
def test_an_end_is_known_though_the_command_that_puts_it_on_record_was_killed(workshop: Workshop, first: str) -> None:
    program = workshop.root / "mv"
    program.write_text(f"#!/bin/sh\n{first}kill -KILL $$\n")
    program.chmod(0o755)
    spec = workshop.shell("exit 143")
    assert returned(workshop.run(replace(spec, env={"PATH": f"{workshop.root}:{os.environ['PATH']}"}))) == 143


def test_ended_shims_are_reaped(workshop: Workshop) -> None:
    shims = [workshop.start(workshop.shell(":", turn)) for turn in range(1, 6)]
    for shim in shims:
        assert block_until_exit(shim, PATIENCE_SECONDS)
    reap_children()
    assert not {shim.pid for shim in shims} & {child.pid for child in psutil.Process().children()}
