"""The structural audit of a move of main: does NEW contain the members' work, all of it, and nothing else?

It shares no code path with composing: it reads finished commits with diff-tree and rev-list and does not merge.
"""

from dataclasses import dataclass

from paddock.core.merge.model import Member
from paddock.git.landing.compose import Policy
from paddock.git.landing.forbidden import forbidden_paths
from paddock.git.landing.history import read_landed
from paddock.git.landing.workbench import CommitFacts, Workbench

_SHOWN_PATHS = 5


@dataclass(frozen=True, slots=True)
class Move:
    """Main's `branch` from `old` to `new`; `tree` is the one CI passed. `may_undo` names the members that a person
    lets take landed work back."""

    branch: str
    old: str
    new: str
    tree: str
    members: tuple[Member, ...]
    policy: Policy
    may_undo: frozenset[str] = frozenset()

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"


@dataclass(frozen=True, slots=True)
class _Diff:
    """What differs between two trees: path → mode and object on the new side. A rename is two entries."""

    entries: dict[str, str]
    added: set[str]
    deleted: set[str]


@dataclass(frozen=True, slots=True)
class _Touch:
    """What one member does since it forked, and what main did since then.

    A merge carries an edit over to the file's new name. Which new file that is git guesses from likeness, so
    where a touched file was deleted on the other side, every file added there counts as its new name.
    """

    own: _Diff
    main: _Diff
    certain: bool

    @property
    def paths(self) -> set[str]:
        touched = set(self.own.entries)
        return touched | self.main.added if touched & self.main.deleted else touched


def audit(bench: Workbench, move: Move) -> tuple[str, ...]:
    """What is wrong with the move, in words; empty when main may take it."""
    old, new = bench.read_commits((move.old, move.new))
    if old is None or new is None:
        return ("a commit of the move is not in the repository",)
    whole = bench.git("rev-list", "--objects", "--quiet", move.new, f"^{move.old}", check=False)
    if not whole.ok:
        return (f"objects of the new commit are missing: {whole.stderr.strip()}",)
    if not bench.is_ancestor(move.old, move.new):
        return (f"`{move.new}` does not descend from `{move.old}`",)
    tree = () if new.tree == move.tree else (f"the tree is `{new.tree}`, tested was `{move.tree}`",)
    shape = _audit_merge(bench, move, new) if move.policy is Policy.MERGE else _audit_linear(bench, move)
    forbidden = forbidden_paths(bench, move.new, move.old)[:_SHOWN_PATHS]
    return (*tree, *_audit_claims(bench, move), *shape, *_audit_paths(bench, move), *forbidden)


def _audit_claims(bench: Workbench, move: Move) -> tuple[str, ...]:
    """The trailers name exactly the members, in order, and the tested tree."""
    tips = read_landed(bench, move.new, move.old)
    claimed = tuple(member for tip in tips for member in tip.members)
    problems = []
    if claimed != move.members:
        shown = ", ".join(f"{m.id}@v{m.version}" for m in claimed) or "nothing"
        problems.append(f"the trailers claim {shown}")
    if not tips or tips[-1].commit != move.new or tips[-1].tested != move.tree:
        problems.append("the new commit does not name the tree that was tested")
    return tuple(problems)


def _audit_merge(bench: Workbench, move: Move, new: CommitFacts) -> tuple[str, ...]:
    """First parent is OLD, every head is reachable, and beside the members' commits there are only the merges."""
    problems = [] if new.parents[:1] == (move.old,) else ["the first parent is not the old main"]
    heads = tuple(member.head for member in move.members)
    if bench.git("rev-list", "--max-count=1", *heads, f"^{move.new}").lines:
        missing = [member for member in move.members if not bench.is_ancestor(member.head, move.new)]
        problems += [f"head of {member.id} is not reachable" for member in missing]
    extra = bench.git("rev-list", move.new, f"^{move.old}", *(f"^{head}" for head in heads)).lines
    expected = len(heads) + 1 if len(heads) > 1 else 1
    if len(extra) != expected:
        problems.append(f"{len(extra)} commits belong to no member, {expected} are the queue's own")
    return tuple(problems)


def _audit_linear(bench: Workbench, move: Move) -> tuple[str, ...]:
    merges = bench.git("rev-list", "--merges", move.new, f"^{move.old}").lines
    return ("history is not linear",) if merges else ()


def _audit_paths(bench: Workbench, move: Move) -> tuple[str, ...]:
    """Paths changed OLD→NEW are among those the members touch, and bytes only one member touched are its own."""
    changed = _diff(bench, move.old, move.new)
    touches = [touch for member in move.members if (touch := _touch(bench, move.old, member)) is not None]
    problems = []
    foreign = sorted(set(changed.entries) - set().union(*(touch.paths for touch in touches)))
    if foreign:
        shown = ", ".join(f"`{path!a}`" for path in foreign[:_SHOWN_PATHS])
        problems.append(f"{len(foreign)} paths change that no member touches: {shown}")
    wrong = [path for touch in touches for path in _wrong_bytes(touch, touches, changed)]
    if wrong:
        shown = ", ".join(f"`{path!a}`" for path in wrong[:_SHOWN_PATHS])
        problems.append(f"{len(wrong)} paths differ from the approved change: {shown}")
    return tuple(problems)


def _wrong_bytes(touch: _Touch, touches: list[_Touch], changed: _Diff) -> list[str]:
    """Where nobody else has a say, NEW must have the member's own bytes."""
    if not touch.certain:
        return []
    others: set[str] = set()
    for other in touches:
        others |= other.paths if other is not touch else set()
    shared = others | set(touch.main.entries)
    if touch.own.deleted & shared:
        shared |= touch.own.added
    return [
        path for path, entry in touch.own.entries.items() if path not in shared and changed.entries.get(path) != entry
    ]


def _touch(bench: Workbench, old: str, member: Member) -> _Touch | None:
    bases = bench.merge_bases(old, member.head)
    if not bases:
        return None
    own = _diff(bench, bases[0], member.head)
    for base in bases[1:]:
        other = _diff(bench, base, member.head)
        own.entries.update(other.entries)
    return _Touch(own, _diff(bench, bases[0], old), certain=len(bases) == 1)


def _diff(bench: Workbench, before: str, after: str) -> _Diff:
    if before == after:
        return _Diff({}, set(), set())
    fields = iter(bench.git("diff-tree", "-r", "-z", "--raw", "--no-renames", before, after).records)
    found = _Diff({}, set(), set())
    for facts in fields:
        _, mode, _, sha, kind = facts.split(" ")
        path = next(fields)
        found.entries[path] = f"{mode} {sha}"
        if kind == "A":
            found.added.add(path)
        if kind == "D":
            found.deleted.add(path)
    return found
