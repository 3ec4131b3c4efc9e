"""Looking after the log: whether it is whole, and its mirror in git, which outlives it."""

from contextlib import closing
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.store.mirror import MirrorPushed, mirror_head, push_mirror
from paddock.store.verification import Verification


@dataclass(frozen=True, slots=True)
class VerifiedLog:
    """`unseen` says what could not be seen, of the log and of its mirror."""

    found: Verification
    unseen: tuple[str, ...]


def verify_log(workspace: Workspace) -> VerifiedLog:
    """Reads every record."""
    with closing(workspace.read()) as store:
        found, head = store.verify(), store.head()
    return VerifiedLog(found, (*found.unseen, *_unseen_in_mirror(workspace, head)))


def _unseen_in_mirror(workspace: Workspace, head: int) -> list[str]:
    held = mirror_head(workspace.repo)
    if held > head:
        return [f"the mirror has records up to {held:,}, this log only {head:,}: `paddock log fetch .` restores them"]
    if 0 < held < head:
        newer = "1 newer record" if head - held == 1 else f"{head - held:,} newer records"
        return [f"the mirror ends at record {held:,}: {newer} could not be restored from it (`paddock log push`)"]
    return []


def push_log(workspace: Workspace, remote: str | None) -> MirrorPushed:
    """To `remote`, which has to be one of git's or a place; `origin`, if there is one, without it."""
    with closing(workspace.read()) as store:
        return push_mirror(store, workspace.repo, remote_named(workspace, remote))


def remote_named(workspace: Workspace, named: str | None) -> str | None:
    remotes = workspace.repo.git("remote").lines
    if named is None:
        return "origin" if "origin" in remotes else None
    if named not in remotes and not named.startswith((".", "/")) and ":" not in named:
        known = ", ".join(remotes) or "none"
        raise PaddockError(f"there is no remote `{printable(named, 60)}`", f"known: {known}; `git remote add` adds one")
    return named
