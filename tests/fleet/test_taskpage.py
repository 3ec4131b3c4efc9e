"""The page of a task: its whole way in words, its versions and what differs between them, live as it goes."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Record
from paddock.core.ids import TaskId, harmless
from paddock.fleet.glance import Glance
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.codec import decode_row
from paddock.store.protocol import Query
from paddock.views.queue.run_log import view_run_log
from paddock.views.sight import Sight
from paddock.views.tasks.diff import view_task_diff, view_versions_diff
from paddock.views.tasks.page import LiveTask, TaskPage
from paddock.views.tasks.transcript import PageRequest, view_page, view_prompt, view_raw_page
from tests.fleet.yard import Yard, commit, write
from tests.histories.record import FOLDER, Line

T1 = TaskId("t1")


def workspace_of(yard: Yard) -> Workspace:
    return Workspace(discover(yard.top))


def matching(records: Iterable[Record], query: Query) -> Iterable[Record]:
    for record in records:
        kind = type(record.event).kind
        wanted = (
            query.kind is None or kind == query.kind or (query.kind[-1] == "*" and kind.startswith(query.kind[:-1]))
        )
        if query.after < record.seq <= (query.until or record.seq) and query.task in (None, record.task) and wanted:
            yield record


def sight_of(workspace: Workspace, board: Board, records: list[Record]) -> Sight:
    now = time.time()
    outlook = Outlook(now, look_for_daemon(board, now))
    return Sight(workspace, board, outlook, Glance(), lambda query: matching(records, query), now)


def look(yard: Yard, live: LiveTask | None = None) -> TaskPage:
    return (live or LiveTask(T1)).look(sight_of(workspace_of(yard), yard.board(), yard.records()))


def steps(page: TaskPage) -> list[str]:
    return [row.step for row in page.timeline.values() if row.step]


@pytest.mark.parametrize("history", sorted(path.stem for path in FOLDER.glob("*.jsonl")))
def test_whoever_follows_a_task_sees_what_a_newcomer_sees(yard: Yard, history: str) -> None:
    lines = (FOLDER / f"{history}.jsonl").read_bytes().splitlines()
    records = [decode_row(msgspec.json.decode(line, type=Line).row()) for line in lines]
    workspace, board, done = workspace_of(yard), Board(), []
    followers: dict[TaskId, LiveTask] = {}
    for record in records:
        board.apply(record)
        done.append(record)
        for name in board.tasks:
            followers.setdefault(name, LiveTask(name))
        if record.task is not None or record.seq == len(records):
            seen = followers if record.seq == len(records) else [TaskId(str(record.task))]
            for name in seen:
                page = followers[name].look(sight_of(workspace, board, done))
                assert page.timeline == LiveTask(name).look(sight_of(workspace, board, done)).timeline
    for name, live in followers.items():
        sight = sight_of(workspace, board, done)
        again, fresh = live.look(sight), LiveTask(name).look(sight)
        assert again == fresh
        assert live.look(sight).timeline is again.timeline
        text = msgspec.json.encode(again).decode()
        assert harmless(text) == text


def test_an_unknown_task_is_refused(yard: Yard) -> None:
    with pytest.raises(PaddockError, match="no task"):
        look(yard)


def test_the_way_of_a_task_from_its_brief_to_main(yard: Yard) -> None:
    (yard.top / "paddock.toml").write_text('engine = "scripted"\n[land]\nci = "echo checked"\n')
    yard.git("commit", "-qam", "CI")
    first, second = [write("a.txt", "one\n"), commit()], [write("a.txt", "two\n"), write("b.txt"), commit()]
    yard.add_all([{"title": "A task", "brief": f"Do <b>it</b>. <<SCRIPT {json.dumps(first)} SCRIPT>>"}])
    live = LiveTask(T1)
    assert [choice.action for choice in look(yard, live).choices if choice.allowed] == ["cancel", "edit"]
    yard.run()
    page = look(yard, live)
    assert steps(page) == ["added", "t1.1 started", "delivered v1"]
    assert page.task.may[:2] == ("approve", "reject")
    assert page.transcript is not None
    again = f"Once more. <<SCRIPT {json.dumps(second)} SCRIPT>>"
    yard.paddock("reject", "t1", "-m", again)
    yard.run()
    page = look(yard, live)
    assert steps(page)[3:5] == ["rejected", "t1.2 continues"]
    assert steps(page)[-1] == "delivered v2"
    assert [one.version for one in page.versions] == [1, 2]
    yard.paddock("land", "t1")
    yard.run()
    page = look(yard, live)
    assert steps(page)[-4:] == ["approved", "queued", "r2 passed", "landed"]
    [run] = page.runs.values()
    assert (run.state, run.members) == ("pass", ("t1",))
    assert page.task.phase == "landed"
    assert page == look(yard)

    workspace = workspace_of(yard)
    with yard.log() as store:
        board = store.board()
        task, site = board.task(T1), workspace.site
        landed = view_task_diff(site, board, task)
        assert [(one.path, one.insertions) for one in landed.files] == [("a.txt", 1), ("b.txt", 1)]
        between = view_versions_diff(site, task, page.versions[0].head, page.versions[1].head)
        assert [(one.path, one.status) for one in between.files] == [("a.txt", "M"), ("b.txt", "A")]
        with pytest.raises(Misuse, match="not a commit"):
            view_versions_diff(site, task, "--output=x", "HEAD")
        with pytest.raises(PaddockError, match="not there any more"):
            view_versions_diff(site, task, "0" * 40, page.versions[0].head)
        log = view_run_log(site, run.run, None, None, is_live=False)
        assert log.text.splitlines()[0] == "checked"
        last = task.attempts[-1]
        told = view_page(site, store, task, last, last.turn, PageRequest())
        assert told.opening is not None
        assert [one.text for one in told.opening.said] == [again]
        assert any(entry["type"] == "call" for entry in told.entries)
        assert view_raw_page(site, last, last.turn, None).size > 0
        with pytest.raises(PaddockError, match="has no turn 7"):
            view_page(site, store, task, last, 7, PageRequest())
        assert "Do <b>it</b>" in view_prompt(site, store, task).text
    assert Path(yard.top, "a.txt").read_text() == "two\n"
