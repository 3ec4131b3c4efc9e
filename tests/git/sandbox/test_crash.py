"""kill -9 at every named point of preparing a sandbox, cold and warm; preparing it again converges."""

import signal

import pytest

from paddock.git.sandboxes.sandbox import read_record
from tests.git.checkpoints import SANDBOX_CHECKPOINTS
from tests.git.conftest import commit, git
from tests.git.sandbox.conftest import Yard
from tests.git.sandbox.crash_driver import prepare
from tests.warm import run_apart


def die_at(yard: Yard, sha: str, point: str) -> None:
    code, complaints = run_apart(prepare, str(yard.top), str(yard.folder / "ci"), sha, point)
    assert code == -signal.SIGKILL, complaints


CASES = [(point, "cold") for point in SANDBOX_CHECKPOINTS]
CASES += [(point, "warm") for point in SANDBOX_CHECKPOINTS if point not in ("sandbox.discarded", "sandbox.built")]


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
