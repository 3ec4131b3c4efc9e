from pathlib import Path

import pytest

from paddock.git.repo import Repo
from tests.git.conftest import MakeRepo
from tests.git.usertree.desk import Desk

FILES = {"README.md": "hello\n", "src/app.py": "print('hello')\n", "src/deep/er.txt": "deeper\n", "run.sh": "true\n"}


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_repo(files=FILES)


@pytest.fixture
def desk(repo: Repo, top: Path) -> Desk:
    return Desk(repo, top)
