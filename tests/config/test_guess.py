"""The command that runs the tests is guessed from what the repository has, and only if it can start here."""

import sys
from pathlib import Path

import pytest

from paddock.config.guess import Guess, guess_ci

PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\n"}
VITEST = {"package.json": '{"scripts": {"test": "vitest"}}'}
WITH_PYTEST = '#!/bin/sh\n[ "$3" = "import pytest" ]\n'
WITHOUT_PYTEST = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(tools: Path, **programs: str) -> None:
    for name, text in programs.items():
        (tools / name).write_text(text or "#!/bin/sh\n")
        (tools / name).chmod(0o755)


def repository(tmp_path: Path, files: dict[str, str]) -> Path:
    top = tmp_path / "top"
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    top.mkdir(exist_ok=True)
    return top


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"Makefile": "build:\n\ttrue\ntest: build\n\ttrue\n"}, "make test"),
        ({"Makefile": "check:\n\ttrue\n"}, "make check"),
        ({"GNUmakefile": "test:\n\ttrue\n"}, "make test"),
        ({"Makefile": "test := 1\nbuild:\n\ttrue\n"}, ""),
        (VITEST, "npm test"),
        ({**VITEST, "pnpm-lock.yaml": ""}, "pnpm test"),
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
def test_with_every_program_installed_the_files_decide(
    tmp_path: Path, tools: Path, files: dict[str, str], command: str
) -> None:
    install(tools, make="", npm="", pnpm="", cargo="", go="", python=WITH_PYTEST)
    assert guess_ci(repository(tmp_path, files)) == Guess(command)


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"Makefile": "test:\n\ttrue\n"}, "`make test` would fit, but `make` is not on PATH"),
        (VITEST, "`npm test` would fit, but `npm` is not on PATH"),
        ({"Cargo.toml": ""}, "`cargo test` would fit, but `cargo` is not on PATH"),
        ({"go.mod": ""}, "`go test ./...` would fit, but `go` is not on PATH"),
        (PYTEST, "`python3 -m pytest` would fit, but `python3` is not on PATH"),
    ],
)
def test_what_cannot_start_is_not_guessed_but_named(
    tmp_path: Path, tools: Path, files: dict[str, str], missing: str
) -> None:
    assert tools.is_dir()
    assert guess_ci(repository(tmp_path, files)) == Guess("", missing)


def test_the_next_best_command_that_can_start_is_taken(tmp_path: Path, tools: Path) -> None:
    install(tools, go="")
    files = {"Makefile": "test:\n\ttrue\n", "Cargo.toml": "", "go.mod": ""}
    assert guess_ci(repository(tmp_path, files)) == Guess("go test ./...")


def test_python_has_to_have_pytest(tmp_path: Path, tools: Path) -> None:
    top = repository(tmp_path, PYTEST)
    install(tools, python3=WITHOUT_PYTEST)
    assert guess_ci(top) == Guess("", "`python3 -m pytest` would fit, but `python3` has no module `pytest`")
    install(tools, pytest="")
    assert guess_ci(top) == Guess("pytest")
    install(tools, python3=WITH_PYTEST)
    assert guess_ci(top) == Guess("python3 -m pytest")
    install(tools, python=f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    assert guess_ci(top) == Guess("python -m pytest"), "a real interpreter that has it"
