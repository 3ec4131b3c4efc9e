"""The vendored libraries: what the manifest says they are, from nowhere else, and in the wheel."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "paddock" / "web" / "static"
VENDOR = STATIC / "vendor"
FILES: list[dict[str, Any]] = json.loads((VENDOR / "manifest.json").read_text())["files"]
NAMES = [entry["file"] for entry in FILES]
FREE_LICENCES = {"MIT", "Apache-2.0", "BSD-3-Clause"}


def test_the_manifest_names_every_file_there_and_no_other() -> None:
    there = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    licences = {entry["licence_file"] for entry in FILES}
    assert there == {*NAMES, *licences, "manifest.json"}


@pytest.mark.parametrize("entry", FILES, ids=NAMES)
def test_a_vendored_file_is_the_one_its_manifest_describes(entry: dict[str, Any]) -> None:
    assert hashlib.sha256((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert entry["licence"] in FREE_LICENCES
    assert (VENDOR / entry["licence_file"]).read_text().strip()
    assert all(re.fullmatch("[0-9a-f]{64}", part["sha256"]) for part in entry["upstream"])


MODULES = sorted(STATIC.rglob("*.js"))
IMPORT = re.compile(r"""(?:^|[;}\s])(?:from\s*|import\s*|import\()["']([^"'\s]+)["']""", re.MULTILINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(STATIC)))
def test_a_module_imports_only_files_that_are_served_beside_it(module: Path) -> None:
    for target in IMPORT.findall(module.read_text()):
        assert target.startswith("."), f"{module.name} imports {target}"
        assert (module.parent / target).resolve().is_file(), f"{module.name} imports {target}"


@pytest.mark.parametrize("sheet", sorted(STATIC.rglob("*.css")), ids=lambda path: path.name)
def test_a_style_sheet_loads_nothing(sheet: Path) -> None:
    assert not re.search(r"@import|url\(\s*(?![\s\"']*#)", sheet.read_text())


def test_the_page_holds_no_script_no_style_and_no_address_of_elsewhere() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|https?:|src=\"//", page)
    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    assert all(
        link.startswith("/static/") for link in re.findall(r'<(?:link|script)[^>]*?(?:href|src)="([^"]+)"', page)
    )


def test_the_wheel_brings_the_page_with_it(tmp_path: Path) -> None:
    build = "import sys, hatchling.build as backend; print(backend.build_wheel(sys.argv[1]))"
    command = (sys.executable, "-c", build, str(tmp_path))
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    ours = {f"paddock/{path.relative_to(STATIC.parents[1])}" for path in STATIC.rglob("*") if path.is_file()}
    assert ours <= packed
