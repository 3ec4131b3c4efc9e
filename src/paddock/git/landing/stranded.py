"""Work that began on a main that is gone: moved by somebody who is not the queue, and put back.

Its branch has commits that main had and has lost. They are not its own: to land them would bring back what was taken
away, and what is wrong with them would be blamed on the work. So its own commits are written again on main.
"""

from paddock.core.merge.model import Member
from paddock.git.landing.history import own_work
from paddock.git.landing.linear import Span, author_of, replay
from paddock.git.landing.messages import NamedMember, with_trailers
from paddock.git.landing.workbench import Clash, CommitDraft, Workbench, open_workbench, paddock_at
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import KEPT

KEPT_MAINS = f"{KEPT}/main"


def lost_ground(repo: Repo, main: str, head: str, began: str, *, sure: bool) -> tuple[str, ...]:
    """Commits that were main, that `head` has and `main` has not: the one its work began on, and those that were put
    back. Unless it is `sure` that main has had the first one, it counts only if one that was put back has it."""
    bench = open_workbench(repo)
    beyond = own_work(bench, main, head).commits
    put_back = [commit for commit in repo.loose_tips(KEPT_MAINS) if commit in beyond]
    if began in beyond and (sure or _is_known(repo, bench, began)):
        put_back.insert(0, began)
    return tuple(dict.fromkeys(put_back))


def _is_known(repo: Repo, bench: Workbench, commit: str) -> bool:
    return any(bench.is_ancestor(commit, kept) for kept in repo.refs(KEPT_MAINS).values())


def rebase_own(repo: Repo, main: str, head: str, lost: tuple[str, ...], title: str) -> str | None:
    """`head`'s own commits on `main`, without `lost` and what that stands on: one by one where that is possible, else
    as one commit. None where they do not apply without it, or nothing is left of them."""
    bench = open_workbench(repo)
    base, tip = bench.read_commits((main, head))
    if base is None or tip is None:
        return None
    committer = paddock_at(max(base.committed_at, tip.committed_at))
    # With `lost` among the parents, git merges from there: only what came after it differs.
    onto = CommitDraft(base.tree, (main, *lost), committer, committer, b"stand-in\n")
    tree = bench.merge(bench.write_commit(onto), head)
    if isinstance(tree, Clash) or tree == base.tree:
        return None
    span = Span(NamedMember(Member("", 1, head), title), (main, *lost), main, base.tree, tree, committer)
    if (replayed := replay(bench, span, ())) is not None:
        return replayed
    message = with_trailers((span.part.shown_title or tip.text).encode(), ())
    return bench.write_commit(CommitDraft(tree, (main,), author_of(tip, span), committer, message))
