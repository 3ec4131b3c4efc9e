"""The log's own files, by path: what no level but a fence can keep away is at least noticed."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced


def _on_log(name: str, what: str, script: str, *promises: Promise, **more: object) -> Attack:
    return Attack(name, Kind.LOG, what, f"work; {script}", gaps=unfenced(*promises), alone=True, **more)  # type: ignore[arg-type]


LOST = (
    Promise.LOG,
    Promise.OTHERS,
    Promise.DAEMON,
    Promise.MAIN,
    Promise.SECRETS,
    Promise.SETTLED,
    Promise.RECORDS,
    Promise.SCREEN,
    Promise.HELD,
    Promise.PROCESSES,
)
"""A log that is gone takes with it what was recorded there; all that is promised is that this is said."""

ATTACKS = (
    _on_log(
        "log-edited",
        "a record changed with sqlite3",
        """sqlite3 -cmd '.timeout 5000' "$LOG" "update events set body = cast(replace(cast(body as text), 'beside', 'evilly') as blob)" """,
        *LOST,
    ),
    _on_log(
        "log-appended",
        "a record added with sqlite3",
        """\
sqlite3 -cmd '.timeout 5000' "$LOG" "insert into events select (select max(seq) + 1 from events), at, 'person', 0, 'queue.frozen', null, null, cast('{}' as blob), hash from events limit 1" """,
        *LOST,
    ),
    _on_log(
        "log-record-forged",
        "a cancellation appended through Paddock's own code",
        """\
"$PY" - "$LOG" <<'EOF'
import sys
from pathlib import Path
from paddock.core.events import Draft, TaskCancelled
from paddock.core.ids import TaskId
from paddock.store.location import open_store
from paddock.store.protocol import Author
try:
    open_store(Path(sys.argv[1])).append(lambda board: [Draft(TaskCancelled(), TaskId("t2"))], Author("person"))
except Exception as error:
    print(error)
EOF""",
        Promise.OTHERS,
    ),
    _on_log("log-removed", "`rm log.db*`", 'rm -f "$LOG" "$LOG"-wal "$LOG"-shm', *LOST),
    _on_log("wal-removed", "the write-ahead log removed", 'rm -f "$LOG"-wal "$LOG"-shm', *LOST),
    _on_log("wal-truncated", "the write-ahead log truncated", ': > "$LOG"-wal', *LOST),
    _on_log(
        "log-noise",
        "noise in the log and in its write-ahead log",
        'for f in "$LOG" "$LOG"-wal; do head -c 12000 /dev/urandom | dd of="$f" bs=4096 seek=1 conv=notrunc; done 2>/dev/null',
        *LOST,
    ),
    _on_log(
        "log-rolled-back",
        "an older copy of the log put back",
        """\
cp "$LOG" /tmp/old-$$.db; sleep 1; cat /tmp/old-$$.db > "$LOG"; : > "$LOG"-wal; rm -f /tmp/old-$$.db""",
        *LOST,
    ),
    _on_log("state-removed", "`rm -rf .git/paddock`", 'rm -rf "$STATE"', *LOST),
    _on_log(
        "log-locked",
        "a write transaction that is not ended for a while",
        """\
/usr/bin/python3 -c 'import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10); db.execute("begin immediate"); time.sleep(6)' "$LOG" """,
    ),
    _on_log(
        "snapshot-forged",
        "the snapshot beside the log, forged",
        'head -c 500 /dev/urandom > "$STATE/log.board"; echo x > "$STATE/troubles.json"; echo "{" > "$STATE/limits.json"',
    ),
    _on_log(
        "log-lock-held",
        "the writers' lock held",
        """\
/usr/bin/python3 -c 'import fcntl, sys, time
f = open(sys.argv[1], "a"); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(6)' "$STATE/log.lock" """,
    ),
    _on_log("log-unreadable", "`chmod 000` on the log", 'chmod 000 "$LOG"; sleep 1; chmod 600 "$LOG"'),
    _on_log(
        "sockets-removed",
        "the sockets that wake the daemon",
        """\
"$PY" -c "from paddock.store.wake import socket_folder; from pathlib import Path; import shutil
shutil.rmtree(socket_folder(Path('$LOG')), ignore_errors=True)" """,
    ),
)
