"""What `paddock status` and `show` say of a task its provider keeps refusing."""

import re
import time

from paddock.core.events import AttemptEnded, AttemptStarted, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli


def refuse(cli: Cli, times: int, retry_at: float) -> None:
    store = SqliteStore(cli.log)
    for number in range(1, times + 1):
        attempt = AttemptId(f"t1.{number}")
        started = AttemptStarted("claude", "b" * 40, f"paddock/t1.{number}")
        ended = AttemptEnded(
            Outcome.THROTTLED, Step.RETRY, counted=False, reason="rate limit: slow down", retry_at=retry_at
        )
        drafts = [Draft(event, TaskId("t1"), attempt) for event in (started, ended)]
        store.append(lambda _board, drafts=drafts: drafts, Author("daemon"))  # type: ignore[misc]
    store.close()


def test_a_task_refused_a_dozen_times_waits_and_says_until_when(cli: Cli) -> None:
    cli.good("add", "Do it", "--engine", "claude")
    refuse(cli, 12, time.time() + 1200)
    said = cli.good("status").out
    assert re.search(r"ready +t1 +Do it +claude · rate limit: slow down · retry in (19|20)m · \d+s", said)
    (row,) = cli.good("status", "--json").json()["tasks"]
    assert (row["phase"], row["not_before"] is not None) == ("ready", True)
    assert "attempts  12 (3 retries left)" in cli.good("show", "t1").out


def test_a_person_need_not_wait_for_the_end_of_a_pause(cli: Cli) -> None:
    cli.good("add", "Do it", "--engine", "claude")
    assert "there is nothing to retry" in cli("retry", "t1").err
    refuse(cli, 1, time.time() + 1200)
    cli.good("retry", "t1")
    assert "tried again" not in cli.good("status").out
    assert cli.good("status", "--json").json()["tasks"][0]["not_before"] is None


def test_a_pause_that_is_over_is_not_mentioned(cli: Cli) -> None:
    cli.good("add", "Do it", "--engine", "claude")
    refuse(cli, 1, time.time() - 1)
    assert "tried again" not in cli.good("status").out
