"""What a repository's settings come to."""

from pathlib import Path

import pytest

from paddock.config.schema import Config, Worktrees
from paddock.fleet.site import Site
from paddock.git.repo import Repo


def first_block(top: Path, settings: Worktrees | None = None) -> range:
    repo = Repo(top / ".git", top / ".git", top, top)
    return Site(repo, Config(worktrees=settings or Worktrees()), top / ".git", "m").root.ports.block(1)


def test_fleets_of_one_machine_begin_at_different_ports() -> None:
    assert first_block(Path("/srv/one")) != first_block(Path("/srv/two"))
    assert first_block(Path("/srv/one")) == first_block(Path("/srv/one"))


@pytest.mark.parametrize("first", [20_000, 40_000])
def test_ports_begin_where_the_person_says(first: int) -> None:
    assert first_block(Path("/srv/one"), Worktrees(first_port=first, ports=3)) == range(first, first + 3)
