"""The command line in this process, in a repository of its own, with output that does not depend on the machine."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddock.cli.main import run

SOURCE = Path(__file__).parent.parent.parent / "src"


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        return msgspec.json.decode(self.out, type=dict[str, Any])

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line, type=dict[str, Any]) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Cli:
    """`paddock` in the repository at `top`; `shown` text has times, hashes, ages and paths masked."""

    top: Path
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: str, stdin: bytes | None = None, cwd: Path | None = None) -> Said:
        self.monkeypatch.chdir(cwd or self.top)
        self.capture.readouterr()
        if stdin is not None:
            self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(list(arguments))
        said = self.capture.readouterr()
        assert "Traceback" not in said.err
        assert "should not" not in said.err, said.err
        return Said(code, said.out, said.err)

    def good(self, *arguments: str, stdin: bytes | None = None) -> Said:
        said = self(*arguments, stdin=stdin)
        assert said.code == 0, said.err
        return said

    def shown(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Standard output, then standard error behind a line of its own, all masked."""
        said = self(*arguments, stdin=stdin)
        code = f"[exit {said.code}]\n" if said.code else ""
        return mask(said.out + ("--- stderr\n" + said.err if said.err else "") + code, self.top)

    @property
    def log(self) -> Path:
        return self.top / ".git" / "paddock" / "log.db"


def mask(text: str, top: Path) -> str:
    text = text.replace(str(top), "TOP")
    text = re.sub(rf"@{re.escape(os.uname().nodename)} *", "@HOST ", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?( UTC)?", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "HASH", text)
    text = re.sub(r"(?<=/paddock/runs/)[0-9a-f]{8}(?=/)", "LOG", text)
    return re.sub(r"(?m)(?<= )\d+s$", "AGE", text)


def git(directory: Path, *arguments: str) -> str:
    ended = subprocess.run(("git", *arguments), cwd=directory, check=True, capture_output=True, text=True, timeout=60)
    return ended.stdout.strip()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("PADDOCK_", "GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("USER", "ana")
    monkeypatch.setenv("NO_COLOR", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.invalid")
    tools = home / "bin"
    tools.mkdir()
    for program in ("git", "bash", "sh", "tmux"):
        found = subprocess.run(("which", program), check=False, capture_output=True, text=True).stdout.strip()
        if found:
            (tools / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def bare_top(tmp_path: Path) -> Path:
    """A repository with one commit on `main`, nothing else."""
    top = tmp_path / "repo"
    git(tmp_path, "init", "--quiet", "-b", "main", str(top))
    git(top, "commit", "--quiet", "--allow-empty", "-m", "First commit")
    return top


@pytest.fixture
def fresh(bare_top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Before `paddock init`."""
    return Cli(bare_top, capsys, monkeypatch)


@pytest.fixture
def cli(fresh: Cli) -> Cli:
    fresh.good("init", "--yes")
    return fresh


def as_process(*arguments: str, cwd: Path, powerless: bool = False) -> "subprocess.CompletedProcess[str]":
    """The command as a shell would start it; `powerless` takes from root the right to ignore permissions."""
    program = "import sys; from paddock.cli.main import main; main()"
    drop = ("/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search") if powerless else ()
    return subprocess.run(
        (*drop, sys.executable, "-c", program, *arguments),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
