"""`paddock tail t3`: what an agent is doing, readable."""

from contextlib import closing
from pathlib import Path

import click

from paddock.cli.pages.turn_output import Manner, TurnOutput, print_entry, write_raw
from paddock.cli.terminal.text import cut, paint
from paddock.cli.workspace import open_workspace
from paddock.core import trace
from paddock.core.errors import Misuse
from paddock.core.ids import AttemptId, is_run, parse_run, task_of
from paddock.core.intent.selection import attempt_named
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.openings import find_opening
from paddock.fleet.attempts.preparation import SETUP_OUTPUT
from paddock.fleet.site import Site
from paddock.store.protocol import Store

POLL_SECONDS = 0.5


@click.command("tail")
@click.argument("task", metavar="TASK|RUN")
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the attempt ends.")
@click.option("--raw", is_flag=True, help="The engine's own output; what a terminal would obey is shown as `�`.")
@click.option("--unsafe", is_flag=True, help="With --raw: byte for byte.")
@click.option("--json", "as_json", is_flag=True, help="Normalised trace entries, one JSON object per line.")
@click.pass_context
def tail_command(ctx: click.Context, task: str, follow: bool, raw: bool, unsafe: bool, as_json: bool) -> None:
    """Show what the agent of TASK (or of an attempt such as t3.1) said and did, or what a CI run such as r7 printed."""
    if unsafe and not raw:
        raise Misuse("--unsafe has no effect without --raw", "only raw output can be unsafe")
    workspace = open_workspace(ctx)
    how = Manner(raw=raw, as_json=as_json, live=follow, unsafe=unsafe)
    if is_run(task):
        from paddock.cli.pages.run_output import tail_run

        tail_run(workspace, parse_run(task), how)
        return
    store, site = ctx.with_resource(closing(workspace.read())), workspace.site
    attempt = attempt_named(store.board(), task)
    if not attempt.turn:
        _show_setup(site.attempt_folder(attempt.id) / SETUP_OUTPUT, how)
    turns = _Turns(store, site, attempt.id, how)
    if not follow:
        turns.show_new()
        turns.show_unfinished()
        return
    with store.listen() as listener:
        while (attempt := turns.show_new()).live:
            listener.wait(POLL_SECONDS)
    click.echo(paint(f"── {attempt.id} {attempt.outcome}: {cut(attempt.reason, 140)}", bold=True), err=True)


def _show_setup(output: Path, how: Manner) -> None:
    """For an attempt whose worktree could not be set up: its agent never ran."""
    if not output.exists():
        return
    with output.open("rb") as lines:
        for line in lines:
            if how.raw:
                write_raw(line, how)
            else:
                print_entry(trace.Text(line.decode("utf-8", "replace").rstrip("\n")), None, as_json=how.as_json)


class _Turns:
    """The turns of an attempt, one after the other, as far as the log tells of them."""

    def __init__(self, store: Store, site: Site, attempt: AttemptId, how: Manner) -> None:
        self._store, self._site, self._attempt, self._how = store, site, attempt, how
        self._number = 0
        self._showing: TurnOutput | None = None

    def show_new(self) -> Attempt:
        """Prints what has come since; returns the attempt as it is now."""
        board = self._store.board()
        attempt = attempt_named(board, self._attempt)
        while self._number < attempt.turn:
            if self._showing is not None:
                self._showing.show_rest()
            self._number += 1
            self._showing = TurnOutput(self._site, attempt, self._number, self._how)
            self._showing.open(find_opening(self._store, board.task(task_of(attempt.id)), attempt, self._number))
        if self._showing is not None and attempt.turn_open:
            self._showing.show_new()
        elif self._showing is not None:
            self._showing.show_rest()
        return attempt

    def show_unfinished(self) -> None:
        if self._showing is not None:
            self._showing.show_unfinished()
