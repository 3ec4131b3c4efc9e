"""What docs/reference/filter.md shows are filters, and it names every field."""

import re

from paddock.core.filter.fields import FIELDS
from paddock.core.filter.parser import parse_filter
from paddock.core.filter.tree import Comparison
from tests.docs.markdown import ROOT, blocks

PAGE = ROOT / "docs" / "reference" / "filter.md"
SECTIONS = dict(part.split("\n", 1) for part in PAGE.read_text().split("\n## ")[1:])


def rows(heading: str) -> list[list[str]]:
    lines = [line for line in SECTIONS[heading].splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_field_has_a_row_with_filters_about_it() -> None:
    found = {cells[0].strip("`"): re.findall(r"`([^`]+)`", cells[-1]) for cells in rows("Fields")}
    assert list(found) == list(FIELDS)
    for name, examples in found.items():
        assert examples
        for text in examples:
            tree = parse_filter(text)
            assert isinstance(tree, Comparison)
            assert tree.field.name == name


def test_what_can_be_written_can_be_read() -> None:
    for cells in rows("What you can write"):
        for text in re.findall(r"`([^`]+)`", cells[0]):
            parse_filter(text.replace("…", "x"))


def test_the_commands_have_filters_that_can_be_read() -> None:
    lines = [line for block in blocks(PAGE) if block.language == "console" for line in block.lines]
    typed = [re.search(r'--where ("[^"]+"|\S+)', line) for line in lines]
    assert len(typed) >= 5
    for found in typed:
        assert found is not None
        parse_filter(found[1].strip('"'))
