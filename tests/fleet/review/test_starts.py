"""Which reviews are due: the oldest of each reviewer first."""

from pathlib import Path

from paddock.config.schema import Agent, Config, LandSettings
from paddock.core import events as ev
from paddock.core.ids import TaskId, attempt_id
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.review.starts import due_reviews
from paddock.fleet.site import Site
from paddock.git.repo import Repo
from tests.core.ledger import Ledger

NOW = 2_000_000_000.0


def test_those_who_wait_for_one_reviewer_do_not_hide_those_who_wait_for_another() -> None:
    """The worker of another engine gets the other reviewer; many wait for the first."""
    agents = {
        "ada": Agent(role="reviewer", engine="codex"),
        "ben": Agent(role="reviewer", engine="claude"),
    }
    config = Config(engine="claude", land=LandSettings(approval="review"), agents=agents)
    place = Path("/r/.git")
    site = Site(Repo(place, place, Path("/r"), Path("/r")), config, place, "m")
    ledger = Ledger()
    names = [deliver(ledger, "claude") for _ in range(5)]
    last = deliver(ledger, "codex")
    due = due_reviews(site, ledger.board, NOW, 2, None)
    assert [(task.id, task.agent) for task in due] == [(names[0], "ada"), (names[1], "ada"), (last, "ben")]
    assert [task.id for task in due_reviews(site, ledger.board, NOW, 2, {names[4]})] == [names[4]]


def deliver(ledger: Ledger, engine: str) -> TaskId:
    task = ledger.add()
    started = ev.AttemptStarted(engine, "b" * 40, f"paddock/{task}")
    ended = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, True, head="a" * 40, base="b" * 40)
    attempt = attempt_id(task, 1)
    ledger.write(ev.Draft(started, task, attempt), ev.Draft(ended, task, attempt))
    return task
