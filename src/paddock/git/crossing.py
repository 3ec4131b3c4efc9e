"""One change's files of some sort beside the rest of another change: a commit that nobody made, for a trial."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.git.landing.workbench import CommitDraft, open_workbench, paddock_at
from paddock.git.repo import Repo
from paddock.git.usertree.versions import DIFFERENCES, ENTER_VERSIONS, Change, index_rows, parse_differences

_MADE = paddock_at(0)  # the same two changes make the same commit
_MESSAGE = b"Files of one change beside those of another\n"


@dataclass(frozen=True, slots=True)
class Edits:
    """What was made of `base`: for each path its version there and in `head`."""

    base: str
    head: str
    files: Mapping[str, Change]


def read_edits(repo: Repo, base: str, head: str) -> Edits:
    """A rename is a file that is gone and another that is new."""
    return Edits(base, head, parse_differences(repo.git(*DIFFERENCES, base, head).records))


def cross(repo: Repo, donor: Edits, host: Edits, moves: Callable[[str], bool]) -> str:
    """The tree of `host` in which the files that `moves` are as `donor` left them, and as `host` found them where
    `donor` did not touch them. Returns the commit, which no ref holds."""
    restored = {path: old for path, (old, _) in host.files.items() if moves(path)}
    brought = {path: new for path, (_, new) in donor.files.items() if moves(path)}
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repo.git("read-tree", host.head, env=env)
        repo.git(*ENTER_VERSIONS, input=index_rows({**restored, **brought}), env=env)
        tree = repo.git("write-tree", env=env).text
    draft = CommitDraft(tree, (host.base,), _MADE, _MADE, _MESSAGE)
    return open_workbench(repo).write_commit(draft)
