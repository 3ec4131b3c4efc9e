"""What `paddock status` says about the whole, on a screen of 80 columns."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from textwrap import dedent

import pytest

from paddock.cli.pages import overview
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.columns import columns
from paddock.core.ids import TaskId
from paddock.core.leases.decisions import Granted, acquire
from paddock.core.leases.lease import Holder
from paddock.core.merge import events as qe
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.ledger import LEASE_SECONDS
from paddock.sessions.host import this_process
from paddock.sessions.identity import current_boot, current_space
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "width", lambda: 80)


def record(cli: Cli, *drafts: ev.Draft) -> None:
    store = SqliteStore(cli.log)
    store.append(lambda _: drafts, Author("daemon"))
    store.close()


def deliver(cli: Cli, task: str, cost: float | None = None) -> None:
    started = ev.AttemptStarted(engine="claude", base="a" * 40, branch=f"paddock/{task}", host="h", worktree="/w")
    ended = ev.AttemptEnded(
        Outcome.DELIVERED, Step.APPROVAL, True, head="b" * 40, base="a" * 40, commits=1, reason="1 commit"
    )
    at = {"task": TaskId(task), "attempt": f"{task}.1"}
    record(
        cli,
        ev.Draft(started, **at),  # type: ignore[arg-type]
        ev.Draft(ev.TurnStarted(1), **at),  # type: ignore[arg-type]
        ev.Draft(ev.TurnEnded(1, exit=0, cost_usd=cost, input_tokens=9), **at),  # type: ignore[arg-type]
        ev.Draft(ended, **at),  # type: ignore[arg-type]
    )


def lead(cli: Cli, holder: Holder) -> None:
    def decide(board: Board) -> Sequence[ev.Draft]:
        answer = acquire(board.leases, "daemon", holder, LEASE_SECONDS, time.time())
        assert isinstance(answer, Granted)
        return [ev.Draft(event) for event in answer.events]

    store = SqliteStore(cli.log)
    store.append(decide, Author("daemon"))
    store.close()


def killed_process() -> Holder:
    """One of this host that has just ended."""
    ended = subprocess.run((sys.executable, "-c", "import os; print(os.getpid())"), capture_output=True, check=True)
    return Holder("daemon", os.uname().nodename, int(ended.stdout), 1, current_boot(), pid_space=current_space())


def test_what_needs_a_person_comes_last_and_once_with_its_count_on_top(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer", "--convoy", "parser")
    cli.good("add", "Use it", "--convoy", "parser")
    cli.good("add", "Something else")
    deliver(cli, "t1")
    deliver(cli, "t3")
    assert cli.shown("status") == dedent("""\
        3 tasks: 1 ready, 2 approval; 2 need you
        no daemon is running (`paddock up` starts one) · $0.00 today

        convoy parser  0/2 done
          ○ ready     t2    Use it  AGE

        needs you
          ◆ approval  t1    Rewrite the lexer  1 commit · AGE
                            run: paddock diff t1, then paddock land t1
          ◆ approval  t3    Something else  1 commit · AGE
                            run: paddock diff t3, then paddock land t3
    """)
    assert cli.good("status", "--json").json()["needs_you"] == {"tasks": ["t1", "t3"], "notices": []}
    assert cli.good("status", "--json", "--convoy", "parser").json()["needs_you"]["tasks"] == ["t1"]


def test_a_daemon_at_work_is_named_with_its_age_and_what_today_has_cost(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer")
    deliver(cli, "t1", cost=1.25)
    lead(cli, this_process("daemon"))
    second = cli.shown("status").splitlines()[1]
    assert second.startswith("daemon running for ")
    assert second.endswith(" · $1.25 today")
    said = cli.good("status", "--json").json()
    assert (said["daemon_state"], said["daemon"]["pid"]) == ("running", os.getpid())
    assert said["today"] == {"day": time.strftime("%Y-%m-%d", time.gmtime()), "cost_usd": 1.25, "assumed_usd": 0.0}


def test_a_daemon_that_was_killed_is_told_though_its_lease_outlives_it(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer")
    gone = killed_process()
    lead(cli, gone)
    shown = cli.shown("status")
    assert shown.startswith("1 task: 1 ready; 1 needs you\nthe daemon is gone\n")
    assert shown.splitlines()[-2].startswith(f"  ! the daemon (pid {gone.pid} on ")
    assert shown.splitlines()[-2].endswith("is gone: it was killed, or the machine restarted")
    assert shown.splitlines()[-1] == "    run: paddock up"
    said = cli.good("status", "--json").json()
    assert (said["daemon_state"], said["daemon"]) == ("gone", None)
    assert [(one["kind"], one["run"]) for one in said["needs_you"]["notices"]] == [("daemon-gone", "paddock up")]


def test_a_daemon_elsewhere_that_lets_its_lease_run_out_is_called_silent(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.good("add", "Rewrite the lexer")
    lead(cli, Holder("daemon", "elsewhere", 4711, 1, "other boot"))
    assert cli.shown("status").splitlines()[1].endswith(" on elsewhere")
    later = time.time() + LEASE_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert cli.shown("status").splitlines()[1] == "the daemon is silent"
    assert cli.good("status", "--json").json()["needs_you"]["notices"][0]["kind"] == "daemon-silent"


def test_a_queue_that_does_not_go_on_is_told_whatever_is_queued(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer")
    cli.good("queue", "freeze")
    assert cli.shown("status").splitlines()[1].endswith(" · merge queue frozen")
    record(cli, ev.Draft(qe.QueueHalted("three runs in a row failed")))
    lines = cli.shown("status").splitlines()
    assert lines[0] == "1 task: 1 ready; 1 needs you"
    assert lines[1].endswith(" · merge queue halted")
    assert lines[-2].startswith("  ! merge queue halted: three runs in a row failed; ")
    assert lines[-1] == "    run: paddock queue why main"
    assert cli.good("status", "--json").json()["queue"] == {"state": "halted", "reason": "three runs in a row failed"}


@pytest.mark.usefixtures("narrow")
def test_every_row_fits_eighty_columns(cli: Cli) -> None:
    long = "Rewrite the whole lexer so that it understands every known dialect of the language " * 2
    for title in (long, "日本語の構文解析器を書き直して全ての方言を理解できるようにする" * 2, "🚀👍🏽" * 40, "x" * 19):
        cli.good("add", "Do it", "--title", title, "--engine", "claude")
    cli.good("add", "Wait for it", "--title", long, "--after", "t1,t2,t3,t4", "--engine", "claude")
    deliver(cli, "t2")
    record(cli, ev.Draft(ev.TaskBlocked("the reason " * 30, "paddock retry t4"), task=TaskId("t4")))
    record(cli, ev.Draft(qe.QueueHalted("a run " * 40)))
    lead(cli, killed_process())
    lines = cli.good("status").out.splitlines()
    assert [line for line in lines if columns(line) > 80] == []
    assert any("日本" in line for line in lines)
    assert all(line.rstrip().endswith("s") for line in lines if line[2:3] in "○·◆!" and " t" in line[12:16])


@pytest.mark.usefixtures("narrow")
def test_counts_go_on_in_a_second_line_where_one_is_too_short() -> None:
    parts = [f"{number},000,000 {word}" for number, word in enumerate(("waiting", "ready", "running", "blocked") * 2)]
    lines = overview._flow("8,000,000 tasks: ", parts, ", ")
    assert len(lines) == 3
    assert " ".join(line.strip() for line in lines) == "8,000,000 tasks: " + ", ".join(parts)
    assert max(map(columns, lines)) <= 80


def test_an_empty_log_still_tells_of_a_killed_daemon(cli: Cli) -> None:
    lead(cli, killed_process())
    assert "is gone: it was killed" in cli.shown("status")
