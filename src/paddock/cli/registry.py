"""The commands, each imported when it runs, so that each one starts quickly."""

import os
from importlib import import_module
from typing import NamedTuple

import click

from paddock import __version__
from paddock.cli.terminal.complaint import complain

# name -> (module, one line of help); listed in the order a newcomer meets them
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Set up Paddock in this repository."),
    "add": ("add", "Add a task, or a whole convoy from a file."),
    "plan": ("plan", "Let a planner turn a goal into a convoy."),
    "workflow": ("workflow", "Run steps that are written once as a convoy."),
    "schedule": ("schedule", "Add work by the clock, and know what it may cost."),
    "status": ("status", "Show tasks, what is running, and what needs you."),
    "watch": ("watch", "Watch the fleet live, wherever its daemon runs."),
    "show": ("show", "Show a task and its attempts."),
    "results": ("results", "Show what came of a task or a convoy."),
    "run": ("run", "Run agents on ready tasks, in the foreground."),
    "up": ("up", "Start the fleet in the background."),
    "down": ("up", "End the daemon; --now ends every agent too."),
    "web": ("web", "Show the fleet in a browser."),
    "nodes": ("nodes", "Show the machines that agents run on."),
    "drain": ("nodes", "Let nothing new start on a machine, or use it again."),
    "stop": ("steer", "Stop running agents."),
    "message": ("message", "Send a follow-up to agents."),
    "messages": ("messages", "Show what was sent to agents, delivered and answered."),
    "connect": ("connect", "Work with an agent yourself, in its own terminal."),
    "handback": ("connect", "Give a task back to its agent."),
    "ask": ("ask", "Put a question to a person; for agents."),
    "noop": ("ask", "Declare that a task needs no change; for agents."),
    "top": ("top", "Show the fleet on one screen and act on it by keys."),
    "resurrect": ("resurrect", "Bring back what a restart or a lost machine interrupted."),
    "wait": ("wait", "Wait until tasks are done, or in a phase; for scripts."),
    "tail": ("tail", "Show what an agent says and does."),
    "diff": ("diff", "Show what an agent changed."),
    "path": ("place", "Print the path of an agent's worktree."),
    "open": ("place", "Start your editor in an agent's worktree."),
    "exec": ("place", "Run a command in an agent's worktree."),
    "findings": ("findings", "Show what reviewers and checks found, and decide about it."),
    "audit": ("audit", "Let reviewers look at the code that is there."),
    "review": ("review", "Decide about changes that wait for you, one by one."),
    "land": ("land", "Approve changes and queue them for main."),
    "approve": ("land", "Approve changes."),
    "reject": ("land", "Reject a change."),
    "comment": ("comment", "Comment on lines of a change."),
    "resolve": ("land", "Resolve a conflict by hand."),
    "revert": ("revert", "Take a landed change back."),
    "queue": ("queue", "Show and control the merge queue."),
    "sync": ("sync", "Bring your checkout up to date with main."),
    "convoy": ("convoy", "List convoys, or show one."),
    "fork": ("fork", "Start a new task from another's branch and conversation."),
    "edit": ("edit", "Change a task."),
    "retry": ("edit", "Retry tasks."),
    "cancel": ("edit", "Cancel tasks."),
    "log": ("log", "Read, check and mirror the event log."),
    "store": ("store", "Show where the log is kept, and move it into a database or back."),
    "agents": ("agents", "List, show, write and check agents."),
    "route": ("route", "Say which agent would get a task, and why."),
    "engines": ("engines", "List agent CLIs and check that they answer."),
    "gc": ("gc", "Remove worktrees that are no longer needed."),
    "traces": ("traces", "Show what agents did, step by step, and import runs from elsewhere."),
    "drift": ("drift", "Say whether a batch of runs behaves differently from those before."),
    "failures": ("failures", "Show why runs failed, and what was done about it."),
    "report": ("report", "Show on one page what the fleet did in a week."),
    "alerts": ("alerts", "Show what is wrong with the fleet as a whole."),
    "costs": ("costs", "Show what agents have cost."),
    "budget": ("costs", "Set and show budgets."),
    "limits": ("limits", "Show what limits the number of agents."),
    "group": ("group", "Show the repositories that share accounts with this one."),
    "fanout": ("fanout", "Compare one agent with several: is it worth it?"),
    "lease": ("lease", "Reserve things that only one may use at a time."),
    "with-lease": ("with_lease", "Run a command under a lease."),
    "mcp": ("mcp", "Serve the fleet to clients of the Model Context Protocol."),
    "janitor": ("janitor", "Sweep up what crashes and old runs left behind."),
    "notify": ("notify", "Be told elsewhere when the fleet needs you."),
    "config": ("config", "Show and check the configuration."),
    "doctor": ("doctor", "Find out what is wrong and how to fix it."),
    "completion": ("completion", "Print a shell completion script."),
}

# In the order in which help lists them; every command is in one group.
GROUPS: dict[str, tuple[str, ...]] = {
    "Set up": ("init", "doctor", "config", "store", "engines", "agents", "notify", "completion"),
    "Tasks": ("plan", "add", "fork", "edit", "retry", "cancel", "convoy", "workflow", "schedule", "route"),
    "Run agents": ("run", "up", "down", "stop", "resurrect", "nodes", "drain"),
    "Talk to agents": ("message", "messages", "connect", "handback", "path", "open", "exec", "wait"),
    "Inspect": ("status", "watch", "top", "web", "show", "results", "tail", "diff", "log"),
    "Land": (
        "review",
        "findings",
        "audit",
        "land",
        "approve",
        "reject",
        "comment",
        "resolve",
        "revert",
        "queue",
        "sync",
    ),
    "Insight": ("alerts", "traces", "drift", "failures", "report"),
    "Spending": ("costs", "budget", "limits", "group", "fanout"),
    "For agents and assistants": ("ask", "noop", "mcp"),
    "Share and clean up": ("lease", "with-lease", "gc", "janitor"),
}
# What people used to other tools type.
MEANT = {
    "ls": "status",
    "list": "status",
    "ps": "status",
    "live": "watch",
    "tui": "top",
    "attach": "connect",
    "logs": "tail",
    "start": "up",
    "help": "--help",
    "kill": "stop",
    "rm": "cancel",
    "merge": "land",
    "new": "add",
    "version": "--version",
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"paddock.cli.commands.{COMMANDS[cmd_name][0]}")
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        if "_PADDOCK_COMPLETE" in os.environ:
            from paddock.cli.completion import offer_to

            offer_to(command, (cmd_name,))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = [MEANT[args[0]]] if args[0] in MEANT else get_close_matches(args[0], COMMANDS, 1)
            raise PaddockUsage(
                f"there is no command `{args[0]}`",
                f"did you mean `paddock {near[0]}`?" if near else "`paddock --help` lists the commands",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        wide = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{wide}}", COMMANDS[name][1]) for name in names])


class PaddockUsage(click.UsageError):
    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="paddock %(version)s")
@click.option("-C", "directory", type=click.Path(), metavar="DIR", help="Run as if started in DIR.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a setting for this call only.")
@click.pass_context
def paddock(ctx: click.Context, directory: str | None, settings: tuple[str, ...]) -> None:
    """Run a fleet of coding agents on this git repository."""
    ctx.obj = Invocation(directory, settings)


class Invocation(NamedTuple):
    """What was said before the command's name."""

    directory: str | None = None
    settings: tuple[str, ...] = ()


def run_command(arguments: list[str]) -> int:
    """Returns the exit code; reports wrong arguments itself. Raises what the command raises."""
    try:
        result = paddock.main(args=arguments, prog_name="paddock", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.Abort:
        if "_PADDOCK_COMPLETE" not in os.environ:
            complain("interrupted", None)
        return 130
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message(), err=True)
        return 2
    except click.UsageError as misuse:
        complain(misuse.format_message(), _usage_hint(misuse))
        return 2
    except click.ClickException as failure:
        complain(failure.format_message(), None)
        return 1


def _usage_hint(misuse: click.UsageError) -> str | None:
    if isinstance(misuse, PaddockUsage):
        return misuse.hint
    return f"see `{misuse.ctx.command_path} --help`" if misuse.ctx else None
