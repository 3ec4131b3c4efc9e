"""Files laid over a checkout that somebody else has made, and what commands leave in it."""

import os
from pathlib import Path

import pytest

from paddock.core.events import AcceptFile
from paddock.git.sandboxes.overlay import clear_left, lay_over, read_left
from paddock.git.sandboxes.sandbox import InUse, PreparedSandbox, SandboxOrder, restore_sandbox
from tests.git.sandbox.conftest import Yard

TEST = AcceptFile("tests/deep/test_x.py", "assert False\n")


def test_what_is_laid_over_takes_the_place_of_whatever_is_there(yard: Yard) -> None:
    box = yard.sandbox()
    yard.prepare(box)
    (box.tree / "tests").write_text("a file where a folder is needed")
    lay_over(box, (TEST, AcceptFile("run", "#!/bin/sh\n")))
    assert (box.tree / TEST.path).read_text() == TEST.text
    assert os.access(box.tree / "run", os.X_OK)
    (box.tree / "run").unlink()
    (box.tree / "run").mkdir()
    (box.tree / "run" / "x").touch()
    lay_over(box, (TEST, AcceptFile("run", "plain")))
    assert (box.tree / "run").read_text() == "plain"
    assert not os.access(box.tree / "run", os.X_OK)


@pytest.mark.parametrize("link", ["tests", "tests/deep", "tests/deep/test_x.py"])
def test_no_link_leads_out_of_the_sandbox(yard: Yard, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "test_x.py").write_text("precious")
    (outside / "deep" / "test_x.py").write_text("precious")
    box = yard.sandbox()
    yard.prepare(box)
    (box.tree / link).parent.mkdir(parents=True, exist_ok=True)
    target = outside / "test_x.py" if link.endswith(".py") else outside
    (box.tree / link).symlink_to(target)

    assert read_left(box, TEST.path, 100) is None
    lay_over(box, (TEST,))
    assert (box.tree / TEST.path).read_text() == TEST.text
    assert {path.read_text() for path in outside.rglob("*.py")} == {"precious"}


def test_what_a_command_left_is_read_up_to_a_limit_and_only_if_it_is_a_file(yard: Yard) -> None:
    box = yard.sandbox()
    yard.prepare(box)
    (box.tree / "out.sarif").write_text("12345")
    os.mkfifo(box.tree / "pipe")

    assert read_left(box, "out.sarif", 3) == b"1234"
    assert read_left(box, "pipe", 3) is None
    assert read_left(box, "none/out", 3) is None
    clear_left(box, "out.sarif")
    clear_left(box, "none/out")
    assert read_left(box, "out.sarif", 3) is None


def test_a_sandbox_is_the_commit_again_and_keeps_its_set_up(yard: Yard) -> None:
    box = yard.sandbox()
    yard.prepare(box)
    order = SandboxOrder("r1", yard.main, keep=("/kept/",))
    (box.tree / "kept").mkdir()
    (box.tree / "kept" / "cache").touch()
    lay_over(box, (TEST,))
    tracked = next(p.name for p in box.tree.iterdir() if p.is_file())
    (box.tree / tracked).write_text("edited by a command")

    assert restore_sandbox(box, order) == PreparedSandbox(needs_setup=False)
    assert yard.changed_files(box) == ()
    assert not (box.tree / "tests" / "deep").exists()
    assert (box.tree / "kept" / "cache").exists()
    assert restore_sandbox(box, SandboxOrder("r2", yard.main)) == InUse("r1")
