"""The map in docs/architecture.md is the code's own: its rooms, who may import whom, its ports."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

# In one process all that is parsed is parsed once.
pytestmark = pytest.mark.xdist_group("architecture")

SOURCE = ROOT / "src" / "paddock"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
LAYERS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists())


def _section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def _rows(heading: str) -> Iterator[list[str]]:
    for line in _section(heading).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            yield cells


def _rooms() -> set[str]:
    return {str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("__init__.py")} - {"."}


@cache
def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name.removeprefix("paddock.") for name in found if name.startswith("paddock.")}


def _allowed() -> dict[str, set[str]]:
    rows = {cells[0].strip("`"): cells[-1] for cells in _rows("Layers") if "/" not in cells[0]}
    return {layer: set(re.findall(r"`([a-z]+)`", allowed)) for layer, allowed in rows.items()}


def test_every_room_is_on_the_map_and_every_room_of_the_map_is_there() -> None:
    assert {cells[0].strip("`") for cells in _rows("Layers")} == _rooms()


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_what_the_map_allows_and_nothing_else(layer: str) -> None:
    used = {name.split(".")[0] for path in (SOURCE / layer).rglob("*.py") for name in _imports(path)}
    assert used & set(LAYERS) - {layer} <= _allowed()[layer]


@pytest.mark.parametrize("layer", LAYERS)
def test_the_linter_bans_exactly_what_the_map_does_not_allow(layer: str) -> None:
    rules = SOURCE / layer / "ruff.toml"
    banned = tomllib.loads(rules.read_text())["lint"]["flake8-tidy-imports"]["banned-api"] if rules.exists() else {}
    layers = {name.removeprefix("paddock.") for name in banned} & set(LAYERS)
    assert layers == set(LAYERS) - {layer} - _allowed()[layer]


def _ports() -> list[tuple[str, list[str]]]:
    """Each port with the modules behind it."""
    return [(cells[0].strip("`"), re.findall(r"`([a-z_/]+\.py)`", cells[-1])) for cells in _rows("Ports")]


def test_ports_and_what_is_behind_them_are_there() -> None:
    assert _ports()
    for port, behind in _ports():
        for module in (port, *behind):
            assert (SOURCE / module).is_file(), module


@pytest.mark.parametrize(("port", "behind"), _ports(), ids=[port for port, _ in _ports()])
def test_nobody_reaches_behind_a_port(port: str, behind: list[str]) -> None:
    hidden = {module.removesuffix(".py").replace("/", ".") for module in behind}
    home = Path(port).parts[0]
    for path in SOURCE.rglob("*.py"):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] != home:
            reached = {name for name in _imports(path) if any(f"{name}.".startswith(f"{one}.") for one in hidden)}
            assert not reached, f"{inside} imports {reached}"
