"""`paddock tail t3`: what an agent is doing, readable."""

import sys
from pathlib import Path

import click
import msgspec

from paddock.cli.run import open_site
from paddock.cli.text import SCHEMA, cut, paint, print_json_line
from paddock.cli.workspace import Workspace, open_workspace
from paddock.core import trace
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId, is_run, parse_run, parse_task
from paddock.core.task import Attempt
from paddock.engines.protocol import Parser, Source
from paddock.fleet.attempts import SETUP_OUTPUT
from paddock.fleet.site import Site
from paddock.sessions.local import TurnFiles
from paddock.sessions.output import LineReader
from paddock.store.wake import Listener

POLL_SECONDS = 0.5


@click.command("tail")
@click.argument("task", metavar="TASK|RUN")
@click.option("-f", "--follow", is_flag=True, help="Go on until the attempt ends.")
@click.option("--raw", is_flag=True, help="The engine's own output, byte for byte.")
@click.option("--json", "as_json", is_flag=True, help="Normalised trace entries, one JSON object a line.")
@click.pass_context
def tail_command(ctx: click.Context, task: str, follow: bool, raw: bool, as_json: bool) -> None:
    """Show what the agent of TASK (or of an attempt such as t3.1) said and did, or what a CI run such as r7 printed."""
    workspace = open_workspace(ctx)
    if is_run(task):
        from paddock.cli.tail_run import tail_run

        tail_run(workspace, parse_run(task), follow=follow, raw=raw, as_json=as_json)
        return
    store = workspace.read()
    site = open_site(workspace, store)
    attempt = _find(store.board(), task)
    current = None
    if not attempt.turn:
        _show_setup(site.attempt_folder(attempt.id) / SETUP_OUTPUT, raw=raw, as_json=as_json)
    for turn in range(1, attempt.turn + 1):
        current = _Showing(site, attempt, turn, raw=raw, as_json=as_json)
        current.show_new() if attempt.turn_open and turn == attempt.turn else current.show_rest()
    if follow:
        _follow(workspace, site, attempt, current, raw=raw, as_json=as_json)


def _show_setup(output: Path, *, raw: bool, as_json: bool) -> None:
    """Of an attempt whose worktree could not be made ready: it has said nothing itself."""
    reader = LineReader(output)
    while (lines := reader.read()) or not reader.at_end:
        for line in lines:
            if raw:
                sys.stdout.buffer.write(line.text.encode("utf-8", "surrogateescape") + b"\n")
            else:
                _print_entry(trace.Text(line.text), as_json=as_json)
    for line in reader.finish():
        _print_entry(trace.Text(line.text), as_json=as_json)


def _find(board: Board, word: str) -> Attempt:
    task = board.task(parse_task(word))
    if not task.attempts:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    wanted = AttemptId(word.strip().lower())
    chosen = [attempt for attempt in task.attempts if attempt.id == wanted]
    if "." in word and not chosen:
        raise PaddockError(f"there is no attempt `{cut(word, 20)}`", f"`paddock show {task.id}` lists them")
    return chosen[0] if chosen else task.attempts[-1]


class _Showing:
    """Prints the lines of one turn as they come."""

    def __init__(self, site: Site, attempt: Attempt, turn: int, *, raw: bool, as_json: bool) -> None:
        files = TurnFiles.of(site.attempt_folder(attempt.id), turn)
        self._raw, self._as_json = raw, as_json
        self._parser: Parser = site.engine(attempt.engine).parser()
        self._readers = [(LineReader(files.out), Source.STDOUT), (LineReader(files.err), Source.STDERR)]

    def show_new(self) -> None:
        for reader, source in self._readers:
            while (lines := reader.read()) or not reader.at_end:
                for line in lines:
                    self._show(line.text, source)
        sys.stdout.flush()

    def show_rest(self) -> None:
        self.show_new()
        for reader, source in self._readers:
            for line in reader.finish():
                self._show(line.text, source)
        for entry in self._parser.close():
            _print_entry(entry, as_json=self._as_json)

    def _show(self, line: str, source: Source) -> None:
        if self._raw:
            sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
            return
        for entry in self._parser.feed(line.encode("utf-8", "surrogateescape"), source):
            _print_entry(entry, as_json=self._as_json)


def _follow(
    workspace: Workspace, site: Site, attempt: Attempt, showing: "_Showing | None", *, raw: bool, as_json: bool
) -> None:
    """From where the first look ended; the log says when the attempt is over."""
    turn = attempt.turn
    with Listener(workspace.log_path) as listener:
        while True:
            now = _find(workspace.board(), attempt.id)
            if showing is not None:
                showing.show_new()
            if now.turn > turn:
                turn = now.turn
                showing = _Showing(site, now, turn, raw=raw, as_json=as_json)
            elif not now.live:
                click.echo(paint(f"── {now.id} {now.outcome}: {cut(now.reason, 140)}", bold=True), err=True)
                return
            listener.wait(POLL_SECONDS)


def _print_entry(entry: trace.TraceEntry, *, as_json: bool) -> None:
    if as_json:
        print_json_line({**msgspec.to_builtins(entry), "schema": SCHEMA})
    elif words := render_entry(entry):
        click.echo(words)


def render_entry(entry: trace.TraceEntry) -> str:
    match entry:
        case trace.SessionStarted(session_id=session, model=model):
            return paint(f"── session {cut(session, 40)} {cut(model, 40)}".rstrip(), dim=True)
        case trace.Text(text=text):
            return "\n".join(cut(line, 2000) for line in text.splitlines())
        case trace.ToolCall(tool=tool, argument=argument):
            return paint(f"▸ {cut(tool, 30)}", "cyan") + f" {cut(' '.join(argument.split()), 160)}"
        case trace.ToolResult(status=status, output=output):
            lines = output.strip().splitlines()
            first = cut(lines[0], 140) if lines else ""
            more = f"  (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
            colour = None if status is trace.ToolStatus.OK else "red"
            return paint(f"  {status.value}: {first}{more}".rstrip(": "), colour, dim=colour is None)
        case trace.Usage(scope=trace.UsageScope.DELTA, tokens=trace.TokenUsage(cost_usd=None)):
            return ""
        case trace.Usage(tokens=tokens):
            cost = f", ${tokens.cost_usd:.4f}" if tokens.cost_usd is not None else ""
            return paint(f"  {tokens.input_total:,} tokens in, {tokens.output:,} out{cost}", dim=True)
        case trace.RateLimited(kind=kind, message=message):
            return paint(f"! {kind.value}: {cut(message, 140)}", "yellow")
        case trace.Error(message=message):
            return paint(f"! {cut(message, 200)}", "red")
        case trace.End(success=success, reason=reason):
            return paint(f"── {'done' if success else 'failed'}: {cut(reason, 140)}".rstrip(": "), bold=True)
        case _:
            return ""
