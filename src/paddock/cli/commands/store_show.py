"""`paddock store show`: where the log is, how it is, and who is connected to it."""

from collections.abc import Iterator

import click
import msgspec

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import paint, plural, print_document, say
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.service.log_facts import LogFacts, know_log
from paddock.store.server_facts import ServerFacts, Session

_STATES = {
    "empty": "there is a log without a record: setting it up was interrupted",
    "missing": "there is no log here",
    "filling": "a log is being moved here: it is not open yet",
}


@click.command("show")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, as_json: bool) -> None:
    """Show where the log is, and how it is there.

    Of a database also: whether what it acknowledges is safe, and who is connected.

    Exits 1 if the log cannot be used.
    """
    facts = know_log(open_workspace(ctx))
    if as_json:
        print_document(**msgspec.to_builtins(facts))
        ctx.exit(0 if facts.state == "open" else 1)
    for name, words in _lines(facts):
        say(f"{name:<10} {words}")
    for warning in facts.warnings:
        say(f"{paint('warning', 'yellow')}: {printable(warning, 300)}")
    if facts.server is not None and facts.server.sessions:
        _print_sessions(facts.server.sessions)
    if facts.problem:
        raise PaddockError(facts.problem, facts.hint)
    ctx.exit(0 if facts.state == "open" else 1)


def _lines(facts: LogFacts) -> Iterator[tuple[str, str]]:
    yield "log", printable(facts.place, 300)
    if facts.state == "moved":
        yield "state", f"moved to {printable(facts.moved_to, 200)}: set [store] url in paddock.toml to where it is now"
    elif facts.state in _STATES:
        yield "state", _STATES[facts.state]
    if facts.records is not None:
        named = f", log {facts.identity}" if facts.identity else ""
        yield "records", f"{facts.records:,}{f' in {facts.bytes // 1024:,} KB' if facts.bytes else ''}{named}"
    if facts.server is not None:
        yield from _server_lines(facts.server)
    elif facts.durable:
        yield "durable", "yes: every record is on disk before it is acknowledged"


def _server_lines(server: ServerFacts) -> Iterator[tuple[str, str]]:
    kind = "standby" if server.standby else "primary"
    yield "server", f"PostgreSQL {server.version}, {kind}, {'TLS' if server.tls else 'no TLS'}"
    may = "may look at records only" if not server.may_write else "may add records"
    more = ", and could change or remove them" if server.may_rewrite else " and nothing else"
    yield "role", f"{server.role} in database {server.database}: {may}{more if server.may_write else ''}"
    settings = f"fsync {_on(server.fsync)}, full_page_writes {_on(server.full_page_writes)}"
    yield "durable", f"{'yes' if server.durable else 'NO'}: {settings}, synchronous_commit {server.synchronous_commit}"
    if server.standbys or server.synchronous_standby_names:
        told = ", ".join(
            " ".join(filter(None, (one.name, one.sync, one.state and f"({one.state})"))) for one in server.standbys
        )
        yield "standbys", told or f"none connected; commits wait for {server.synchronous_standby_names}"


def _on(value: bool) -> str:
    return "on" if value else "OFF"


def _print_sessions(sessions: tuple[Session, ...]) -> None:
    say(f"\n{plural(len(sessions), 'other connection')}")
    rows = [(str(one.pid), one.program or "?", one.role, one.host or "local", _what(one)) for one in sessions]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (f"{cell:<{wide}}" for cell, wide in zip(row, widths, strict=False))
        say(printable(f"  {'  '.join(cells)}  {row[-1]}", 300))


def _what(one: Session) -> str:
    if one.waits_for:
        return f"waits for {', '.join(map(str, one.waits_for))}"
    if one.writes:
        return f"writes, for {one.seconds:.1f} s"
    return one.state
