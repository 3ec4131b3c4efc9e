"""The installer of pinned CLIs, without a network: a stand-in `npm` on the PATH plays the registry."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.real import install as installer
from tests.engines.real.fixtures import ORDINARY_ENGINES, provide_cli, selected_engines

NPM = """#!/bin/sh
echo run >> "$NPM_RUNS"
[ -z "$NPM_FAILS" ] || { echo "no such package"; exit 1; }
mkdir -p node_modules/@openai/codex-here/vendor/machine/bin
printf '#!/bin/sh\\necho codex-cli %s\\n' "$NPM_GIVES" > node_modules/@openai/codex-here/vendor/machine/bin/codex
"""


@pytest.fixture
def npm_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which the stand-in npm writes one line a run; the cache folder is empty."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text(NPM)
    (programs / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NPM_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("NPM_GIVES", installer.PINNED["codex"].version)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "runs"


def leftovers() -> list[Path]:
    return list(installer.cache_root().glob(".staging-*"))


def test_processes_that_install_at_once_install_once(npm_runs: Path) -> None:
    argv = (sys.executable, "-m", "tests.engines.real.install", "codex")
    root = Path(installer.__file__).parents[3]
    running = [subprocess.Popen(argv, cwd=root, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    assert npm_runs.read_text().splitlines() == ["run"]
    assert installer.find("codex") == installer.PINNED["codex"].program
    assert leftovers() == []


def test_a_program_of_another_version_is_not_taken(npm_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPM_GIVES", "0.0.1")
    with pytest.raises(installer.InstallFailed, match=r"0\.0\.1"):
        installer.install("codex")
    assert npm_runs.exists()
    assert installer.find("codex") is None
    assert leftovers() == []


def test_a_staging_folder_left_by_a_killed_install_is_removed(npm_runs: Path) -> None:
    abandoned = installer.cache_root() / ".staging-codex-dead"
    abandoned.mkdir(parents=True)
    installer.install("codex")
    assert npm_runs.exists()
    assert leftovers() == []


def test_a_missing_cli_is_a_skip_that_says_how_to_get_it(npm_runs: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="make engines"):
        provide_cli("codex")
    assert not npm_runs.exists()


def test_a_failed_install_in_ci_is_a_failure_not_a_skip(npm_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("NPM_FAILS", "yes")
    with pytest.raises(installer.InstallFailed, match="no such package"):
        provide_cli("codex")
    assert npm_runs.exists()


@pytest.mark.parametrize("name", sorted(path.name for path in installer.LOCKS.iterdir()))
def test_a_lock_pins_the_version_with_hashes_and_names_no_host(name: str) -> None:
    text = (installer.LOCKS / name / "package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    wanted = packages.pop("")["dependencies"]
    assert list(wanted.values()) == [installer.PINNED[name].version]
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert "://" not in text


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [(None, set(ORDINARY_ENGINES.split(","))), ("aider, gemini", {"aider", "gemini"}), ("all", set(installer.PINNED))],
)
def test_the_environment_chooses_the_engines(
    wanted: str | None, chosen: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if wanted is None:
        monkeypatch.delenv("PADDOCK_TEST_ENGINES", raising=False)
    else:
        monkeypatch.setenv("PADDOCK_TEST_ENGINES", wanted)
    assert selected_engines() == chosen
