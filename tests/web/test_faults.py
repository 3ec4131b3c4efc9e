"""What people and agents do at the same time, and what has grown too large: the server stays small and says why not."""

import fcntl
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import psutil
import pytest

from paddock.core.tasks.task import Phase
from paddock.web.log_threads import MOST_WAITING
from tests.fleet.yard import Yard, commit, play, write
from tests.web.api import serve_api
from tests.web.conftest import SeedYard

MEGABYTE = 1_000_000


def test_two_who_approve_at_once_get_one_approval_and_one_refusal_that_says_so(seed_yard: SeedYard) -> None:
    yard = seed_yard()
    served = serve_api(yard)
    [name, *_] = sorted(name for name, task in yard.board().tasks.items() if task.phase is Phase.APPROVAL)
    together = threading.Barrier(2)

    def approve() -> dict[str, list[dict[str, str]]]:
        together.wait()
        answer: dict[str, list[dict[str, str]]] = served.post("tasks/approve", {"tasks": [{"id": name}]})
        return answer

    with ThreadPoolExecutor(2) as people:
        answers = [answer.result() for answer in [people.submit(approve) for _ in range(2)]]
    [done] = [one for answer in answers for one in answer["done"]]
    [refused] = [one for answer in answers for one in answer["refused"]]
    assert done["id"] == refused["id"] == name
    assert "already in the merge queue" in refused["message"]


def test_a_log_that_nobody_can_write_is_still_read_and_too_many_who_would_are_told_so(yard: Yard) -> None:
    served = serve_api(yard)
    body = b'{"reason": "release"}'
    with ThreadPoolExecutor(MOST_WAITING + 20) as people:
        with yard.log_path.with_name("log.lock").open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            asked = [people.submit(served.ask, "POST", "/api/v1/queue/freeze", body) for _ in range(MOST_WAITING + 20)]
            refused = yard.await_that(lambda: [one for one in asked if one.done()], "a refusal")
            assert [(one.result().status, one.result().error) for one in refused[:1]] == [(503, "busy")]
            for path in ("/healthz", "/api/v1/session", "/api/v1/status"):
                assert served.ask("GET", path).status == 200
        answers = [one.result() for one in asked]
    assert {answer.status for answer in answers} == {200, 503}
    assert {answer.error for answer in answers if answer.status == 503} == {"busy"}


def test_while_another_program_has_locked_the_log_everybody_is_told_so_soon(yard: Yard) -> None:
    served = serve_api(yard)
    other = apsw.Connection(str(yard.log_path))
    other.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE foreign_table(a); ROLLBACK").fetchall()
    with served.stream("view=board") as events:
        assert "locked by another program" in next(events).data["log"]
        assert served.ask("GET", "/healthz").status == 503
        assert served.ask("GET", "/api/v1/status").error == "log"
        assert served.ask("GET", "/static/app.js").status == 200
        other.close()
        assert next(event for event in events if event.kind == "view").data["whole"]["repo"] == yard.top.name
    assert served.ask("GET", "/healthz").status == 200


def test_a_repository_that_was_moved_is_said_to_be_and_is_served_again_when_it_is_back(yard: Yard) -> None:
    served = serve_api(yard)
    elsewhere = yard.top.with_name("elsewhere")
    yard.top.rename(elsewhere)
    for method, path in (("GET", "/api/v1/status"), ("POST", "/api/v1/queue/freeze")):
        answer = served.ask(method, path, b"{}" if method == "POST" else None)
        assert (answer.status, answer.error) == (503, "log")
        assert f"`{yard.top}` was moved or deleted" in answer.json["error"]["message"]
    elsewhere.rename(yard.top)
    assert served.post("queue/freeze", {})["state"] == "frozen"


def test_a_hundred_megabytes_of_transcript_are_read_by_pages_in_little_memory(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Work"))
    yard.run()
    output = yard.attempt_folder("t1.1") / "turn-1.out"
    first, *_, last = output.read_text().splitlines(keepends=True)
    told = json.dumps(
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "x" * 900}]}}
    )
    with output.open("w") as file:
        file.write(first)
        for _ in range(100 * MEGABYTE // len(told)):
            file.write(f"{told}\n")
        file.write(last)
    served = serve_api(yard)
    server = psutil.Process(served.command.pid)
    before = server.memory_info().rss
    page = served.get("tasks/t1/transcript?limit=200")
    assert len(page["entries"]) == 200
    assert page["more_before"]
    earlier = served.get(f"tasks/t1/transcript?limit=200&before={page['first']}")
    assert earlier["entries"][-1]["n"] < page["first"]
    assert len(served.ask("GET", "/api/v1/tasks/t1/raw").body) < 3 * MEGABYTE
    assert server.memory_info().rss - before < 60 * MEGABYTE


def test_no_daemon_is_needed_to_look_and_to_ask(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Work"))
    yard.run()
    served = serve_api(yard)
    assert served.get("session")["daemon"] == "none"
    assert served.get("tasks/t1")["task"]["phase"] == "approval"
    assert served.get("tasks/t1/diff")["files"][0]["path"] == "a.txt"
    assert served.post("tasks/message", {"tasks": ["t1"], "text": "one more thing"})["done"] == [{"id": "t1"}]
    assert served.post("fleet/down", {})["was_up"] is False


def test_the_daemon_is_started_and_ended_from_the_page(yard: Yard) -> None:
    served = serve_api(yard)
    assert served.post("fleet/up", {"most": 1})["was_up"] is False
    yard.await_board(lambda board: "daemon" in board.leases.held, "the daemon")
    assert served.post("fleet/up", {})["was_up"] is True
    assert served.post("fleet/down", {})["was_up"] is True
    assert served.get("session")["daemon"] == "none"


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_settings_that_are_edited_apply_without_a_restart_and_wrong_ones_do_not(yard: Yard, what: str) -> None:
    served, settings = serve_api(yard), yard.top / "paddock.toml"
    assert served.get("config")["agents"] == []
    if what == "file":
        _append(settings, '\n[agents.scout]\nengine = "scripted"\n')
    else:
        folder = Path(yard.top, ".claude", "agents")
        folder.mkdir(parents=True)
        (folder / "scout.md").write_text("---\nname: scout\n---\nLook around.\n")
    yard.await_that(lambda: [one["name"] for one in served.get("config")["agents"]] == ["scout"], "the new agent")
    _append(settings, "\nnonsense = [\n")
    assert served.ask("GET", "/api/v1/session").status == 200


def test_a_decision_about_an_older_version_is_refused_with_both_and_their_difference_can_be_seen(yard: Yard) -> None:
    yard.add(write("a.txt", "one\n"), commit("First"))
    yard.run()
    seen = yard.task().head
    served = serve_api(yard)
    assert served.post("tasks/message", {"tasks": ["t1"], "text": play(write("a.txt", "two\n"), commit("Second"))})[
        "done"
    ]
    yard.run()
    now = yard.task().head
    assert now != seen
    for action in ("approve", "reject"):
        [refused] = served.post(f"tasks/{action}", {"tasks": [{"id": "t1", "head": seen}]})["refused"]
        assert (refused["code"], refused["seen"], refused["now"]) == ("outdated", seen, now)
    [file] = served.get(f"tasks/t1/diff?from={seen}&to={now}")["files"]
    assert [line["t"] for line in file["hunks"][0]["lines"]] == ["one", "two"]
    assert served.post("tasks/reject", {"tasks": [{"id": "t1", "head": now}]})["done"] == [{"id": "t1"}]


def test_a_branch_of_a_persons_is_queued(seed_yard: SeedYard) -> None:
    yard = seed_yard()
    served = serve_api(yard)
    answer = served.ask("POST", "/api/v1/queue/branches", b'{"branches": ["nowhere"]}')
    assert (answer.status, answer.error) == (409, "refused")
    yard.git("branch", "ana/mine", "HEAD~1")
    yard.git("checkout", "-q", "ana/mine")
    (yard.top / "mine.txt").write_text("mine\n")
    yard.git("add", "mine.txt")
    yard.git("-c", "user.name=Ana", "-c", "user.email=ana@example.org", "commit", "-qm", "Mine")
    assert [one["id"] for one in served.post("queue/branches", {"branches": ["ana/mine"]})["done"]] == ["ana/mine"]
    assert served.post("queue/changes/ana/mine/move", {})["id"] == "ana/mine"
    assert served.post("queue/changes/ana%2Fmine/cancel", {"reason": "later"})["id"] == "ana/mine"
    assert served.get("queue/why/ana/mine")["change"]["id"] == "ana/mine"
