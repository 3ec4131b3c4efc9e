"""Commits come back from the git remote: many in one journey, and each is only where it was pushed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Attempt
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.nodes.exchange import FRESH_SECONDS, CommitsGone, CommitsStuck, Exchange
from paddock.fleet.nodes.refs import start_ref, work_ref
from paddock.git.landing.held import delivery_ref
from paddock.git.repo import discover
from tests.fleet.yard import clean_environment

IDENTITY = "0123abcd"


class Remote:
    """A remote with a daemon's repository, and a node's mirror that pushes to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._env = folder, clean_environment(folder)
        self.git("init", "-q", "-b", "main", "node")
        self.git("-C", "node", "commit", "-q", "--allow-empty", "-m", "First")
        self.git("clone", "-q", "--bare", "node", "origin.git")
        self.git("clone", "-q", "origin.git", "app")
        self.base = self.git("-C", "node", "rev-parse", "HEAD")
        self.repo = discover(folder / "app")
        self.exchange = Exchange(self.repo, "origin", IDENTITY)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", *words), cwd=self.folder, env=self._env, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def deliver(self, number: int) -> Attempt:
        name = AttemptId(f"t{number}.1")
        self.git("-C", "node", "commit", "-q", "--allow-empty", "-m", name)
        head = self.git("-C", "node", "rev-parse", "HEAD")
        self.git("-C", "node", "push", "-q", "../origin.git", f"{head}:{work_ref(IDENTITY, name)}")
        return Attempt(name, "scripted", f"paddock/t{number}", self.base, 1.0, ended=2.0, head=head)

    def take_away(self) -> None:
        shutil.rmtree(self.folder / "origin.git")


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote(tmp_path)


def test_what_was_fetched_for_many_needs_no_remote_any_more(remote: Remote) -> None:
    attempts = [remote.deliver(number) for number in (1, 2, 3)]
    remote.exchange.fetch(attempts)
    remote.take_away()
    for attempt in attempts:
        assert remote.exchange.collect(attempt, attempt.head) == attempt.head
        assert remote.repo.resolve(delivery_ref(attempt.id)) == attempt.head
        assert remote.repo.branch_tip(attempt.branch) == attempt.head


def test_one_that_is_missing_keeps_no_other_from_coming(remote: Remote) -> None:
    here, gone = remote.deliver(1), remote.deliver(2)
    remote.git("-C", "origin.git", "update-ref", "-d", work_ref(IDENTITY, gone.id))
    remote.git("-C", "origin.git", "reflog", "expire", "--expire=now", "--all")
    remote.exchange.fetch([here, gone])
    assert remote.exchange.collect(here, here.head) == here.head
    with pytest.raises(CommitsGone, match=r"the commits of t2\.1 are not on `origin` any more"):
        remote.exchange.collect(gone, gone.head)


def test_what_was_pushed_after_it_was_fetched_is_fetched_again(remote: Remote) -> None:
    first = remote.deliver(1)
    remote.exchange.fetch([first])
    later = remote.deliver(1)
    assert remote.exchange.collect(later, later.head) == later.head != first.head


def test_a_remote_that_is_away_is_told_of_when_something_is_collected(remote: Remote) -> None:
    attempt = remote.deliver(1)
    remote.take_away()
    remote.exchange.fetch([attempt])
    with pytest.raises(CommitsStuck, match=r"the commits of t1\.1 cannot be fetched from `origin`"):
        remote.exchange.collect(attempt, attempt.head)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://ana:t0ken@git.example.com/team/app.git", "https://git.example.com/team/app.git"),
        ("https://gh_t0ken@git.example.com/app.git", "https://git.example.com/app.git"),
        ("https://a:p@ss@git.example.com/app.git", "https://git.example.com/app.git"),
        ("https://git.example.com/a@b.git", "https://git.example.com/a@b.git"),
        ("git@git.example.com:team/app.git", "git@git.example.com:team/app.git"),
        ("ssh://git@git.example.com/app.git", "ssh://git@git.example.com/app.git"),
    ],
)
def test_nodes_are_told_of_the_remote_and_of_no_token(remote: Remote, url: str, told: str) -> None:
    remote.git("-C", "app", "remote", "set-url", "origin", url)
    assert Exchange(discover(remote.folder / "app"), "origin", IDENTITY).url() == told


def test_a_remote_beside_the_repository_is_told_by_its_place(remote: Remote) -> None:
    remote.git("-C", "app", "remote", "set-url", "origin", "../origin.git")
    assert Exchange(discover(remote.folder / "app"), "origin", IDENTITY).url() == str(remote.folder / "origin.git")


def test_what_is_needed_or_was_given_a_moment_ago_stays_on_the_remote(remote: Remote) -> None:
    kept, settled = remote.deliver(1), remote.deliver(2)
    remote.exchange.publish([remote.base])
    now = SYSTEM_CLOCK.now()
    remote.exchange.tidy({work_ref(IDENTITY, kept.id)}, now)
    refs = remote.git("-C", "origin.git", "for-each-ref", "--format=%(refname)", "refs/paddock").splitlines()
    assert sorted(refs) == sorted([work_ref(IDENTITY, kept.id), start_ref(IDENTITY, remote.base)]), settled.id
    remote.exchange.tidy({work_ref(IDENTITY, kept.id)}, now + 2 * FRESH_SECONDS)
    refs = remote.git("-C", "origin.git", "for-each-ref", "--format=%(refname)", "refs/paddock").splitlines()
    assert refs == [work_ref(IDENTITY, kept.id)]
