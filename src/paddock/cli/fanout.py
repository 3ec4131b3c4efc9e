"""`paddock fanout`: does it pay to use several agents? The arithmetic, shown."""

import click

from paddock.cli.edit import parse_tasks
from paddock.cli.text import SCHEMA, print_json
from paddock.cli.workspace import Workspace, open_workspace
from paddock.config.duration import format_duration, parse_duration
from paddock.core.errors import Misuse, PaddockError
from paddock.core.fanout import FanOut, Piece, Plan, Spawn, decide_fan_out
from paddock.core.task import Phase


@click.command("fanout")
@click.option(
    "--tasks", "tasks", metavar="t1,t2", help="These tasks; all that are ready if neither this nor --n is given."
)
@click.option("--n", "count", type=click.IntRange(1, 10_000), help="So many equal pieces.")
@click.option("--t", "each", metavar="DURATION", default="10m", show_default=True, help="How long each takes.")
@click.option("--spawn", metavar="DURATION", default="60s", show_default=True, help="What one more agent costs.")
@click.option(
    "--slots",
    type=click.IntRange(1),
    help="Agents at the same time; left out: max_agents for tasks, any number for --n.",
)
@click.option("--explain", is_flag=True, help="Every number of agents that was looked at.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def fanout_command(
    ctx: click.Context,
    tasks: str | None,
    count: int | None,
    each: str,
    spawn: str,
    slots: int | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Decide between one agent doing pieces in turn and several at once, in time and tokens."""
    if count is not None and tasks is not None:
        raise Misuse("--n and --tasks exclude each other")
    if count is not None:
        pieces = [Piece(f"p{number}", _seconds(each)) for number in range(1, count + 1)]
        outcome = decide_fan_out(pieces, Spawn(_seconds(spawn)), slots)
    else:
        outcome = _of_tasks(open_workspace(ctx), tasks, slots)
    if as_json:
        print_json(_view(outcome))
        return
    for line in _lines(outcome, explain=explain):
        click.echo(line)


def _of_tasks(workspace: Workspace, words: str | None, slots: int | None) -> FanOut:
    from paddock.cli.run import open_site
    from paddock.fleet.inlining import decide

    store = workspace.read()
    board, site = store.board(), open_site(workspace, store)
    store.close()
    names = (
        list(dict.fromkeys(parse_tasks((words,))))
        if words
        else [task.id for task in board.open_tasks() if task.phase is Phase.READY]
    )
    if not names:
        raise PaddockError("no task is ready", "name tasks with --tasks, or pieces with --n")
    chosen = [board.task(name) for name in names]
    return decide(board, chosen, site.engine_name(chosen[0]), slots or workspace.config.limits.max_agents)


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise Misuse(str(error)) from None


def _view(outcome: FanOut) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "fan_out": len(outcome.chosen.shares) > 1,
        "agents": len(outcome.chosen.shares),
        "chosen": _view_plan(outcome.chosen),
        "serial": _view_plan(outcome.serial),
        "plans": [_view_plan(plan) for plan in outcome.plans],
        "reasons": list(outcome.reasons),
    }


def _view_plan(plan: Plan) -> dict[str, object]:
    return {
        "agents": len(plan.shares),
        "shares": [list(share) for share in plan.shares],
        "wall_seconds": round(plan.wall_seconds, 3),
        "straggle_seconds": round(plan.straggle_seconds, 3),
        "extra_tokens": plan.extra_tokens,
        "extra_money": plan.extra_money,
        "gain_seconds": round(plan.gain_seconds, 3),
    }


def _lines(outcome: FanOut, *, explain: bool) -> list[str]:
    agents = len(outcome.chosen.shares)
    verdict = f"{agents} agents" if agents > 1 else "one agent, one piece after the other"
    chosen, serial = format_duration(outcome.chosen.wall_seconds), format_duration(outcome.serial.wall_seconds)
    lines = [f"{verdict}: {chosen}" + (f", one agent alone {serial}" if agents > 1 else "")]
    lines += [f"  {reason}" for reason in outcome.reasons]
    if explain:
        lines += ["", "agents        wall  waiting for the last        gain  extra tokens"]
        for plan in outcome.plans:
            wall, straggle = format_duration(plan.wall_seconds), format_duration(plan.straggle_seconds)
            gain = f"{plan.gain_seconds:,.0f} s"
            lines.append(f"{len(plan.shares):>6} {wall:>11} {straggle:>21} {gain:>11} {plan.extra_tokens:>13,.0f}")
    return lines
