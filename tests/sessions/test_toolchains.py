import os
from pathlib import Path

import pytest

from paddock.sessions.toolchains import find_program, find_toolchains, installation_of, with_real_paths


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def make_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        (".nvm/versions/node/v22/bin/node", ".nvm/versions/node/v22"),
        (".nvm/versions/node/v22/lib/node_modules/cli/cli.js", ".nvm/versions/node/v22/lib/node_modules"),
        (".local/bin/claude", ".local/bin"),
        (".cargo/bin/cargo", ".cargo/bin"),
        ("bin/mine", "bin"),
        (".local/share/claude/versions/2.1/claude", ".local/share/claude/versions/2.1"),
        ("src/app/.venv/bin/python", "src/app/.venv"),
        ("loose", "loose"),
    ],
)
def test_an_installation_is_shown_and_never_what_lies_beside_it(home: Path, program: str, shown: str) -> None:
    assert installation_of(home / program, home) == home / shown


def test_a_program_is_shown_with_every_link_to_it_and_its_interpreter(home: Path) -> None:
    python = make_program(home / "tools/python-3.12/bin/python3.12")
    venv = home / "share/pipx/venvs/aider"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(python)
    make_program(venv / "bin/aider", f"#!{venv}/bin/python\n")
    link = home / ".local/bin/aider"
    link.parent.mkdir(parents=True)
    link.symlink_to(os.path.relpath(venv / "bin/aider", link.parent))
    shown = find_program(str(link), home)
    assert {home / ".local/bin", venv, home / "tools/python-3.12"} <= set(shown)
    assert home not in shown
    assert not any(path in home.parents for path in shown)


def test_links_that_lead_in_a_circle_and_programs_that_are_not_there_are_no_trouble(home: Path) -> None:
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    assert find_program(str(home / "a"), home) == ()
    assert find_program(str(home / "none"), home) == ()


def test_toolchains_are_what_path_and_variables_name_and_the_usual_folders_but_no_logins(home: Path) -> None:
    for folder in (".rustup/toolchains", ".cargo/bin", ".cargo/registry", "jdk/bin", "odd/bin", ".ssh", ".config"):
        (home / folder).mkdir(parents=True)
    (home / ".cargo/credentials.toml").write_text("token")
    path = os.pathsep.join(map(str, ("/usr/bin", "/bin", home / "odd/bin", home / "none/bin", "relative/bin")))
    shown = find_toolchains({"PATH": path, "JAVA_HOME": str(home / "jdk"), "NVM_DIR": "not absolute"}, home)
    wanted = {"odd", "jdk", ".rustup", ".cargo/bin", ".cargo/registry"}
    assert set(shown) == {home / name for name in wanted}


def test_home_itself_is_never_a_toolchain(home: Path) -> None:
    assert find_toolchains({"PATH": str(home), "JAVA_HOME": str(home)}, home) == ()
    assert find_toolchains({"PATH": str(home.parent), "GOROOT": str(home.parent)}, home) == ()


def test_a_path_is_also_shown_as_what_it_really_is(home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to("real")
    assert with_real_paths((home / "link", home / "real")) == (home / "link", home / "real")
