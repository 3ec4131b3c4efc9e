from pathlib import Path

import pytest

from paddock.git.repo import Repo
from tests.git.conftest import MakeRepo
from tests.git.landing.lab import Lab

POEM = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_repo(files={"poem.txt": POEM, "src/app.py": "print('hello')\n", "README.md": "hello\n"})


@pytest.fixture
def lab(repo: Repo, top: Path) -> Lab:
    return Lab(repo, top)
