"""The unit that brings the fleet back after a reboot."""

import os
import shlex
from pathlib import Path

import pytest

from paddock.fleet.service.background import LOG_BYTES, install_unit, render_unit, spawn_daemon
from paddock.git.repo import Repo


@pytest.fixture(autouse=True)
def no_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path))


def repo_at(top: Path) -> Repo:
    return Repo(top / ".git", top / ".git", top, top)


def test_two_repositories_of_one_name_get_two_units(tmp_path: Path) -> None:
    places = [tmp_path / "work" / "app", tmp_path / "play" / "app"]
    first, second = (install_unit(repo_at(place), place) for place in places)
    assert not first[1], "systemd is not there to take it"
    assert first[0].name == "paddock-app.service"
    assert second[0].name.startswith("paddock-app-")
    for place, (path, _) in zip(places, (first, second), strict=True):
        assert f"WorkingDirectory={place}\n" in path.read_text()
    assert install_unit(repo_at(places[0]), places[0]) == first
    assert install_unit(repo_at(places[1]), places[1]) == second


def test_a_folder_with_odd_characters_is_quoted_as_systemd_wants_it() -> None:
    top = Path('/srv/100% "my" $HOME \\ app')
    lines = dict(line.split("=", 1) for line in render_unit(top).splitlines() if "=" in line)
    assert lines["WorkingDirectory"] == '/srv/100%% "my" $HOME \\ app'
    words = shlex.split(lines["ExecStart"])
    assert words[words.index("-C") + 1].replace("%%", "%").replace("$$", "$") == str(top)


def test_a_name_systemd_would_not_take_is_made_plain(tmp_path: Path) -> None:
    top = tmp_path / "my app@home"
    assert install_unit(repo_at(top), top)[0].name == "paddock-my-app-home.service"


def test_a_long_log_of_the_daemon_makes_room_for_a_new_one(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    for size, kept in ((10, False), (LOG_BYTES + 1, True)):
        log.write_bytes(b"x" * size)
        os.waitpid(spawn_daemon(tmp_path, log, ["--no-such-option"]), 0)
        assert (tmp_path / "daemon.log.1").exists() is kept
        assert b"no such option" in log.read_bytes().lower()
