"""`paddock limits`: the state of everything that limits how many agents may run."""

import time
from collections.abc import Iterator

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import age, cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.admission.breaker import how_to_restart
from paddock.core.admission.clocks import current_pause
from paddock.core.admission.controls import Account, Controls
from paddock.core.admission.ladder import amount_words
from paddock.core.admission.pacing import Pace, agents_borne, is_paced
from paddock.core.admission.quota import REQUESTS, Quota
from paddock.core.admission.windows import describe_window, windows_open
from paddock.core.group.sight import GroupSight, names_of
from paddock.core.intent.budget import reset_limits
from paddock.fleet.dispatch.gate import (
    NO_QUOTA,
    LimitsFile,
    known_accounts,
    read_limits,
)
from paddock.fleet.service.bulletin import fetch_bulletin
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.views.fleet.limits import rungs_now, view_limits


@click.command("limits")
@click.option("--reset", metavar="ENGINE", help="Re-enable this engine or account after it was stopped.")
@prints_json
@click.pass_context
def limits_command(ctx: click.Context, reset: str | None, as_json: bool) -> None:
    """Show everything that limits how many agents may run."""
    workspace = open_workspace(ctx)
    fetch_bulletin(workspace, look_for_daemon(workspace.board(), time.time()))
    kept = read_limits(workspace.state_dir)
    if reset is not None:
        workspace.record(lambda _board: reset_limits(reset, known_accounts(workspace.config, kept)))
        click.echo(f"{reset}: re-enabled")
        return
    if as_json:
        _print_json(workspace, kept)
        return
    for line in _lines(workspace, kept, time.time()):
        click.echo(line)


def _print_json(workspace: Workspace, kept: LimitsFile | None) -> None:
    import msgspec

    nothing: dict[str, object] = {"at": None, "controls": Controls(), "waiting": {}, "host": None}
    rows = view_limits(workspace.site, workspace.board(), kept, time.time())
    print_document(**msgspec.to_builtins(nothing if kept is None else kept), limits=msgspec.to_builtins(rows))


def _lines(workspace: Workspace, kept: LimitsFile | None, now: float) -> Iterator[str]:
    limits, board = workspace.config.limits, workspace.board()
    most = f"at most {limits.max_agents} agents"
    if kept is None:
        yield f"{most}; nothing else is known until a daemon has run (`paddock run`)"
        return
    yield f"as of {age(kept.at)} ago; {most}"
    for name, account in kept.controls.accounts.items():
        yield f"account {name:<12} {'; '.join(_account(account, Pace(limits.pace), now))}"
    for engine, breaker in kept.controls.breakers.items():
        if breaker.never_ran:
            evidence = cut(breaker.evidence, 80)
            yield f"engine  {engine:<12} {breaker.never_ran} attempts in a row never ran: {evidence}"
        if breaker.is_open:
            yield f"engine  {engine:<12} stopped; run {how_to_restart(engine, breaker.cause)}"
    if kept.host is not None:
        host, slots = kept.host, kept.controls.host.slots
        load = f"room for {slots:.1f} agents" if limits.adapt_to_load else "load is ignored"
        yield (
            f"host    CPU load {host.busy:.2f} per core, {load}; "
            f"{host.free_memory_bytes / 2**30:.1f} GiB of memory and "
            f"{host.free_disk_bytes / 2**30:.1f} GiB of disk free"
        )
    yield f"queue   {len(board.queue.entries)} changes waiting to land (limit {limits.merge_queue})"
    if kept.group is not None:
        yield f"group   {cut(_group(kept.group), 160)}; `paddock group show` has more"
    numbered = [rung for rung in rungs_now(workspace.site, board, kept, now) if rung.most is not None]
    full = [f"{rung.name} {amount_words(rung)}" for rung in numbered]
    yield f"limits  {'; '.join(full)}"
    for task, reason in kept.waiting.items():
        yield f"{task:<7} waiting: {cut(reason, 120)}"


def _group(seen: GroupSight) -> str:
    if seen.trouble:
        return f"{seen.name} cannot be reached: {seen.trouble}"
    there = sum(entry.running for entry in seen.others)
    others = [entry for entry in seen.others if entry.running]
    elsewhere = f", {there} in {names_of(others)}" if there else ""
    return f"{seen.name}: {seen.own.running} agent{'s' if seen.own.running != 1 else ''} here{elsewhere}"


def _account(account: Account, pace: Pace, now: float) -> Iterator[str]:
    quota = account.quota
    if quota.target >= NO_QUOTA:
        yield "no quota"
    else:
        borne = agents_borne(quota, pace)
        shown = quota.target if quota.has_limit else borne
        yield "no limit on agents" if shown is None else f"quota allows {shown:.1f} agents"
        yield from _why(quota, now)
        yield "starts are spaced out" if is_paced(quota, pace) else "starts are not spaced out"
    for window in windows_open(account.windows, now):
        yield describe_window(window, now)
    if account.windows.extra:
        yield "calls beyond its windows are billed"
    if (pause := current_pause(account.clocks, now)) is not None:
        yield f"paused: {pause.reason}"


def _why(quota: Quota, now: float) -> Iterator[str]:
    """What the number is based on."""
    for name, seen in quota.limits.items():
        yield f"{seen.remaining:,.0f} of {seen.limit:,.0f} {name} per minute left, {age(seen.at, now)} ago"
    if not quota.limits and quota.cut_at is not None:
        yield f"reduced: calls were refused {age(quota.cut_at, now)} ago"
        if quota.capacity is not None:
            yield f"{quota.capacity:,.0f} calls per minute get through"
    elif not quota.limits:
        yield "no limit hit so far"
    if rate := quota.rates.get(REQUESTS):
        yield f"{rate:.1f} calls per minute per agent"
