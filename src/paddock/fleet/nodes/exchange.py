"""The daemon's side of the git remote: what nodes are to begin at goes there, and what they have made comes back."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId, printable
from paddock.core.tasks.task import Attempt
from paddock.fleet.nodes.refs import TOP, main_ref, start_ref, work_ref
from paddock.git.landing.held import delivery_ref
from paddock.git.repo import Repo
from paddock.git.worktrees.branches import Placement, place_branch

TALK_SECONDS = 300.0
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


class CommitsStuck(PaddockError):
    """The git remote refused, or did not answer."""


@dataclass
class Exchange:
    """`remote` is a name of the repository's configuration. Everything here blocks."""

    repo: Repo
    remote: str
    identity: str
    _main: str = field(default="", init=False)
    _sent: set[str] = field(default_factory=set, init=False)

    def url(self) -> str:
        """Where nodes talk to. Raises PaddockError where there is no such remote."""
        url = self.repo.config(f"remote.{self.remote}.url")
        if not url:
            raise PaddockError(
                f"there is no git remote `{printable(self.remote, 60)}`, and nodes fetch and push commits over one",
                "add it with `git remote add`, or name another: `[sessions] remote`",
            )
        if "://" not in url and ":" not in url and not url.startswith("/"):
            return str(((self.repo.main or self.repo.common_dir) / url).resolve())
        return url

    def publish(self, starts: Iterable[str], main: str = "") -> None:
        """Has the remote hold these, so that nodes can begin there. What it was given before costs nothing. `main` is
        where main is now, if that is to be told."""
        fresh = [sha for sha in dict.fromkeys(starts) if sha not in self._sent and sha != main]
        words = [f"+{main}:{main_ref(self.identity)}"] if main not in ("", self._main) else []
        words += [f"{sha}:{start_ref(self.identity, sha)}" for sha in fresh]
        if not words:
            return
        done = self.repo.talk(
            "push", "--quiet", "--force", "--end-of-options", self.remote, *words, timeout=TALK_SECONDS
        )
        if not done.ok:
            raise CommitsStuck(
                f"commits cannot be pushed to `{self.remote}` for the nodes: {_words(done.stderr)}",
                f"try `git push {self.remote} HEAD:{TOP}/try`",
            )
        self._main = main or self._main
        self._sent.update((*fresh, self._main))

    def collect(self, attempt: Attempt, wanted: str | None) -> str | None:
        """What the attempt has pushed, with its branch and a ref of ours at it; None if there is nothing. Raises
        CommitsStuck where `wanted` is not among it."""
        if wanted is not None and self.repo.resolve(delivery_ref(attempt.id)) == wanted:
            return wanted
        ref = f"refs/paddock/fetched/nodes/{attempt.id}"
        done = self.repo.talk(
            *_FETCH, "--end-of-options", self.remote, f"+{work_ref(self.identity, attempt.id)}:{ref}",
            timeout=TALK_SECONDS,
        )  # fmt: skip
        found = self.repo.resolve(ref) if done.ok else None
        head = wanted if wanted is not None and self.repo.resolve(wanted) is not None else found
        if wanted is not None and head != wanted:
            why = f"it has `{found[:12]}`, not `{wanted[:12]}`" if found is not None else _words(done.stderr)
            raise CommitsStuck(
                f"the commits of {attempt.id} cannot be fetched from `{self.remote}`: {why}",
                f"`git ls-remote {self.remote} '{TOP}/*'` shows what is there",
            )
        if head is not None:
            ours = (attempt.base, *(() if found is None else (found,)))
            place_branch(self.repo, Placement(attempt.branch, head, ours, delivery_ref(attempt.id), head))
        return head

    def clear(self, attempts: Iterable[AttemptId]) -> None:
        """What these have pushed is of no more use there. A remote that refuses keeps it."""
        words = [f":{work_ref(self.identity, name)}" for name in attempts]
        if words:
            self.repo.talk("push", "--quiet", "--end-of-options", self.remote, *words, timeout=TALK_SECONDS)


def _words(text: str) -> str:
    return printable(" ".join(text.split()), 400) or "git gave no reason"
