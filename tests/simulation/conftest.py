import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.git.command import run_git
from paddock.git.repo import Repo, discover


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """One commit on main. Nothing is ever asked of git but where main is."""
    top: Path = tmp_path_factory.mktemp("stage") / "app"
    top.mkdir()
    run_git(top, "init", "-q", "-b", "main")
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
    run_git(top, *who, "commit", "-q", "--allow-empty", "-m", "First")
    return discover(top)


@pytest.fixture
def stage() -> Iterator[Path]:
    """In memory where there is such a place: the daemon writes small files all the time, and here time is short."""
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="paddock-stage-", dir=memory if memory.is_dir() else None))
    yield made
    shutil.rmtree(made)
