"""What `scripts/bootstrap` leaves in .venv: a package that is really installed, from locked parts."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, entry_points, version
from pathlib import Path

import pytest

import paddock

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-web.lock", "requirements-dev.lock", "requirements-build.lock")


def test_the_package_is_installed_with_its_metadata_and_its_command() -> None:
    assert version("paddock") == paddock.__version__
    [command] = entry_points(group="console_scripts", name="paddock")
    assert command.value == "paddock.cli.main:main"


def test_the_editable_install_adds_a_path_and_no_import_hook() -> None:
    """A finder would run at every start of Python."""
    files = [str(file) for file in distribution("paddock").files or ()]
    [path_file] = [name for name in files if name.endswith(".pth")]
    assert Path(str(distribution("paddock").locate_file(path_file))).read_text().strip() == str(ROOT / "src")
    assert not [name for name in files if "editable" in name]


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_every_package_with_hashes_and_name_no_host(name: str) -> None:
    text = (ROOT / name).read_text()
    pins = re.findall(r"^[a-z0-9-]+==\S+.*?(?=^[a-z0-9]|\Z)", text, re.MULTILINE | re.DOTALL)
    assert pins
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_every_lock_pins_the_versions_of_the_smaller_ones() -> None:
    run, web, dev = (
        set(re.findall(r"^([a-z0-9-]+==\S+)", (ROOT / name).read_text(), re.MULTILINE)) for name in LOCKS[:3]
    )
    assert run < web < dev
    assert not {"starlette", "uvicorn", "textual", "rich"} & {pin.split("==")[0] for pin in run}


def test_the_build_backend_is_locked() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pinned = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements-build.lock").read_text(), re.MULTILINE))
    assert {re.match(r"[a-z0-9-]+", word)[0] for word in wanted} <= pinned  # type: ignore[index]


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="these tests run in another environment than .venv")
def test_a_current_set_up_is_left_as_it_is() -> None:
    ended = subprocess.run(
        ("sh", "scripts/bootstrap", "dev"),
        cwd=ROOT,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/nonexistent", "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
