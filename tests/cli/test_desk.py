"""A worker's desk: the same commands from where no log can be reached, as that worker and nobody else."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.cli.desk import find_desk
from paddock.fleet.desk.desk import MOST_AT_ONCE, RATE, Desk, DeskOrder, Occupancy
from paddock.fleet.desk.wire import (
    EXIT,
    MOST_REQUEST_BYTES,
    MOST_STDIN_BYTES,
    MOST_WORDS,
    DeskRequest,
    bind_desk,
    connect_desk,
    decode_request,
    encode_request,
    read_frames,
)
from tests.cli.conftest import Cli, Said
from tests.cli.test_lease import PATIENCE_SECONDS, begin_attempt, until
from tests.cli.test_workers import as_person, findings, marker


class OpenDesk:
    """A desk that is served by a loop of its own, and `paddock` as it is where only that desk can be reached."""

    def __init__(self, cli: Cli, place: Path, outside: Path, owner: str = "t1.1") -> None:
        self.cli, self.socket, self.outside = cli, place, outside
        self._order = DeskOrder(owner, marker(cli), cli.top, place)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.open()

    def _await(self, coroutine) -> object:  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_SECONDS)

    def open(self) -> None:
        async def begin() -> Desk:
            desk = Desk(self._order, Occupancy(64))
            await desk.open()
            return desk

        self.desk = self._await(begin())

    def close(self) -> None:
        assert isinstance(self.desk, Desk)
        self._await(self.desk.close())

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()

    def __call__(self, *words: str, stdin: bytes | None = None) -> Said:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PADDOCK_DESK", str(self.socket))
            return self.cli(*words, stdin=stdin, cwd=self.outside)


@pytest.fixture
def desk(cli: Cli, tmp_path: Path) -> Iterator[OpenDesk]:
    begin_attempt(cli)
    outside = tmp_path / "outside"
    outside.mkdir()
    deep = tmp_path / ("a-folder-whose-name-is-long-" * 4) / "and another one"
    desk = OpenDesk(cli, deep / "socket", outside)
    yield desk
    desk.end()


def test_a_worker_reads_and_leases_at_its_desk_as_that_worker(desk: OpenDesk) -> None:
    said = desk("show", "t1", "--json")
    assert (said.code, said.err) == (0, "")
    assert said.out == as_person(desk.cli, "show", "t1", "--json").out
    assert desk("status", "--json").json()["counts"]["running"] == 1
    assert desk("lease", "acquire", "port:5432").out == "port:5432 is yours, generation 1\n"
    [held] = as_person(desk.cli, "lease", "list", "--json").json()["held"]
    assert held["holder"] == "t1.1"


def test_what_is_for_people_is_refused_at_a_desk_and_told_once(desk: OpenDesk) -> None:
    for _ in range(2):
        said = desk("approve", "t1")
        assert said.code == 1
        assert said.err.startswith("error: `paddock approve` is not for agents: you run inside attempt t1.1\n\nhint: ")
    assert findings(desk.cli) == ["approve"]
    assert desk("lease", "release").code == 2, "misuse stays misuse"


def test_whatever_a_worker_claims_to_be_it_is_the_one_whose_desk_it_is(
    desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t7.1")
    monkeypatch.setenv("PADDOCK_MARKER", "feedfeedfeedfeed:t7.1")
    monkeypatch.setenv("PADDOCK_AGENTS_MAY_ADD", "true")
    assert "you run inside attempt t1.1" in desk("add", "More").err


def test_a_desk_takes_no_options_before_the_command(desk: OpenDesk) -> None:
    for words in (("-C", "/", "status"), ("--set", "agents.may_add=true", "add", "x")):
        said = desk(*words)
        assert said.code == 1
        assert f"`{words[0]}` is not for workers" in said.err
    assert desk("--version").code == 0


def test_tasks_go_along_from_a_file_or_standard_input(desk: OpenDesk) -> None:
    with (desk.cli.top / "paddock.toml").open("a") as file:
        file.write("\n[agents]\nmay_add = true\n")
    tasks = desk.outside / "tasks.yaml"
    tasks.write_text("convoy: more\ntasks:\n  - brief: First\n  - brief: Zweitens, größer\n")
    assert desk("add", "--file", str(tasks)).out == "added t2  First\nadded t3  Zweitens, größer\n"
    assert desk("add", f"--file={tasks}", "--convoy", "other").code == 0
    assert desk("add", "-", stdin=b"From standard input").out == "added t6  From standard input\n"
    assert "cannot be read" in desk("add", "--file", str(desk.outside / "none.yaml")).err
    tasks.write_bytes(b"x" * (MOST_STDIN_BYTES + 1))
    assert "is larger than" in desk("add", "--file", str(tasks)).err


def ask(place: Path, request: bytes) -> tuple[bytes, int]:
    """As somebody would who does not use our command line."""
    with connect_desk(place, PATIENCE_SECONDS) as connection:
        connection.sendall(request)
        said, code = b"", -1

        def receive(length: int) -> bytes:
            data = b""
            while len(data) < length:
                part = connection.recv(length - len(data))
                assert part, "cut off"
                data += part
            return data

        for channel, payload in read_frames(receive):
            if channel == EXIT:
                code = int(payload)
            else:
                said += payload
    return said, code


@pytest.mark.parametrize(
    "argv",
    [
        ("with-lease", "x", "--", "touch", "WITNESS"),
        ("add", "--file", "SECRET"),
        ("add", "--file=SECRET"),
    ],
)
def test_nothing_of_the_workers_runs_or_is_read_on_the_other_side(
    desk: OpenDesk, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    with (desk.cli.top / "paddock.toml").open("a") as file:
        file.write("\n[agents]\nmay_add = true\n")
    witness, secret = tmp_path / "witness", tmp_path / "secret.yaml"
    secret.write_text("tasks:\n  - brief: hunter2\n")
    words = [word.replace("WITNESS", str(witness)).replace("SECRET", str(secret)) for word in argv]
    said, code = ask(desk.socket, encode_request(DeskRequest(tuple(words))))
    assert code == 1
    assert b"cannot be asked for from inside the fence of attempt t1.1" in said
    assert b"hunter2" not in said
    assert not witness.exists()
    assert "hunter2" not in as_person(desk.cli, "log", "--json").out


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\0\0\x05hello",
        (MOST_REQUEST_BYTES + 1).to_bytes(4, "big"),
        encode_request(DeskRequest(())),
        encode_request(DeskRequest(("x",) * (MOST_WORDS + 1))),
        encode_request(DeskRequest(("a\0b",))),
        encode_request(DeskRequest(("add", "-"), b"x" * (MOST_STDIN_BYTES + 1))),
    ],
    ids=["noise", "too long", "empty", "too many words", "a NUL", "too much input"],
)
def test_what_is_no_request_is_answered_so(desk: OpenDesk, sent: bytes) -> None:
    assert ask(desk.socket, sent) == (
        b"error: this is not a request, or it is too large\n\nhint: a desk takes `paddock` commands\n",
        1,
    )


def test_every_request_survives_the_wire() -> None:
    request = DeskRequest(("lease", "list", "größer"), b"\0\xff")
    assert decode_request(encode_request(request)[4:]) == request


def test_more_than_may_be_asked_is_refused_and_does_not_last(desk: OpenDesk) -> None:
    """Connections that say nothing take up places, until they are closed."""
    idle = [connect_desk(desk.socket, PATIENCE_SECONDS) for _ in range(MOST_AT_ONCE)]
    until(lambda: "are being answered" in desk("--bogus").err, "a full desk")
    for connection in idle:
        connection.close()
    until(lambda: "is not for workers" in desk("--bogus").err, "a free place")
    until(lambda: any("times a second" in desk("--bogus").err for _ in range(2 * RATE.burst)), "a limit")
    until(lambda: "is not for workers" in desk("--bogus").err, "another chance")


def test_a_request_ends_with_the_worker_that_made_it(desk: OpenDesk) -> None:
    as_person(desk.cli, "lease", "acquire", "x", "--ttl", "1h")
    connection = connect_desk(desk.socket, PATIENCE_SECONDS)
    connection.sendall(encode_request(DeskRequest(("lease", "acquire", "x", "--wait", "10m"))))

    def waiting() -> list[object]:
        return as_person(desk.cli, "lease", "list", "--json").json()["waiting"]  # type: ignore[no-any-return]

    until(waiting, "a place in line")
    children = [pid for pid in os.listdir("/proc") if pid.isdecimal() and is_waiting(pid)]
    assert len(children) == 1
    connection.close()
    until(lambda: not is_waiting(children[0]), "the end of the command")


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_a_desk_that_closes_while_a_command_ends_leaves_nothing_of_it_open(
    desk: OpenDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """What the command has started in a session of its own outlives it, and holds its output."""
    left = tmp_path / "left"
    script = (
        "import os, subprocess, sys, time\n"
        f"one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        f"open({str(left)!r} + '.new', 'w').write(f'{{os.getpid()}} {{one.pid}}')\n"
        f"os.rename({str(left)!r} + '.new', {str(left)!r})\n"
        "time.sleep(600)"
    )
    monkeypatch.setattr("paddock.fleet.desk.desk.COMMAND", (sys.executable, "-c", script))
    monkeypatch.setattr("paddock.fleet.desk.desk.REQUEST_SECONDS", 1.0)
    connection = connect_desk(desk.socket, PATIENCE_SECONDS)
    connection.sendall(encode_request(DeskRequest(("status",))))
    until(left.exists, "the command")
    command, outlives = left.read_text().split()
    try:
        connection.close()
        until(lambda: not is_alive(command), "the end of the command")
        desk.close()
        gc.collect()
        assert [str(one.message) for one in recwarn if one.category is ResourceWarning] == []
    finally:
        os.kill(int(outlives), signal.SIGKILL)


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_waiting(pid: str) -> bool:
    try:
        return b"\0acquire\0x\0--wait\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_without_a_daemon_the_command_says_so_and_what_to_do(desk: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.cli.desk.PAUSES_SECONDS", (0.0,))
    desk.close()
    said = desk("status")
    assert said.code == 1
    assert said.err.startswith(f"error: nobody answers at the desk `{desk.socket}`: No such file or directory\n")
    assert "try again in a minute" in said.err
    bind_desk(desk.socket).close()
    assert "nobody answers at the desk" in desk("status").err
    desk.open()
    assert desk("status").code == 0, "the next daemon serves at the same place"


def test_a_daemon_that_dies_while_it_answers_is_named(desk: OpenDesk, tmp_path: Path) -> None:
    place = tmp_path / "s"
    with bind_desk(place) as listening:

        def hang_up() -> None:
            connection, _ = listening.accept()
            connection.recv(16)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        desk.socket = place
        said = desk("status")
        thread.join()
    assert said.err.startswith("error: the daemon was gone before it had answered\n\nhint: ")


def test_with_lease_runs_its_command_where_it_was_called_under_a_lease_from_the_desk(desk: OpenDesk) -> None:
    script = 'echo "$PADDOCK_LEASE $PADDOCK_LEASE_GENERATION" > here; exit 7'
    assert desk("with-lease", "port:1", "--ttl", "1h", "--", "sh", "-c", script).code == 7
    assert (desk.outside / "here").read_text() == "port:1 1\n"
    assert as_person(desk.cli, "lease", "list", "--json").json()["held"] == []
    as_person(desk.cli, "lease", "acquire", "port:1")
    said = desk("with-lease", "port:1", "--wait", "0s", "--", "true")
    assert said.code == 1
    assert said.err.startswith("error: `port:1` is taken: ana@")


def test_a_command_ends_when_its_lease_from_the_desk_is_lost(desk: OpenDesk) -> None:
    go = desk.outside / "running"
    program = "from paddock.cli.main import main; main()"
    script = f"touch '{go}'; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        (sys.executable, "-c", program, "with-lease", "x", "--ttl", "2s", "--", "sh", "-c", script),
        cwd=desk.outside,
        env={**os.environ, "PATH": os.defpath, "PADDOCK_DESK": str(desk.socket)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(go.exists, "the command")
        [held] = as_person(desk.cli, "lease", "list", "--json").json()["held"]
        as_person(desk.cli, "lease", "release", "x", "--generation", str(held["generation"]))
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert said == "error: the lease on `x` was lost while the command ran, so the command was stopped\n"


def test_a_desk_is_asked_only_where_no_log_can_be_reached(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_DESK", "/nowhere")
    monkeypatch.chdir(cli.top)
    assert find_desk(["status"]) is None, "the log is here"
    monkeypatch.chdir(tmp_path)
    assert find_desk(["status"]) == Path("/nowhere")
    assert find_desk(["-C", str(cli.top), "status"]) is None
    for words in ([], ["--help"], ["land", "--help"], ["--version"], ["completion", "bash"]):
        assert find_desk(words) is None
    other = tmp_path / "other"
    subprocess.run(("git", "init", "-q", str(other)), check=True)
    monkeypatch.chdir(other)
    assert find_desk(["init"]) == Path("/nowhere"), "as far as is known, it is the worker's own"
    monkeypatch.setenv("PADDOCK_WORKTREE", str(cli.top))
    assert find_desk(["init"]) is None, "a repository that the worker made for itself is none of ours"
    monkeypatch.setenv("PADDOCK_SERVED", "t1.1")
    monkeypatch.chdir(tmp_path)
    assert find_desk(["status"]) is None, "or it would ask itself"


def test_one_desk_takes_the_place_of_another(tmp_path: Path) -> None:
    place = tmp_path / "desk" / "socket"
    with bind_desk(place) as old, bind_desk(place) as new:
        with connect_desk(place, PATIENCE_SECONDS) as connection:
            new.settimeout(PATIENCE_SECONDS)
            accepted, _ = new.accept()
            accepted.close()
            assert isinstance(connection, socket.socket)
        old.setblocking(False)
        with pytest.raises(BlockingIOError):
            old.accept()


def test_a_former_daemon_that_ends_leaves_the_desk_of_the_next_one_open(desk: OpenDesk) -> None:
    former = desk.desk
    desk.open()
    assert isinstance(former, Desk)
    desk._await(former.close())
    assert desk.socket.is_socket()
