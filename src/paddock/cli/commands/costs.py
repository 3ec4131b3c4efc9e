"""`paddock costs` and `paddock budget`: what agents have spent, and what they may spend."""

import time
from dataclasses import dataclass

import click

from paddock.cli.amounts import UNKNOWN, UNPRICED, money_words, token_words
from paddock.cli.text import SCHEMA, cut, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.events import BudgetSet, TurnEnded
from paddock.core.ids import TaskId
from paddock.core.intent.budget import set_budget
from paddock.core.money.budget import Amount, Cost, committed
from paddock.core.money.spending import day_of, with_tasks
from paddock.core.tasks.task import Phase
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query

GROUPS = ("task", "agent", "engine", "model", "convoy", "day")


@dataclass
class Row:
    """The cost of one group. `unpriced` counts turns without a known price, `unknown` those without reported tokens."""

    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0
    startup_money: float = 0.0
    startup_tokens: int = 0
    unpriced: int = 0
    unknown: int = 0
    uncounted: int = 0
    told: int = 0

    @property
    def is_priced(self) -> bool:
        """Whether any of it has a price. If not, the cost is unknown, which is not the same as zero."""
        if not self.turns or self.money:
            return True
        return bool(self.told) and not (self.unpriced or self.unknown)

    @property
    def words(self) -> str:
        if not self.is_priced and not self.unpriced and not self.unknown:
            return "-"
        if not self.is_priced:
            return UNPRICED if self.unpriced else UNKNOWN
        return money_words(self.money, uncounted=self.uncounted, is_part=bool(self.unpriced))


@click.command("costs")
@click.option("--by", type=click.Choice(GROUPS), default="task", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def costs_command(ctx: click.Context, by: str, as_json: bool) -> None:
    """Show what agents have cost, in total and per landed change, and how much of it was start-up context."""
    workspace = open_workspace(ctx)
    board = workspace.board()
    rows = _collect(workspace, board, by)
    total = _sum(rows)
    landed = board.counts.get(Phase.LANDED, 0)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "by": by,
                "rows": [{by: name, **_view(row)} for name, row in rows.items()],
                "total": _view(total),
                "landed": landed,
                "per_landed_usd": round(total.money / landed, 6) if landed and total.is_priced else None,
            }
        )
        return
    click.echo(f"{by:<24} {'turns':>6} {'tokens in':>12} {'out':>9} {'cost':>10} {'start-up':>9}")
    for name, row in rows.items():
        click.echo(_line(name, row))
    click.echo(_line("total", total))
    if landed and total.is_priced:
        click.echo(f"\n${total.money / landed:.4f} per landed change ({landed} landed)")
    if total.unpriced:
        click.echo(f"warning: {plural(total.unpriced, 'turn')} unpriced: the model is not in the price table", err=True)
    if total.uncounted:
        calls = plural(total.uncounted, "model call")
        click.echo(f"warning: at least {calls} not included: their engines report no tokens", err=True)


def _collect(workspace: Workspace, board: Board, by: str) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for record in workspace.records(Query(kind=TurnEnded.kind)):
        event = record.event
        assert isinstance(event, TurnEnded)
        row = rows.setdefault(_group(board, record.task, record.attempt, event, record.at, by), Row())
        tokens_in = event.input_tokens + event.cache_write_tokens + event.cache_read_tokens
        row.turns += 1
        row.tokens_in += tokens_in
        row.tokens_out += event.output_tokens
        row.startup_tokens += event.startup_tokens
        row.unknown += event.cost_source == "unknown"
        row.uncounted += event.uncounted_calls
        if event.cost_usd is None:
            row.unpriced += event.cost_source == "unpriced"
            continue
        row.told += 1
        row.money += event.cost_usd
        row.startup_money += event.startup_usd or 0.0
    return rows


def _group(board: Board, task: TaskId | None, attempt: str | None, event: TurnEnded, at: float, by: str) -> str:
    found = board.tasks.get(task) if task is not None else None
    if by == "day":
        return day_of(at)
    if by == "model":
        return event.model or "unknown"
    if found is None:
        return "unknown"
    engine = next((a.engine for a in found.attempts if a.id == attempt), "unknown")
    names = {"task": found.id, "agent": found.agent or engine, "engine": engine, "convoy": found.convoy or "none"}
    return names[by]


def _sum(rows: dict[str, Row]) -> Row:
    total = Row()
    for row in rows.values():
        for name in Row.__dataclass_fields__:
            setattr(total, name, getattr(total, name) + getattr(row, name))
    return total


def _view(row: Row) -> dict[str, object]:
    return {
        "turns": row.turns,
        "input_tokens": row.tokens_in,
        "output_tokens": row.tokens_out,
        "cost_usd": round(row.money, 6) if row.is_priced else None,
        "startup_usd": round(row.startup_money, 6) if row.is_priced else None,
        "work_usd": round(row.money - row.startup_money, 6) if row.is_priced else None,
        "startup_tokens": row.startup_tokens,
        "unpriced_turns": row.unpriced,
        "unknown_turns": row.unknown,
        "uncounted_calls": row.uncounted,
    }


def _line(name: str, row: Row) -> str:
    share = f"{row.startup_money / row.money:.0%}" if row.money else "-"
    tokens_in, tokens_out = (token_words(tokens, row.uncounted) for tokens in (row.tokens_in, row.tokens_out))
    return f"{cut(name, 24):<24} {row.turns:>6} {tokens_in:>12} {tokens_out:>9} {row.words:>10} {share:>9}"


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show_command(ctx: click.Context, as_json: bool) -> None:
    """Show every limit, with what has been spent and what is reserved."""
    board = open_workspace(ctx).board()
    rows = [_budget(board, scope, limit) for scope, limit in board.spending.ledger.limits.items()]
    if as_json:
        print_json({"schema": SCHEMA, "budgets": rows})
        return
    for row in rows:
        most = _words(row["limit_usd"], row["limit_tokens"])  # type: ignore[arg-type]
        click.echo(f"{row['scope']:<20} {most:<28} {_used(row)}")
    if not rows:
        click.echo("no budgets; `paddock budget set day --usd 20` sets one")


def _budget(board: Board, scope: str, limit: Amount) -> dict[str, object]:
    """A limit on every task, attempt or convoy has no spending of its own: its figures are None."""
    kind, _, name = scope.partition(":")
    row: dict[str, object] = {"scope": scope, "limit_usd": limit.money, "limit_tokens": limit.tokens}
    ledger = board.spending.ledger
    if kind == "task" and name:
        ledger = with_tasks(ledger, [board.task(TaskId(name))])
    shown = f"day:{day_of(time.time())}" if scope == "day" else scope
    spent, taken = ledger.spent.get(shown, Cost()), committed(ledger, shown)
    if not name and kind not in ("fleet", "day"):
        return {**row, **dict.fromkeys(("spent_usd", "spent_tokens", "committed_usd", "committed_tokens"))}
    return {
        **row,
        "spent_usd": round(spent.money or 0.0, 6),
        "spent_tokens": spent.tokens,
        "committed_usd": round(taken.money or 0.0, 6),
        "committed_tokens": taken.tokens,
    }


def _used(row: dict[str, object]) -> str:
    if row["spent_usd"] is None:
        return "each"
    spent, taken = (
        f"${row[f'{word}_usd']:.4f} and {row[f'{word}_tokens']:,.0f} tokens" for word in ("spent", "committed")
    )
    return f"{spent} spent; {taken} including reservations"


def _words(usd: float | None, tokens: float | None) -> str:
    parts = [f"${usd:,.2f}" if usd is not None else "", f"{tokens:,.0f} tokens" if tokens is not None else ""]
    return " and ".join(part for part in parts if part)
