"""`paddock log`: reading, following, checking and mirroring the event log."""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from paddock.cli.options import prints_json
from paddock.cli.selection import takes_where
from paddock.cli.terminal.text import clock, cut, paint, plural, print_document, print_json_line, say
from paddock.cli.workspace import open_workspace
from paddock.core.durations import parse_moment
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Record
from paddock.core.ids import TaskId, parse_task
from paddock.fleet.service.log_care import push_log, remote_named, verify_log
from paddock.fleet.workspace import Workspace
from paddock.store.codec import body_of, kind_of
from paddock.store.location import open_store
from paddock.store.protocol import Query, Store
from paddock.views.log.narration import describe
from paddock.views.log.records import RecordView, view_record

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter

Line = Callable[[Record], str | RecordView]
"""The text printed for a record; empty to skip it."""

_SLOW_CLOCK_SECONDS = 5.0


@click.group("log", invoke_without_command=True)
@click.option("--task", metavar="t3", help="Only this task and its attempts.")
@takes_where
@click.option("--kind", metavar="KIND", help="Only this kind of event; `task.*` matches several.")
@click.option("--since", metavar="TIME", help="A time such as 2026-11-15T10:00, or an age such as 2h.")
@click.option("-n", "--last", type=click.IntRange(1), metavar="N", help="Only the last N.")
@click.option("-f", "--follow", is_flag=True, help="Keep printing as events arrive.")
@click.option("--json", "as_json", is_flag=True, help="Print whole records, one JSON object per line.")
@click.pass_context
def log_command(
    ctx: click.Context,
    task: str | None,
    where: "TaskFilter | None",
    kind: str | None,
    since: str | None,
    last: int | None,
    follow: bool,
    as_json: bool,
) -> None:
    """Show what happened, oldest first, in the words of `paddock run`.

    Minor events, such as renewed leases, are omitted unless --kind asks for them. With --where: what happened to the
    tasks that match now.
    """
    if ctx.invoked_subcommand is not None:
        return
    workspace = open_workspace(ctx)
    store = ctx.with_resource(closing(workspace.read()))
    query = Query(
        task=parse_task(task) if task else None, kind=kind, since=parse_moment(since, time.time()) if since else None
    )
    if kind is not None:
        _check_kind(store, kind)
    if query.task is not None and next(store.records(Query(task=query.task)), None) is None:
        store.board().task(TaskId(query.task))
    head = store.board().seq
    line: Line = view_record if as_json else _narrator(store, every=kind is not None)
    if where is not None:
        line = _only_of(where, store, line)
    _print_records(store, replace(query, until=head), last, line)
    if follow:
        _follow(store, replace(query, after=head), line)


def _check_kind(store: Store, kind: str) -> None:
    """A kind that is neither known nor in the log is a typo; a newer Paddock may have written others."""
    from paddock.core.kinds import all_kinds
    from paddock.core.wording import did_you_mean

    known = sorted(all_kinds())
    wanted = kind.removesuffix("*")
    if any(name == kind or (wanted != kind and name.startswith(wanted)) for name in known):
        return
    if next(iter(store.records(Query(kind=kind))), None) is None:
        hint = did_you_mean(wanted, known, "`paddock log --json` shows the kind of each")
        raise Misuse(f"there is no kind of event `{cut(kind, 60)}`", hint)


def _print_records(store: Store, query: Query, last: int | None, line: Line) -> None:
    lines: Iterable[str | RecordView] = (words for record in store.records(query) if (words := line(record)))
    if last is not None:
        from collections import deque

        lines = deque(lines, maxlen=last)
    for words in lines:
        if isinstance(words, str):
            say(words)
        else:
            print_json_line(words)


def _follow(store: Store, query: Query, line: Line) -> None:
    """The head is read first: what is appended while we print belongs to the next round."""
    with store.listen() as listener:
        while True:
            head = store.board().seq
            _print_records(store, replace(query, until=head), None, line)
            query = replace(query, after=head)
            listener.wait(_SLOW_CLOCK_SECONDS)


def _narrator(store: Store, *, every: bool) -> Line:
    """Lines for people. With `every`, an event without a phrase of its own is shown by kind and body."""

    def line(record: Record) -> str:
        words = describe(record, store.known())
        if not words and every:
            words = f"{cut(kind_of(record.event), 40)} {cut(body_of(record.event).decode(errors='replace'), 160)}"
        subject = cut(record.attempt or record.task or "", 20)
        return f"{paint(clock(record.at), dim=True)}  {subject:<7} {words}" if words else ""

    return line


def _only_of(where: "TaskFilter", store: Store, line: Line) -> Line:
    """Records of tasks that match as the board has them when the record is printed."""
    matches = where.matches

    def chosen(record: Record) -> str | RecordView:
        task = store.known().tasks.get(record.task) if record.task is not None else None
        return line(record) if task is not None and matches(task) else ""

    return chosen


@log_command.command("verify")
@prints_json
@click.pass_context
def verify_command(ctx: click.Context, as_json: bool) -> None:
    """Verify the hash chain, name the first bad record, and say what could not be seen.

    The log's witness, which is kept apart from it, tells whether records are missing at its end.
    """
    workspace = open_workspace(ctx)
    verified = verify_log(workspace)
    found, unseen = verified.found, verified.unseen
    if as_json:
        bad = {"seq": found.bad.seq, "problem": found.bad.problem} if found.bad else None
        print_document(records=found.records, bad=bad, unseen=unseen)
        ctx.exit(1 if found.bad else 0)
    for line in unseen:
        click.echo(f"not seen: {line}", err=True)
    if found.bad is not None:
        raise PaddockError(
            f"record {found.bad.seq} is bad: {found.bad.problem}; the {found.records:,} before it are intact",
            f"keep `{workspace.log}` and restore the log from its mirror with `paddock log fetch`",
        )
    click.echo(f"{plural(found.records, 'record')}, all hashes match")


@log_command.command("accept-loss")
@click.option("--reason", default="", metavar="TEXT", help="Why they are lost, for the record.")
@prints_json
@click.pass_context
def accept_loss_command(ctx: click.Context, reason: str, as_json: bool) -> None:
    """Continue without records that are lost, once no mirror can restore them.

    Every command names such records and refuses to go on. This records what is lost, and that you continue without
    it. No id that was given in them is given again: lost tasks appear as cancelled.
    """
    workspace = open_workspace(ctx)
    with closing(workspace.write()) as store:
        _refuse_if_mirrored(workspace, store)
        before = store.head()
        loss = store.accept_loss(workspace.author, reason)
        skipped = 0 if loss is None else len(list(store.records(Query(after=before, kind="task.added"))))
    if as_json:
        lost = None if loss is None else {"first": loss.first, "last": loss.last, "tasks": skipped}
        print_document(lost=lost)
    elif loss is None:
        click.echo("nothing is lost: the log has every record that was acknowledged")
    else:
        tasks = f"; {plural(skipped, 'lost task')} cancelled" if skipped else ""
        click.echo(f"continuing without {loss.which}{tasks}")


def _refuse_if_mirrored(workspace: Workspace, store: Store) -> None:
    from paddock.store.mirror import mirror_head

    loss = store.loss()
    if loss is not None and (held := mirror_head(workspace.repo)) > loss.head:
        raise PaddockError(
            f"the mirror in this repository has records up to {held:,}, this log only {loss.head:,}",
            "restore them first: `paddock log fetch .`",
        )


@log_command.command("rebuild")
@prints_json
@click.pass_context
def rebuild_command(ctx: click.Context, as_json: bool) -> None:
    """Drop the snapshots, fold every event again, and compare."""
    with closing(open_workspace(ctx).write()) as store:
        started = time.perf_counter()
        same = store.rebuild()
        seconds, records = time.perf_counter() - started, store.head()
    if as_json:
        print_document(records=records, same=same, seconds=round(seconds, 3))
    else:
        verdict = "the snapshot was correct" if same else "the snapshot was WRONG and has been replaced"
        click.echo(f"folded {plural(records, 'record')} in {seconds:.1f} s: {verdict}")
    ctx.exit(0 if same else 1)


@log_command.command("push")
@click.argument("remote", required=False)
@prints_json
@click.pass_context
def push_command(ctx: click.Context, remote: str | None, as_json: bool) -> None:
    """Write the log to refs/paddock/log and push that to REMOTE (origin, if there is one)."""
    from paddock.store.mirror import REF

    pushed = push_log(open_workspace(ctx), remote)
    if as_json:
        print_document(seq=pushed.seq, new=pushed.new, remote=pushed.remote)
        return
    where = (
        f"pushed to `{cut(pushed.remote, 80)}`" if pushed.remote else f"kept in `{REF}`: this repository has no remote"
    )
    click.echo(f"{plural(pushed.new, 'new record')}, up to record {pushed.seq:,}, {where}")


@log_command.command("fetch")
@click.argument("remote", required=False)
@prints_json
@click.pass_context
def fetch_command(ctx: click.Context, remote: str | None, as_json: bool) -> None:
    """Fetch the records that the mirror has and this log lacks, from REMOTE or from this repository's own ref."""
    from paddock.store.mirror import REF, fetch_commit, restore_mirror

    workspace = open_workspace(ctx)
    source = remote_named(workspace, remote)
    commit = fetch_commit(workspace.repo, source)
    store = open_store(workspace.log, create=True, announce=False)
    with closing(store):
        new = restore_mirror(store, workspace.repo, commit)
        head, loss = store.head(), store.loss()
    if as_json:
        lost = None if loss is None else {"first": loss.first, "last": loss.last}
        print_document(seq=head, new=new, source=source or REF, lost=lost)
        ctx.exit(1 if loss is not None else 0)
    click.echo(f"{plural(new, 'new record')} from `{cut(source or REF, 80)}`; the log is at record {head:,}")
    if loss is not None:
        raise PaddockError(
            f"the mirror does not have {loss.which}, which the log had",
            "try another remote (`paddock log fetch REMOTE`), or continue without them: `paddock log accept-loss`",
        )
