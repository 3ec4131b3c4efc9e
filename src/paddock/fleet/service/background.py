"""The daemon in the background: starting it detached, finding it, ending it, and a systemd user unit."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from zlib import crc32

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.errors import PaddockError
from paddock.core.leases.lease import Lease
from paddock.fleet.clock import stamp
from paddock.git.repo import Repo
from paddock.sessions.host import is_certainly_gone, is_here, is_in_sight, signal_holder

START_SECONDS = 20.0
LOG_BYTES = 8 * 1024 * 1024
"""The size at which the next start begins a new log file; one old file is kept."""


def find_daemon(board: Board) -> Lease | None:
    """The lease of the daemon, unless its process is known to be gone."""
    lease = board.leases.held.get(DAEMON_LEASE)
    return None if lease is None or is_certainly_gone(lease.holder) else lease


def daemon_words(lease: Lease) -> str:
    return f"pid {lease.holder.pid} on {lease.holder.host}, since {stamp(lease.since)}"


def spawn_daemon(top: Path, log: Path, arguments: list[str]) -> int:
    """Starts `paddock run` detached, its words going to `log`; returns its pid."""
    return spawn(top, log, ["run", *arguments])


def spawn(top: Path, log: Path, words: list[str]) -> int:
    """The same with any command."""
    argv = command_line(top, words)
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        os.replace(log, log.with_name(f"{log.name}.1"))
    with open(log, "ab") as output, open(os.devnull, "rb") as nothing:
        process = subprocess.Popen(
            argv, cwd=top, stdin=nothing, stdout=output, stderr=output, start_new_session=True, close_fds=True
        )
    process.returncode = 0  # it outlives us; nothing here waits for it
    return process.pid


def command_line(top: Path, words: list[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "paddock", "-C", str(top), *words]


def end_daemon(lease: Lease, *, agents_too: bool, timeout_seconds: float) -> None:
    """Asks it to end, and with `agents_too` to end every agent first. It is killed if it does not."""
    if not is_here(lease.holder):
        words = daemon_words(lease)
        raise PaddockError(f"the daemon is running on another host: {words}", "run `paddock down` on that host")
    if not is_in_sight(lease.holder):
        raise PaddockError(
            f"the daemon is running in another container or pid namespace: {daemon_words(lease)}",
            "run `paddock down` there; if it is gone, its lease runs out within a minute",
        )
    if not signal_holder(lease.holder, signal.SIGUSR1 if agents_too else signal.SIGTERM, timeout_seconds):
        signal_holder(lease.holder, signal.SIGKILL, 5.0)


def unit_path(repo: Repo, top: Path) -> Path:
    """`paddock-NAME.service`; with a number of its own where another repository of that name has taken it."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", repo.name)
    path = config / "systemd" / "user" / f"paddock-{name}.service"
    if path.exists() and _place_line(top) not in path.read_text(encoding="utf-8", errors="replace").splitlines():
        return path.with_stem(f"{path.stem}-{crc32(os.fsencode(top)):08x}")
    return path


def _place_line(top: Path) -> str:
    return f"WorkingDirectory={top}".replace("%", "%%")


def render_unit(top: Path) -> str:
    return f"""\
[Unit]
Description=Paddock fleet of {str(top).replace("%", "%%")}

[Service]
{_place_line(top)}
ExecStart={_quoted(sys.executable)} -P -m paddock -C {_quoted(str(top))} run --wait
Restart=on-failure
RestartSec=5
KillMode=process

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """As systemd reads a command line: `%` and `$` stand for something there."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"'


def install_unit(repo: Repo, top: Path) -> tuple[Path, bool]:
    """Writes and enables the unit. The second value says whether systemd accepted it."""
    path = unit_path(repo, top)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_unit(top), encoding="utf-8")
    try:
        for words in (["daemon-reload"], ["enable", "--now", path.name]):
            subprocess.run(["systemctl", "--user", *words], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return path, False
    return path, True
