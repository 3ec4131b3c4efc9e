"""Moving refs. Every move of a ref in the user's repository is a transaction of this module, and can be repeated.

A git that a signal ends may leave the locks of its transaction behind. So each transaction is noted first, in a file
that is locked by us and by the git that works on it: while the lock is held one of the two lives. A note that nobody
holds names the locks which a dead git of ours may have left (`git/left_locks.py`).
"""

import re
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from paddock.core.lead import BY_HAND, Lead
from paddock.git.command import GitFailed, GitKilled, GitResult, run_git

LEADER = "refs/paddock/leader"  # git/leader.py
ABSENT = "0" * 40  # as `old` of a move: the ref must not exist yet; as `new`: delete it
_PAUSES_SECONDS = (0.05, 0.25, 1.0)
_IN_THE_WAY = re.compile(r"cannot lock ref '[^']+': '(refs/heads/[^']+)' exists")


class RefMove(msgspec.Struct, frozen=True):
    """`ref` from `old` to `new`; where `old` is None it does not matter what it was."""

    ref: str
    new: str
    old: str | None = None


def move_refs(
    common_dir: Path,
    moves: Sequence[RefMove],
    reason: str = "paddock",
    options: tuple[str, ...] = (),
    lead: Lead = BY_HAND,
) -> bool:
    """All of the moves or none; False when a ref was not at its `old`.

    Raises GitFailed when all were, and git could not move them: a lock that another process holds, a full disk.
    A git that a signal ends is started again a few times before that is a GitKilled. Where another daemon leads than
    `lead` says, git itself moves nothing, and Succeeded is raised.
    """
    from paddock.git.left_locks import remove_left_locks  # here because who reads moves nothing

    lead.require()
    moves = tuple(_with_zeros_of_its_length(move, moves) for move in moves)
    for pause in (*_PAUSES_SECONDS, None):
        try:
            result = _transact(common_dir, moves, reason, options, lead)
        except GitKilled:
            remove_left_locks(common_dir)
            if _are_all_done(common_dir, moves):
                return True
            if pause is None:
                raise
            time.sleep(pause)
            continue
        if result.ok:
            return True
        if any(move.old not in (None, at) for move, at in _now(common_dir, moves)):
            return False
        if pause is None or not (_asserts(common_dir, lead) or remove_left_locks(common_dir) or _is_crowded(result)):
            raise GitFailed(result, _what_helps(result))
        time.sleep(pause)
    raise AssertionError("the last round returns or raises")


def read_refs(common_dir: Path, *prefixes: str) -> dict[str, str]:
    """Full ref name to object id, for each of the refs `prefixes` and all below them."""
    listed = run_git(
        common_dir, f"--git-dir={common_dir}", "for-each-ref", "--format=%(refname) %(objectname)", *prefixes
    )
    pairs = (line.rsplit(" ", 1) for line in listed.lines)
    return {name: sha for name, sha in pairs}  # noqa: C416 (dict() loses the pair's type)


def _is_crowded(result: GitResult) -> bool:
    """Whether it waited in vain for the leader's ref, which all transactions of a daemon lock for a moment."""
    return f"{LEADER}.lock'" in result.stderr


def _what_helps(result: GitResult) -> str | None:
    """A ref cannot be a folder of others too."""
    if (found := _IN_THE_WAY.search(result.stderr)) is None:
        return None
    branch = found[1].removeprefix("refs/heads/")
    return f"`{branch}` is in the way of it: rename it with `git branch -m {branch} {branch.replace('/', '-')}-old`"


def _asserts(common_dir: Path, lead: Lead) -> bool:
    """Whether the leader's ref said something else and was put right, by the log's word."""
    if not lead.leader or read_refs(common_dir, LEADER).get(LEADER) == lead.leader:
        return False
    lead.reassert()
    return True


def _transact(
    common_dir: Path, moves: Sequence[RefMove], reason: str, options: tuple[str, ...], lead: Lead
) -> GitResult:
    from paddock.git.left_locks import noted

    words = "".join(f"update {move.ref}\0{move.new}\0{move.old or ''}\0" for move in moves)
    refs = {move.ref: move.new for move in moves}
    if lead.leader:
        words = f"verify {LEADER}\0{lead.leader}\0{words}"
        refs[LEADER] = lead.leader
    with noted(common_dir, refs) as note:
        return run_git(
            common_dir,
            f"--git-dir={common_dir}",
            *options,
            "update-ref",
            "--no-deref",
            "-m",
            reason,
            "--stdin",
            "-z",
            input=words,
            check=False,
            inherit=note.inherit,
        )


def _with_zeros_of_its_length(move: RefMove, moves: Sequence[RefMove]) -> RefMove:
    length = max(len(sha) for other in moves for sha in (other.new, other.old or ""))
    new, old = (sha if sha is None or sha.strip("0") else "0" * length for sha in (move.new, move.old))
    return RefMove(move.ref, new or "", old)


def _now(common_dir: Path, moves: Sequence[RefMove]) -> list[tuple[RefMove, str]]:
    at = read_refs(common_dir, *(move.ref for move in moves))
    return [(move, at.get(move.ref, "0" * len(move.new))) for move in moves]


def _are_all_done(common_dir: Path, moves: Sequence[RefMove]) -> bool:
    return all(at == move.new for move, at in _now(common_dir, moves))
