"""kill -9 at every named point of preparing a sandbox, cold and warm; preparing it again converges."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.git.sandboxes.sandbox import read_record
from tests.git.checkpoints import SANDBOX_CHECKPOINTS
from tests.git.conftest import commit, git
from tests.git.sandbox.conftest import Yard

ROOT = Path(__file__).parents[3]


def die_at(yard: Yard, sha: str, point: str) -> None:
    argv = (sys.executable, "-m", "tests.git.sandbox.crash_driver", str(yard.top), str(yard.folder / "ci"), sha, point)
    ended = subprocess.run(argv, check=False, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


CASES = [(point, "cold") for point in SANDBOX_CHECKPOINTS]
CASES += [(point, "warm") for point in SANDBOX_CHECKPOINTS if point != "sandbox.built"]


@pytest.mark.parametrize(("point", "start"), CASES)
def test_a_kill_while_preparing_is_made_good(yard: Yard, point: str, start: str) -> None:
    box = yard.sandbox()
    if start == "warm":
        yard.prepare(box)
    second = commit(yard.top, {"new.txt": "n\n", "README.md": "second\n"})
    die_at(yard, second, point)
    record = read_record(box)
    assert record is not None
    assert record.run == "r1"
    yard.prepare(box, second)
    assert yard.changed_files(box) == ()
    assert git(box.tree, "status", "--porcelain", "--ignored") == ""
    assert yard.start(box, "cat README.md").out == "second\n"
    assert {path.name for path in box.root.iterdir()} == {"s1", "s1.json", "s1.lock"}
