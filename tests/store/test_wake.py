"""Nudges: who listens is woken by a commit, whoever made it; who died leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from paddock.store import wake
from paddock.store.sqlite import SqliteStore
from paddock.store.wake import SocketListener, listen, nudge, socket_folder
from tests.store.drafts import ANA, add

TOP = Path(__file__).parent.parent.parent


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "log.db"
    SqliteStore(path, create=True).close()
    yield path
    folder = socket_folder(path)
    if folder.exists():
        assert os.listdir(folder) == []
        folder.rmdir()


def test_a_commit_of_another_process_wakes_the_listener(log: Path) -> None:
    with SocketListener(log) as listener:
        subprocess.run((sys.executable, "-m", "tests.store.writer", "add", str(log), "1"), check=True, cwd=TOP)
        assert listener.wait(10.0)
        assert not listener.wait(0.0), "a nudge is heard once"


def test_every_listener_is_woken(log: Path) -> None:
    store = SqliteStore(log)
    with SocketListener(log) as one, SocketListener(log) as other:
        store.append(add(), ANA)
        assert one.wait(5.0)
        assert other.wait(5.0)
    store.close()


def test_a_refused_decision_wakes_nobody(log: Path) -> None:
    store = SqliteStore(log)
    with SocketListener(log) as listener:
        store.append(lambda _: [], ANA)
        assert not listener.wait(0.0)
    store.close()


def test_many_nudges_before_anybody_listens_neither_block_nor_fail(log: Path) -> None:
    with SocketListener(log) as listener:
        for _ in range(2000):
            nudge(log)
        assert listener.wait(0.0)
        assert not listener.wait(0.0)


def test_the_socket_of_a_killed_listener_is_removed_by_the_next_commit(log: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from paddock.store.wake import SocketListener\n"
        "kept = SocketListener(Path(sys.argv[1])); print('ready', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen((sys.executable, "-c", program, str(log)), stdout=subprocess.PIPE, cwd=TOP)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.kill()
    child.communicate()
    assert len(os.listdir(socket_folder(log))) == 1
    nudge(log)
    assert os.listdir(socket_folder(log)) == []


def test_a_very_long_path_to_the_log_still_fits_a_socket(tmp_path: Path) -> None:
    log = tmp_path.joinpath(*["a-rather-long-folder-name"] * 7) / "log.db"
    store = SqliteStore(log, create=True)
    with SocketListener(log) as listener:
        store.append(add(), ANA)
        assert listener.wait(5.0)
    store.close()


def test_listeners_and_writers_meet_whatever_temporary_folder_each_was_given(log: Path, tmp_path: Path) -> None:
    with SocketListener(log) as listener:
        environment = {**os.environ, "TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
        argv = (sys.executable, "-m", "tests.store.writer", "add", str(log), "1")
        subprocess.run(argv, check=True, cwd=TOP, env=environment)
        assert listener.wait(10.0)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Another place for sockets, short enough for them."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(wake, "_ROOT", Path(folder))
        socket_folder.cache_clear()
        yield Path(folder)
    socket_folder.cache_clear()


def test_a_permissive_umask_does_not_open_the_folder_to_others(root: Path) -> None:
    before = os.umask(0)
    try:
        with SocketListener(root / "log.db"):
            assert socket_folder(root / "log.db").parent.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_a_folder_others_may_write_to_is_not_used(root: Path) -> None:
    folder = root / f"paddock-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="belongs to another user"):
        SocketListener(root / "log.db")
    nudge(root / "log.db")
    assert list(folder.iterdir()) == []


def test_where_no_socket_can_be_made_a_listener_looks_often_instead(root: Path) -> None:
    (root / f"paddock-{os.getuid()}").write_text("in the way")
    with listen(root / "log.db") as listener:
        listener.tell(lambda: None)
        assert listener.wait(0.01), "it cannot know that nothing was written"


def test_listeners_come_and_go_without_tripping_over_each_other(root: Path) -> None:
    """Each one that leaves last removes the folder the next one is about to use."""

    def come_and_go() -> None:
        for _ in range(200):
            with SocketListener(root / "log.db"):
                pass

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(come_and_go) for _ in range(4)]:
            done.result()
