"""`--accept` and `--accept-file`: taken down when the task is added, shown to people, hidden from workers."""

import pytest

from paddock.fleet.desk.wire import SERVED_VARIABLE
from tests.cli.conftest import Cli
from tests.cli.test_lease import begin_attempt
from tests.cli.test_workers import marker

TEST = "def test_x():\n    assert False\n"


def accepted(cli: Cli) -> object:
    return cli.good("show", "t1", "--json").json()["accept"]


@pytest.fixture
def written(cli: Cli) -> Cli:
    (cli.top / "tests").mkdir()
    (cli.top / "tests" / "test_x.py").write_text(TEST)
    return cli


def test_the_content_of_a_file_is_taken_when_the_task_is_added(written: Cli) -> None:
    cli = written
    (cli.top / "elsewhere.py").write_text("y = 1\n")
    cli.good(
        *("add", "do it", "--accept", "pytest -q tests", "--accept", "ruff check 'a b'"),
        *("--accept-file", "./tests/test_x.py", "--accept-file", "tests/y.py=elsewhere.py"),
    )
    (cli.top / "tests" / "test_x.py").write_text("nothing")

    assert accepted(cli) == {
        "commands": [["pytest", "-q", "tests"], ["ruff", "check", "a b"]],
        "files": [{"path": "tests/test_x.py", "text": TEST}, {"path": "tests/y.py", "text": "y = 1\n"}],
    }
    shown = cli.good("show", "t1").out
    assert "acceptance\n  pytest -q tests\n  ruff check 'a b'\n  with tests/test_x.py (2 lines)\n" in shown


def test_a_path_is_relative_to_where_one_is(written: Cli) -> None:
    said = written("add", "do it", "--accept", "pytest", "--accept-file", "test_x.py", cwd=written.top / "tests")
    assert said.code == 0, said.err
    assert "with tests/test_x.py" in written.good("show", "t1").out


def test_an_edit_replaces_the_whole_and_an_empty_one_removes_it(written: Cli) -> None:
    written.good("add", "do it", "--accept", "pytest", "--accept-file", "tests/test_x.py")
    written.good("edit", "t1", "--title", "other")
    written.good("edit", "t1", "--accept", "make check")
    assert accepted(written) == {"commands": [["make", "check"]]}
    written.good("edit", "t1", "--accept", "")
    assert accepted(written) is None


@pytest.mark.parametrize(
    ("options", "what", "hint"),
    [
        (("--accept", "make | tee log"), "commands run without a shell, so `|` has no effect", "sh -c 'A | B'"),
        (("--accept-file", "tests/test_x.py"), "nothing would run `tests/test_x.py`", "pytest -q tests/test_x.py"),
        (("--accept", "x", "--accept-file", "none.py"), "`none.py` cannot be read: No such file", "none.py=FILE"),
        (("--accept", "x", "--accept-file", "/etc/hostname"), "is not in this repository", "tests/test_x.py=FILE"),
        (
            ("--accept", "x", "--accept-file", "../a=tests/test_x.py"),
            "its path leads out of its folder",
            "path in the repository",
        ),
        (("--accept", ""), "is empty", "--accept"),
    ],
)
def test_what_cannot_be_accepted_is_refused_with_what_to_write(
    written: Cli, options: tuple[str, ...], what: str, hint: str
) -> None:
    said = written("add", "do it", *options)

    assert said.code == 2
    assert what in said.err
    assert hint in said.err


def test_a_worker_sees_its_task_without_what_must_pass(written: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_attempt(written)
    written.good("edit", "t1", "--accept", "pytest -q", "--accept-file", "tests/test_x.py")
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t1.1")
    monkeypatch.setenv("PADDOCK_MARKER", f"{marker(written)}:t1.1")

    assert accepted(written) is None
    assert "pytest" not in written.good("show", "t1").out
    monkeypatch.setenv(SERVED_VARIABLE, "1")
    said = written("add", "x", "--accept-file", "tests/test_x.py")
    assert said.code == 1
