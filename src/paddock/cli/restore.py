"""`paddock queue restore`: landed work that a commit from an older checkout took back returns through the queue."""

import click
from msgspec.structs import replace

from paddock.cli.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.git.usertree.notes import CheckoutNotes, UndoneWork, hold_checkouts, read_notes, write_notes
from paddock.git.usertree.undone import notice_undone, restore_commit
from paddock.views.checkouts import some_files
from paddock.views.document import SCHEMA

SHORTEST = 4
MOST_BRANCHES = 20


@click.command("restore")
@click.argument("commit")
@click.option("--dismiss", is_flag=True, help="The commit was intended: do not mention it again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def restore_command(ctx: click.Context, commit: str, dismiss: bool, as_json: bool) -> None:
    """Bring back landed work that COMMIT, made from an older checkout, took back.

    A branch with the landed lines and all later edits is queued; it lands when its tests pass, like any other. Landed
    lines that COMMIT replaced with its own are left to you.
    """
    workspace = open_workspace(ctx)
    with hold_checkouts(workspace.repo) as folder:
        notes = notice_undone(workspace.repo, workspace.config.landing_branch, read_notes(folder))
        work = _find(notes, commit)
        if dismiss:
            left = tuple(one for one in notes.undone if one != work)
            notes = replace(notes, undone=left)
        write_notes(folder, notes)
    if dismiss:
        if as_json:
            print_json({"schema": SCHEMA, "dismissed": work.commit})
        else:
            click.echo(f"{work.commit[:10]} will not be mentioned again")
        return
    from paddock.cli.commands.land import queue_all
    from paddock.cli.selection import Wanted
    from paddock.core.intent.selection import Selection

    wanted = Wanted(Selection(), yes=True, as_json=as_json)
    queue_all(ctx, wanted, (_make_branch(workspace, work),))
    if work.contested and not as_json:
        click.echo(f"\n{_left_to_a_person(work)}\n{_how_to_settle(work)}")


def _find(notes: CheckoutNotes, said: str) -> UndoneWork:
    found = [one for one in notes.undone if len(said) >= SHORTEST and one.commit.startswith(said.lower())]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.commit[:10] for one in notes.undone)
    raise PaddockError(
        f"`{printable(said, 50)}` is not a commit known to have undone landed work",
        f"known: {known}" if known else "none is known; `paddock status` names them",
    )


def _make_branch(workspace: Workspace, work: UndoneWork) -> str:
    main = workspace.repo.resolve(f"refs/heads/{workspace.config.landing_branch}")
    short = work.commit[:10]
    names = (f"restore-{short}" + (f"-{number}" if number else "") for number in range(MOST_BRANCHES))
    branch = next((name for name in names if workspace.repo.resolve(f"refs/heads/{name}") is None), None)
    if branch is None:
        raise PaddockError(
            f"there are {MOST_BRANCHES} branches `restore-{short}…` already", "delete some of those branches"
        )
    if main is None or restore_commit(workspace.repo, work, branch, main) is None:
        if work.contested:
            raise PaddockError(_left_to_a_person(work), _how_to_settle(work))
        raise PaddockError(f"main already has everything that {short} undid", "there is nothing left to restore")
    return branch


def _left_to_a_person(work: UndoneWork) -> str:
    return f"{work.commit[:10]} replaced landed lines with its own, which stay: {some_files(work.contested)}"


def _how_to_settle(work: UndoneWork) -> str:
    shown = f"`git diff {work.base[:10]} {work.landed[:10]}` shows what had landed"
    return f"{shown}; bring back by hand what is missing, or run `paddock queue restore {work.commit[:10]} --dismiss`"
