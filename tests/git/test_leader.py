"""Refs move only in the name of the daemon that leads: git itself refuses the others."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.core.lead import Succeeded
from paddock.fleet.seat import RepositorySeat
from paddock.git import refs
from paddock.git.leader import name_leader
from paddock.git.refs import ABSENT, LEADER, RefMove
from paddock.git.repo import Repo, discover
from tests.git.conftest import git

OWN = {"git/refs.py"}


@dataclass
class Crown:
    """A lead that only the ref can dispute. `log` is who leads by the log."""

    repo: Repo
    generation: int
    log: list[int]
    leader: str = ""
    post: str = ""
    sign: str = ""
    asked: list[str] = field(default_factory=list)

    def take(self) -> Repo:
        self.leader = name_leader(self.repo, self.generation, "mine", self.check)
        return self.repo.led_by(self)

    def check(self) -> None:
        if self.log[-1] != self.generation:
            raise Succeeded("by the log another leads")

    def require(self) -> None:
        """It has just looked."""

    def reassert(self) -> None:
        self.asked.append("the log")
        self.check()
        self.take()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    top = tmp_path / "app"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    for name in ("one", "two"):
        git(top, "commit", "-q", "--allow-empty", "-m", name)
    return discover(top)


def lead(repo: Repo, log: list[int]) -> Repo:
    log.append(len(log) + 1)
    return Crown(repo, len(log), log).take()


def shas(repo: Repo) -> tuple[str, str]:
    return str(repo.resolve("main~1")), str(repo.resolve("main"))


def test_a_former_daemons_moves_fail_whatever_they_are(repo: Repo) -> None:
    log: list[int] = []
    old, new = shas(repo)
    former = lead(repo, log)
    assert former.update_ref("refs/paddock/a", old, ABSENT)
    lead(repo, log)
    before = repo.refs("refs")
    moves = (
        [RefMove("refs/heads/main", old, new)],
        [RefMove("refs/paddock/a", ABSENT, old)],
        [RefMove("refs/paddock/b", old, ABSENT)],
        [RefMove("refs/paddock/a", new)],
        [RefMove("refs/paddock/a", new, old), RefMove("refs/heads/main", old, new)],
    )
    for some in moves:
        with pytest.raises(Succeeded):
            former.move_refs(some)
    assert repo.refs("refs") == before


def test_the_one_that_leads_and_people_beside_it_move_them(repo: Repo) -> None:
    log: list[int] = []
    old, new = shas(repo)
    lead(repo, log)
    now = lead(repo, log)
    assert now.update_ref("refs/heads/main", old, new)
    assert repo.update_ref("refs/heads/main", new, old)
    assert not now.update_ref("refs/heads/main", new, old), "it is there already"


def test_the_ref_tells_which_generation_of_which_log_leads(repo: Repo) -> None:
    log: list[int] = []
    lead(repo, log)
    lead(repo, log)
    assert repo.git("cat-file", "blob", LEADER).text == "generation 2 of log mine"


def test_one_that_lost_the_lease_does_not_take_the_ref_back(repo: Repo) -> None:
    log = [1]
    former = Crown(repo, 1, log)
    former.take()
    lead(repo, log)
    named = repo.refs(LEADER)
    with pytest.raises(Succeeded):
        former.take()
    assert repo.refs(LEADER) == named


def test_a_ref_that_somebody_moved_or_deleted_is_put_right_by_the_logs_word(repo: Repo) -> None:
    log: list[int] = []
    old, new = shas(repo)
    now = lead(repo, log)
    for wrong in (old, ABSENT):
        repo.update_ref(LEADER, wrong, str(repo.refs(LEADER)[LEADER]))
        assert now.update_ref("refs/paddock/a", new, ABSENT)
        assert now.update_ref("refs/paddock/a", ABSENT, new)
    assert isinstance(now.lead, Crown)
    assert now.lead.asked == ["the log", "the log"]


def test_a_successor_of_another_log_replaces_the_former_of_the_one_before(repo: Repo) -> None:
    """Generations begin again in a new log; what the ref said before does not matter, the log does."""
    first = Crown(repo, 7, [7])
    first.take()
    name_leader(repo, 1, "another", lambda: None)
    assert repo.git("cat-file", "blob", LEADER).text == "generation 1 of log another"


def test_a_ref_that_does_not_stay_is_named(repo: Repo) -> None:
    old, new = shas(repo)
    places = [old, new] * 50

    def meddle() -> None:
        repo.git("update-ref", LEADER, places.pop())

    with pytest.raises(PaddockError, match="does not stay where it is put"):
        name_leader(repo, 1, "mine", meddle)


def test_transactions_that_wait_for_the_leaders_ref_in_vain_are_tried_again(repo: Repo) -> None:
    """All those of one daemon lock it for a moment, and git gives up on the lock after a while."""
    now, (_, new) = lead(repo, []), shas(repo)
    lock = repo.common_dir / f"{LEADER}.lock"
    lock.touch()
    threading.Timer(0.2, lock.unlink).start()
    assert now.update_ref("refs/paddock/a", new, ABSENT, options=("-c", "core.filesRefLockTimeout=10"))


def test_every_ref_of_the_users_repository_is_moved_in_one_place() -> None:
    """Elsewhere only HEADs of worktrees are, and refs in repositories of their own."""
    source = Path(refs.__file__).parents[1]
    files = [path for path in source.rglob("*.py") if '"update-ref"' in path.read_text()]
    assert [str(path.relative_to(source)) for path in files if str(path.relative_to(source)) not in OWN] == []


def test_refs_that_leave_no_room_for_the_leaders_are_removed(repo: Repo) -> None:
    head = git(repo.common_dir, "rev-parse", "HEAD")
    for name in ("x", "y/z"):
        git(repo.common_dir, "update-ref", f"{LEADER}/{name}", head)
    crown = Crown(repo, 1, [1])
    crown.take()
    assert repo.refs(LEADER) == {LEADER: crown.leader}


def test_a_folder_in_the_place_of_the_leaders_file_is_replaced(repo: Repo, tmp_path: Path) -> None:
    seat = RepositorySeat(repo, tmp_path, "mine")
    (tmp_path / "leader" / "deep").mkdir(parents=True)
    seat.show(3, lambda: None)
    assert seat.read() == seat.sign(3)
