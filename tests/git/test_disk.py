"""Removing what an agent left, whatever it left."""

import os
from pathlib import Path

from paddock.git.disk import remove_tree


def test_folders_deeper_than_python_follows_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "deep"
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(2500):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    remove_tree(top)
    assert not top.exists()
