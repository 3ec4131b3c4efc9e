"""What an edit of paddock.toml means for a daemon that runs."""

import os
from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.config.schema import Config
from paddock.fleet.service.settings import SETTLE_SECONDS, Adopted, SettingsFile


@pytest.fixture
def file(tmp_path: Path) -> SettingsFile:
    path = tmp_path / "paddock.toml"
    write(path, '[land]\nci = "true"\n')
    return SettingsFile(path, lambda: load_config(tmp_path, {}).config)


def write(path: Path, text: str) -> None:
    """Never the same stamp twice, however coarse the clock of the file system is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def edit_of(file: SettingsFile, current: Config) -> Adopted | None:
    """Looked at twice, some time apart."""
    early = file.read_edit(current, 100.0)
    assert early is None
    return file.read_edit(current, 100.0 + SETTLE_SECONDS)


def adopted(file: SettingsFile, current: Config) -> Adopted:
    found = edit_of(file, current)
    assert isinstance(found, Adopted)
    return found


def test_an_untouched_file_and_a_comment_change_nothing(file: SettingsFile) -> None:
    config = file.load()
    assert edit_of(file, config) is None
    write(file.path, '# a comment\n[land]\nci = "true"\n')
    assert edit_of(file, config) is None


def test_land_and_limits_count_at_once_and_the_rest_later(file: SettingsFile) -> None:
    config = file.load()
    write(
        file.path,
        'engine = "codex"\n[land]\nci = "false"\nslots = 7\nremote = "origin"\n[limits]\nmax_agents = 9\n',
    )
    found = adopted(file, config)
    assert found.keys == ("limits.max_agents", "land.ci", "land.slots")
    assert set(found.later) == {"engine", "land.remote"}
    assert (found.config.land.ci, found.config.land.slots, found.config.limits.max_agents) == ("false", 7, 9)
    assert (found.config.engine, found.config.land.remote) == (config.engine, ""), "not before the next daemon"
    assert edit_of(file, found.config) is None, "told once"


@pytest.mark.parametrize(
    "text", ["[land\n", "[land]\nslots = 0\n", "[land]\nslot = 2\n", "[limits]\nmax_agents = 'x'\n"]
)
def test_a_slip_is_told_once_and_the_file_is_read_again_when_it_is_right(file: SettingsFile, text: str) -> None:
    config = file.load()
    write(file.path, text)
    assert edit_of(file, config) is None
    assert file.problem
    write(file.path, '[land]\nci = "true"\nslots = 5\n')
    assert adopted(file, config).keys == ("land.slots",)
    assert not file.problem


def test_a_slip_that_is_taken_back_is_over_though_nothing_is_adopted(file: SettingsFile) -> None:
    config, before = file.load(), file.path.read_text()
    write(file.path, "[land\n")
    assert edit_of(file, config) is None
    assert "paddock.toml" in file.problem
    write(file.path, before)
    assert edit_of(file, config) is None
    assert not file.problem


def test_a_file_that_is_removed_means_the_defaults(file: SettingsFile) -> None:
    config = file.load()
    file.path.unlink()
    assert adopted(file, config).keys == ("land.ci",)


def test_a_file_that_is_being_written_is_read_when_it_is_whole(file: SettingsFile) -> None:
    config = file.load()
    write(file.path, "")
    assert file.read_edit(config, 100.0) is None
    write(file.path, '[land]\nci = "true"\nslots = 5\n')
    assert file.read_edit(config, 100.0 + SETTLE_SECONDS) is None, "it changed since"
    found = file.read_edit(config, 100.0 + 2 * SETTLE_SECONDS)
    assert isinstance(found, Adopted)
    assert found.keys == ("land.slots",)
