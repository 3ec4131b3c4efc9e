"""Main on a remote: every answer a remote can give, and none at all."""

import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.git.landing.history import MainSeen, observe_main
from paddock.git.landing.land import Landed, StaleMain, land
from paddock.git.landing.publish import Pushed, Rejected, RemoteMoved, Unreachable, push_main, read_remote
from tests.git.conftest import commit, git
from tests.git.landing.auditor import audit_history
from tests.git.landing.lab import Lab


@dataclass(frozen=True)
class Hub:
    """A bare repository everybody pushes to, and another person's clone of it."""

    bare: Path
    colleague: Path

    @property
    def main(self) -> str:
        return git(self.bare, "rev-parse", "refs/heads/main")

    def colleague_pushes(self, *options: str) -> str:
        git(self.colleague, "pull", "--quiet", "--rebase")
        sha = commit(self.colleague, {"colleague.txt": "c\n"}, "colleague")
        git(self.colleague, "push", "--quiet", *options)
        return sha

    def hook(self, name: str, text: str) -> None:
        path = self.bare / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


@pytest.fixture
def hub(lab: Lab, tmp_path: Path) -> Hub:
    bare, colleague = tmp_path / "hub.git", tmp_path / "colleague"
    git(tmp_path, "clone", "--quiet", "--bare", str(lab.top), str(bare))
    git(tmp_path, "clone", "--quiet", str(bare), str(colleague))
    git(lab.top, "remote", "add", "origin", str(bare))
    git(lab.top, "fetch", "--quiet", "origin")
    return Hub(bare, colleague)


def test_landing_moves_the_remote_and_the_local_branch_follows(lab: Lab, hub: Hub) -> None:
    start = lab.main
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
    git(lab.top, "switch", "--quiet", "--detach")
    assert land(lab.repo, move, "origin") == Landed()
    assert hub.main == lab.main == git(lab.top, "rev-parse", "origin/main") == move.new
    assert audit_history(hub.bare, start, hub.main, "merge").complaints == ()


def test_a_remote_somebody_pushed_to_is_left_alone(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    foreign = hub.colleague_pushes()
    assert land(lab.repo, move, "origin") == StaleMain(foreign)
    assert (hub.main, lab.main) == (foreign, move.old)


def test_a_push_that_loses_the_race_says_where_main_went(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    won: list[str] = []

    def colleague(name: str) -> None:
        if name == "land.flushed":
            won.append(hub.colleague_pushes())

    assert land(lab.repo, move, "origin", checkpoint=colleague) == StaleMain(*won)
    assert lab.main == move.old


def test_a_rewound_remote_is_not_fast_forwarded(lab: Lab, hub: Hub) -> None:
    first = lab.main
    lab.on_main({"2.txt": "2\n"})
    git(lab.top, "push", "--quiet", "origin", "main")
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    git(hub.bare, "update-ref", "refs/heads/main", first)
    assert push_main(lab.repo, "origin", "main", move.new, move.old) == RemoteMoved(first)
    assert hub.main == first
    lab.repo.fetch("origin", "main")
    seen = observe_main(lab.repo, "refs/remotes/origin/main", move.old)
    assert isinstance(seen, MainSeen)
    assert not seen.descends


def test_a_remote_without_the_branch_is_not_given_one(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    git(hub.bare, "update-ref", "-d", "refs/heads/main")
    assert push_main(lab.repo, "origin", "main", move.new, move.old) == RemoteMoved(None)
    assert read_remote(lab.repo, "origin", "main") is None


def test_a_hook_that_declines_is_a_rejection_with_its_words(lab: Lab, hub: Hub) -> None:
    hub.hook("pre-receive", "echo 'main is protected' >&2; exit 1")
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    result = land(lab.repo, move, "origin")
    assert isinstance(result, Rejected)
    assert "hook declined" in result.reason
    assert "main is protected" in result.reason
    assert (hub.main, lab.main) == (move.old, move.old)


def test_an_answer_lost_on_the_way_back_still_counts_as_pushed(lab: Lab, hub: Hub) -> None:
    hub.hook("post-receive", "kill -9 $PPID")
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    assert push_main(lab.repo, "origin", "main", move.new, move.old) == Pushed()
    assert hub.main == move.new


def test_an_unreachable_remote_is_a_value_and_main_stays(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    git(lab.top, "switch", "--quiet", "--detach")
    hub.bare.rename(hub.bare.with_name("gone.git"))
    assert isinstance(land(lab.repo, move, "origin"), Unreachable)
    assert isinstance(push_main(lab.repo, "origin", "main", move.new, move.old), Unreachable)
    assert lab.main == move.old
    hub.bare.with_name("gone.git").rename(hub.bare)
    assert land(lab.repo, move, "origin") == Landed()


def test_a_remote_that_never_answers_is_given_up_after_the_timeout(lab: Lab) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        git(lab.top, "remote", "add", "origin", f"git://127.0.0.1:{silent.getsockname()[1]}/app")
        result = push_main(lab.repo, "origin", "main", move.new, move.old, timeout=0.5)
    assert isinstance(result, Unreachable)
    assert "within 0.5 s" in result.reason


def test_a_local_branch_with_commits_of_its_own_is_left_behind(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    private = lab.on_main({"private.txt": "p\n"})
    assert land(lab.repo, move, "origin") == Landed()
    assert (hub.main, lab.main) == (move.new, private)


def test_landing_again_after_a_push_lets_the_local_branch_follow(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    git(lab.top, "switch", "--quiet", "--detach")
    assert push_main(lab.repo, "origin", "main", move.new, move.old) == Pushed()
    assert lab.main == move.old
    assert land(lab.repo, move, "origin") == Landed()
    assert lab.main == hub.main == move.new


def test_a_local_branch_that_is_checked_out_is_not_moved_and_git_pull_brings_it_up_to_date(lab: Lab, hub: Hub) -> None:
    move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
    git(lab.top, "branch", "--quiet", "--set-upstream-to=origin/main", "main")
    (lab.top / "README.md").write_text("being edited\n")
    assert land(lab.repo, move, "origin") == Landed()
    assert (hub.main, lab.main) == (move.new, move.old)
    assert git(lab.top, "status", "--porcelain") == " M README.md"
    git(lab.top, "pull", "--quiet")
    assert lab.main == hub.main
    assert (lab.top / "1.txt").exists()
    assert git(lab.top, "status", "--porcelain") == " M README.md"
