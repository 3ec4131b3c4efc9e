"""docs/architecture.md walks a task from `add` to landed, and every file and folder it names is there."""

import re

import pytest

from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALK = PAGE.partition("\n## From `add` to landed\n")[2].partition("\n## ")[0]
NAMED = sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", PAGE)))
MOST_STEPS = 15


@pytest.mark.parametrize("name", NAMED)
def test_every_file_and_folder_that_is_named_exists(name: str) -> None:
    assert (ROOT / "src" / "paddock" / name).exists() or (ROOT / name).exists()


def test_the_walk_is_short_and_every_step_names_a_file() -> None:
    steps = re.split(r"^\d+\. ", WALK, flags=re.MULTILINE)[1:]
    assert 0 < len(steps) <= MOST_STEPS
    assert [step for step in steps if not re.search(r"`[a-z_/]+\.py`", step)] == []
