"""tmux as people have it: missing, too old, or with panes that are found by the process in them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.sessions.tmux import Tmux, find_tmux


def test_where_it_is_not_installed_there_is_none(tmp_path: Path) -> None:
    assert find_tmux({"PATH": str(tmp_path)}) is None


@pytest.mark.parametrize(("said", "fits"), [("tmux 1.8", False), ("tmux 2.5", False), ("tmux 2.6a", True)])
def test_one_that_is_too_old_is_refused(tmp_path: Path, said: str, fits: bool) -> None:
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    if fits:
        assert find_tmux({"PATH": str(tmp_path), "TMUX": "/socket,1,0"}) == Tmux(str(program), inside=True)
        return
    with pytest.raises(PaddockError, match=r"is too old: 2\.6 is needed") as refused:
        find_tmux({"PATH": str(tmp_path)})
    assert refused.value.hint is not None
    assert "--here" in refused.value.hint


@pytest.fixture
def tmux(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tmux]:
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    folder = tempfile.mkdtemp(prefix="pk-", dir="/tmp")  # a socket's path may not be long
    monkeypatch.setenv("TMUX_TMPDIR", folder)
    monkeypatch.delenv("TMUX", raising=False)
    yield Tmux(program, inside=False)
    subprocess.run((program, "kill-server"), env=dict(os.environ), capture_output=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)


def test_a_pane_is_found_by_its_process(tmux: Tmux, tmp_path: Path) -> None:
    assert tmux.panes() == []
    words = ("/bin/sh", "-c", 'echo "$1" >said; exec sleep 1000', "x", 'it\'s "quoted"; $HOME #{pane_id}')
    pane = tmux.open_session("paddock-a-t1", "t1", tmp_path, (100, 30), words)
    assert tmux.find_pane(pane.pid) == pane
    assert tmux.find_pane(1) is None
    assert tmux.find_session("paddock-a-t1") == pane
    assert tmux.find_session("paddock-a") is None, "a name is not a prefix"
    tmux.describe(pane, "t1: #(touch evil) is text ")
    assert not (tmp_path / "evil").exists()
    with pytest.raises(PaddockError, match="tmux refused `new-session`: duplicate session"):
        tmux.open_session("paddock-a-t1", "t1", tmp_path, (0, 0), words)
