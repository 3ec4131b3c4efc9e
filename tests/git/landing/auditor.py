"""An auditor that knows only git and the rules of the merge queue; it shares no code with Paddock.

Every first-parent tip of main since a known commit is checked again from the outside: what it says it landed,
that it contains that and nothing else, and, when a command is given, that CI passes on it.
"""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Report:
    tips: int
    changes: tuple[str, ...]
    complaints: tuple[str, ...]


def audit_history(
    top: Path, since: str, tip: str, policy: str, ci: Sequence[str] = (), place: Path | None = None
) -> Report:
    line = _git(top, "rev-list", "--first-parent", "--reverse", f"{since}..{tip}").split()
    complaints: list[str] = []
    changes: list[str] = []
    pending: list[str] = []
    old, tips = since, 0
    for commit in line:
        pending += _trailers(top, commit, "Paddock-Change")
        tested = _trailers(top, commit, "Paddock-Tested")
        if not tested:
            continue
        tips += 1
        complaints += _check_tip(top, old, commit, tested, pending, policy)
        if ci and place is not None:
            complaints += _run_ci(top, commit, ci, place)
        changes += pending
        old, pending = commit, []
    if old != tip:
        complaints.append(f"the tip {tip} was never tested")
    if len(set(changes)) != len(changes):
        complaints.append("a change landed twice")
    return Report(tips, tuple(changes), tuple(complaints))


def _check_tip(top: Path, old: str, new: str, tested: list[str], changes: list[str], policy: str) -> list[str]:
    wrong = []
    if tested != [_git(top, "rev-parse", f"{new}^{{tree}}")]:
        wrong.append(f"{new}: the tested tree is another one")
    if not changes:
        wrong.append(f"{new}: lands nothing")
    heads = [change.split()[1] for change in changes]
    parents = _git(top, "log", "-1", "--format=%P", new).split()
    if policy == "merge":
        if parents[0] != old:
            wrong.append(f"{new}: its first parent is not the old main")
        wrong += [f"{new}: {head} is not reachable" for head in heads if not _is_ancestor(top, head, new)]
    elif _git(top, "rev-list", "--merges", f"{old}..{new}"):
        wrong.append(f"{new}: history is not linear")
    foreign = _paths(top, old, new) - _touched(top, old, heads)
    if foreign:
        wrong.append(f"{new}: nobody touched {sorted(foreign)}")
    return wrong


def _touched(top: Path, old: str, heads: list[str]) -> set[str]:
    """What the members touch since they forked, under the names main gives those files now."""
    touched: set[str] = set()
    for head in heads:
        fork = _git(top, "merge-base", old, head)
        own = _paths(top, fork, head)
        renamed = _git(top, "diff", "--name-status", "-M", "--diff-filter=R", fork, old).splitlines()
        pairs = [row.split("\t")[1:] for row in renamed]
        touched |= own | {after for before, after in pairs if before in own}
    return touched


def _paths(top: Path, before: str, after: str) -> set[str]:
    return set(filter(None, _git(top, "diff", "--no-renames", "--name-only", "-z", before, after).split("\0")))


def _trailers(top: Path, commit: str, key: str) -> list[str]:
    said = _git(top, "log", "-1", f"--format=%(trailers:key={key},valueonly)", commit)
    return said.split("\n") if said else []


def _run_ci(top: Path, commit: str, ci: Sequence[str], place: Path) -> list[str]:
    copy = place / commit
    _git(place, "clone", "--quiet", "--shared", "--no-checkout", str(top), str(copy))
    _git(copy, "checkout", "--quiet", "--detach", commit)
    ended = subprocess.run(tuple(ci), check=False, cwd=copy, capture_output=True, timeout=120)
    return [] if ended.returncode == 0 else [f"{commit}: CI is red"]


def _is_ancestor(top: Path, ancestor: str, descendant: str) -> bool:
    argv = ("git", "-C", str(top), "merge-base", "--is-ancestor", ancestor, descendant)
    return subprocess.run(argv, check=False, capture_output=True, timeout=60).returncode == 0


def _git(directory: Path, *args: str) -> str:
    ended = subprocess.run(("git", "-C", str(directory), *args), check=True, capture_output=True, timeout=60)
    return os.fsdecode(ended.stdout).strip("\n")
