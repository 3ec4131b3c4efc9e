"""Places where Paddock cannot do its work: a clear error and a hint, exit 1 or 2, nothing half-written."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from paddock.store.snapshots import snapshot_path
from tests.cli.conftest import SOURCE, Cli, Said, as_process, git

ROOT = os.geteuid() == 0
Commands = tuple[tuple[str, ...], ...]
READERS: Commands = (
    ("status",),
    ("status", "--json"),
    ("show", "t1"),
    ("log",),
    ("convoy", "list"),
    ("log", "verify"),
)
WRITERS: Commands = (
    ("add", "more"),
    ("edit", "t1", "--priority", "3"),
    ("cancel", "t1"),
    ("log", "rebuild"),
)


def assert_refused(said: Said | subprocess.CompletedProcess[str], *words: str) -> None:
    code, out, err = (
        (said.code, said.out, said.err) if isinstance(said, Said) else (said.returncode, said.stdout, said.stderr)
    )
    assert code in (1, 2), (code, err)
    assert "Traceback" not in err
    assert "should not" not in err
    assert err.startswith("error: "), err
    assert "\n\nhint: " in err, err
    assert out == ""
    for word in words:
        assert word in err, err


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "/objects/" not in str(path)}


def elsewhere(cli: Cli, top: Path) -> Cli:
    return Cli(top, cli.capture, cli.monkeypatch)


@pytest.fixture
def used(cli: Cli) -> Cli:
    cli.good("add", "first")
    cli.good("add", "second", "--after", "t1")
    return cli


@pytest.mark.parametrize("arguments", [("init",), *READERS[:4], *WRITERS])
def test_outside_a_repository_commands_are_refused_and_write_nothing(
    fresh: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert_refused(fresh(*arguments, cwd=plain), "is not inside a git repository", "git init")
    assert files(plain) == set()


@pytest.mark.parametrize("arguments", [*READERS, *WRITERS])
def test_before_init_every_command_says_to_run_it_and_writes_nothing(fresh: Cli, arguments: tuple[str, ...]) -> None:
    before = files(fresh.top)
    assert_refused(fresh(*arguments), "Paddock is not set up in", "run `paddock init` there")
    assert files(fresh.top) == before


def test_in_a_bare_repository(fresh: Cli, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    before = files(tmp_path / "bare.git")
    for command in ("init", "status"):
        assert_refused(fresh(command, cwd=tmp_path / "bare.git"), "is a bare repository", "run paddock in a clone")
    assert files(tmp_path / "bare.git") == before


def test_in_a_repository_without_commits(fresh: Cli, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    before = files(tmp_path / "empty")
    assert_refused(fresh("init", cwd=tmp_path / "empty"), "has no commits yet", "git commit --allow-empty")
    assert files(tmp_path / "empty") == before


def test_with_head_detached_the_branch_is_still_found(fresh: Cli) -> None:
    git(fresh.top, "checkout", "--quiet", "--detach")
    assert "main: main" in fresh.good("init").out
    fresh.good("add", "x")
    assert "warning  branch       HEAD is detached here" in fresh("doctor").out


def test_with_head_detached_and_no_usual_branch(fresh: Cli) -> None:
    git(fresh.top, "checkout", "--quiet", "--detach")
    git(fresh.top, "branch", "-m", "main", "odd")
    assert_refused(fresh("init"), "HEAD is detached", "git switch")
    assert not (fresh.top / "paddock.toml").exists()
    assert not (fresh.top / ".git" / "paddock").exists()


def test_subfolders_and_worktrees_share_one_log_and_one_configuration(cli: Cli, tmp_path: Path) -> None:
    deep = cli.top / "a" / "b"
    deep.mkdir(parents=True)
    tree = tmp_path / "tree"
    git(cli.top, "worktree", "add", "--quiet", str(tree))
    for place in (cli.top, deep, tree):
        assert cli("add", "x", cwd=place).code == 0
    assert cli("status", cwd=tree).out.startswith("3 tasks: 3 ready")
    assert "already set up" in cli("init", cwd=tree).out
    assert not (tree / "paddock.toml").exists()
    assert cli("status", "-h", cwd=deep).code == 0
    assert cli("-C", str(tree), "status", cwd=tmp_path).out.startswith("3 tasks")


def test_a_worktree_of_a_bare_repository_has_its_own_configuration(fresh: Cli, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(fresh.top), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "tree"), "main")
    tree = elsewhere(fresh, tmp_path / "tree")
    tree.good("init")
    tree.good("add", "x")
    assert (tmp_path / "bare.git" / "paddock" / "log.db").exists()


@pytest.mark.parametrize("name", ["with space", "Größe ☃", "quote'\"s", "percent%20?#", "-dash", "new\nline"])
def test_in_a_folder_with_an_odd_name(fresh: Cli, tmp_path: Path, name: str) -> None:
    top = tmp_path / name
    shutil.copytree(fresh.top, top)
    there = elsewhere(fresh, top)
    for arguments in (("init",), ("add", "x"), *READERS, *WRITERS, ("doctor",), ("config", "check"), ("log", "push")):
        said = there(*arguments)
        assert said.code == 0, (arguments, said.err)


def test_in_a_folder_whose_name_is_no_utf8(fresh: Cli, tmp_path: Path) -> None:
    top = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(fresh.top, top)
    ended = as_process("init", cwd=top)
    assert_refused(ended, "cannot be opened", "rename the folder")
    assert not (top / "paddock.toml").exists()
    for arguments in (("status",), ("doctor",), ("config", "show", "main")):
        ended = as_process(*arguments, cwd=top)
        assert "Traceback" not in ended.stderr
        assert "should not" not in ended.stderr


def test_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd()); from paddock.cli.main import main; sys.argv[1:] = ['status']; main()"
    )
    ended = subprocess.run(
        (sys.executable, "-P", "-c", program),
        cwd=gone, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert_refused(ended, "the current directory no longer exists", "cd")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"- brief: [x\n", ("tasks:2:1: did not find expected", "unquoted?")),
        (b'{"tasks": [\n {"brief": }]}', ("tasks:2:12: Expecting value", "a missing quote?")),
        pytest.param(b"[" * 100_000, ("nested too deeply", "docs/how-to/convoys.md"), id="nested"),
        (b"tasks: 3\n", ("`tasks` is not a list of tasks", "docs/how-to/convoys.md")),
        (b"defaults: 3\ntasks: [x]\n", ("`defaults` is not a table", "docs/how-to/convoys.md")),
        (b"- [x]\n", ("task 1: it is neither text nor a table", "docs/how-to/convoys.md")),
        (b"- x\n- brief: y\n  priority: high\n", ("`priority` is not a whole number", "`priority: 2`")),
        (b"- x\n- brief: y\n  after: 7.5\n", ("`after` is not a list of strings", "`after: [a, b]`")),
        (b"- x\n- brief: y\n  colour: red\n", ("task 2: there is no field `colour`", "known: accept, after")),
        (b"- x\n- brief: '  '\n", ("is empty", "say in a sentence")),
        (b'- x\n- brief: y\n  title: "a\\e[2Jb"\n', ("control character U+001B", "printable text")),
        (b"- x\n- brief: \xff\n", (":2: byte 14 is not UTF-8", "save it as UTF-8")),
        pytest.param(
            b"- x\n- brief: " + b"y" * 1_000_000, ("the limit is 262,144", "put long material in a file"), id="too long"
        ),
        (b"- {key: a, brief: x}\n- {key: a, brief: y}\n", ("the key `a` is used twice", "its own key")),
        (b"- {key: a, brief: x, after: [b]}\n- {key: b, brief: y, after: [a]}\n", ("a", "b")),
        (b"- x\n- {brief: y, after: [t99]}\n", ("`t99`", "paddock status --all")),
        (b"- x\n- {brief: y, agent: nobody}\n", ("there is no agent `nobody`", "define it")),
        (b"- x\n- {brief: y, engine: claud}\n", ("there is no engine `claud`", "did you mean `claude`?")),
        (b"- x\n- {brief: y, paths: [../z]}\n", ("is not a path inside the repository", "globs")),
        (b"- x\n- {brief: y, priority: 5000}\n", ("priority 5000 is not between", "the default is 0")),
    ],
)
def test_of_a_file_with_a_slip_in_it_nothing_is_added(used: Cli, content: bytes, words: tuple[str, ...]) -> None:
    file = used.top / "tasks"
    file.write_bytes(content)
    before = used.good("log", "--json").out
    assert_refused(used("add", "--file", str(file)), *words)
    assert used.good("log", "--json").out == before


@pytest.mark.parametrize("after", ["t2", "t1"])
def test_a_task_that_would_wait_for_itself_is_refused(used: Cli, after: str) -> None:
    before = used.good("log", "--json").out
    assert_refused(used("edit", "t1", "--after", after), "`t1` would wait for itself: t1 →", "--after ''")
    assert used.good("log", "--json").out == before
    used.good("edit", "t2", "--after", "")
    assert used("edit", "t1", "--after", after).code == (0 if after == "t2" else 2)


def damage(log: Path) -> None:
    connection = apsw.Connection(str(log))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    snapshot_path(log).unlink(missing_ok=True)


@pytest.mark.parametrize("length", [0, 1, 100, 1000, 4096, 6000])
def test_with_a_truncated_database(used: Cli, length: int) -> None:
    damage(used.log)
    os.truncate(used.log, length)
    for arguments in (*READERS, *WRITERS):
        assert_refused(used(*arguments), "the log `", "log.db")
    assert_refused(used("init"), "damaged", "paddock log fetch")
    assert used.log.stat().st_size == length, "what is left is kept for whoever can read it"
    assert "problem  log" in used("doctor").out


def test_with_a_database_of_rubbish(used: Cli) -> None:
    damage(used.log)
    used.log.write_bytes(os.urandom(20_000))
    for arguments in (*READERS, *WRITERS, ("init",)):
        assert_refused(used(*arguments), "is damaged", "paddock log fetch")


def test_the_hint_for_a_damaged_log_works(used: Cli) -> None:
    used.good("log", "push")
    before = used.good("log", "--json").out
    damage(used.log)
    os.truncate(used.log, 5000)
    hint = used("status").err.partition("hint: ")[2]
    subprocess.run(("/bin/sh", "-c", hint.split("`")[1]), check=True, cwd=used.top, env={"PATH": os.defpath})
    used.good("log", "fetch")
    assert used.good("log", "--json").out == before


def test_with_a_log_that_is_gone(used: Cli) -> None:
    used.good("log", "push")
    before = used.good("log", "--json").out
    used.log.unlink()
    for arguments in (*READERS, *WRITERS):
        assert_refused(used(*arguments), "is gone: it had 3 records", "paddock log fetch")
    used.good("log", "fetch")
    assert used.good("log", "--json").out == before


def test_with_an_older_copy_of_the_log(used: Cli) -> None:
    copy = used.log.parent / "copy"
    copy.mkdir()
    for name in ("log.db", "log.db-wal"):
        shutil.copy(used.log.parent / name, copy / name)
    used.good("add", "third")
    used.good("log", "push")
    used.good("log", "rebuild")
    before = used.good("log", "--json").out
    for path in copy.iterdir():
        shutil.copy(path, used.log.parent / path.name)
    used.log.with_name("log.db-shm").unlink()
    for arguments in (("status",), ("add", "x"), ("show", "t1")):
        assert_refused(used(*arguments), "has lost record 4", "paddock log fetch", "paddock log accept-loss")
    assert "problem  log" in used("doctor").out
    used.good("log", "fetch")
    assert used.good("log", "--json").out == before


@contextmanager
def holding(log: Path) -> Iterator[None]:
    """Another process's writer that does not let go."""
    descriptor = os.open(log.with_suffix(".lock"), os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def test_while_another_holds_the_log_readers_read_and_writers_give_up(
    used: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.store.sqlite.LOCK_TIMEOUT_SECONDS", 0.2)
    with holding(used.log):
        for arguments in READERS:
            assert used(*arguments).code == 0
        for arguments in WRITERS:
            assert_refused(used(*arguments), "another writer has held the log", "fuser")
    used.good("add", "after all")


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    subprocess.run(("/bin/mount", *options, str(folder)), check=True)
    try:
        yield folder
    finally:
        os.chdir("/")
        subprocess.run(("/bin/umount", str(folder)), check=True)


@contextmanager
def read_only(top: Path) -> Iterator[None]:
    """As root permissions do not bite, so the file system itself must say no."""
    if ROOT:
        with mounted(top, "--bind", str(top)):
            subprocess.run(("/bin/mount", "-o", "remount,bind,ro", str(top)), check=True)
            yield
    else:
        folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
        for folder in folders:
            folder.chmod(0o555)
        try:
            yield
        finally:
            for folder in folders:
                folder.chmod(0o755)


def test_on_a_read_only_file_system(used: Cli) -> None:
    with read_only(used.top):
        for arguments in READERS:
            assert used(*arguments).code == 0, arguments
        for arguments in WRITERS:
            said = used(*arguments)
            assert_refused(said)
            assert "read-only" in said.err.lower() or "permission" in said.err
        assert used("doctor").code == 1
    assert used.good("add", "later").out.startswith("added t3")


def test_init_on_a_read_only_file_system(fresh: Cli) -> None:
    before = files(fresh.top)
    with read_only(fresh.top):
        assert_refused(fresh("init"))
    assert files(fresh.top) == before


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


@pytest.mark.skipif(not ROOT, reason="needs root for a small file system; the limit on file sizes is tested below")
def test_on_a_full_disk_nothing_is_half_written_and_nothing_is_lost(used: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with mounted(small, "-t", "tmpfs", "-o", "size=2m", "none"):
        top = small / "repo"
        shutil.copytree(used.top, top)
        there = elsewhere(used, top)
        ballast = small / "ballast"
        fill(ballast)
        acknowledged, refusals = 2, 0
        for _ in range(12):
            said = there("add", "x" * 20_000)
            if said.code:
                assert_refused(said, "full")
                refusals += 1
            else:
                acknowledged += 1
        assert refusals > 0
        assert there("status").out.startswith(f"{acknowledged} tasks")
        ballast.unlink()
        assert there.good("add", "room again").out == f"added t{acknowledged + 1}  room again\n"
        assert there("log", "verify").code == 0


@pytest.mark.skipif(not ROOT, reason="needs root for a small file system")
def test_init_on_a_full_disk_leaves_nothing_behind(fresh: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with mounted(small, "-t", "tmpfs", "-o", "size=1m", "none"):
        top = small / "repo"
        shutil.copytree(fresh.top, top)
        fill(small / "ballast")
        before = files(top)
        assert_refused(elsewhere(fresh, top)("init"), "full")
        assert files(top) - before <= {".git/paddock", ".git/paddock/log.lock"}
        (small / "ballast").unlink()
        elsewhere(fresh, top).good("init")


def test_a_limit_on_file_sizes_is_an_explained_failure(used: Cli) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    program = "import sys; from paddock.cli.main import main; sys.argv[1:] = ['add', '-']; main()"
    for _ in range(3):
        ended = subprocess.run(
            (sys.executable, "-c", program),
            cwd=used.top, input="x" * 60_000, capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "PYTHONPATH": str(SOURCE)}, preexec_fn=limit,
        )  # fmt: skip
        assert_refused(ended, "log.db")
    assert used.good("status").out.startswith("2 tasks")
    assert used.good("add", "x").out == "added t3  x\n"


@pytest.mark.skipif(ROOT and not shutil.which("setpriv"), reason="root needs setpriv to feel permissions")
@pytest.mark.parametrize(
    ("mode", "path", "writes", "reads"),
    [
        (0o000, "log.db", False, False),
        (0o444, "log.db", False, True),
        (0o000, "log.db-wal", False, False),
        (0o000, "log.lock", False, True),
        (0o000, ".", False, False),
        (0o000, "log.board", True, True),
    ],
)
def test_with_wrong_permissions_what_cannot_be_done_is_refused(
    used: Cli, mode: int, path: str, writes: bool, reads: bool
) -> None:
    used.good("log", "rebuild")
    target = used.top / ".git" / "paddock" / path
    target.chmod(mode)
    for arguments, works in ((("add", "more"), writes), (("status",), reads)):
        ended = as_process(*arguments, cwd=used.top, powerless=ROOT)
        if works:
            assert ended.returncode == 0, ended.stderr
        else:
            assert_refused(ended)
    target.chmod(0o755)
    used.good("add", "again")


def test_output_nobody_reads_to_the_end_is_no_error_message(used: Cli) -> None:
    program = "import sys; from paddock.cli.main import main; sys.argv[1:] = ['log']; main()"
    used.good("add", "--file", "-", stdin=b"- x\n" * 3000)
    child = subprocess.Popen(
        (sys.executable, "-c", program),
        cwd=used.top, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline()
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(30) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_output_to_a_full_device_is_an_explained_failure(used: Cli) -> None:
    program = "import sys; from paddock.cli.main import main; sys.argv[1:] = ['status']; main()"
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            (sys.executable, "-c", program),
            cwd=used.top, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: the system refused: No space left on device")


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_with_standard_streams_closed_commands_do_their_work(used: Cli, closed: str) -> None:
    program = "import sys; from paddock.cli.main import main; main()"
    for arguments, code in (("status", 0), ("status --json", 0), ("--help", 0), ("add x", 0), ("show t99", 1)):
        ended = subprocess.run(
            ("/bin/sh", "-c", f'exec "$0" -c "$1" {arguments} {closed}', sys.executable, program),
            cwd=used.top, capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), (arguments, ended)
    assert used.good("status").out.startswith("3 tasks")
    used.good("log", "verify")


def test_a_user_name_with_terminal_escapes_is_recorded_and_shown_safely(used: Cli) -> None:
    used.monkeypatch.setenv("USER", "eve\x1b[2J\udcff")
    used.good("add", "x")
    assert "\x1b" not in used.good("log").out
    assert used("cancel", "t1", "-m", "a\udcffb").code == 1


def test_errors_show_what_was_typed_without_its_escapes(used: Cli) -> None:
    for arguments in (("show",), ("convoy", "show"), ("status", "--convoy"), (), ("-C",), ("add", "x", "--engine")):
        said = used(*arguments, "\x07\x1b[2J\x9b2J")
        assert said.code in (1, 2)
        assert not set(said.err) & {"\x07", "\x1b", "\x9b"}, arguments


def test_a_lock_that_another_git_left_is_named_with_its_age_and_the_command_that_helps(used: Cli) -> None:
    lock = used.top / ".git/refs/heads/main.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    (notice,) = used.good("status", "--json").json()["needs_you"]["notices"]
    assert (notice["kind"], notice["run"]) == ("git-lock", f"rm {lock}")
    assert "no process has it open" in " ".join(used.good("status").out.split())
    assert f"run: rm {lock}" in used.good("queue").err
    assert [one["path"] for one in used.good("queue", "--json").json()["locks"]] == [str(lock)]
    (finding,) = [one for one in used("doctor", "--json").json()["findings"] if one["what"] == "git lock"]
    assert (finding["verdict"], finding["fix"]) == ("warning", f"rm {lock}")
    lock.unlink()
    assert used.good("status", "--json").json()["needs_you"]["notices"] == []
