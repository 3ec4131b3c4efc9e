"""What may be asked of a change before it is accepted, and what is said of what may not."""

import shlex
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.acceptance import (
    FILES_LIMIT,
    MOST_COMMANDS,
    MOST_FILES,
    check_acceptance,
    make_acceptance,
    read_command,
)
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, edit_task
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Change
from tests.core.ledger import Ledger

T1 = TaskId("t1")
PASSES = ev.Acceptance((("pytest", "-q"),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pytest -q tests/test_x.py", ("pytest", "-q", "tests/test_x.py")),
        (
            "pytest 'tests/test_x.py::test_a[1]' -k \"a and b\"",
            ("pytest", "tests/test_x.py::test_a[1]", "-k", "a and b"),
        ),
        ("grep -c '$HOME | x' file", ("grep", "-c", "$HOME | x", "file")),
        ("sh -c 'make && ./run > out'", ("sh", "-c", "make && ./run > out")),
        ("ls *.py", ("ls", "*.py")),
        (r"echo a\;b \$HOME 5$", ("echo", "a;b", "$HOME", "5$")),
    ],
)
def test_a_command_is_split_as_a_shell_would(text: str, words: tuple[str, ...]) -> None:
    assert read_command(text) == words


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("make test | tee log", "`|`"),
        ("make && make test", "`&&`"),
        ("make; make test", "`;`"),
        ("make > log", "`>`"),
        ("echo $(date)", "`$(`"),
        ('echo "$(date)"', "`$(`"),
        ("echo `date`", "`"),
        ('ls "$HOME"', "`$H…`"),
        ("make\nmake test", "a new line"),
        ("DEBUG=1 make", "`DEBUG=…` sets nothing"),
        ("pytest 'tests", "no closing quotation"),
    ],
)
def test_what_only_a_shell_understands_is_refused(text: str, what: str) -> None:
    with pytest.raises(Misuse) as refused:
        read_command(text)
    assert what in refused.value.message
    assert refused.value.hint


@given(st.lists(st.text(min_size=1), min_size=1))
def test_words_that_were_quoted_are_read_as_they_were(words: list[str]) -> None:
    quoted = shlex.join(words)
    name, is_assignment, _ = words[0].partition("=")
    if not (is_assignment and name.isidentifier()):
        assert read_command(quoted) == tuple(words)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(Misuse):
        make_acceptance([text], {"a": "b"})


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x", "a/../../x", ".git/hooks/pre-commit", "a/.GIT/config"),
        *("a\nb", "a\0b", "C:/x", "a//b", "./a", "a" * 300),
    ],
)
def test_a_file_is_at_a_path_of_the_repository(path: str) -> None:
    with pytest.raises(Misuse):
        make_acceptance(["pytest"], {path: ""})


@pytest.mark.parametrize(
    ("commands", "files", "what"),
    [
        ((), {"tests/test_x.py": ""}, "nothing would run `tests/test_x.py`"),
        ((" ",), {}, "is empty"),
        (("x",) * (MOST_COMMANDS + 1), {}, "limit"),
        ((("x",) * 201,), {}, "limits"),
        ((("x", "\0"),), {}, "NUL"),
        ((("x", "\udcff"),), {}, "UTF-8"),
        (("x",), {f"f{n}": "" for n in range(MOST_FILES + 1)}, "limit"),
        (("x",), {"f": "x" * (FILES_LIMIT + 1)}, "limit"),
        (("x",), {"f": "\0"}, "NUL"),
        (("x",), {"f": "\udcff"}, "UTF-8"),
        (("x",), {"a": "", "a/b": ""}, "both a file and a folder"),
    ],
)
def test_what_is_too_much_or_makes_no_sense_is_refused(
    commands: tuple[str, ...], files: dict[str, str], what: str
) -> None:
    with pytest.raises(Misuse) as refused:
        make_acceptance(commands, files)
    assert what in refused.value.message


def test_a_file_that_is_named_twice_is_refused() -> None:
    with pytest.raises(Misuse, match="twice"):
        check_acceptance(ev.Acceptance((("x",),), (ev.AcceptFile("a", "1"), ev.AcceptFile("a", "2"))))


def test_nothing_at_all_is_no_acceptance() -> None:
    assert make_acceptance((), {}) is None


def test_a_task_has_its_acceptance_until_an_edit_replaces_or_removes_it() -> None:
    ledger, known = Ledger(), Known()
    ledger.write(*add_tasks(ledger.board, Batch((TaskSpec("do it", accept=PASSES),)), known))
    first = ledger.task("t1").accept_seq
    ledger.write(*edit_task(ledger.board, T1, ev.TaskEdited(priority=2), known))
    assert ledger.task("t1").accept_seq == first != 0
    ledger.write(*edit_task(ledger.board, T1, ev.TaskEdited(accept=PASSES), known))
    assert ledger.task("t1").accept_seq > first
    ledger.write(*edit_task(ledger.board, T1, ev.TaskEdited(accept=None), known))
    assert ledger.task("t1").accept_seq == 0


def test_what_a_queued_change_must_pass_is_fixed() -> None:
    ledger = Ledger()
    ledger.attempt(ledger.add(), "approval", head="a" * 40)
    change = Change("t1", 1, "a" * 40, "b" * 40, task="t1")
    ledger.write(ev.Draft(ev.TaskApproved("a" * 40), task=T1), ev.Draft(ChangeQueued(change), task=T1))
    with pytest.raises(PaddockError, match="in the merge queue") as refused:
        edit_task(ledger.board, T1, ev.TaskEdited(accept=PASSES), Known())
    assert "paddock queue cancel t1" in (refused.value.hint or "")


def test_a_bad_acceptance_is_refused_with_the_place_it_came_from() -> None:
    ledger = Ledger()
    bad = TaskSpec("do it", where="plan.yaml: task 1", accept=ev.Acceptance(((),)))
    with pytest.raises(Misuse, match=r"^plan\.yaml: task 1: "):
        add_tasks(ledger.board, Batch((bad,)), Known())
