"""`paddock alerts`: what is wrong with the fleet as a whole, who knows of it, and the rules that tell."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import paint, plural, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound
from paddock.core.events import Draft
from paddock.core.ids import printable


class AlertsGroup(click.Group):
    """Without a command it lists: `alerts --all` is `alerts list --all`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_help = bool({"-h", "--help"} & set(args[:1]))
        if not asks_help and (not args or args[0].startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("alerts", cls=AlertsGroup)
def alerts_command() -> None:
    """Show what is wrong with the fleet as a whole, and say that you know.

    One alert stands for one cause. It is told through the notifications, and resolved by itself when its cause is gone.
    `paddock alerts` lists those that wait for somebody.
    """


@alerts_command.command("list", short_help="List alerts.")
@click.option("--all", "show_all", is_flag=True, help="Also those that are over.")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, show_all: bool, as_json: bool) -> None:
    """List alerts: those that wait for somebody, then those that somebody has acknowledged."""
    from paddock.cli.pages.alerts import alert_lines
    from paddock.views.alerts import shown_alerts, view_alerts

    board = open_workspace(ctx).board()
    if as_json:
        print_json(view_alerts(board, show_all=show_all))
        return
    alerts = shown_alerts(board, show_all=show_all)
    if not any(alert.is_open for alert in alerts):
        click.echo("no alerts" if not alerts else "no alert needs attention")
    for line in alert_lines(alerts):
        click.echo(line)


@alerts_command.command("ack", short_help="Say that you know of alerts.")
@click.argument("names", nargs=-1, metavar="[ALERT]...")
@click.option("--all", "take_all", is_flag=True, help="All that wait for somebody.")
@click.option("-m", "--note", default="", help="What you will do about it; kept in the log.")
@prints_json
@click.pass_context
def ack_command(ctx: click.Context, names: tuple[str, ...], take_all: bool, note: str, as_json: bool) -> None:
    """Acknowledge alerts: somebody knows, and nobody is told of them any more."""
    from paddock.core.alerts.events import AlertAcknowledged
    from paddock.core.intent.alerts import acknowledge_alerts, acknowledge_all

    if names and take_all:
        raise Misuse("alerts were named, and --all takes all of them", "give one or the other")

    def decide(board: Board) -> list[Draft]:
        return acknowledge_all(board, note) if take_all else acknowledge_alerts(board, names, note)

    records = open_workspace(ctx).record(decide)
    done = [record.event.id for record in records if isinstance(record.event, AlertAcknowledged)]
    _report(done, as_json=as_json)


def _report(done: list[str], *, as_json: bool) -> None:
    if as_json:
        print_document(ids=done)
    elif done:
        click.echo(f"acknowledged {', '.join(done)}")
    else:
        click.echo("nothing to acknowledge")


@alerts_command.command("rules")
@prints_json
@click.pass_context
def rules_command(ctx: click.Context, as_json: bool) -> None:
    """List the rules that raise alerts, with what is set for each."""
    from paddock.cli.pages.alerts import rule_lines
    from paddock.views.alert_rules import view_rules

    view = view_rules(open_workspace(ctx).config)
    if as_json:
        print_json(view)
        return
    for line in rule_lines(view):
        click.echo(line)


@alerts_command.command("test", short_help="Ask the rules now; nothing is recorded.")
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@click.option("--notify", is_flag=True, help="Also send a test to everybody who is configured.")
@prints_json
@click.pass_context
def test_command(ctx: click.Context, rules: tuple[str, ...], notify: bool, as_json: bool) -> None:
    """Ask the rules now, and show what each sees and what it would raise. Nothing is recorded."""
    from paddock.cli.pages.alerts import trial_lines
    from paddock.insight.alerts.trial import try_rules
    from paddock.views.alert_rules import view_trial

    if notify and as_json:
        raise Misuse("--notify and --json cannot be used together", "`paddock notify test --json` sends a test")
    wanted = [_rule_named(name) for name in rules]
    workspace = open_workspace(ctx)
    trial = try_rules(workspace, time.time())
    found = [one for one in trial.judgements if not wanted or one.setting.rule.name in wanted]
    view = view_trial(trial.board, found, trial.runs)
    if as_json:
        print_json(view)
    else:
        for line in trial_lines(view):
            click.echo(line)
        would = sum(1 for rule in view.rules for one in rule.conditions if one.alert is None)
        click.echo(paint(f"{plural(would, 'alert')} would be raised; nothing was recorded", dim=True))
    if notify:
        from paddock.cli.commands.notify import test_command as notify_test

        ctx.invoke(notify_test, as_json=False)


def _rule_named(text: str) -> str:
    from paddock.core.alerts.catalogue import find_rule, rule_name, rule_names
    from paddock.core.wording import did_you_mean

    rule = find_rule(text)
    if rule is None:
        hint = did_you_mean(rule_name(text), rule_names(), "`paddock alerts rules` lists them")
        raise NotFound(f"there is no rule `{printable(text, 40)}`", hint)
    return rule.name
