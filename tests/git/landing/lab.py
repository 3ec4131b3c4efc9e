"""A repository with a main and branches to land on it, for the tests of composing and landing."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.core.merge.model import Member
from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Composed, DoesNotMerge, Policy, Unit, compose
from paddock.git.landing.held import Held, hold_change
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.workbench import Workbench, open_workbench
from paddock.git.repo import Repo
from tests.git.conftest import commit, git

MAIN = "refs/heads/main"


@dataclass(frozen=True, slots=True)
class Lab:
    repo: Repo
    top: Path

    @property
    def bench(self) -> Workbench:
        return open_workbench(self.repo)

    @property
    def main(self) -> str:
        return git(self.top, "rev-parse", MAIN)

    def branch(
        self, name: str, files: Mapping[str, str], start: str = "main", message: str | None = None
    ) -> NamedMember:
        """One commit with `files` on a new branch; the user's checkout goes back to where it was."""
        git(self.top, "checkout", "--quiet", "--detach", start)
        git(self.top, "switch", "--quiet", "-C", name)
        head = commit(self.top, files, message or f"{name} work")
        git(self.top, "switch", "--quiet", "main")
        return part(name, head)

    def branch_elsewhere(self, name: str, files: Mapping[str, str]) -> NamedMember:
        """One commit on main's tip, made in a worktree of its own as an agent would."""
        place = self.top.parent / f"{name}.worktree"
        git(self.top, "worktree", "add", "--quiet", "-b", name, str(place), "main")
        head = commit(place, files, f"{name} work")
        git(self.top, "worktree", "remove", "--force", str(place))
        return part(name, head)

    def on_main(self, files: Mapping[str, str], message: str = "main work") -> str:
        git(self.top, "switch", "--quiet", "main")
        return commit(self.top, files, message)

    def grow(self, name: str, *commands: tuple[str, ...], start: str = "main") -> NamedMember:
        """A branch made by plain git commands run in the working tree."""
        git(self.top, "switch", "--quiet", "-C", name, start)
        for command in commands:
            git(self.top, *command)
        head = git(self.top, "rev-parse", "HEAD")
        git(self.top, "switch", "--quiet", "-f", "main")
        return part(name, head)

    def compose(
        self, *parts: NamedMember, policy: Policy = Policy.MERGE, base: str | None = None
    ) -> Composed | DoesNotMerge:
        return compose(self.bench, Unit(base or self.main, parts, policy))

    def composed(self, *parts: NamedMember, policy: Policy = Policy.MERGE, base: str | None = None) -> Composed:
        result = self.compose(*parts, policy=policy, base=base)
        assert isinstance(result, Composed), result
        return result

    def refused(self, *parts: NamedMember, policy: Policy = Policy.MERGE) -> DoesNotMerge:
        result = self.compose(*parts, policy=policy)
        assert isinstance(result, DoesNotMerge), result
        return result

    def held(self, *parts: NamedMember) -> None:
        for part in parts:
            kept = hold_change(self.repo, part.member, self.main)
            assert isinstance(kept, Held), kept

    def move(self, *parts: NamedMember, policy: Policy = Policy.MERGE) -> Move:
        """The members held, composed on main, and ready to land."""
        self.held(*parts)
        built = self.composed(*parts, policy=policy)
        members = tuple(part.member for part in parts)
        return Move("main", self.main, built.commit, built.tree, members, policy)

    def show(self, format: str, rev: str) -> str:
        return git(self.top, "log", "-1", f"--format={format}", rev)

    def ls(self, tree: str) -> dict[str, str]:
        """path → mode and object, of a tree or commit."""
        rows = git(self.top, "ls-tree", "-r", "-z", tree).split("\0")
        pairs = (row.split("\t", 1) for row in rows if row)
        return {path: " ".join(facts.split()[::2]) for facts, path in pairs}


def part(name: str, head: str, version: int = 1) -> NamedMember:
    return NamedMember(Member(name, version, head), f"Title of {name}")


def merged_in_a_worktree(top: Path, place: Path, base: str, head: str) -> str | None:
    """The tree `git merge` makes in a real worktree, None on conflict."""
    git(top, "worktree", "add", "--quiet", "--detach", "--force", str(place), base)
    try:
        ended = subprocess.run(
            ("git", "-C", str(place), "merge", "--quiet", "--no-ff", "-m", "merge", head),
            check=False,
            capture_output=True,
            timeout=60,
            env={**os.environ, "LC_ALL": "C"},
        )
        return git(place, "rev-parse", "HEAD^{tree}") if ended.returncode == 0 else None
    finally:
        git(top, "worktree", "remove", "--force", str(place))
