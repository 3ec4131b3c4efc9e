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


@pytest.mark.parametrize(
    ("said", "words"), [("tmux 3.1c", []), ("tmux 3.2", ["-d", "4000"]), ("tmux 3.5a", ["-d", "4000"])]
)
def test_what_is_said_in_the_status_line_can_be_read_where_tmux_can_be_told_how_long(
    tmp_path: Path, said: str, words: list[str]
) -> None:
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\ncase $1 in -V) echo '{said}' ;; *) echo \"$@\" >{tmp_path}/told ;; esac\n")
    program.chmod(0o755)
    tmux = find_tmux({"PATH": str(tmp_path), "TMUX": "/socket,1,0"})
    assert tmux is not None
    tmux.say("left t1.1: #1")
    assert (tmp_path / "told").read_text().split() == ["display-message", *words, "left", "t1.1:", "##1"]


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
