"""A CI that cannot run is told from one that fails by what real tools print and how they exit."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from paddock.core.merge.cannot_run import why_cannot_run

CANNOT_RUN = [
    (127, "sh: 1: no-such: not found", "`no-such` was not found"),
    (127, "bash: line 1: nope: command not found", "`nope` was not found"),
    (127, "bash: ./nofile: No such file or directory", "`./nofile` was not found"),
    (127, "/bin/sh: 3: tox: not found", "`tox` was not found"),
    (127, "", "a command was not found"),
    (126, "sh: 1: ./ci.sh: Permission denied", "`./ci.sh` is not executable"),
    (126, "", "a command is not executable"),
    (127, "env: ‘nope’: No such file or directory", "`nope` was not found"),
    (2, "sh: 0: cannot open ./ci.sh: No such file", "`./ci.sh` was not found"),
    (2, "make: *** No rule to make target 'test'.  Stop.", "make has no target `test`"),
    (2, "make: *** No targets specified and no makefile found.  Stop.", "there is no makefile"),
    (2, "/bin/sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127", "`pytest` was not found"),
    (2, "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127", "`pytest` was not found"),
    (2, "make: ./f: Permission denied\nmake: *** [Makefile:6: t3] Error 127", "`./f` is not executable"),
    (2, "make[1]: *** [Makefile:6: t3] Error 126", "a command is not executable"),
    (1, "/usr/bin/python3: No module named pytest", "the Python module `pytest` is not installed"),
    (1, "ModuleNotFoundError: No module named 'yaml.nodes'", "the Python module `yaml.nodes` is not installed"),
    (2, "E   ModuleNotFoundError: No module named 'app'\n= 1 error", "the Python module `app` is not installed"),
    (1, "Error: Cannot find module 'vitest'\n  requireStack: []\n}", "the Node module `vitest` is not installed"),
    (1, 'npm error Missing script: "test"', "package.json has no script `test`"),
    (254, "npm error enoent Could not read package.json: Error: ENOENT", "there is no package.json"),
    (101, "error: could not find `Cargo.toml` in `/src` or any parent directory", "there is no Cargo.toml"),
    (1, "go: cannot find main module, but found .git/config in /src", "there is no go.mod"),
]  # fmt: skip

FAILED = [
    (1, "FAILED tests/test_a.py::test_sum - assert 1 == 2"),
    (1, "sh: 1: optional-tool: not found\nassert 1 == 2"),
    (2, "/bin/sh: 1: optional-tool: not found\nE   assert 1 == 2\nmake: *** [Makefile:2: test] Error 1"),
    (1, ""),
    (None, "ModuleNotFoundError: No module named 'yaml'"),
    (0, "sh: 1: no-such: not found"),
]


@pytest.mark.parametrize(("exit", "output", "why"), CANNOT_RUN, ids=[row[1][:40] or str(row[0]) for row in CANNOT_RUN])
def test_what_is_missing_is_named(exit: int, output: str, why: str) -> None:
    assert why_cannot_run(exit, f"collecting ...\n{output}\n") == why


@pytest.mark.parametrize(("exit", "output"), FAILED)
def test_a_failure_is_a_failure(exit: int | None, output: str) -> None:
    assert why_cannot_run(exit, output) == ""


def test_only_the_end_of_the_output_counts() -> None:
    early = "ModuleNotFoundError: No module named 'optional'\n" + "a test passed\n" * 100 + "assert 1 == 2\n"
    assert why_cannot_run(1, early) == ""


def test_of_a_long_path_the_end_is_named() -> None:
    path = "/home/" + "deep/" * 40 + "tool"
    why = why_cannot_run(127, f"sh: 1: {path}: not found")
    assert why.startswith("`…")
    assert why.endswith("/deep/tool` was not found")
    assert len(why) < 110


@given(st.none() | st.integers(0, 255), st.text())
def test_any_output_can_be_looked_at(exit: int | None, output: str) -> None:
    assert len(why_cannot_run(exit, output)) < 200
