"""`paddock findings`: what reviewers and checks hold against changes, and what people decide about it."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from paddock import __version__
from paddock.cli.options import prints_json
from paddock.cli.pages.review import COLOURS
from paddock.cli.selection import takes_where
from paddock.cli.terminal.text import cut, paint, print_document, width
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import parse_task
from paddock.core.intent.findings import confirm_findings, waive_findings
from paddock.core.review.events import Claim, place_of
from paddock.core.review.model import Finding
from paddock.core.review.sarif_document import write_sarif
from paddock.fleet.review.findings import file_as_tasks, find_findings
from paddock.fleet.workspace import Workspace
from paddock.views.findings import FindingView, view_finding

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter

Row = tuple[Finding, Claim]


class FindingsGroup(click.Group):
    """`paddock findings t3` lists, as `paddock findings list t3` does."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["list", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_help = bool({"-h", "--help"} & set(args[:1]))
        if not asks_help and (not args or args[0] not in self.commands):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("findings", cls=FindingsGroup)
def findings_command() -> None:
    """Show what reviewers and checks found, and decide about it.

    `paddock findings` lists what is open, `paddock findings t3` what a task has, `paddock findings f7` one in full.
    """


@findings_command.command("list")
@click.argument("names", nargs=-1, metavar="[TASK|FINDING]...")
@takes_where
@click.option("--all", "show_all", is_flag=True, help="Also those that are settled.")
@click.option(
    "--format", "form", type=click.Choice(["text", "sarif"]), default="text", help="SARIF is for other tools."
)
@prints_json
@click.pass_context
def list_command(
    ctx: click.Context,
    names: tuple[str, ...],
    where: "TaskFilter | None",
    show_all: bool,
    form: str,
    as_json: bool,
) -> None:
    """List findings: what is open, all of some tasks, or single ones in full."""
    workspace = open_workspace(ctx)
    if as_json and form == "sarif":
        raise Misuse("--json and --format sarif cannot be used together", "SARIF is JSON already")
    rows = _find(workspace, names, show_all=show_all or bool(names) or form == "sarif")
    if where is not None:
        matching = set(where.pick(workspace.board()))
        rows = [row for row in rows if row[0].task in matching]
    if form == "sarif":
        click.echo(write_sarif(rows, __version__))
    elif as_json:
        print_document(findings=[view_finding(*row) for row in rows])
    else:
        in_full = bool(names) and all(name.strip().lower().startswith("f") for name in names)
        _print(rows, in_full=in_full, show_all=show_all)


@findings_command.command("waive")
@click.argument("names", nargs=-1, required=True, metavar="FINDING...")
@click.option("-m", "--message", default="", help="Why; kept in the log.")
@prints_json
@click.pass_context
def waive_command(ctx: click.Context, names: tuple[str, ...], message: str, as_json: bool) -> None:
    """Waive findings, so that they block nothing. They are not brought up again."""
    workspace = open_workspace(ctx)
    who = workspace.author.name
    workspace.record(lambda board: waive_findings(board, names, who, message))
    _report(workspace, "waived", names, as_json=as_json)


@findings_command.command("confirm")
@click.argument("names", nargs=-1, required=True, metavar="FINDING...")
@click.option("-m", "--message", default="", help="How you know; kept in the log.")
@prints_json
@click.pass_context
def confirm_command(ctx: click.Context, names: tuple[str, ...], message: str, as_json: bool) -> None:
    """Say that findings are true: that counts for whoever found them."""
    workspace = open_workspace(ctx)
    workspace.record(lambda board: confirm_findings(board, names, message))
    _report(workspace, "confirmed", names, as_json=as_json)


@findings_command.command("file")
@click.argument("names", nargs=-1, required=True, metavar="FINDING...")
@prints_json
@click.pass_context
def file_command(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Make a task of each finding, for the agent that owns its path."""
    workspace = open_workspace(ctx)
    added, _ = file_as_tasks(workspace, names)
    if as_json:
        print_document(ids=added)
        return
    board = workspace.board()
    for task in (board.task(parse_task(name)) for name in added):
        click.echo(f"added {task.id}  {task.title}{f'  for {task.agent}' if task.agent else ''}")


def _find(workspace: Workspace, names: Sequence[str], *, show_all: bool) -> list[Row]:
    with closing(workspace.read()) as store:
        return find_findings(store, names, show_all=show_all)


def _print(rows: Sequence[Row], *, in_full: bool, show_all: bool) -> None:
    if not rows:
        click.echo("no findings" if show_all else "no open findings")
    for row in rows:
        view = view_finding(*row)
        click.echo("\n".join(_in_full(view) if in_full else [_line(view)]))


def _line(view: FindingView) -> str:
    marks = [view.status if view.status != "open" else "", "blocks" if _blocks(view) else ""]
    marks += ["disputed" if view.disputed and view.status == "open" else "", f"→ {view.routed}" if view.routed else ""]
    place = cut(place_of(view.path, view.line), 40)
    told = "  ".join(filter(None, (place, cut(view.claim.split("\n")[0], max(20, width() - 60)))))
    severity = paint(f"{view.severity:<7}", COLOURS[view.severity])
    after = ", ".join(filter(None, marks))
    by = cut(", ".join(view.by), 30)
    return f"{view.id:<5} {view.task:<5} {severity} {told}  {paint(' · '.join(filter(None, (by, after))), dim=True)}"


def _blocks(view: FindingView) -> bool:
    return view.blocking and view.status == "open"


def _in_full(view: FindingView) -> list[str]:
    lines = [_line(view)]
    settled = ": ".join(filter(None, (f"{view.status} by {view.settled_by}", view.settled_why)))
    for name, text in (
        ("claim", view.claim),
        ("evidence", view.evidence),
        ("suggestion", view.suggestion),
        ("settled", settled if view.settled_by else ""),
        ("confirmed", ", ".join(view.confirmed)),
        ("version", view.head[:10]),
    ):
        if text:
            first, *rest = text.split("\n")
            lines += [f"  {name:<10} {first}", *(f"  {'':<10} {line}" for line in rest)]
    return lines


def _report(workspace: Workspace, verb: str, names: Sequence[str], *, as_json: bool) -> None:
    ids = list(dict.fromkeys(name.strip().lower() for name in names))
    if as_json:
        print_document(ids=ids)
        return
    click.echo(f"{verb} {', '.join(ids)}")
    reviews = workspace.board().reviews
    for task in dict.fromkeys(reviews.findings[name].task for name in ids):
        if verb == "waived" and not reviews.blocking_of(task):
            click.echo(f"nothing blocks {task} any more: `paddock land {task}` lands it as it is")
