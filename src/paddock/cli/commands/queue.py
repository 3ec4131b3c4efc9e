"""`paddock queue`: what is being tested, what lands next, and why."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.queue import CURES, SHOWN_QUEUED, checkout_lines, collision_lines, render, suite_lines
from paddock.cli.terminal.text import paint, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import DAEMON_LEASE
from paddock.core.errors import Misuse
from paddock.core.ids import is_run, parse_run
from paddock.core.intent.queue import QueueSwitch, cancel_change, change_named, move_change, switch_queue
from paddock.core.merge import events as qe
from paddock.core.merge.model import Halted
from paddock.core.merge.prospects import landing_seconds
from paddock.fleet.landing.restoration import contested_words, find_undone, how_to_settle, make_branch, restore_main
from paddock.fleet.landing.unseen_loss import tell_lost_work
from paddock.fleet.outlook import know_checkouts, know_collisions
from paddock.fleet.workspace import Workspace
from paddock.git.lock_files import find_left_locks
from paddock.views.queue.halts import why_stopped


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
    reason = why_stopped(queue, workspace.records)
    lands_in = landing_seconds(queue, workspace.config.land.runs_at_once, time.time()) if is_up else {}
    if as_json:
        from paddock.views.queue.overview import view_queue

        checks, checkouts = workspace.config.land.checks, know_checkouts(workspace)
        locks, now = find_left_locks(workspace.repo.common_dir), time.time()
        met = know_collisions(workspace, queue.stats.company)
        shown = view_queue(
            queue, checks, checkouts, locks=locks, collisions=met, reason=reason, lands_in=lands_in, now=now
        )
        print_json(shown)
        return
    for line in render(queue, reason, lands_in, None if everything else SHOWN_QUEUED):
        click.echo(line)
    if queue.halted is not None:
        show_end_of_halt(workspace, queue.halted)
    flaky = suite_lines(workspace.config.land.checks, queue.stats)
    if told := [*flaky, *collision_lines(know_collisions(workspace, queue.stats.company))]:
        click.echo("\n".join(["", paint("checks", bold=True), *told]))
    if queue.entries and not is_up:
        click.echo("\nno daemon is running: `paddock up` or `paddock run` tests and lands what is queued")
    for line in checkout_lines(workspace):
        click.echo(line, err=True)


def show_end_of_halt(workspace: Workspace, halted: Halted) -> None:
    """The end of the output of the run that halted the queue."""
    from paddock.cli.pages.stories import end_of_run

    for line in end_of_run(workspace.site, halted.runs[-1:]):
        click.echo(line)


def _add_switch(switch: QueueSwitch, done: str, about: str, *, has_reason: bool = False) -> None:
    """`done` is what the queue is then."""

    def command(ctx: click.Context, message: str = "") -> None:
        open_workspace(ctx).record(lambda _board: switch_queue(switch, message))
        click.echo(f"{done}: {CURES[done]}" if done in CURES else done)

    made = queue_command.command(switch.value, help=about)(click.pass_context(command))
    if has_reason:
        made.params.append(click.Option(["-m", "--message"], default="", help="The reason; shown to everyone."))


_add_switch(QueueSwitch.FREEZE, "frozen", "Stop landing until unfrozen; testing continues.", has_reason=True)
_add_switch(QueueSwitch.UNFREEZE, "unfrozen", "Resume landing after a freeze.")
_add_switch(
    QueueSwitch.PAUSE, "paused", "Start no CI run until resumed; what has passed may still land.", has_reason=True
)
_add_switch(QueueSwitch.RESUME, "resumed", "Resume after a pause, a drain or a halt.")
_add_switch(QueueSwitch.DRAIN, "draining", "Finish what is queued now; later changes wait until resumed.")


@queue_command.command("move")
@click.argument("change")
@click.option("--front", is_flag=True, help="Move it to the front.")
@click.option("--priority", type=int, help="Higher goes first.")
@click.pass_context
def move_command(ctx: click.Context, change: str, front: bool, priority: int | None) -> None:
    """Move a task or a branch within the queue."""
    wanted = None if front else priority
    workspace = open_workspace(ctx)
    [moved] = workspace.record(lambda board: move_change(board, change, workspace.author.name, wanted))
    assert isinstance(moved.event, qe.ChangeMoved)
    click.echo(f"moved {moved.event.id}")


@queue_command.command("cancel")
@click.argument("change")
@click.option("-m", "--message", default="", help="The reason; kept in the log.")
@click.pass_context
def cancel_command(ctx: click.Context, change: str, message: str) -> None:
    """Remove a task or a branch from the queue; a task then waits for approval."""
    workspace = open_workspace(ctx)
    [gone] = workspace.record(lambda board: cancel_change(board, change, workspace.author.name, message))
    assert isinstance(gone.event, qe.ChangeCancelled)
    click.echo(f"removed {gone.event.id} from the queue")


@queue_command.command("why")
@click.argument("change", metavar="CHANGE|RUN|main")
@prints_json
@click.pass_context
def why_command(ctx: click.Context, change: str, as_json: bool) -> None:
    """Explain a change, a CI run or main, with the end of CI's output.

    For a task or a branch: every run behind its verdict, and what it failed to merge with. For a run such as r7: what
    it tested, how it ended and what followed. For main: who moved it, which runs tested it, and what halted the queue.
    """
    from paddock.cli.pages import stories

    workspace = open_workspace(ctx)
    name = change_named(workspace.board(), change)
    if name in ("main", workspace.config.landing_branch):
        stories.tell_main(workspace, as_json=as_json)
    elif is_run(name):
        stories.tell_run(workspace, parse_run(name), as_json=as_json)
    else:
        stories.tell_change(workspace, name, as_json=as_json)


@queue_command.command("restore")
@click.argument("commit", required=False)
@click.option("--dismiss", is_flag=True, help="The commit was intended: do not mention it again.")
@prints_json
@click.pass_context
def restore_command(ctx: click.Context, commit: str | None, dismiss: bool, as_json: bool) -> None:
    """Restore the last tested main, or landed work that COMMIT undid.

    Without COMMIT, main goes back to the last commit that passed its tests, for when somebody else moved it. What it
    had since is kept by a ref. Nothing happens if that would touch uncommitted work in a checkout of main.

    COMMIT was made from an older checkout. A branch with the landed lines and all later edits is queued; it lands when
    its tests pass, like any other. Landed lines that COMMIT replaced with its own are left to you.
    """
    workspace = open_workspace(ctx)
    if commit is None:
        if dismiss:
            raise Misuse("--dismiss needs a COMMIT", "`paddock status` names those that undid landed work")
        _restore_main(workspace, as_json=as_json)
        return
    work = find_undone(workspace, commit, dismiss=dismiss)
    if dismiss:
        if as_json:
            print_document(dismissed=work.commit)
        else:
            click.echo(f"{work.commit[:10]} will not be mentioned again")
        return
    from paddock.cli.commands.land import queue_all
    from paddock.cli.selection import Wanted
    from paddock.core.intent.selection import Selection

    wanted = Wanted(Selection(), yes=True, as_json=as_json)
    queue_all(ctx, wanted, (make_branch(workspace, work),), undo=True)
    if work.contested and not as_json:
        click.echo(f"\n{contested_words(work)}\n{how_to_settle(work)}")


def _restore_main(workspace: Workspace, *, as_json: bool) -> None:
    done, branch = restore_main(workspace), workspace.config.landing_branch
    if as_json:
        print_document(main=done.commit, tested=done.tested, old=done.old, kept=done.kept or None)
        return
    what = "the last one that passed its tests" if done.tested else "the first one seen; none has been tested yet"
    click.echo(f"{branch} is back at {done.commit[:10]}, {what}")
    if done.kept and done.old is not None:
        click.echo(f"what it had since ({done.old[:10]}) is kept at {done.kept}")
