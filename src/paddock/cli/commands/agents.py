"""`paddock agents`: who there is to do the work, and whether they are set up well."""

import click
import msgspec

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.config.agents import OURS
from paddock.config.load import Loaded
from paddock.config.schema import Agent
from paddock.config.starters import new_agent_text
from paddock.core.durations import format_duration
from paddock.core.errors import Misuse
from paddock.core.wording import check_known, check_name
from paddock.fleet.service.agent_files import write_agent_file
from paddock.fleet.workspace import Workspace
from paddock.views.fleet.agents import AgentDetails, ConfiguredAgent, view_agents

NONE_YET = "no agents yet: `paddock init --agents` writes five, `paddock agents new NAME` one"


@click.group("agents", invoke_without_command=True)
@prints_json
@click.pass_context
def agents_command(ctx: click.Context, as_json: bool) -> None:
    """List the agents: role, engine, what each owns and takes, and what reviewers are worth."""
    if ctx.invoked_subcommand is None:
        _list(open_workspace(ctx, "agents"), as_json=as_json)


@agents_command.command("list")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the agents."""
    _list(open_workspace(ctx), as_json=as_json)


def _list(workspace: Workspace, *, as_json: bool) -> None:
    rows = _rows(workspace, workspace.load())
    if as_json:
        print_document(agents=rows)
        return
    if not rows:
        click.echo(NONE_YET, err=True)
    wide = max((len(row.name) for row in rows), default=0)
    for row in rows:
        engine = "/".join(filter(None, (row.engine or "no engine", row.model)))
        click.echo(
            f"{paint(f'{cut(row.name, 40):<{wide}}', bold=True)}  {row.role:<8}  {engine:<14}  {_line(row)}".rstrip()
        )
        if row.yielded is not None:
            click.echo(f"{'':<{wide}}  {paint(row.yielded.words, dim=True)}")


def _rows(workspace: Workspace, loaded: Loaded) -> list[ConfiguredAgent]:
    return view_agents(loaded, workspace.board().reviews.reviewers if workspace.has_log else {})


def _line(row: ConfiguredAgent) -> str:
    said = []
    for word, values in (("owns", row.owns), ("takes", row.kinds), ("labels", row.labels), ("needs", row.needs)):
        if values:
            said.append(f"{word} {cut(', '.join(values), 60)}")
    return "; ".join(said) or cut(row.description, 80)


@agents_command.command("show")
@click.argument("name")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show agent NAME: its file, every setting, and its brief."""
    workspace = open_workspace(ctx)
    loaded = workspace.load()
    check_known("agent", name, loaded.config.agents)
    row = next(row for row in _rows(workspace, loaded) if row.name == name)
    agent = loaded.config.agents[name]
    if as_json:
        print_document(**msgspec.structs.asdict(AgentDetails(row, agent, agent.brief)))
        return
    click.echo(f"{paint(row.name, bold=True)}  {row.role}")
    for key, value in _settings(row, agent):
        if value:
            click.echo(f"  {key:<11} {cut(value, 200)}")
    click.echo(f"\n{paint('brief', bold=True)}")
    for line in agent.brief.splitlines() or ["it has none"]:
        click.echo(f"  {cut(line, 400)}")


def _settings(row: ConfiguredAgent, agent: Agent) -> list[tuple[str, str]]:
    deadlines = msgspec.structs.asdict(agent.timeouts)
    times = [f"{key} {format_duration(seconds)}" for key, seconds in deadlines.items() if seconds is not None]
    return [
        ("for", row.description),
        ("file", row.file),
        ("engine", row.engine),
        ("model", row.model),
        ("owns", ", ".join(row.owns)),
        ("kinds", ", ".join(row.kinds)),
        ("labels", ", ".join(row.labels)),
        ("needs", ", ".join(row.needs)),
        ("tools", ", ".join(agent.tools)),
        ("budget", "" if agent.attempt_usd is None else f"${agent.attempt_usd:g} per attempt"),
        ("max_turns", "" if agent.max_turns is None else str(agent.max_turns)),
        ("max_calls", "" if agent.max_calls is None else str(agent.max_calls)),
        ("timeouts", ", ".join(times)),
        ("fence", agent.fence or ""),
        ("lease_owned", "yes" if agent.lease_owned else ""),
        ("fresh", "yes" if agent.fresh else ""),
        ("reviews", row.yielded.words if row.yielded is not None else ""),
    ]


@agents_command.command("new")
@click.argument("name")
@prints_json
@click.pass_context
def new_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Write .paddock/agents/NAME.md, with every key as a comment, for you to edit."""
    workspace = open_workspace(ctx)
    check_name("agent", name)
    path = workspace.top / OURS / f"{name}.md"
    if name in workspace.config.agents or path.exists():
        raise Misuse(f"there is an agent `{name}` already", f"`paddock agents show {name}` says where")
    write_agent_file(path, new_agent_text(name))
    if as_json:
        print_document(file=f"{OURS}/{name}.md")
    else:
        click.echo(f"wrote {OURS}/{name}.md: edit it, then run `paddock agents check`")


@agents_command.command("check")
@prints_json
@click.pass_context
def check_command(ctx: click.Context, as_json: bool) -> None:
    """Check every agent for mistakes. Exits 1 on a problem.

    Looks at files, briefs, paths and engines, and for agents that would get the same work.
    """
    from paddock.fleet.service.agent_check import check_agents

    remarks = check_agents(open_workspace(ctx))
    problems = [one for one in remarks if one.is_problem]
    if as_json:
        told = [{"subject": one.subject, "words": one.words} for one in remarks]
        print_document(ok=not problems, problems=told[: len(problems)], warnings=told[len(problems) :])
        ctx.exit(1 if problems else 0)
    for one in remarks:
        word = paint("problem", "red") if one.is_problem else paint("warning", "yellow")
        subject = "" if one.subject.endswith(".md") else f"{cut(one.subject, 60)}: "  # a bad file is named in the words
        click.echo(f"{word}  {subject}{cut(one.words, 300)}")
    warnings = len(remarks) - len(problems)
    counted = [plural(len(problems), "problem")] if problems else []
    counted += [plural(warnings, "warning")] if warnings else []
    click.echo(f"agents: {', '.join(counted) or 'ok'}")
    ctx.exit(1 if problems else 0)
