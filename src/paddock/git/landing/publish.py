"""Main on a remote: read it, and move it by compare-and-swap. Trouble with the network is a value."""

from dataclasses import dataclass

from paddock.git.command import GitResult
from paddock.git.repo import Repo

PUSH_TIMEOUT_SECONDS = 120.0
ASK_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Pushed:
    """The remote's branch is at the new commit now, whoever put it there."""


@dataclass(frozen=True, slots=True)
class RemoteMoved:
    """The branch was not where it was expected; `actual` is None when there is no such branch."""

    actual: str | None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The remote gave no answer. It may have taken a push all the same: ask again before giving up."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """The remote answered and will not have it: a hook, a protected branch, missing rights."""

    reason: str


def read_remote(repo: Repo, remote: str, branch: str, timeout: float = ASK_TIMEOUT_SECONDS) -> str | Unreachable | None:
    """What the remote says its branch is at; None when it has no such branch."""
    ref = f"refs/heads/{branch}"
    asked = repo.talk("ls-remote", "--quiet", "--end-of-options", remote, ref, timeout=timeout)
    if not asked.ok:
        return Unreachable(_why(asked, remote, timeout))
    found = (line.split("\t") for line in asked.lines)
    return next((sha for sha, name in found if name == ref), None)


def push_main(
    repo: Repo, remote: str, branch: str, new: str, old: str, timeout: float = PUSH_TIMEOUT_SECONDS
) -> Pushed | RemoteMoved | Unreachable | Rejected:
    """Move the remote's `branch` from exactly `old` to `new`.

    The lease is what makes it a compare-and-swap; a plain fast-forward would accept a rewound branch.
    """
    ref = f"refs/heads/{branch}"
    # No transaction of ours reaches the remote. Whoever leads by the time it answers moves main from elsewhere.
    repo.lead.require()
    pushed = repo.talk(
        "-c",
        "push.gpgSign=false",
        "push",
        "--porcelain",
        "--no-verify",
        "--no-follow-tags",
        "--recurse-submodules=no",
        "--receive-pack=git-receive-pack",
        f"--force-with-lease={ref}:{old}",
        "--end-of-options",
        remote,
        f"{new}:{ref}",
        timeout=timeout,
    )
    if pushed.ok:
        return Pushed()
    return _explain(repo, remote, branch, new, old, pushed, timeout)


def _explain(
    repo: Repo, remote: str, branch: str, new: str, old: str, pushed: GitResult, timeout: float
) -> Pushed | RemoteMoved | Unreachable | Rejected:
    """The answer to a push can be lost on the way back, so the branch itself is asked."""
    seen = read_remote(repo, remote, branch, min(timeout, ASK_TIMEOUT_SECONDS))
    if isinstance(seen, Unreachable):
        return Unreachable(_why(pushed, remote, timeout))
    if seen == new:
        return Pushed()
    if seen != old:
        return RemoteMoved(seen)
    refusals = [line for line in pushed.lines if line.startswith("!")]
    if refusals:
        said = [line for line in pushed.stderr.splitlines() if line.startswith("remote:")]
        return Rejected("\n".join((refusals[0].split("\t")[-1], *said)))
    return Unreachable(_why(pushed, remote, timeout))


def _why(result: GitResult, remote: str, timeout: float) -> str:
    if result.timed_out:
        return f"no answer from `{remote}` within {timeout:g} s"
    return result.stderr.strip() or f"`{remote}` said nothing"
