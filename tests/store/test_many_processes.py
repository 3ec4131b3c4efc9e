"""Several processes write one log at once, and are killed while they do."""

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.snapshot import encode_board
from paddock.store.protocol import Query
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import read_witness
from tests.core.ledger import assert_sound, fold
from tests.store.drafts import ANA, add

TOP = Path(__file__).parent.parent.parent


def start(mode: str, log: Path, count: int) -> "subprocess.Popen[str]":
    argv = (sys.executable, "-m", "tests.store.writer", mode, str(log), str(count))
    return subprocess.Popen(argv, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    SqliteStore(path, create=True).close()
    return path


@pytest.mark.parametrize("commands", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_eight_writers_lose_no_event_reuse_no_id_and_never_interleave_a_decision(log: Path, commands: int) -> None:
    writers = [start("add", log, commands) for _ in range(8)]
    for writer in writers:
        _, errors = writer.communicate(timeout=280)
        assert writer.returncode == 0, errors
    store = SqliteStore(log, read_only=True)
    records = list(store.records(Query()))
    added = [record for record in records if isinstance(record.event, ev.TaskAdded)]
    assert Counter(record.actor for record in added) == {f"writer-{w.pid}": commands for w in writers}
    assert [record.task for record in added] == [f"t{number}" for number in range(1, 8 * commands + 1)]
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert store.verify().bad is None
    board = store.board()
    assert encode_board(board) == encode_board(fold(records))
    cancelled = [record for record in records if isinstance(record.event, ev.TaskCancelled)]
    assert len({record.task for record in cancelled}) == len(cancelled) > commands
    if commands < 100:
        assert_sound(board)
    store.close()


def read_until(writer: "subprocess.Popen[str]", lines: int) -> list[str]:
    assert writer.stdout is not None
    return [writer.stdout.readline() for _ in range(lines)]


def kill_somewhere(log: Path, chance: random.Random) -> list[str]:
    """What a writer had acknowledged when it was killed at no particular moment."""
    with start("acknowledge", log, 0) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert read_until(writer, 1) == ["ready\n"]
        seen = read_until(writer, chance.randint(1, 30))
        try:
            writer.wait(chance.random() * 0.004)
        except subprocess.TimeoutExpired:
            writer.send_signal(signal.SIGKILL)
        # Not `communicate`, which passes over what `readline` has read ahead.
        rest, errors = writer.stdout.read(), writer.stderr.read()
    assert writer.returncode == -signal.SIGKILL, errors
    return [line for line in "".join((*seen, rest)).splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.parametrize("kills", [20, pytest.param(250, marks=pytest.mark.slow)])
def test_a_killed_writer_loses_nothing_it_acknowledged_and_the_log_always_opens(log: Path, kills: int) -> None:
    chance = random.Random(kills)
    acknowledged: dict[int, str] = {}
    for _ in range(kills):
        for line in kill_somewhere(log, chance):
            seq, digest = line.split()
            acknowledged[int(seq)] = digest
        witness = read_witness(log)
        assert witness is not None
        assert witness.seq >= max(acknowledged), "nothing is acknowledged that is not witnessed"
        store = SqliteStore(log)
        assert store.loss() is None, "nor witnessed before it is in the log"
        store.append(add(), ANA)
        hashes = {row[0]: row[-1].hex() for row in store.rows()}
        assert {seq: hashes.get(seq) for seq in acknowledged} == acknowledged
        assert store.verify().bad is None
        store.close()
    assert len(acknowledged) > kills


def test_two_killed_writers_leave_a_log_a_third_goes_on_with(log: Path) -> None:
    chance = random.Random(7)
    for _ in range(3):
        writers = [start("acknowledge", log, 0) for _ in range(2)]
        for writer in writers:
            read_until(writer, 1 + chance.randint(1, 20))
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=30)
    store = SqliteStore(log)
    assert store.rebuild() is True
    assert store.append(add(), ANA)
    store.close()
