from pathlib import Path

import pytest

from paddock.git.disk import DiskFloor
from paddock.git.repo import Repo
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.conftest import git


@pytest.fixture
def root(repo: Repo) -> WorktreeRoot:
    return WorktreeRoot(repo, default_root(repo), floor=DiskFloor(0, 0))


@pytest.fixture
def tip(top: Path) -> str:
    return git(top, "rev-parse", "main")
