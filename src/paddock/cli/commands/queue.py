"""`paddock queue`: what is being tested, what lands next, and why."""

import time
from collections.abc import Mapping

import click

from paddock.cli.checkouts import checkout_lines, know_checkouts, view_stale, view_undone
from paddock.cli.halts import cure_of, view_halt
from paddock.cli.lostwork import tell_lost_work
from paddock.cli.restore import restore_command
from paddock.cli.suite import run_scope, suite_lines, view_suite
from paddock.cli.text import SCHEMA, age, cut, iso, paint, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import DAEMON_LEASE
from paddock.core.ids import is_run, parse_run
from paddock.core.intent.queue import QueueSwitch, cancel_change, change_named, move_change, switch_queue
from paddock.core.merge import events as qe
from paddock.core.merge.estimate import run_seconds
from paddock.core.merge.model import Decided, Entry, Halted, Queue, Run
from paddock.core.merge.prospects import in_order, landing_seconds, state_words
from paddock.core.merge.switches import switches_of
from paddock.core.tasks.landing import LOST
from paddock.fleet.workspace import Workspace, author
from paddock.store.protocol import Query

SHOWN_QUEUED = 30
SHOWN_DECIDED = 5
WIDEST_ID = 30


@click.group("queue", invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help=f"List every queued change, not only the first {SHOWN_QUEUED}.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, always complete.")
@click.pass_context
def queue_command(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """Show the merge queue: what is being tested, what lands next, and what waits for what."""
    if ctx.invoked_subcommand is not None:
        return
    workspace = open_workspace(ctx)
    board = workspace.board()
    tell_lost_work(workspace, board)
    queue = board.queue
    is_up = DAEMON_LEASE in board.leases.held
    reason = why_stopped(workspace, queue)
    lands_in = landing_seconds(queue, workspace.config.land.slots, time.time()) if is_up else {}
    if as_json:
        known = know_checkouts(workspace)
        trees = {"behind": view_stale(known), "undone": view_undone(known)}
        suite = view_suite(workspace.config.land.checks, queue.stats)
        print_json({**view_queue(queue, reason, lands_in), **trees, "ci": suite})
        return
    for line in render(queue, reason, lands_in, None if everything else SHOWN_QUEUED):
        click.echo(line)
    if queue.halted is not None:
        show_end_of_halt(workspace, queue.halted)
    if flaky := suite_lines(workspace.config.land.checks, queue.stats):
        click.echo("\n".join(["", paint("checks", bold=True), *flaky]))
    if queue.entries and not is_up:
        click.echo("\nno daemon is running: `paddock up` or `paddock run` tests and lands what is queued")
    for line in checkout_lines(workspace):
        click.echo(line, err=True)


def show_end_of_halt(workspace: Workspace, halted: Halted) -> None:
    """The end of the output of the run that halted the queue."""
    from paddock.cli.ci_story import end_of_run

    for line in end_of_run(workspace.site, halted.runs[-1:]):
        click.echo(line)


def why_stopped(workspace: Workspace, queue: Queue) -> str:
    """What the queue itself found, or the reason given by whoever froze or paused it."""
    if queue.halted is not None:
        return queue.halted.reason
    kinds = {"frozen": qe.QueueFrozen, "paused": qe.QueuePaused, "draining": qe.QueueDrained}
    kind = kinds.get(state_of(queue))
    if kind is None:
        return ""
    last = list(workspace.records(Query(kind=kind.kind)))[-1]
    said = last.event.reason if isinstance(last.event, qe.QueueFrozen | qe.QueuePaused) else ""
    return f"by {last.actor}: {said}" if said else f"by {last.actor}"


LandsIn = Mapping[str, float | None]
"""Seconds until each queued change may land; None if unknown."""


def view_queue(queue: Queue, reason: str, lands_in: LandsIn) -> dict[str, object]:
    typical = run_seconds(queue.stats, 0.5)
    lost = queue.lost_remote
    return {
        "schema": SCHEMA,
        "main": queue.main.commit if queue.main else None,
        "verified": queue.main is not None and queue.main.verified_by is not None,
        "state": state_of(queue),
        "reason": reason,
        "halted": view_halt(queue.halted),
        "running": [_view_run(run, typical) for run in queue.running.values()],
        "next": [_view_entry(queue, entry, lands_in) for entry in in_order(queue)],
        "decided": [_view_decided(decided) for decided in queue.decided],
        "typical_seconds": typical,
        "unreachable": lost and {"remote": lost.remote, "problem": lost.problem, "since": iso(lost.at)},
    }


def state_of(queue: Queue) -> str:
    return switches_of(queue).state


def _view_run(run: Run, typical: float | None) -> dict[str, object]:
    left = None if typical is None else max(0.0, round(run.started_at + typical - time.time(), 1))
    return {
        "run": run.id,
        "purpose": run.purpose.value,
        "members": [member.id for member in run.members],
        "base": run.base,
        "commit": run.commit,
        "tree": run.tree,
        "since": iso(run.started_at),
        "eta_seconds": left,
        "log": run.log,
        "cancelling": run.cancelling,
        "checks": list(run.checks) if run.since else None,
    }


def _view_entry(queue: Queue, entry: Entry, lands_in: LandsIn) -> dict[str, object]:
    seconds = lands_in.get(entry.change.id)
    return {
        "id": entry.change.id,
        "version": entry.change.version,
        "title": entry.change.title,
        "head": entry.change.head,
        "priority": entry.priority,
        "since": iso(entry.queued_at),
        "state": state_words(queue, entry),
        "waits_on": list(entry.waits_on),
        "stacked_on": [member.id for member in entry.change.stacked_on if member.id in entry.waits_on],
        "branch": entry.change.branch or None,
        "eta_seconds": None if seconds is None else round(seconds, 1),
    }


def _view_decided(decided: Decided) -> dict[str, object]:
    return {
        "id": decided.id,
        "title": decided.title,
        "version": decided.version,
        "outcome": decided.outcome.value,
        "at": iso(decided.at),
        "reason": decided.reason,
        "commit": decided.commit,
        "paths": list(decided.paths),
        "against": decided.against,
        "runs": list(decided.runs),
        "lost": decided.lost,
    }


CURES = {
    "frozen": "nothing lands until `paddock queue unfreeze`",
    "paused": "no run starts until `paddock queue resume`",
    "draining": "later changes wait until `paddock queue resume`",
}


def _width(names: list[str]) -> int:
    return min(WIDEST_ID, max([10, *map(len, names)]))


def _render_queued(queue: Queue, lands_in: LandsIn, most: int | None) -> list[str]:
    entries = in_order(queue)
    shown = entries[:most]
    width = _width([entry.change.id for entry in shown])
    lines = []
    for entry in shown:
        name, title = cut(entry.change.id, width), cut(entry.change.title, 60 - width)
        seconds = lands_in.get(entry.change.id)
        when = "" if seconds is None else f" · lands in about {age(0.0, seconds)}"
        words = f"{state_words(queue, entry)} · {age(entry.queued_at)}{when}"
        lines.append(f"  {name:<{width}} {title:<{60 - width}}  {words}")
    if len(entries) > len(shown):
        lines.append(f"  and {len(entries) - len(shown):,} more; `paddock queue --all` lists them")
    return lines


def render(queue: Queue, reason: str, lands_in: LandsIn, most: int | None = SHOWN_QUEUED) -> list[str]:
    main = queue.main
    where = (
        f"{main.commit[:10]}{', verified' if main.verified_by else ', not verified yet'}" if main else "not seen yet"
    )
    lines = [f"main {where}; queue {state_of(queue)}"]
    state = state_of(queue)
    if queue.halted is not None:
        lines += [paint(f"halted: {cut(reason, 300)}", "red"), *cure_of(queue.halted)]
    elif state in CURES:
        lines += [paint(f"{state} {cut(reason, 300)}", "red"), CURES[state]]
    if (lost := queue.lost_remote) is not None:
        told = f"the remote {lost.remote} has been unreachable for {age(lost.at)}: {cut(lost.problem, 200)}"
        lines += [paint(told, "red"), "what has passed lands once it answers again; you need not do anything"]
    typical = run_seconds(queue.stats, 0.5)
    if queue.running:
        lines += ["", paint("testing", bold=True)]
        for run in queue.running.values():
            left = "" if typical is None else f"  about {max(0, run.started_at + typical - time.time()):.0f} s left"
            names = ", ".join(member.id for member in run.members) or "main itself"
            scope = f"  {run_scope(run)}" if run.since else ""
            lines.append(f"  {run.id:<6} {run.purpose.value:<9} {names}{scope}  for {age(run.started_at)}{left}")
    if queue.entries:
        lines += ["", paint("queued", bold=True)]
        lines += _render_queued(queue, lands_in, most)
    if queue.decided:
        lines += ["", paint("recent", bold=True)]
        shown = queue.decided[-SHOWN_DECIDED:]
        width = _width([decided.id for decided in shown])
        for decided in shown:
            words = LOST if decided.lost else decided.reason or (decided.commit or "")[:10]
            what = f"{cut(decided.id, width):<{width}} {decided.outcome.value:<10} {cut(decided.title, 24):<24}"
            lines.append(f"  {what} {cut(words, 90)}  {age(decided.at)} ago".rstrip())
    if not queue.entries and not queue.running:
        lines += ["", "nothing is queued; `paddock land t3` queues a task's change"]
    return lines


queue_command.add_command(restore_command)


def _switch(ctx: click.Context, switch: QueueSwitch, words: str, reason: str = "") -> None:
    open_workspace(ctx).record(lambda _board: switch_queue(switch, reason))
    click.echo(words)


@queue_command.command("freeze")
@click.option("-m", "--message", default="", help="The reason; shown to everyone.")
@click.pass_context
def freeze_command(ctx: click.Context, message: str) -> None:
    """Stop landing until unfrozen; testing continues."""
    _switch(ctx, QueueSwitch.FREEZE, "frozen: nothing lands until `paddock queue unfreeze`", message)


@queue_command.command("unfreeze")
@click.pass_context
def unfreeze_command(ctx: click.Context) -> None:
    """Resume landing after a freeze."""
    _switch(ctx, QueueSwitch.UNFREEZE, "unfrozen")


@queue_command.command("pause")
@click.option("-m", "--message", default="", help="The reason; shown to everyone.")
@click.pass_context
def pause_command(ctx: click.Context, message: str) -> None:
    """Start no CI run until resumed; what has passed may still land."""
    _switch(ctx, QueueSwitch.PAUSE, "paused: no run starts until `paddock queue resume`", message)


@queue_command.command("resume")
@click.pass_context
def resume_command(ctx: click.Context) -> None:
    """Resume after a pause, a drain or a halt."""
    _switch(ctx, QueueSwitch.RESUME, "resumed")


@queue_command.command("drain")
@click.pass_context
def drain_command(ctx: click.Context) -> None:
    """Finish what is queued now; later changes wait until resumed."""
    _switch(ctx, QueueSwitch.DRAIN, "draining: later changes wait until `paddock queue resume`")


@queue_command.command("move")
@click.argument("change")
@click.option("--front", is_flag=True, help="Move it to the front.")
@click.option("--priority", type=int, help="Higher goes first.")
@click.pass_context
def move_command(ctx: click.Context, change: str, front: bool, priority: int | None) -> None:
    """Move CHANGE (a task or a branch) within the queue."""
    wanted = None if front else priority
    [moved] = open_workspace(ctx).record(lambda board: move_change(board, change, author().name, wanted))
    assert isinstance(moved.event, qe.ChangeMoved)
    click.echo(f"moved {moved.event.id}")


@queue_command.command("cancel")
@click.argument("change")
@click.option("-m", "--message", default="", help="The reason; kept in the log.")
@click.pass_context
def cancel_command(ctx: click.Context, change: str, message: str) -> None:
    """Remove CHANGE (a task or a branch) from the queue; its task waits for approval again."""
    [gone] = open_workspace(ctx).record(lambda board: cancel_change(board, change, author().name, message))
    assert isinstance(gone.event, qe.ChangeCancelled)
    click.echo(f"took {gone.event.id} out of the queue")


@queue_command.command("why")
@click.argument("change", metavar="CHANGE|RUN|main")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def why_command(ctx: click.Context, change: str, as_json: bool) -> None:
    """Explain the state of a change, a CI run or main, with the end of CI's output.

    For a task or a branch: every run behind its verdict, and what it failed to merge with. For a run such as r7: what
    it tested, how it ended and what followed. For main: who moved it, which runs tested it, and what halted the queue.
    """
    from paddock.cli import ci_story, why

    workspace = open_workspace(ctx)
    name = change_named(workspace.board(), change)
    if name in ("main", workspace.config.landing_branch):
        ci_story.tell_main(workspace, as_json=as_json)
    elif is_run(name):
        ci_story.tell_run(workspace, parse_run(name), as_json=as_json)
    elif as_json:
        print_json({"schema": SCHEMA, "id": name, **why.view_story(workspace, name)})
    else:
        why.tell_story(workspace, name)
