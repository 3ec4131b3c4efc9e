"""The ground of a node: worktrees as on one machine, made of commits that are fetched first and pushed afterwards.

What an attempt made is with the git remote before anything is recorded of it, so a node may be lost at any moment.
"""

from collections.abc import Callable
from dataclasses import dataclass

from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.ground import Delivery, GitGround
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.nodes.mirror import Mirror
from paddock.git.landing.held import delivery_ref
from paddock.git.worktrees.claims import Vacancy, WorktreeOrder
from paddock.git.worktrees.prepare import PreparedWorktree
from paddock.git.worktrees.release import Secured


@dataclass(frozen=True, slots=True)
class NodeGround:
    local: GitGround
    mirror: Callable[[], Mirror]

    def bring(self, *commits: str) -> None:
        mirror = self.mirror()
        for commit in commits:
            mirror.require(commit)

    def prepare(self, order: WorktreeOrder) -> PreparedWorktree:
        self.bring(order.start)
        self.mirror().follow_main()
        return self.local.prepare(order)

    def look(self, place: str) -> Vacancy:
        return self.local.look(place)

    def progress(self, attempt: Attempt) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.local.progress(attempt)

    def newest_commit(self, attempt: Attempt) -> str | None:
        return self.local.newest_commit(attempt)

    def commits_sign(self, attempt: Attempt) -> tuple[int, ...]:
        return self.local.commits_sign(attempt)

    def hold_so_far(self, attempt: Attempt) -> None:
        self.local.hold_so_far(attempt)
        self._push_held(attempt)

    def _push_held(self, attempt: Attempt) -> None:
        if (held := self.local.site.repo.resolve(delivery_ref(attempt.id))) is not None:
            self.mirror().push(attempt.id, held)

    def so_far(self, attempt: Attempt, start: str) -> str:
        return self.local.so_far(attempt, start)

    def secure(self, attempt: Attempt) -> Delivery:
        delivery = self.local.secure(attempt)
        checkpoint("node.secured")
        if delivery.head is not None and delivery.commits:
            self.mirror().push(attempt.id, delivery.head)
            checkpoint("node.pushed")
        return delivery

    def release(self, attempt: str, why: str, secured: Secured | None = None) -> None:
        self.local.release(attempt, why, secured)

    def discard(self, attempt: str, why: str) -> None:
        self.local.discard(attempt, why)
