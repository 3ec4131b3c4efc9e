"""Building the commit that main would become: members merged onto a base in order, without a worktree.

The trees come from one chain of true merges whatever the policy, so a policy decides only how history looks
and stacked changes merge against what they were written on. The same unit always gives the same commit.
"""

from dataclasses import dataclass
from enum import StrEnum

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.merge.model import Member, RefusalCause
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import GitFailed
from paddock.git.landing.forbidden import clashes_within
from paddock.git.landing.history import landed_heads
from paddock.git.landing.linear import Span, write_rebased, write_squashed
from paddock.git.landing.messages import (
    NamedMember,
    merge_message,
    tested_trailer,
    trailers_of,
    train_message,
    with_trailers,
)
from paddock.git.landing.workbench import Clash, CommitDraft, CommitFacts, Workbench, paddock_at


class Policy(StrEnum):
    """How landed work looks in main's history."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


@dataclass(frozen=True, slots=True)
class Unit:
    """Members in the order they go onto commit `base`."""

    base: str
    parts: tuple[NamedMember, ...]
    policy: Policy = Policy.MERGE


@dataclass(frozen=True, slots=True)
class Composed:
    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class DoesNotMerge:
    """`member` does not go onto the base with those before it; `against` is the one of them that is in the way."""

    member: Member
    cause: RefusalCause
    paths: tuple[str, ...] = ()
    against: str | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """`merge` is empty where no commit of the history needs it."""

    part: NamedMember
    merge: str
    tree: str


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a chain stands on, and who commits it. `landed` are changes the base has in another shape."""

    base: CommitFacts
    landed: tuple[str, ...]
    committer: bytes


def compose(bench: Workbench, unit: Unit, checkpoint: Checkpoint = no_checkpoint) -> Composed | DoesNotMerge:
    """The commit that lands `unit`, or which member stands in the way and why."""
    if not unit.parts:
        raise PaddockError("a unit without members cannot be composed")
    facts = bench.read_commits((unit.base, *(part.member.head for part in unit.parts)))
    base, *heads = facts
    if base is None:
        raise PaddockError(f"commit `{unit.base}` is not in the repository", "fetch it and try again")
    for part, head in zip(unit.parts, heads, strict=True):
        if head is None:
            return DoesNotMerge(part.member, RefusalCause.MISSING)
    newest = max(fact.committed_at for fact in facts if fact)  # so that composing again needs no memory
    members = tuple(part.member.head for part in unit.parts)
    ground = _Ground(base, landed_heads(bench, unit.base, members), paddock_at(newest))
    checkpoint("compose.read")
    chain = _merge_in_order(bench, ground, unit)
    if isinstance(chain, DoesNotMerge):
        return chain
    if (clash := _name_the_clash(bench, ground, chain)) is not None:
        return clash
    checkpoint("compose.merged")
    composed = _write_history(bench, ground, unit, chain)
    checkpoint("compose.committed")
    return composed


def _merge_in_order(bench: Workbench, ground: _Ground, unit: Unit) -> tuple[_Step, ...] | DoesNotMerge:
    steps: list[_Step] = []
    # The last merge is somebody's parent only in a train of several.
    in_history = unit.policy is Policy.MERGE and len(unit.parts) > 1
    for number, part in enumerate(unit.parts, 1):
        tip, tree = (steps[-1].merge, steps[-1].tree) if steps else (ground.base.sha, ground.base.tree)
        merged = _merge_onto(bench, ground, tip, tree, part.member.head)
        if isinstance(merged, Clash):
            return _name_the_obstacle(bench, ground, steps, part, merged)
        if merged == tree:
            return _name_the_obstacle(bench, ground, steps, part, None)
        needed = in_history or number < len(unit.parts)
        steps.append(_Step(part, _write_merge(bench, ground, tip, part, merged) if needed else "", merged))
    return tuple(steps)


def _write_merge(bench: Workbench, ground: _Ground, tip: str, part: NamedMember, tree: str) -> str:
    message = with_trailers(merge_message(part).encode(), ())
    return bench.write_commit(CommitDraft(tree, (tip, part.member.head), ground.committer, ground.committer, message))


def _merge_onto(bench: Workbench, ground: _Ground, tip: str, tree: str, head: str) -> str | Clash:
    """The tree of `head` merged onto `tip`.

    A change that landed squashed or rebased is in main's content and not in its ancestry. Where `head` is
    stacked on such a change, a stand-in for `tip` that has it as a parent gives git the right merge base.
    """
    ours = tip
    if ground.landed:
        parents = (tip, *ground.landed)
        ours = bench.write_commit(CommitDraft(tree, parents, ground.committer, ground.committer, b"stand-in\n"))
    try:
        return bench.merge(ours, head)
    except GitFailed:
        if bench.merge_bases(tip, head):
            raise
        return Clash(())  # they share no history


def _name_the_obstacle(
    bench: Workbench, ground: _Ground, steps: list[_Step], part: NamedMember, clash: Clash | None
) -> DoesNotMerge:
    """Which is the first to stand in the way: the base, or one of the members merged so far."""
    head = part.member.head
    against: str | None = None
    tip, tree = ground.base.sha, ground.base.tree
    for step in (*steps, None):
        merged = _merge_onto(bench, ground, tip, tree, head)
        if isinstance(merged, Clash):
            return DoesNotMerge(part.member, RefusalCause.CONFLICT, tuple(map(recordable, merged.paths)), against)
        if clash is None and merged == tree:
            break
        if step is not None:
            against, tip, tree = step.part.member.id, step.merge, step.tree
    return DoesNotMerge(part.member, RefusalCause.EMPTY, against=against)


def _name_the_clash(bench: Workbench, ground: _Ground, chain: tuple[_Step, ...]) -> DoesNotMerge | None:
    """Which member brings a name that is one file with another, where file systems do not tell case apart."""
    if not clashes_within(bench, ground.base.tree, chain[-1].tree):
        return None
    before, against = ground.base.tree, None
    for step in chain:
        if paths := clashes_within(bench, before, step.tree):
            return DoesNotMerge(step.part.member, RefusalCause.CONFLICT, tuple(map(recordable, paths)), against)
        before, against = step.tree, step.part.member.id
    return None


def _write_history(bench: Workbench, ground: _Ground, unit: Unit, chain: tuple[_Step, ...]) -> Composed:
    tree = chain[-1].tree
    if unit.policy is Policy.MERGE:
        return Composed(_write_train(bench, ground, chain), tree)
    parent, parent_tree = ground.base.sha, ground.base.tree
    excluded = (ground.base.sha, *ground.landed)
    for step in chain:
        span = Span(step.part, excluded, parent, parent_tree, step.tree, ground.committer)
        tested = (tested_trailer(tree),) if step is chain[-1] else ()
        written = write_rebased(bench, span, tested) if unit.policy is Policy.REBASE else None
        parent, parent_tree = written or write_squashed(bench, span, tested), step.tree
        excluded = (*excluded, step.part.member.head)
    return Composed(parent, tree)


def _write_train(bench: Workbench, ground: _Ground, chain: tuple[_Step, ...]) -> str:
    """The one commit main moves to. Its first parent is the base, so every first-parent tip was tested."""
    parts = tuple(step.part for step in chain)
    alone = len(chain) == 1
    message = merge_message(parts[0]) if alone else train_message(parts)
    second = parts[0].member.head if alone else chain[-1].merge
    trailers = (*(line for part in parts for line in trailers_of(part)), tested_trailer(chain[-1].tree))
    draft = CommitDraft(
        chain[-1].tree,
        (ground.base.sha, second),
        ground.committer,
        ground.committer,
        with_trailers(message.encode(), trailers),
    )
    return bench.write_commit(draft)
