"""The guess of `paddock init` at the command that runs a repository's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.config.guess import Guess, guess_ci

Programs = Callable[..., None]
PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\n"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Makes the named programs, which exit with `status`, all that is on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(*names: str, status: int = 0) -> None:
        for name in names:
            (folder / name).write_text(f"#!/bin/sh\nexit {status}\n")
            (folder / name).chmod(0o755)

    return make


def repository(tmp_path: Path, files: dict[str, str]) -> Path:
    top = tmp_path / "top"
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"Makefile": "build:\n\ttrue\ntest: build\n\ttrue\n"}, "make test"),
        ({"Makefile": "check:\n\ttrue\n"}, "make check"),
        ({"Makefile": "test := 1\nbuild:\n\ttrue\n"}, ""),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ""),
        ({"package.json": "[1]"}, ""),
        ({"package.json": "{"}, ""),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        (PYTEST, "python -m pytest"),
        ({"pytest.ini": ""}, "python -m pytest"),
        ({"pyproject.toml": '[project]\noptional-dependencies.test = ["pytest>=8"]'}, "python -m pytest"),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["ruff", "pytest"]'}, "python -m pytest"),
        ({"pyproject.toml": '[project]\nname = "pytes"\ndependencies = ["nopytest"]'}, ""),
        ({"pyproject.toml": "", "tests/test_x.py": ""}, "python -m pytest"),
        ({"pyproject.toml": "tool = 3"}, ""),
        ({"pyproject.toml": "not toml"}, ""),
        ({"Makefile": "test:\n\ttrue\n", "Cargo.toml": ""}, "make test"),
    ],
)
def test_the_test_command_is_guessed_from_what_the_repository_has(
    tmp_path: Path, programs: Programs, files: dict[str, str], command: str
) -> None:
    programs("make", "npm", "pnpm", "cargo", "go", "python")
    assert guess_ci(repository(tmp_path, files)).command == command


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"Makefile": "test:\n\ttrue\n"}, "`make test` would fit, but `make` is not on PATH"),
        ({"Cargo.toml": ""}, "`cargo test` would fit, but `cargo` is not on PATH"),
        ({"go.mod": ""}, "`go test ./...` would fit, but `go` is not on PATH"),
    ],
)
def test_a_command_that_cannot_start_is_not_guessed_but_named(
    tmp_path: Path, programs: Programs, files: dict[str, str], missing: str
) -> None:
    programs()
    assert guess_ci(repository(tmp_path, files)) == Guess("", missing)


def test_the_next_command_that_can_start_is_taken(tmp_path: Path, programs: Programs) -> None:
    programs("cargo")
    files = {"Makefile": "test:\n\ttrue\n", "Cargo.toml": ""}
    assert guess_ci(repository(tmp_path, files)).command == "cargo test"


def test_pytest_is_not_guessed_for_a_python_without_it(tmp_path: Path, programs: Programs) -> None:
    programs("python", status=1)
    guess = guess_ci(repository(tmp_path, PYTEST))
    assert guess.command == ""
    assert "pytest" in guess.missing
