"""`paddock lease` and `paddock with-lease`: one holder at a time, fair queues, commands that end with their lease."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.core.events import AttemptEnded, AttemptStarted, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases.decisions import end_attempt
from paddock.core.leases.lease import LeaseExpired, LeaseGranted, LeaseRenewed
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author, Query
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import SOURCE, Cli

PATIENCE_SECONDS = 120.0
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(cli: Cli) -> Iterator[Start]:
    """A command in the background, ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **variables: str) -> "subprocess.Popen[str]":
        # Whoever runs the tests in the background may have them ignore SIGINT.
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        program = f"{heed}; from paddock.cli.main import main; main()"
        process = subprocess.Popen(
            (sys.executable, "-c", program, *arguments),
            cwd=cli.top,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PATH": os.defpath, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the command it has started, which holds our pipe
        process.communicate()


def until(holds: Callable[[], object], what: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < give_up_at, f"{what} never came"
        time.sleep(0.02)


def rows(cli: Cli, kind: str) -> list[tuple[str, str]]:
    return [(row["name"], row["holder"]) for row in cli.good("lease", "list", "--json").json()[kind]]


def holders(cli: Cli) -> list[str]:
    return [name for name, _ in rows(cli, "held")]


def begin_attempt(cli: Cli) -> None:
    cli.good("add", "Some work")
    event = AttemptStarted("scripted", "b" * 40, "paddock/t1")
    write(cli, Draft(event, TaskId("t1"), AttemptId("t1.1")))


def write(cli: Cli, *drafts: Draft) -> None:
    store = SqliteStore(cli.log)
    store.append(lambda _board: drafts, Author("daemon"))
    store.close()


def test_acquire_release_and_list_tell_who_holds_what(cli: Cli) -> None:
    assert cli.good("lease", "list").out == "nobody holds a lease\n"
    assert cli.good("lease", "acquire", "port:05432").out == "port:5432 is yours, generation 1\n"
    [held] = cli.good("lease", "list", "--json").json()["held"]
    assert (held["name"], held["generation"], held["holder"]) == ("port:5432", 1, f"ana@{os.uname().nodename}")
    assert 590 < held["expires_in"] <= 600
    assert cli.good("lease", "list").out.startswith("port:5432 ")
    assert cli.good("lease", "release", "port:5432").out == "released port:5432\n"
    assert cli.good("lease", "acquire", "port:5432", "--json").json()["generation"] == 2


def test_what_is_taken_is_refused_with_the_holder_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.good("lease", "acquire", "service:db", "--ttl", "5m")
    monkeypatch.setenv("USER", "bo")
    said = cli("lease", "acquire", "service:db")
    assert said.code == 1
    assert f"`service:db` is taken: ana@{os.uname().nodename} (pid {os.getppid()}" in said.err
    assert re.search(r"the lease expires in (5m|4m\d+s)\n", said.err)
    assert "hint: wait in line with `--wait 5m`" in said.err
    for command in ("renew", "release"):
        assert "is held by ana@" in cli("lease", command, "service:db").err
    assert holders(cli) == ["service:db"]


def test_overlapping_globs_are_a_conflict_and_other_paths_are_not(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.good("lease", "acquire", "file:src/api/**")
    monkeypatch.setenv("USER", "bo")
    assert "has held `file:src/api/**`" in cli("lease", "acquire", "file:src/*/users.py").err
    cli.good("lease", "acquire", "file:src/web/**")
    assert holders(cli) == ["file:src/api/**", "file:src/web/**"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("acquire", "port:99999"), "a port is a number from 1 to 65535"),
        (("acquire", "port:"), "nothing follows the colon"),
        (("acquire", ""), "a name is 1 to 400 printable characters"),
        (("acquire", "a\nb"), "a name is 1 to 400 printable characters"),
        (("acquire", "x", "--ttl", "0s"), "a lease cannot last 0.0 seconds"),
        (("acquire", "x", "--ttl", "soon"), "`soon` is not a duration"),
        (("acquire", "x", "--wait", "-1"), "`-1` is not a duration"),
        (("acquire", "daemon"), "`daemon` is Paddock's own lease"),
        (("release", "daemon", "--generation", "1"), "`daemon` is Paddock's own lease"),
        (("acquire", "attempt:t1.1"), "`attempt:t1.1` is Paddock's own lease"),
        (("acquire", "x", "--for", "t1"), "`t1` is not an attempt"),
    ],
)
def test_nonsense_is_refused_as_misuse(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    said = cli("lease", *arguments)
    assert (said.code, words in said.err) == (2, True), said.err
    assert holders(cli) == []


def test_a_stale_generation_can_neither_renew_nor_release(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.good("lease", "acquire", "x", "--ttl", "50ms")
    monkeypatch.setenv("USER", "bo")
    cli.good("lease", "acquire", "x", "--wait", "20s")
    for command in ("renew", "release"):
        said = cli("lease", command, "x", "--generation", "1")
        assert (said.code, said.err.strip()) == (1, "error: `x` is at generation 2, not 1: it is no longer yours")
    assert cli.good("lease", "renew", "x", "--generation", "2", "--ttl", "1h").out == "x is yours for another 1h\n"
    assert "nobody holds `y`" in cli("lease", "release", "y").err


def test_a_ttl_that_ran_out_frees_the_lease_of_a_holder_that_hangs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.good("lease", "acquire", "x", "--ttl", "300ms")
    monkeypatch.setenv("USER", "bo")
    with monkeypatch.context() as at_once:
        at_once.setattr(time, "time", lambda: 0.0)  # time runs by the log, so none has passed
        assert cli("lease", "acquire", "x").code == 1
    assert cli.good("lease", "acquire", "x", "--wait", "20s").out == "x is yours, generation 2\n"
    store = SqliteStore(cli.log, read_only=True)
    kinds = [type(record.event) for record in store.records(Query())]
    store.close()
    assert kinds[-2:] == [LeaseExpired, LeaseGranted]


def test_the_queue_is_fair_and_who_gives_up_leaves_it(cli: Cli, start: Start) -> None:
    cli.good("lease", "acquire", "x")
    first = start("lease", "acquire", "x", "--wait", "30s", USER="bo")
    until(lambda: len(rows(cli, "waiting")) == 1, "the first in line")
    second = start("lease", "acquire", "x", "--wait", "30s", USER="cy")
    until(lambda: len(rows(cli, "waiting")) == 2, "the second in line")
    third = start("lease", "acquire", "x", "--wait", "100ms", USER="di")
    assert third.wait(PATIENCE_SECONDS) == 1
    assert [holder.partition("@")[0] for _, holder in rows(cli, "waiting")] == ["bo", "cy"]
    cli.good("lease", "release", "x")
    assert first.wait(PATIENCE_SECONDS) == 0
    assert second.poll() is None
    assert [holder.partition("@")[0] for _, holder in rows(cli, "held")] == ["bo"]
    second.send_signal(signal.SIGINT)
    assert second.wait(PATIENCE_SECONDS) == 130
    assert rows(cli, "waiting") == []


def test_a_lease_for_an_attempt_dies_with_it(cli: Cli) -> None:
    begin_attempt(cli)
    cli.good("lease", "acquire", "port:5432", "--for", "t1.1")
    assert rows(cli, "held") == [("port:5432", "t1.1")]
    store = SqliteStore(cli.log, read_only=True)
    leases = store.board().leases
    store.close()
    ended = Draft(AttemptEnded(Outcome.DELIVERED, Step.NOOP, counted=False), TaskId("t1"), AttemptId("t1.1"))
    write(cli, ended, *(Draft(event) for event in end_attempt(leases, "t1.1")))
    assert holders(cli) == []
    said = cli("lease", "acquire", "port:5432", "--for", "t1.1")
    assert (said.code, said.err.splitlines()[0]) == (1, "error: `t1.1` is not running, so it cannot hold a lease")
    assert "there is no task `t9`" in cli("lease", "acquire", "x", "--for", "t9.1").err


def test_an_agent_is_known_by_its_attempt(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_attempt(cli)
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t1.1")
    cli.good("lease", "acquire", "port:5432")
    cli.good("lease", "renew", "port:5432")
    assert rows(cli, "held") == [("port:5432", "t1.1")]
    cli.good("lease", "release", "port:5432")


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_with_lease_ends_with_the_commands_own_status_and_gives_the_lease_back(
    cli: Cli, start: Start, script: str, code: int
) -> None:
    assert start("with-lease", "x", "--", "sh", "-c", script).wait(PATIENCE_SECONDS) == code
    assert holders(cli) == []


def test_with_lease_tells_the_command_its_generation(start: Start) -> None:
    run = start("with-lease", "port:1", "--", "sh", "-c", "echo $PADDOCK_LEASE $PADDOCK_LEASE_GENERATION")
    assert run.communicate(timeout=PATIENCE_SECONDS)[0] == "port:1 1\n"


def test_with_lease_of_a_command_that_is_not_there_leaves_no_lease(cli: Cli) -> None:
    said = cli("with-lease", "x", "--", "no-such-program")
    assert (said.code, said.err.splitlines()[0]) == (
        1,
        "error: `no-such-program` cannot be run: No such file or directory",
    )
    assert holders(cli) == []
    assert cli("with-lease", "x").code == 2


def test_two_commands_under_one_lease_never_run_together_also_in_one_attempt(cli: Cli, start: Start) -> None:
    begin_attempt(cli)
    inside, clash = cli.top / "inside", cli.top / "clash"
    script = f"mkdir '{inside}' || touch '{clash}'; sleep 0.2; rmdir '{inside}'"
    runs = [start("with-lease", "x", "--", "sh", "-c", script, PADDOCK_ATTEMPT="t1.1") for _ in range(4)]
    assert [run.wait(PATIENCE_SECONDS) for run in runs] == [0] * 4
    assert not clash.exists()
    assert holders(cli) == []


def test_renewing_without_a_time_never_shortens_a_lease(cli: Cli) -> None:
    cli.good("lease", "acquire", "x", "--ttl", "5h")
    said = cli.good("lease", "renew", "x").out
    assert said.startswith("x is yours for another 4h59m") or said == "x is yours for another 5h\n"
    assert cli.good("lease", "renew", "x", "--ttl", "1h").out == "x is yours for another 1h\n"


def renewals(cli: Cli) -> int:
    return len(cli.good("log", "--kind", LeaseRenewed.kind, "--json").lines)


def test_a_lease_is_renewed_while_the_command_runs_longer_than_its_ttl(cli: Cli, start: Start) -> None:
    """Renewed at every third of its time; what is left then is what a busy machine may take over the next one."""
    go = cli.top / "go"
    run = start("with-lease", "x", "--ttl", "3s", "--", "sh", "-c", f"until [ -e '{go}' ]; do sleep 0.05; done")
    until(lambda: renewals(cli) >= 3, "the lease beyond its time")
    assert cli("lease", "acquire", "x", "--wait", "200ms").code == 1
    go.touch()
    assert run.wait(PATIENCE_SECONDS) == 0


def test_a_command_that_has_lost_its_lease_is_ended_with_all_it_started(cli: Cli, start: Start, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"trap '' TERM; sleep 300 & echo $! $$ > '{pids}'; wait; sleep 300"
    run = start("with-lease", "x", "--ttl", "300ms", "--", "sh", "-c", script)
    until(lambda: pids.exists() and len(pids.read_text().split()) == 2, "the command")
    [held] = cli.good("lease", "list", "--json").json()["held"]
    cli.good("lease", "release", "x", "--generation", str(held["generation"]))
    cli.good("lease", "acquire", "x")
    said, _ = run.communicate(timeout=PATIENCE_SECONDS)
    assert (run.returncode, said) == (
        1,
        "error: the lease on `x` was lost while the command ran, so the command was stopped\n",
    )
    for pid in map(int, pids.read_text().split()):
        until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the end of what it started")  # type: ignore[misc]
    assert [name for name, _ in rows(cli, "held")] == ["x"], "the new holder keeps it"


def test_a_signal_that_comes_as_the_command_starts_is_not_lost(cli: Cli, start: Start) -> None:
    script = "trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"
    run = start("with-lease", "x", "--", "sh", "-c", script)
    assert run.wait(PATIENCE_SECONDS) == 9
    assert holders(cli) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_go_to_the_command_and_the_lease_is_given_back(
    cli: Cli, start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 9' TERM INT HUP; touch '{ready}'; while :; do sleep 0.05; done"
    run = start("with-lease", "x", "--", "sh", "-c", script)
    until(ready.exists, "the command")
    run.send_signal(number)
    assert run.wait(PATIENCE_SECONDS) == 9
    assert holders(cli) == []
