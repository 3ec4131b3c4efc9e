"""A node's mirror of the repository: commits are fetched into it by their ids, and an attempt's are pushed from it."""

from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.nodes.order import NodeOrder
from paddock.fleet.nodes.refs import main_ref, why_refused, work_ref
from paddock.git.command import run_git
from paddock.git.repo import Repo, discover

TALK_SECONDS = 300.0
_HEAD = "refs/heads/paddock/node"
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


class RemoteSilent(PaddockError):
    """The git remote refused, or did not answer: what was to be brought there is still here."""


def open_mirror(folder: Path, order: NodeOrder) -> Repo:
    """Made where there is none. Its remote is the one that the order names."""
    if not (folder / ".git" / "HEAD").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run_git(folder, "init", "--quiet", str(folder))
    run_git(folder, "symbolic-ref", "HEAD", _HEAD)
    run_git(folder, "config", f"remote.{order.remote}.url", order.url)
    run_git(folder, "config", f"remote.{order.remote}.fetch", f"+refs/heads/*:refs/remotes/{order.remote}/*")
    for name, content in order.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return discover(folder)


@dataclass(frozen=True, slots=True)
class Mirror:
    """Everything here blocks."""

    repo: Repo
    order: NodeOrder

    def has(self, commit: str) -> bool:
        return self.repo.git("cat-file", "-e", f"{commit}^{{commit}}", check=False).ok

    def require(self, commit: str) -> None:
        """Has the commit here, from wherever the daemon or another node has put it. Raises PaddockError."""
        if self.has(commit):
            return
        first = self._fetch(commit)
        if first and not self.has(commit):
            # A server may give only what a ref names.
            identity = self.order.identity
            self._fetch(f"+refs/paddock/nodes/{identity}/*:refs/paddock/remote/{identity}/*")
        if not self.has(commit):
            raise RemoteSilent(
                f"commit `{commit[:12]}` cannot be fetched from `{printable(self.order.url, 200)}`: {first}",
                "can this machine fetch from there? try `git ls-remote` with that address on the node",
            )

    def follow_main(self) -> None:
        """Brings the branch that work lands on up to date; a remote that is silent leaves it where it is."""
        branch = f"refs/heads/{self.order.branch}"
        self._fetch(f"+{main_ref(self.order.identity)}:{branch}")

    def push(self, attempt: str, commit: str) -> None:
        """Raises RemoteSilent. Doing it again changes nothing."""
        ref = work_ref(self.order.identity, attempt)
        pushed = self.repo.talk(
            "push", "--quiet", "--force", self.order.remote, f"{commit}:{ref}", timeout=TALK_SECONDS
        )
        if not pushed.ok:
            raise RemoteSilent(
                f"the commits of {attempt} cannot be pushed to `{printable(self.order.url, 200)}`: "
                f"{why_refused(pushed.stderr)}",
                "may this machine push there? try `git push` with that address on the node",
            )

    def _fetch(self, what: str) -> str:
        """Why it could not be; empty if it could."""
        done = self.repo.talk(*_FETCH, "--end-of-options", self.order.remote, what, timeout=TALK_SECONDS)
        return "" if done.ok else why_refused(done.stderr)
