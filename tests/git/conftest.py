"""Real repositories, quickly: a template is initialised once per run and copied."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paddock.git.repo import Repo, discover

MakeRepo = Callable[..., Repo]


@pytest.fixture(autouse=True)
def plain_git(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No configuration of the machine or the person running the tests, and a fixed identity."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test Person")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


def git(directory: Path, *args: str) -> str:
    """Git as a user would run it: hooks and all. Fails the test when git fails."""
    ended = subprocess.run(
        ("git", "-C", str(directory), *args), check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, f"git {' '.join(args)}: {ended.stderr}"
    return ended.stdout.rstrip("\n")


def write(top: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(top: Path, files: Mapping[str, str], message: str = "change") -> str:
    """Write `files`, commit everything, return the new sha."""
    write(top, files)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(top, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def repo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("template") / "repo"
    subprocess.run(("git", "init", "--quiet", "-b", "main", str(top)), check=True, capture_output=True)
    return top


@pytest.fixture
def make_repo(repo_template: Path, tmp_path: Path) -> MakeRepo:
    """make_repo(name="app", files={...}): a repository on main with one commit (none when files is {})."""

    def make(name: str = "app", files: Mapping[str, str] | None = None) -> Repo:
        top = tmp_path / name
        shutil.copytree(repo_template, top, symlinks=True)
        files = {"README.md": "hello\n", "src/app.py": "print('hello')\n"} if files is None else files
        if files:
            commit(top, files, "first")
        return discover(top)

    return make


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repo:
    return make_repo()


@pytest.fixture
def top(repo: Repo) -> Path:
    """The main working tree of `repo`."""
    assert repo.top is not None
    return repo.top
