"""`paddock fanout`: are several agents worth it? Shows the arithmetic."""

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.config.schema import Limits
from paddock.core.durations import format_duration
from paddock.core.economics.fanout import FanOut, FanoutPlan, Spawn, Worth
from paddock.core.errors import Misuse, PaddockError
from paddock.fleet.dispatch.fan_out import EqualPieces, fan_out_pieces, fan_out_tasks, worth_of_an_hour
from paddock.views.fleet.fanout import view_fan_out


@click.command("fanout")
@click.option("--tasks", "tasks", metavar="t1,t2", help="Plan for these tasks. Default: all that are ready.")
@click.option("--n", "count", type=click.IntRange(1, 10_000), help="Plan for this many equal pieces instead of tasks.")
@click.option(
    "--t",
    "each",
    type=DURATION,
    default="10m",
    show_default=True,
    help="How long each piece takes.",
)
@click.option(
    "--spawn",
    type=DURATION,
    default="60s",
    show_default=True,
    help="How long it takes to start one more agent.",
)
@click.option(
    "--slots",
    type=click.IntRange(1),
    help="Agents at the same time. Default: max_agents for tasks, no limit for --n.",
)
@click.option(
    "--tokens", type=click.FloatRange(0), default=0.0, help="Tokens each extra agent reads at its start (with --n)."
)
@click.option(
    "--usd", type=click.FloatRange(0), default=0.0, help="Dollars each extra agent costs at its start (with --n)."
)
@click.option(
    "--hour-usd", type=click.FloatRange(0), help="What an hour is worth in dollars. Default: limits.hour_usd."
)
@click.option("--hour-tokens", type=click.FloatRange(0), help="The same in tokens. Default: limits.hour_tokens.")
@click.option("--explain", is_flag=True, help="Show every number of agents that was considered.")
@prints_json
@click.pass_context
def fanout_command(
    ctx: click.Context,
    tasks: str | None,
    count: int | None,
    each: float,
    spawn: float,
    slots: int | None,
    tokens: float,
    usd: float,
    hour_usd: float | None,
    hour_tokens: float | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Compare one agent working alone with several at once, in time, tokens and money."""
    if count is not None and tasks is not None:
        raise Misuse("--n and --tasks cannot be used together")
    if count is None and (tokens or usd):
        raise Misuse("--tokens and --usd need --n", "the cost of tasks is learned from the log")
    if count is not None:
        worth = worth_of_an_hour(_limits(ctx), hour_usd, hour_tokens)
        outcome = fan_out_pieces(EqualPieces(count, each, Spawn(spawn, tokens, usd)), slots, worth)
    else:
        workspace = open_workspace(ctx)
        worth = worth_of_an_hour(workspace.config.limits, hour_usd, hour_tokens)
        named = parse_tasks((tasks,)) if tasks else ()
        outcome = fan_out_tasks(workspace.site, workspace.board(), named, slots, worth)
    if as_json:
        print_json(view_fan_out(outcome, worth))
        return
    for line in _lines(outcome, worth, explain=explain):
        click.echo(line)


def _limits(ctx: click.Context) -> Limits:
    """The repository's, or the defaults outside of one: the arithmetic needs no repository."""
    try:
        workspace = open_workspace(ctx)
    except PaddockError:
        return Limits()
    return workspace.config.limits


def _lines(outcome: FanOut, worth: Worth, *, explain: bool) -> list[str]:
    agents = len(outcome.chosen.shares)
    verdict = f"{agents} agents" if agents > 1 else "one agent, one piece after another"
    chosen, serial = format_duration(outcome.chosen.wall_seconds), format_duration(outcome.serial.wall_seconds)
    lines = [f"{verdict}: {chosen}" + (f", one agent alone {serial}" if agents > 1 else "")]
    lines += [f"  {reason}" for reason in outcome.reasons]
    if explain:
        lines += ["", _rule(worth), ""]
        lines.append("agents        wall  waiting for the last  extra tokens  extra cost     = wait        gain")
        lines += [_row(plan) for plan in (outcome.serial, *outcome.plans)]
    return lines


def _rule(worth: Worth) -> str:
    hour = [f"${worth.money_per_hour:,.2f}"] if worth.money_per_hour else []
    hour += [f"{worth.tokens_per_hour:,.0f} tokens"] if worth.tokens_per_hour else []
    if not hour:
        return "gain = time saved over one agent; tokens and money are not counted (limits.hour_usd = 0)"
    price = " and as ".join(hour)
    return (
        f"gain = time saved over one agent, minus what extra starts cost; an hour counts as {price} (limits.hour_usd)"
    )


def _row(plan: FanoutPlan) -> str:
    wall, straggle = format_duration(plan.wall_seconds), format_duration(plan.straggle_seconds)
    money = "?" if plan.extra_money is None else f"${plan.extra_money:.2f}"
    waits = f"{plan.price_seconds:,.0f} s"
    gain = f"{plan.gain_seconds:,.0f} s"
    return f"{plan.agents:>6} {wall:>11} {straggle:>21} {plan.extra_tokens:>13,.0f} {money:>11} {waits:>10} {gain:>11}"
