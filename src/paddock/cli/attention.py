"""What needs a person and is no task: one list, shown last in `paddock status` and told in its JSON.

A source looks at the board, and at the repository where that is quick, and yields a notice for each thing it finds.
`paddock status` is asked all day: a source imports what it needs only once it has something to tell.
"""

import shlex
import time
from collections.abc import Callable, Iterator

import msgspec

from paddock.cli.text import age, cut
from paddock.core.board import Board
from paddock.fleet.dispatch.refusals import read_stopped
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import HOST_VARIABLE, Host, is_this_host


class Notice(msgspec.Struct, frozen=True):
    """`kind` is for programs and never changes; `run` is the command, or the commands, that help."""

    kind: str
    text: str
    run: str


Source = Callable[[Workspace, Board], Iterator[Notice]]


def find_notices(workspace: Workspace, board: Board) -> list[Notice]:
    return [notice for source in SOURCES for notice in source(workspace, board)]


def _lost_daemon(_workspace: Workspace, board: Board) -> Iterator[Notice]:
    seen = look_for_daemon(board, time.time())
    if seen.lease is None or seen.presence is Presence.RUNNING:
        return
    holder = seen.lease.holder
    who = f"the daemon (pid {holder.pid} on {holder.host}, started {age(seen.lease.since)} ago)"
    if seen.presence is Presence.GONE:
        yield Notice("daemon-gone", f"{who} is gone: it was killed, or the machine restarted", "paddock up")
    else:
        yield Notice("daemon-silent", f"{who} has not renewed its lease: it hangs, or its host is down", "paddock up")


def _elsewhere(workspace: Workspace, board: Board) -> Iterator[Notice]:
    """At work on a host that a daemon here does not reach: it leaves them alone."""
    attempts = [attempt for name in board.live if (attempt := board.tasks[name].live_attempt) is not None]
    runs = board.queue.running.values() if board.queue_switches.entries else ()
    running = [(str(one.id), Host(one.host, one.host_id), one.started) for one in attempts]
    running += [(one.id, Host(one.host, one.host_id), one.started_at) for one in runs]
    for name, host, since in running:
        if not is_this_host(host) and not workspace.site.sessions.reaches(host):
            words = f"{name} has been on `{host.name}` for {age(since)}, which cannot be reached from here"
            gone = f"or, if that host is gone for good, `{HOST_VARIABLE}={shlex.quote(host.name)} paddock run` here"
            yield Notice("elsewhere", f"{words}: run `paddock run` there, {gone}", "paddock run")


def _stopped_engines(workspace: Workspace, _board: Board) -> Iterator[Notice]:
    for stopped in read_stopped(workspace.state_dir):
        yield Notice("engine-stopped", stopped.reason, stopped.unblock)


def _halted_queue(_workspace: Workspace, board: Board) -> Iterator[Notice]:
    if (halted := board.halted) is not None:
        from paddock.cli.halts import cure_of

        yield Notice("queue-halted", "; ".join((f"merge queue halted: {halted.reason}", *cure_of(halted))), DETAILS)


def _untested_queue(workspace: Workspace, board: Board) -> Iterator[Notice]:
    if board.queue_switches.entries and not workspace.config.land.ci and not workspace.config.land.checks:
        words = "nothing can land: no CI command is configured; set `[land] ci` in paddock.toml"
        yield Notice("no-ci", words, "paddock doctor --ci")


def _checkouts(workspace: Workspace, _board: Board) -> Iterator[Notice]:
    """The file is there only while there is something to tell."""
    if (workspace.state_dir / "checkouts").exists():
        from paddock.cli.checkouts import checkout_notices

        yield from checkout_notices(workspace)


def _troubles(workspace: Workspace, _board: Board) -> Iterator[Notice]:
    """What the daemon fails at and tries again; the file is there only while there is something to tell."""
    if (workspace.state_dir / "troubles.json").exists():
        from paddock.fleet.troubles import read_troubles

        for trouble in read_troubles(workspace.state_dir):
            tries = f"tried {trouble.times} times in {age(trouble.since)}" if trouble.times > 1 else "tried once"
            words = f"{trouble.title}: {cut(trouble.problem, 200)} ({tries}; it is tried again)"
            yield Notice("trouble", words, "paddock log --kind daemon.troubled")


DETAILS = "paddock queue why main"
SOURCES: tuple[Source, ...] = (
    _lost_daemon,
    _elsewhere,
    _halted_queue,
    _untested_queue,
    _stopped_engines,
    _checkouts,
    _troubles,
)
