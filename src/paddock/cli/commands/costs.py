"""`paddock costs` and `paddock budget`: what agents have spent, and what they may spend."""

import time
from typing import TYPE_CHECKING

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import takes_where
from paddock.cli.terminal.amounts import UNKNOWN, UNPRICED, money_words, token_words
from paddock.cli.terminal.text import cut, plural, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.events import BudgetSet, TurnEnded
from paddock.core.intent.budget import set_budget
from paddock.store.protocol import Query
from paddock.views.costs import GROUPS, BudgetView, CostRow, sum_costs, view_budgets, view_costs

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


@click.command("costs")
@takes_where
@click.option("--by", type=click.Choice(GROUPS), default="task", show_default=True)
@prints_json
@click.pass_context
def costs_command(ctx: click.Context, where: "TaskFilter | None", by: str, as_json: bool) -> None:
    """Show what agents have cost, in total and per landed change, and how much of it was start-up context."""
    workspace = open_workspace(ctx)
    board = workspace.board()
    only = None if where is None else set(where.pick(board))
    costs = sum_costs(board, workspace.records(Query(kind=TurnEnded.kind)), by, only)
    if as_json:
        print_json(view_costs(costs))
        return
    total = costs.total
    click.echo(f"{by:<24} {'turns':>6} {'tokens in':>12} {'out':>9} {'cost':>10} {'start-up':>9}")
    for name, row in (*costs.rows.items(), ("total", total)):
        click.echo(_line(name, row))
    if costs.per_landed is not None:
        click.echo(f"\n${costs.per_landed:.4f} per landed change ({costs.landed} landed)")
    if total.unpriced_turns:
        click.echo(
            f"warning: {plural(total.unpriced_turns, 'turn')} unpriced: the model is not in the price table", err=True
        )
    if total.uncounted_calls:
        calls = plural(total.uncounted_calls, "model call")
        click.echo(f"warning: at least {calls} not included: their engines report no tokens", err=True)


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
    budgets = view_budgets(open_workspace(ctx).board(), time.time())
    if as_json:
        print_document(budgets=budgets)
        return
    for one in budgets:
        click.echo(f"{one.scope:<20} {_words(one.limit_usd, one.limit_tokens):<28} {_used(one)}")
    if not budgets:
        click.echo("no budgets; `paddock budget set day --usd 20` sets one")


def _used(budget: BudgetView) -> str:
    if budget.spent_usd is None:
        return "each"
    spent = f"${budget.spent_usd:.4f} and {budget.spent_tokens:,.0f} tokens"
    taken = f"${budget.committed_usd:.4f} and {budget.committed_tokens:,.0f} tokens"
    return f"{spent} spent; {taken} including reservations"


def _words(usd: float | None, tokens: float | None) -> str:
    parts = [f"${usd:,.2f}" if usd is not None else "", f"{tokens:,.0f} tokens" if tokens is not None else ""]
    return " and ".join(part for part in parts if part)
