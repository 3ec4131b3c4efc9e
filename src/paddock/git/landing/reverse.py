"""The reverse of a landed change: main as it would be without it, written without a working tree.

Which commits landed it main says itself, by its trailers. A merge brought it in one step, alone or in a train; squashed
it is one commit, rebased several in a row, of which the last one names it.
"""

from dataclasses import dataclass

from paddock.core.ids import recordable
from paddock.core.merge.model import Member
from paddock.git.landing.history import read_landed
from paddock.git.landing.linear import REPLAYED_COMMITS_LIMIT
from paddock.git.landing.messages import CHANGE_TRAILER
from paddock.git.landing.workbench import Clash, CommitDraft, Workbench, paddock_at

_ROW = f"%H%x00%cn <%ce>%x00%(trailers:key={CHANGE_TRAILER},valueonly,separator=%x02)"
_OURS = "Paddock <paddock@localhost>"


@dataclass(frozen=True, slots=True)
class LandedSpan:
    """Between the commits `before` and `after` main got exactly this change."""

    member: Member
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NoReverse:
    """Later work stands in the way in `paths`; without any, main has nothing of the change any more."""

    paths: tuple[str, ...] = ()


def find_span(bench: Workbench, main: str, change: str) -> LandedSpan | None:
    """The newest landing of `change` that `main` has; None if it has none."""
    for tip in reversed(read_landed(bench, main)):
        member = next((one for one in reversed(tip.members) if one.id == change), None)
        if member is not None:
            return _span(bench, tip.commit, member)
    return None


def _span(bench: Workbench, commit: str, member: Member) -> LandedSpan | None:
    (facts,) = bench.read_commits((commit,))
    if facts is None or not facts.parents:
        return None
    if len(facts.parents) == 1:
        return LandedSpan(member, _before_line(bench, facts.parents[0]), commit)
    first, second = facts.parents[:2]
    if second == member.head:
        return LandedSpan(member, first, commit)
    steps = bench.git("rev-list", "--first-parent", "--parents", second, f"^{first}").lines
    for step in steps:
        merge, *parents = step.split(" ")
        if parents[1:2] == [member.head]:
            return LandedSpan(member, parents[0], merge)
    return None


def _before_line(bench: Workbench, parent: str) -> str:
    """What a line of replayed commits stands on. The queue commits them itself, and only the last one is named."""
    words = ("log", "--first-parent", f"--max-count={REPLAYED_COMMITS_LIMIT}", f"--format={_ROW}", parent)
    rows = [row.split("\0") for row in bench.git(*words).lines if row]
    return next((row[0] for row in rows if row[1] != _OURS or row[2].strip()), rows[-1][0])


def write_reverse(bench: Workbench, main: str, span: LandedSpan, author: bytes, message: str) -> str | NoReverse:
    """A commit on `main` that undoes the change; `author` is a whole header value."""
    tip, before, after = bench.read_commits((main, span.before, span.after))
    assert tip is not None
    assert before is not None
    assert after is not None
    signed = paddock_at(tip.committed_at)
    # Both sides stand on the landed change, so what is merged is the way back from there.
    stand_ins = [
        bench.write_commit(CommitDraft(tree, (after.sha,), signed, signed, b"stand-in\n"))
        for tree in (tip.tree, before.tree)
    ]
    merged = bench.merge(*stand_ins)
    if isinstance(merged, Clash):
        return NoReverse(tuple(map(recordable, merged.paths)))
    if merged == tip.tree:
        return NoReverse()
    return bench.write_commit(CommitDraft(merged, (tip.sha,), author, signed, message.encode()))
