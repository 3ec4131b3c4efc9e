"""The merge queue's picture: complete, true to the queue, and the same objects for what has not changed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import pytest

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.events import Record
from paddock.core.leases.lease import Holder, Lease
from paddock.core.merge import events as qe
from paddock.core.merge.model import Purpose, Queue, Result
from paddock.fleet.glance import Glance
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.protocol import Query
from paddock.views.document import iso, to_json
from paddock.views.queue.picture import LiveQueue, Picture
from paddock.views.sight import Sight
from tests.core.merge.lab import Lab, change, started_lab
from tests.core.merge.test_recent import records

RUNNING = DaemonSighting(Presence.RUNNING, Lease(DAEMON_LEASE, 1, Holder("daemon", "here", 1), 0.0, 1e12))


@dataclass
class Eye:
    """Looks at a lab's queue as a reader of its log would."""

    workspace: Workspace
    lab: Lab
    daemon: DaemonSighting = RUNNING
    asked: list[Query] = field(default_factory=list)

    @property
    def sight(self) -> Sight:
        board = Board()
        for record in records(self.lab):
            board.apply(record)
        now = self.lab.now
        return Sight(self.workspace, board, Outlook(now, self.daemon), Glance(), self.ask, now)

    def ask(self, query: Query) -> Iterator[Record]:
        self.asked.append(query)
        for record in records(self.lab):
            kind = type(record.event).kind
            told = query.kind is None or kind == query.kind or (query.kind == "queue.*" and kind.startswith("queue."))
            if told and query.after < record.seq <= (query.until or record.seq) and record.at >= (query.since or 0.0):
                yield record


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("repo")
    (folder / "paddock.toml").write_text("[land]\nslots = 8\n")
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    return Workspace(discover(folder))


def searched_lab() -> Lab:
    """Eight slots under load; two changes clash, so a train fails and is searched."""
    lab = started_lab(8)
    lab.truth.clashes.add(frozenset({("t2", 1), ("t5", 1)}))
    for number in range(40):
        lab.submit(change(f"t{number}", title=f"change {number}"))
    for _ in range(60):
        lab.wake()
        trains = [run for run in lab.queue.running.values() if run.confirms is not None]
        if trains:
            return lab
        lab.tick()
        lab.finish(min(lab.processes, key=lambda run: int(run[1:])))
    raise AssertionError("no train was searched")


def test_the_picture_holds_every_running_run_and_every_queued_change_once(workspace: Workspace) -> None:
    lab = searched_lab()
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert isinstance(msgspec.json.decode(to_json(picture), type=Picture), Picture)
    running = {name for name, row in picture.runs.items() if row.ended is None}
    assert running == set(lab.queue.running)
    standing = picture.standing
    everywhere = [
        *standing.waiting,
        *standing.screening,
        *standing.passed,
        *standing.riding,
        *standing.suspects,
    ]
    assert sorted(everywhere) == sorted(lab.queue.entries) == sorted(picture.changes)
    shown = [name for one in picture.next for name in one.members]
    assert sorted(shown) == sorted(lab.queue.entries)
    assert {row.kind for row in picture.runs.values()} >= {"train", "screen", "search", "main"}
    assert picture.words.startswith("Landing. The next ")
    assert "is being searched" in picture.words
    assert all(one.at is not None for one in picture.next[:-1])


def test_the_search_of_a_failed_train_is_a_tree_of_its_halves(workspace: Workspace) -> None:
    lab = searched_lab()
    search = LiveQueue().look(Eye(workspace, lab).sight).search
    assert search is not None
    assert not search.done
    assert search.title.startswith("Which of the ")
    failed = lab.queue.ended[search.run]
    assert search.tree.members == tuple(member.id for member in failed.members)
    assert search.tree.state == "failed"
    below = [name for half in search.tree.halves for name in half.members]
    assert sorted(below) == sorted(search.tree.members)
    assert "running" in {half.state for half in search.tree.halves}
    assert search.hints[-1] == "Two failures at least before any blame."
    lab.settle()
    done = LiveQueue().look(Eye(workspace, lab).sight).search
    assert done is None or done.done


def test_looking_again_gives_the_same_rows_and_reads_only_what_is_new(workspace: Workspace) -> None:
    lab = searched_lab()
    eye, live = Eye(workspace, lab), LiveQueue()
    first = live.look(eye.sight)
    again = live.look(eye.sight)
    assert len(eye.asked) == 1
    assert all(again.runs[name] is row for name, row in first.runs.items())
    assert all(again.changes[name] is row for name, row in first.changes.items())
    lab.tick()
    ended = min(lab.processes)
    lab.finish(ended)
    lab.wake()
    later = live.look(eye.sight)
    assert eye.asked[-1].after == len(records(lab)[: eye.asked[0].until])
    assert later.runs[ended].ended == iso(lab.now)
    assert all(later.runs[name] is row for name, row in first.runs.items() if name != ended and row.ended is not None)


def test_a_picture_asked_for_again_reads_only_what_is_new_and_is_never_older_than_the_log(workspace: Workspace) -> None:
    lab = searched_lab()
    eye, live = Eye(workspace, lab), LiveQueue()
    live.whole(eye.sight, 40)
    lab.submit(change("t99"))
    stays, asked = live.look(eye.sight).order, live.whole(eye.sight, 180)
    assert "t99" not in stays, "a stream may leave it for a moment"
    assert (asked.order[-1], asked.minutes) == ("t99", 180)
    assert [query.after for query in eye.asked] == [0, eye.asked[0].until]
    assert asked == LiveQueue().look(eye.sight, 180)


def test_a_run_is_shown_only_within_the_window_that_is_asked_for(workspace: Workspace) -> None:
    lab = started_lab(8)
    lab.submit(change("t1"))
    lab.settle()
    lab.now += 50 * 60
    eye, live = Eye(workspace, lab), LiveQueue()
    assert not live.look(eye.sight).runs
    longer = live.look(eye.sight, 180)
    assert len(longer.runs) == 2
    assert [tip.members for tip in longer.tips if tip.run] == [("t1",)]
    assert longer.words == "Nothing is queued. What is approved appears here, is tested and lands."


def test_while_frozen_it_says_who_and_since_when_and_planned_runs_have_no_times(workspace: Workspace) -> None:
    lab = searched_lab()
    lab.record(qe.QueueFrozen("release day"))
    lab.now += 120
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert (picture.state, picture.by, picture.reason) == ("frozen", "ana@host", "release day")
    assert picture.since == iso(lab.now - 120)
    assert picture.words.startswith("Frozen by ana@host 2m ago (release day): nothing lands; testing goes on.")
    assert picture.planned
    assert all(run.starts is None for run in picture.planned)
    assert all(one.at is None for one in picture.next)
    assert picture.all_at is None


def test_who_paused_it_long_ago_is_looked_up(workspace: Workspace) -> None:
    lab = started_lab(2)
    lab.record(qe.QueuePaused("moving house"))
    lab.now += 3 * 86400
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert (picture.by, picture.reason) == ("ana@host", "moving house")
    assert picture.words.startswith("Paused by ana@host 3d ago (moving house): no run starts")


def test_without_a_daemon_nothing_is_promised(workspace: Workspace) -> None:
    lab = searched_lab()
    picture = LiveQueue().look(Eye(workspace, lab, DaemonSighting(Presence.NONE, None)).sight)
    assert "no daemon runs" in picture.words
    assert all(one.at is None for one in picture.next)


def test_a_halted_queue_says_why_and_that_main_is_red(workspace: Workspace) -> None:
    lab = started_lab(2)
    lab.push_foreign("evil", bad=True)
    lab.settle()
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert picture.state == "halted"
    assert picture.main.state == "red"
    assert picture.words.startswith("Halted ")
    assert "main is red" in picture.words


def test_verdicts_tell_what_was_decided_and_by_which_run(workspace: Workspace) -> None:
    lab = started_lab(4)
    lab.submit(change("bad"))
    lab.submit(change("good"))
    lab.truth.bad.add(("bad", 1))
    lab.settle()
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    outcomes = {(row.outcome, row.change) for row in picture.verdicts}
    assert {("landed", "good"), ("rejected", "bad"), ("failed", "bad")} <= outcomes
    assert all(row.run for row in picture.verdicts if row.outcome in ("landed", "failed", "rejected"))
    assert (picture.today.landed, picture.today.rejected) == (1, 1)
    assert picture.learnt.runs_per_landed is not None
    assert picture.learnt.slots_real <= 8


def test_a_failure_that_passes_the_second_time_is_a_flake(workspace: Workspace) -> None:
    lab = started_lab(2)
    lab.submit(change("t1"))
    lab.wake()
    lab.tick()
    lab.finish(next(iter(lab.processes)), Result.FAIL)
    lab.settle()
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert [row.change for row in picture.verdicts if row.outcome == "flake"] == ["t1"]
    assert picture.today.flakes == 1


def test_a_queue_that_never_saw_main_is_empty_and_whole(workspace: Workspace) -> None:
    lab = Lab(slots=2)
    picture = LiveQueue().look(Eye(workspace, lab).sight)
    assert (picture.main.state, picture.runs, picture.planned, picture.search) == ("unknown", {}, [], None)
    assert lab.queue == Queue()
    assert Purpose.TRAIN.value not in picture.words
