"""`paddock init`: a commented paddock.toml and an empty log."""

import os
import sys
from contextlib import closing, suppress
from pathlib import Path

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.trial import cure_of_trial, end_of_trial, tell_trial, try_once
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.config.guess import Guess, guess_ci
from paddock.config.load import FILE_NAME
from paddock.config.schema import Config
from paddock.config.template import render_config
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.fence_note import FenceNote
from paddock.fleet.fences import describe_fences
from paddock.fleet.landing.ci_trial import Trial
from paddock.fleet.service.agent_files import WrittenAgents, write_starters
from paddock.fleet.workspace import Workspace
from paddock.store.location import had_log, is_at_home, open_store, require_known, retire_log
from paddock.views.queue.stories import view_trial

INIT_SECONDS = 60.0
REMOTE_SECONDS = 15.0


@click.command("init")
@click.option("--yes", is_flag=True, help="Do not ask; use what was detected, without trying it.")
@click.option("--new-log", is_flag=True, help="Begin a new log where the old one is gone; nothing of it is used.")
@click.option("--try/--no-try", "tries", default=None, help="Run the CI command once, for at most a minute.")
@click.option("--agents", is_flag=True, help="Also write five agents into .paddock/agents, for you to edit.")
@prints_json
@click.pass_context
def init_command(ctx: click.Context, yes: bool, new_log: bool, tries: bool | None, agents: bool, as_json: bool) -> None:
    """Set up Paddock in this repository: write paddock.toml and create the log.

    If `origin` has a log of this repository, Paddock uses that one. If this repository had a log that is gone, `init`
    says so: `paddock log fetch` restores it from its mirror, and --new-log begins another.

    The CI command is tried once in a sandbox, unless you pass --yes, --json or --no-try. Running `init` again changes
    nothing. The working tree gets one new file, paddock.toml; the log is kept in git's own directory. With --agents it
    also gets fixer, tester, reviewer, planner and docs, except those it has already.
    """
    workspace = open_workspace(ctx)
    if not workspace.repo.has_commits():
        raise PaddockError(
            f"`{workspace.top}` has no commits yet, and agents need one to start from",
            "make one: `git commit --allow-empty -m 'First commit'`",
        )
    _refuse_lost_log(workspace, new_log=new_log)
    path = workspace.top / FILE_NAME
    made_file, made_log = not path.exists(), _has_no_log(workspace)
    joined = workspace.log.is_shared and not made_log and not is_at_home(workspace.repo)
    ask = not yes and not as_json and sys.stdin.isatty()
    guess = guess_ci(workspace.top) if made_file else Guess()
    text = _config_text(workspace, guess, ask=ask) if made_file else ""
    taken = _take_remote_log(workspace, ask=ask) if made_log and not new_log else None
    if new_log:
        retire_log(workspace.repo, checkpoint)
    labelled = made_log and had_log(workspace.repo)
    open_store(workspace.log, create=True, announce=taken is None, labelled=labelled).close()
    checkpoint("init.log")
    if made_file:
        _write(path, text)
    config = workspace.config
    wrote = write_starters(workspace) if agents else None
    tries = made_file and not yes and not as_json if tries is None else tries
    if as_json:
        trial = try_once(workspace, INIT_SECONDS) if tries else None
        print_document(
            config=made_file,
            log=made_log,
            main=config.main,
            ci=config.land.ci,
            fetched_from=taken,
            attempt_usd=config.limits.attempt_usd,
            missing=guess.missing,
            fence=_look_at_fence(config),
            tried=view_trial(trial) if trial is not None else None,
            agents=wrote,
        )
        return
    if joined:
        click.echo(f"uses the log at {printable(str(workspace.log))}: {plural(workspace.board().seq, 'record')}")
    elif not made_file and not made_log and not (wrote and wrote.written):
        click.echo(f"already set up in {printable(str(workspace.top))}: nothing changed")
    if made_file:
        _tell_file(workspace, tries=tries)
    if guess.missing and not config.land.ci:
        click.echo(f"no CI command was written: {guess.missing}")
    if taken is not None:
        click.echo(f"fetched the log from `{taken}`: {plural(workspace.board().seq, 'record')}")
    elif made_log:
        click.echo(f"created the log in {printable(str(workspace.log))}")
        if label := workspace.board().label:
            click.echo(f"there was another log before: branches and worktrees of this one carry its name, {label}")
    if (made_file or made_log) and (note := _look_at_fence(config)).why:
        click.echo(f"agents and CI will work without a fence: {note.why}; {note.cure}")
    if wrote is not None:
        _tell_agents(wrote)
    if tries:
        _tell_trial(try_once(workspace, INIT_SECONDS))
    if made_file or made_log:
        click.echo('\nnext: paddock add "what to do", then paddock run')


def _tell_file(workspace: Workspace, *, tries: bool) -> None:
    config = workspace.config
    place = FILE_NAME if workspace.repo.top == workspace.top else printable(str(workspace.top / FILE_NAME))
    ci = config.land.ci or "none found; set [land] ci"
    untried = ", not tried yet" if config.land.ci and not tries else ""
    click.echo(f"wrote {place} (main: {config.main}, CI: {ci}{untried}; {_budget(config.limits.attempt_usd)})")


def _tell_agents(wrote: WrittenAgents) -> None:
    if wrote.written:
        click.echo(f"wrote {', '.join(wrote.written)}")
    if wrote.kept:
        click.echo(f"kept {', '.join(wrote.kept)} as you have {'them' if len(wrote.kept) > 1 else 'it'}")
    if wrote.written:
        click.echo("read them, change what does not fit, and commit them; `paddock agents check` looks for mistakes")


def _look_at_fence(config: Config) -> FenceNote:
    """What is in force, or why what is asked for cannot be."""
    try:
        return describe_fences(config)
    except PaddockError as error:
        return FenceNote(config.fence.level, config.land.fence, error.message, error.hint or "")


def _budget(most_usd: float) -> str:
    return f"up to ${most_usd:g} per attempt" if most_usd else "no cost limit per attempt"


def _tell_trial(trial: Trial | None) -> None:
    if trial is None:
        return
    cure = cure_of_trial(trial)
    for line in (tell_trial(trial), *end_of_trial(trial), *([cure] if cure else [])):
        click.echo(line)


def _has_no_log(workspace: Workspace) -> bool:
    """An empty log counts as none: fetching it was interrupted."""
    if not workspace.has_log:
        return True
    with closing(open_store(workspace.log, read_only=True)) as store:
        return store.head() == 0


def _refuse_lost_log(workspace: Workspace, *, new_log: bool) -> None:
    """A new log must not come into being where records were lost, unless a person says so."""
    if not new_log:
        require_known(workspace.log, workspace.repo)
        return
    if not _has_no_log(workspace):
        raise PaddockError(
            f"there is a log at `{workspace.log}`: --new-log begins another only where it is gone",
            "see whether it is whole with `paddock log verify`",
        )
    from paddock.sessions.ancestry import marks_of_caller

    if marks_of_caller():
        raise PaddockError("a new log is for a person to begin, not for an agent or CI", "ask whoever runs the fleet")


def _take_remote_log(workspace: Workspace, *, ask: bool) -> str | None:
    """The remote whose log was taken. Two logs of one repository could never be joined."""
    from paddock.store.mirror import fetch_commit, remote_has_log, restore_mirror

    remote = "origin"
    if remote not in workspace.repo.git("remote").lines or not remote_has_log(workspace.repo, remote, REMOTE_SECONDS):
        return None
    if ask and not click.confirm(f"`{remote}` has a log of this repository; use it?", default=True):
        return None
    commit = fetch_commit(workspace.repo, remote)
    with closing(open_store(workspace.log, create=True, announce=False)) as store:
        restore_mirror(store, workspace.repo, commit)
    return remote


def _config_text(workspace: Workspace, guess: Guess, *, ask: bool) -> str:
    main = workspace.repo.default_branch()
    if main is None:
        raise PaddockError(
            "HEAD is detached and there is no branch `main` or `master`: Paddock cannot tell where work lands",
            "check out the branch that work should land on: `git switch BRANCH`",
        )
    ci = guess.command
    if ask:
        main = click.prompt("branch that work lands on", default=main)
        ci = click.prompt("command that must pass before anything lands (empty: none)", default=ci, show_default=True)
    from paddock.fleet.service.engine_check import found_engines

    return render_config(main, ci, found_engines())


def _write(path: Path, text: str) -> None:
    """Writes all of it or nothing."""
    draft = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        hint = f"check the folder: `ls -ld {path.parent}`, and its disk: `df {path.parent}`"
        raise PaddockError(f"`{printable(str(path))}` cannot be written: {error.strerror}", hint) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
