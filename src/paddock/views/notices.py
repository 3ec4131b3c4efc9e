"""What needs a person and is not a task: one list, shown last in `paddock status` and in its JSON."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import Board
from paddock.core.durations import rough_duration
from paddock.core.ids import printable, some_names
from paddock.fleet.service.presence import DaemonSighting, Presence

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.core.merge.company import Collisions
    from paddock.core.troubles import Trouble
    from paddock.fleet.outlook import Outlook, WorkElsewhere
    from paddock.git.lock_files import LeftLock
    from paddock.git.usertree.notes import CheckoutNotes

DETAILS = "paddock queue why main"
SHOWN_ALERTS = 2


class Notice(msgspec.Struct, frozen=True):
    """`kind` is for programs and never changes; `run` is the command, or the commands, to run."""

    kind: str
    text: str
    run: str


def find_notices(board: Board, outlook: "Outlook") -> list[Notice]:
    notices = [*_lost_daemon(outlook.daemon, outlook.now)]
    notices += [_elsewhere(one, outlook.now) for one in outlook.elsewhere]
    notices += _halted_queue(board, outlook.now)
    notices += _foreign_main(board)
    notices += _alerts(board)
    notices += collision_notices(outlook.collisions)
    notices += _changed_settings(board)
    if outlook.untested:
        words = "nothing can land: no CI command is configured; set `[land] ci` in paddock.toml"
        notices.append(Notice("no-ci", words, "paddock doctor --ci"))
    notices += [Notice("engine-stopped", stopped.reason, stopped.unblock) for stopped in outlook.stopped]
    notices += checkout_notices(outlook.checkouts, outlook.branch)
    notices += lock_notices(outlook.locks)
    return notices + [_trouble(trouble, outlook.now) for trouble in outlook.troubles]


def _lost_daemon(seen: DaemonSighting, now: float) -> Iterator[Notice]:
    if seen.lease is None or seen.presence is Presence.RUNNING:
        return
    holder = seen.lease.holder
    who = f"the daemon (pid {holder.pid} on {holder.host}, started {rough_duration(now - seen.lease.since)} ago)"
    if seen.presence is Presence.GONE:
        yield Notice("daemon-gone", f"{who} is gone: it was killed, or the machine restarted", "paddock up")
    else:
        yield Notice("daemon-silent", f"{who} has not renewed its lease: it hangs, or its host is down", "paddock up")


def _elsewhere(work: "WorkElsewhere", now: float) -> Notice:
    """Work on a host that a daemon here cannot reach, and so leaves alone."""
    age = rough_duration(now - work.since)
    words = f"{work.name} has been running on host `{work.host}` for {age}; that host cannot be reached from here"
    cure = f"paddock run (on `{work.host}`), or, if that host is gone for good, here: {work.take_over}"
    return Notice("elsewhere", words, cure)


def _halted_queue(board: Board, now: float) -> Iterator[Notice]:
    if (halted := board.halted) is not None:
        from paddock.views.queue.halts import cure_of

        words = "; ".join((f"merge queue halted: {halted.reason}", *cure_of(halted, now)))
        yield Notice("queue-halted", words, DETAILS)


def _foreign_main(board: Board) -> Iterator[Notice]:
    """Where it is red the queue has halted, and that is told."""
    if (main := board.queue_switches.foreign_main) is not None and board.halted is None:
        words = f"main is at {main.commit[:10]}, moved there by {printable(main.moved_by, 200)}, and is not tested yet"
        yield Notice("main-untested", f"{words}; nothing lands before it has passed", DETAILS)


def _alerts(board: Board) -> Iterator[Notice]:
    """All that wait for somebody, in one line; `paddock alerts` has the rest."""
    if board.alert_part.is_nothing:
        return
    from paddock.core.intent.alerts import open_alerts

    if found := open_alerts(board):
        count = f"{len(found):,} alert{'s' if len(found) != 1 else ''}"
        titles = "; ".join(printable(alert.title, 120) for alert in found[:SHOWN_ALERTS])
        more = f"; and {len(found) - SHOWN_ALERTS:,} more" if len(found) > SHOWN_ALERTS else ""
        yield Notice("alerts", f"{count}: {titles}{more}", "paddock alerts")


def collision_notices(collisions: "Collisions | None") -> Iterator[Notice]:
    if collisions is not None:
        from paddock.core.merge.company import REMEDY

        words = f"{collisions.words}: they may share a port, a database or a folder; {REMEDY}"
        yield Notice("ci-collides", words, "paddock queue")


def _changed_settings(board: Board) -> Iterator[Notice]:
    """The daemon's configuration became another while agents were at work that still are: was it a person?"""
    changes = [change for change in board.settings if change.changes]
    live = [board.tasks[name].live_attempt for name in board.live] if changes else []
    attempts = [attempt for attempt in live if attempt is not None]
    for change in changes if attempts else ():
        during = [attempt.id for attempt in attempts if change.came_during(attempt.started, None)]
        if during:
            words = f"the settings changed while {some_names(tuple(during))} ran: {'; '.join(change.changes)}"
            yield Notice("settings-changed", printable(words, 300), "paddock log --kind daemon.settings_in_force")


def _trouble(trouble: "Trouble", now: float) -> Notice:
    """What the daemon keeps failing at and retries."""
    age = rough_duration(now - trouble.since)
    times = f"{trouble.times} times, first" if trouble.times > 1 else "once,"
    words = f"{trouble.title}: {printable(trouble.problem, 200)} (failed {times} {age} ago)"
    return Notice("trouble", words, "paddock log --kind daemon.troubled")


def lock_notices(locks: "Sequence[LeftLock]") -> list[Notice]:
    """What a git that is no git of ours has locked, and whether it still may."""
    notices = []
    for lock in locks:
        where, age = printable(str(lock.path)), rough_duration(lock.age_seconds)
        if lock.holders:
            who = f"process {lock.holders[0]} has it open"
            run = f"ps -fp {lock.holders[0]}"
        else:
            who = "no process has it open, so the git that made it was probably killed"
            run = _remove_command(lock.path)
        words = f"`{where}` has been locking git out for {age}: {who}"
        notices.append(Notice("git-lock", words, run))
    return notices


def _remove_command(path: "Path") -> str:
    """To be pasted into a shell. Agents can choose names below refs: one that cannot be shown as it is, is only looked
    for."""
    from shlex import quote  # here because hardly ever is there one

    if str(path).isprintable():
        return f"rm {quote(str(path))}"
    folder = next(one for one in path.parents if str(one).isprintable())
    return f"find {quote(str(folder))} -name '*.lock' -ls"


def checkout_notices(notes: "CheckoutNotes | None", branch: str) -> list[Notice]:
    if notes is None:
        return []
    from paddock.views.checkouts import restore_command, update_command

    notices = []
    for stale in notes.stale:
        words = f"{printable(str(stale.folder))} shows an older {branch} ({stale.at[:10]}): {stale.reason}"
        files = f": {some_names(stale.files)}" if stale.files else ""
        notices.append(Notice("checkout-behind", f"{words}{files}", update_command(stale)))
    for undone in notes.undone:
        whose = f" of {', '.join(undone.changes[:5])}" if undone.changes else ""
        words = f"{undone.commit[:10]} undoes landed work{whose}: it was committed from an older checkout"
        files = f": {some_names(undone.files)}" if undone.files else ""
        contested = f": {some_names(undone.contested)}" if undone.contested else ""
        edited = f"; it edited the landed lines themselves{contested}" if undone.contested else ""
        command = f"{restore_command(undone)}, or with --dismiss if it was intended"
        notices.append(Notice("work-undone", f"{words}{files}{edited}", command))
    return notices
