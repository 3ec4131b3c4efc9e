"""The daemon's side of the git remote: what nodes are to begin at goes there, and what they have made comes back."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.core.tasks.task import Attempt
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.refs import TOP, main_ref, start_ref, why_refused, work_ref
from paddock.git.landing.held import delivery_ref
from paddock.git.repo import Repo
from paddock.git.worktrees.branches import Placement, place_branch

TALK_SECONDS = 300.0
FRESH_SECONDS = 3600.0
MOST_AT_ONCE = 200
NO_SUCH_REF = "couldn't find remote ref"
_LOGIN = re.compile(r"^(https?://)[^/]*@")
_FETCHED = "refs/paddock/fetched/nodes"
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


class CommitsStuck(PaddockError):
    """The git remote refused, or did not answer."""


class CommitsGone(PaddockError):
    """The git remote answers, and has not what was pushed there."""


@dataclass
class Exchange:
    """`remote` is a name of the repository's configuration. Everything here blocks."""

    repo: Repo
    remote: str
    identity: str
    _main: str = field(default="", init=False)
    _sent: dict[str, float] = field(default_factory=dict, init=False)
    """When each commit was given to the remote."""
    _fetched: dict[str, str] = field(default_factory=dict, init=False)
    """What `fetch` has brought of each attempt, until it is collected."""
    _guard: Lock = field(default_factory=Lock, init=False)

    def url(self) -> str:
        """Where nodes talk to, without a login: they have their own. Raises PaddockError where there is no remote."""
        url = self.repo.config(f"remote.{self.remote}.url")
        if not url:
            raise PaddockError(
                f"there is no git remote `{printable(self.remote, 60)}`, and nodes fetch and push commits over one",
                "add it with `git remote add`, or name another: `[sessions] remote`",
            )
        if "://" not in url and ":" not in url and not url.startswith("/"):
            return str(((self.repo.main or self.repo.common_dir) / url).resolve())
        return _LOGIN.sub(r"\1", url)

    def publish(self, starts: Iterable[str], main: str = "") -> None:
        """Has the remote hold these, so that nodes can begin there. What it was given before costs nothing. `main` is
        where main is now, if that is to be told."""
        with self._guard:
            self._publish(starts, main)

    def _publish(self, starts: Iterable[str], main: str) -> None:
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
                f"commits cannot be pushed to `{self.remote}` for the nodes: {why_refused(done.stderr)}",
                f"try `git push {self.remote} HEAD:{TOP}/try`",
            )
        self._main = main or self._main
        now = SYSTEM_CLOCK.now()
        self._sent.update((sha, now) for sha in fresh)

    def fetch(self, attempts: Sequence[Attempt]) -> None:
        """Brings what many have pushed in a few journeys, so that `collect` needs none for each of them. What is
        missing it leaves to `collect`, which says so."""
        for first in range(0, len(attempts), MOST_AT_ONCE):
            some = attempts[first : first + MOST_AT_ONCE]
            words = [f"+{work_ref(self.identity, one.id)}:{_fetched_ref(one)}" for one in some]
            if self.repo.talk(*_FETCH, "--end-of-options", self.remote, *words, timeout=TALK_SECONDS).ok:
                here = self.repo.refs(_FETCHED)
                self._fetched.update((one.id, here[_fetched_ref(one)]) for one in some)

    def collect(self, attempt: Attempt, wanted: str | None) -> str | None:
        """What the attempt has pushed, with its branch and a ref of ours at it; None if there is nothing. Raises
        CommitsStuck where `wanted` is not among it."""
        if wanted is not None and self.repo.resolve(delivery_ref(attempt.id)) == wanted:
            return wanted
        found, complaint = self._bring(attempt, wanted)
        if NO_SUCH_REF in complaint and wanted is not None:
            raise CommitsGone(
                f"the commits of {attempt.id} are not on `{self.remote}` any more: somebody has removed "
                f"`{work_ref(self.identity, attempt.id)}`",
                "they may still be in the worktree on its node",
            )
        is_here = wanted is not None and (found == wanted or self.repo.resolve(wanted) is not None)
        head = wanted if is_here else found
        if wanted is not None and head != wanted:
            why = f"it has `{found[:12]}`, not `{wanted[:12]}`" if found is not None else why_refused(complaint)
            raise CommitsStuck(
                f"the commits of {attempt.id} cannot be fetched from `{self.remote}`: {why}",
                f"`git ls-remote {self.remote} '{TOP}/*'` shows what is there",
            )
        if head is not None:
            ours = (attempt.base, *(() if found is None else (found,)))
            place_branch(self.repo, Placement(attempt.branch, head, ours, delivery_ref(attempt.id), head))
        return head

    def _bring(self, attempt: Attempt, wanted: str | None) -> tuple[str | None, str]:
        """What it has pushed, and git's words where that cannot be fetched."""
        found = self._fetched.pop(attempt.id, None)
        if found is not None and found == wanted:
            return found, ""
        words = f"+{work_ref(self.identity, attempt.id)}:{_fetched_ref(attempt)}"
        done = self.repo.talk(*_FETCH, "--end-of-options", self.remote, words, timeout=TALK_SECONDS)
        return (self.repo.resolve(_fetched_ref(attempt)), "") if done.ok else (None, done.stderr)

    def tidy(self, needed: Collection[str], now: float) -> None:
        """Drops what the remote holds for nodes, other than main, what is `needed`, and what was given a short time
        ago. Raises CommitsStuck."""
        seen = self.repo.talk("ls-remote", "--refs", self.remote, f"{TOP}/{self.identity}/*", timeout=TALK_SECONDS)
        if not seen.ok:
            raise CommitsStuck(
                f"`{self.remote}` cannot be asked what it holds for the nodes: {why_refused(seen.stderr)}",
                f"try `git ls-remote {self.remote}`",
            )
        with self._guard:
            self._sent = {sha: at for sha, at in self._sent.items() if now - at < FRESH_SECONDS}
            fresh = {start_ref(self.identity, sha) for sha in self._sent}
            refs = [line.partition("\t")[2] for line in seen.lines]
            unused = [ref for ref in refs if ref != main_ref(self.identity) and ref not in needed and ref not in fresh]
            for first in range(0, len(unused), MOST_AT_ONCE):
                words = [f":{ref}" for ref in unused[first : first + MOST_AT_ONCE]]
                self.repo.talk("push", "--quiet", "--end-of-options", self.remote, *words, timeout=TALK_SECONDS)


def _fetched_ref(attempt: Attempt) -> str:
    return f"{_FETCHED}/{attempt.id}"
