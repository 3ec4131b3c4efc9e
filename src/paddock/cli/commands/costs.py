"""`paddock costs` and `paddock budget`: what agents have spent, and what they may spend."""

import time
from typing import TYPE_CHECKING

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.costs import money, report_lines, unpriced_warnings
from paddock.cli.pages.group import shared_budget_lines
from paddock.cli.selection import takes_where
from paddock.cli.terminal.amounts import UNKNOWN, UNPRICED, money_words, token_words
from paddock.cli.terminal.text import cut, plural, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.durations import parse_moment
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import BudgetSet, TurnEnded
from paddock.core.intent.budget import set_budget
from paddock.insight.costs.reading import read_cost_report, read_label_report
from paddock.insight.costs.report import CostReport
from paddock.store.protocol import Query
from paddock.views.cost_report import view_full_costs, view_label_costs
from paddock.views.costs import GROUPS, BudgetView, CostRow, Costs, sum_costs, view_budgets, view_costs
from paddock.views.document import iso_or_none

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter
    from paddock.fleet.workspace import Workspace


@click.command("costs")
@takes_where
@click.option("--by", type=click.Choice(GROUPS), help="What a row is of.  [default: task]")
@click.option(
    "--since", metavar="TIME", help="Only from then on: a time such as 2026-11-15T10:00, or an age such as 7d."
)
@click.option("--label", metavar="NAME", help="Imported runs instead: those of this batch.")
@prints_json
@click.pass_context
def costs_command(
    ctx: click.Context,
    where: "TaskFilter | None",
    by: str | None,
    since: str | None,
    label: str | None,
    as_json: bool,
) -> None:
    """Show what agents have cost, in total and per landed change, how much of it was start-up context, what was thrown
    away, and what makes starts expensive."""
    now = time.time()
    began = None if since is None else parse_moment(since, now)
    workspace = open_workspace(ctx)
    if label is not None:
        if where is not None or by is not None:
            raise Misuse("--label is about imported runs, which --where and --by do not know", "give it alone")
        _print_label(workspace, label, began, as_json)
        return
    board = workspace.board()
    only = None if where is None else set(where.pick(board))
    turns = workspace.records(Query(kind=TurnEnded.kind, since=began))
    costs = sum_costs(board, turns, by or "task", only, began or 0.0)
    report = read_cost_report(workspace, board, now, began or 0.0, only)
    if as_json:
        print_json(view_full_costs(view_costs(costs), report, iso_or_none(began)))
        return
    _print_costs(costs, report)


def _print_costs(costs: Costs, report: CostReport) -> None:
    total = costs.total
    click.echo(f"{costs.by:<24} {'turns':>6} {'tokens in':>12} {'out':>9} {'cost':>10} {'start-up':>9}")
    for name, row in (*costs.rows.items(), ("total", total)):
        click.echo(_line(name, row))
    if costs.per_landed is not None:
        click.echo(f"\n${costs.per_landed:.4f} per landed change ({costs.landed:,} landed)")
    for line in report_lines(report):
        click.echo(line)
    for words in unpriced_warnings(report, "turn"):
        click.echo(f"warning: {words}", err=True)
    if total.uncounted_calls:
        calls = plural(total.uncounted_calls, "model call")
        click.echo(f"warning: at least {calls} not included: their engines report no tokens", err=True)


def _print_label(workspace: "Workspace", label: str, began: float | None, as_json: bool) -> None:
    report = read_label_report(workspace, label, began)
    if not report.split.attempts:
        hint = "`paddock traces list --labels` lists the batches that were imported"
        raise PaddockError(
            f"no imported run is labelled `{cut(label, 60)}`{'' if began is None else ' since then'}", hint
        )
    if as_json:
        print_json(view_label_costs(report, label))
        return
    split = report.split
    click.echo(f"{cut(label, 60)}: {plural(split.attempts, 'run')}, {money(split.cost_usd)}")
    for line in report_lines(report):
        click.echo(line)
    for words in unpriced_warnings(report, "run"):
        click.echo(f"warning: {words}", err=True)
    if split.unknown:
        click.echo(f"warning: {plural(split.unknown, 'run')} not included: nobody told their tokens", err=True)


def _money(row: CostRow) -> str:
    if row.is_priced:
        return money_words(row.money, uncounted=row.uncounted_calls, is_part=bool(row.unpriced_turns))
    return UNPRICED if row.unpriced_turns else UNKNOWN if row.unknown_turns else "-"


def _line(name: str, row: CostRow) -> str:
    share = f"{row.startup_money / row.money:.0%}" if row.money else "-"
    tokens_in, tokens_out = (
        token_words(tokens, row.uncounted_calls) for tokens in (row.input_tokens, row.output_tokens)
    )
    return f"{cut(name, 24):<24} {row.turns:>6} {tokens_in:>12} {tokens_out:>9} {_money(row):>10} {share:>9}"


@click.group("budget")
def budget_command() -> None:
    """Limit money and tokens. An attempt that could exceed a limit does not start."""


@budget_command.command("set")
@click.argument("scope")
@click.option("--usd", type=float, help="Dollars.")
@click.option("--tokens", type=float, help="Tokens.")
@click.option("--none", "lift", is_flag=True, help="Remove the limit.")
@click.pass_context
def set_command(ctx: click.Context, scope: str, usd: float | None, tokens: float | None, lift: bool) -> None:
    """Limit SCOPE: fleet, day, convoy:NAME, task:t4; plain `task` or `attempt` limits each one."""
    [set_] = open_workspace(ctx).record(lambda board: set_budget(board, scope, usd, tokens, lift=lift))
    assert isinstance(set_.event, BudgetSet)
    click.echo(f"{set_.event.scope}: {'no limit' if lift else _words(usd, tokens)}")


@budget_command.command("show")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, as_json: bool) -> None:
    """Show every limit, with what has been spent and what is reserved."""
    workspace = open_workspace(ctx)
    budgets = view_budgets(workspace.board(), time.time())
    if as_json:
        print_document(budgets=budgets)
        return
    shared = list(shared_budget_lines(workspace))
    for one in budgets:
        click.echo(f"{one.scope:<20} {_words(one.limit_usd, one.limit_tokens):<28} {_used(one)}")
    if not budgets and not shared:
        click.echo("no budgets; `paddock budget set day --usd 20` sets one")
    for line in shared:
        click.echo(line)


def _used(budget: BudgetView) -> str:
    if budget.spent_usd is None:
        return "each"
    spent = f"${budget.spent_usd:.4f} and {budget.spent_tokens:,.0f} tokens"
    taken = f"${budget.committed_usd:.4f} and {budget.committed_tokens:,.0f} tokens"
    return f"{spent} spent; {taken} including reservations"


def _words(usd: float | None, tokens: float | None) -> str:
    parts = [f"${usd:,.2f}" if usd is not None else "", f"{tokens:,.0f} tokens" if tokens is not None else ""]
    return " and ".join(part for part in parts if part)
