"""Linear history for a member: its commits replayed one by one, or squashed into one. Authorship is kept."""

from dataclasses import dataclass, replace

from paddock.git.landing.messages import NamedMember, squash_message, trailers_of, with_trailers, without_claims
from paddock.git.landing.workbench import Clash, CommitDraft, CommitFacts, Workbench, is_plain_identity

REPLAYED_COMMITS_LIMIT = 200  # three git processes each; a longer branch lands as one commit
_COAUTHORS_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Span:
    """Where a member goes: after `parent`, ending in exactly `tree`. `excluded` commits are not its own."""

    part: NamedMember
    excluded: tuple[str, ...]
    parent: str
    parent_tree: str
    tree: str
    committer: bytes


def write_squashed(bench: Workbench, span: Span, trailers: tuple[str, ...]) -> str:
    """One commit with the author of the member's head; other authors are named as co-authors."""
    head = span.part.member.head
    commits = _own_commits(bench, span) or _read(bench, (head,))
    author = _author_in_utf8(_read(bench, (head,))[0], span)
    others = {_name_and_address(_author_in_utf8(commit, span)): None for commit in commits}
    others.pop(_name_and_address(author), None)
    coauthors = [f"Co-authored-by: {name.decode('utf-8', 'replace')}" for name in others]
    squashed = squash_message(span.part, tuple(without_claims(commit.text.encode()).decode() for commit in commits))
    said = {line.casefold() for line in squashed.trailers}
    named = [line for line in coauthors if line.casefold() not in said][:_COAUTHORS_LIMIT]
    all_trailers = (*squashed.trailers, *named, *trailers_of(span.part), *trailers)
    message = with_trailers(squashed.text.encode(), all_trailers)
    draft = CommitDraft(span.tree, (span.parent,), author, span.committer, message)
    return bench.write_commit(draft)


def write_rebased(bench: Workbench, span: Span, trailers: tuple[str, ...]) -> str | None:
    """The member's commits replayed in order, the last one with the trailers; None as for `replay`."""
    return replay(bench, span, (*trailers_of(span.part), *trailers))


def replay(bench: Workbench, span: Span, trailers: tuple[str, ...]) -> str | None:
    """The member's commits written again in order after `span.parent`, with nothing added but the trailers.

    None when that is not possible without a person: a commit does not apply by itself, or the replay does not
    end in the tree that was merged (a merge commit inside the branch resolved something).
    """
    commits = _own_commits(bench, span)
    if not commits or len(commits) > REPLAYED_COMMITS_LIMIT:
        return None
    drafts: list[CommitDraft] = []
    tree = span.parent_tree
    for commit in commits:
        if len(commit.parents) != 1:
            return None
        picked = _pick(bench, span, commit, tree)
        if picked is None:
            return None
        if picked == tree and not _was_empty(bench, commit):
            continue
        message = commit.text.encode() if commit.encoding else commit.message
        drafts.append(CommitDraft(picked, (), _author_in_utf8(commit, span), span.committer, message))
        tree = picked
    if tree != span.tree:
        return None
    return _write_line(bench, span.parent, drafts, trailers)


def _write_line(bench: Workbench, tip: str, drafts: list[CommitDraft], trailers: tuple[str, ...]) -> str:
    for number, draft in enumerate(drafts):
        message = with_trailers(draft.message, trailers if number == len(drafts) - 1 else ())
        tip = bench.write_commit(replace(draft, parents=(tip,), message=message))
    return tip


def _pick(bench: Workbench, span: Span, commit: CommitFacts, tree: str) -> str | None:
    """`commit` applied to `tree`: a merge whose base is the commit's own parent."""
    onto = CommitDraft(tree, commit.parents, span.committer, span.committer, b"stand-in\n")
    merged = bench.merge(bench.write_commit(onto), commit.sha)
    return None if isinstance(merged, Clash) else merged


def _was_empty(bench: Workbench, commit: CommitFacts) -> bool:
    return _read(bench, commit.parents)[0].tree == commit.tree


def _own_commits(bench: Workbench, span: Span) -> tuple[CommitFacts, ...]:
    """What the member itself committed, oldest first, merges left out."""
    listed = bench.git(
        "rev-list",
        "--reverse",
        "--topo-order",
        "--no-merges",
        span.part.member.head,
        *(f"^{sha}" for sha in span.excluded),
    )
    return _read(bench, tuple(listed.lines))


def _read(bench: Workbench, shas: tuple[str, ...]) -> tuple[CommitFacts, ...]:
    return tuple(commit for commit in bench.read_commits(shas) if commit is not None)


def author_of(commit: CommitFacts, span: Span) -> bytes:
    return commit.author if is_plain_identity(commit.author) else span.committer


def _author_in_utf8(commit: CommitFacts, span: Span) -> bytes:
    author = author_of(commit, span)
    return commit.decode(author).encode() if author is commit.author else author


def _name_and_address(identity: bytes) -> bytes:
    return identity.rpartition(b">")[0] + b">"
