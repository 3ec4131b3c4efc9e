"""Commands that a person copies: no name that an agent has chosen becomes more of them than a name."""

import shlex
from pathlib import Path

import pytest

from paddock.git.lock_files import LeftLock
from paddock.views.document import to_json_line
from paddock.views.notices import lock_notices

REFS = Path("/home/ana/it's here/.git/refs/heads")


@pytest.mark.parametrize("name", ["main.lock", "a b;rm -rf ~;'$(id)`id`.lock", "-rf.lock"])
def test_a_left_lock_is_removed_by_its_quoted_name(name: str) -> None:
    [notice] = lock_notices([LeftLock(REFS / name, 60.0)])
    assert shlex.split(notice.run) == ["rm", str(REFS / name)]


@pytest.mark.parametrize("name", ["\x1b[201~\nid\n.lock", "\u202egol.lock", "\udcff.lock", "x\udcff/main.lock"])
def test_a_left_lock_whose_name_cannot_be_shown_is_only_looked_for(name: str) -> None:
    [notice] = lock_notices([LeftLock(REFS / name, 60.0)])
    assert shlex.split(notice.run) == ["find", str(REFS), "-name", "*.lock", "-ls"]
    assert notice.text.isprintable()
    assert to_json_line(notice)
