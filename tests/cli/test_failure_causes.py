"""`paddock failures clear`, `settle` and `probe`: what people say about why attempts failed."""

import pytest

from paddock.core.board import Board
from paddock.core.causes.decide import Diagnosis, record_diagnosis
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import AttemptEnded, AttemptStarted, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli
from tests.cli.test_completion import complete


def fail(cli: Cli, cause: FailureCause, *tasks: str, **more: object) -> None:
    """The first attempt of each has failed, for that cause."""
    store = SqliteStore(cli.log)
    names = [AttemptId(f"{task}.1") for task in tasks]
    for task, name in zip(tasks, names, strict=True):
        started = AttemptStarted("scripted", "b" * 40, f"paddock/{task}", host="box", account="scripted")
        ended = AttemptEnded(Outcome.CRASHED, Step.RETRY, counted=True, reason="exit 1")
        drafts = [Draft(event, TaskId(task), name) for event in (started, ended)]
        store.append(lambda _board, drafts=drafts: drafts, Author("daemon"))  # type: ignore[misc]
    diagnosis = Diagnosis("fabc1234", cause, names, "jq: command not found", **more)  # type: ignore[arg-type]
    store.append(lambda board: record_diagnosis(board, diagnosis), Author("daemon"))
    store.close()


def board(cli: Cli) -> Board:
    store = SqliteStore(cli.log)
    found = store.board()
    store.close()
    return found


@pytest.fixture
def failed(cli: Cli) -> Cli:
    for number in (1, 2):
        cli.good("add", f"Task {number}", "--engine", "scripted")
    fail(cli, FailureCause.DEPENDENCY, "t1", "t2")
    return cli


def test_clearing_a_cause_says_which_tasks_go_on(failed: Cli) -> None:
    shown = failed.shown("status")
    assert "dependency: jq: command not found (c1)" in shown
    assert "run: paddock failures clear c1" in shown
    assert failed.shown("failures", "clear", "c1", "--reason", "installed") == (
        "cleared: c1\n2 tasks may go on: t1, t2\n"
    )
    assert [board(failed).tasks[TaskId(name)].phase.value for name in ("t1", "t2")] == ["ready", "ready"]
    assert "c1 (dependency: jq: command not found) cleared by ana@HOST : installed" in failed.shown("log")
    assert failed.shown("failures", "clear", "c1") == (
        "--- stderr\n"
        "error: cause `c1` was cleared already, by ana@HOST : installed\n\n"
        "hint: `paddock failures` lists those that stand\n"
        "[exit 1]\n"
    )


def test_an_attempt_says_which_cause_it_failed_for(failed: Cli) -> None:
    shown = failed.shown("show", "t1")
    assert "failed for c1, which does not count as its failure: `paddock failures` says why" in shown
    assert failed.good("show", "t1", "--json").json()["attempts"][0]["causes"] == ["c1"]


def test_causes_and_attempts_are_offered_where_they_are_asked_for(failed: Cli) -> None:
    assert complete(failed, "paddock failures clear ") == ["plain,c1"]
    assert complete(failed, "paddock failures --probe c") == ["plain,c1"]
    assert complete(failed, "paddock traces diff t1.1 t") == ["plain,t2.1", "plain,t1.1"]
    assert complete(failed, "paddock traces forget ") == []
    failed.good("failures")
    assert complete(failed, "paddock traces list --label ") == ["plain,fleet"]
    assert complete(failed, "paddock traces forget ") == [], "only what was imported"


def test_a_person_settles_what_it_is(failed: Cli) -> None:
    assert failed.shown("failures", "settle", "fabc1234", "network", "--reason", "the proxy") == (
        "c1 is settled: network\n"
    )
    assert failed.good("failures", "settle", "c1", "network", "--json").json()["cause"] == "network"
    assert [board(failed).tasks[TaskId(name)].phase.value for name in ("t1", "t2")] == ["ready", "ready"]
    assert "c1 is settled: network: ana@HOST says so: the proxy" in failed.shown("log")
    assert failed.shown("failures", "settle", "c1", "netwrok") == (
        "--- stderr\nerror: `netwrok` is not a class of causes\n\nhint: did you mean `network`?\n[exit 2]\n"
    )


def test_a_probe_is_added_as_tasks_that_say_what_they_are_for(failed: Cli) -> None:
    shown = failed.shown("failures", "probe", "c1")
    assert shown.splitlines() == [
        "t3 repeats t2.1: unchanged",
        "not tried: another host: this fleet runs its agents on one, box",
        "not tried: another account: no other engine in paddock.toml is like scripted and has another account",
        "when they have ended, c1 is settled if they tell its class; `paddock status` shows how far they are",
    ]
    probe = board(failed).tasks[TaskId("t3")]
    assert (probe.title, probe.allowed, probe.engine) == ("Probe c1: Task 2", 1, "scripted")
    again = failed("failures", "--probe", "c1")
    assert again.code == 1
    assert "cause `c1` is being probed already, by t3" in again.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("clear",), "no cause was named"),
        (("clear", "t1"), "`t1` is not a cause"),
        (("clear", "c7"), "there is no cause `c7`: those that stand are c1"),
        (("settle", "c1", "unknown"), "`unknown` is not a class of causes"),
        (("probe", "c\x1b[31m"), "is not a cause"),
        (("settle", "c1", "task", "--reason", "x" * 201), "the limit is 200"),
    ],
)
def test_what_cannot_be_said_is_refused_with_a_hint(failed: Cli, words: tuple[str, ...], error: str) -> None:
    said = failed("failures", *words)
    assert said.code in (1, 2)
    assert error in said.err
    assert "hint: " in said.err
    assert "\x1b" not in said.err
