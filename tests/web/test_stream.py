"""The stream of events: every record once and in order, whatever happens to pages, the server, the log."""

import http.client
import json
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from paddock.core.events import BudgetSet, Draft
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS
from tests.web.api import Served, Told, serve_api

RECORDS = 3_000
LOST = (OSError, http.client.HTTPException, AssertionError)


def _write(yard: Yard, count: int) -> int:
    """So many records, some alone and some together; the number of the last."""
    with closing(SqliteStore(yard.log_path)) as store:
        left = count
        while left:
            some = min(left, 1 + left % 7)
            store.append(lambda _board, some=some: [Draft(BudgetSet("day", 5.0))] * some, Author("test"))  # type: ignore[misc]
            left -= some
        return store.head()


def _follow(served: Served, last: int, seen: list[int], chance: random.Random) -> None:
    """Until the record `last`, through connections that end at random and servers that come and go."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not seen or seen[-1] < last:
        assert time.monotonic() < give_up_at, f"stopped at {seen[-1:]}"
        leave_after = chance.randint(1, 900)
        try:
            with served.stream(f"after={seen[-1] if seen else 0}&brief=1") as events:
                for event in events:
                    if event.kind == "record":
                        assert event.id is not None
                        seen.append(event.id)
                        leave_after -= 1
                    if leave_after == 0 or (seen and seen[-1] >= last):
                        break
        except LOST:
            time.sleep(0.02)


def _pages(served: Served, last: int, count: int) -> Iterator[tuple[threading.Thread, list[int]]]:
    for number in range(count):
        seen: list[int] = []
        page = threading.Thread(target=_follow, args=(served, last, seen, random.Random(number)), daemon=True)
        page.start()
        yield page, seen


def test_pages_that_come_and_go_see_every_record_once_while_thousands_are_written(yard: Yard) -> None:
    served = serve_api(yard)
    first = yard.records()[-1].seq
    last = first + RECORDS
    pages = list(_pages(served, last, 3))
    assert _write(yard, RECORDS) == last
    for page, seen in pages:
        page.join(PATIENCE_SECONDS)
        assert seen == list(range(1, last + 1))


def test_a_page_goes_on_after_the_server_was_killed_and_started_again_with_the_same_token(yard: Yard) -> None:
    served = serve_api(yard)
    last = yard.records()[-1].seq + 400
    [(page, seen)] = _pages(served, last, 1)
    _write(yard, 200)
    served.command.kill()
    again = serve_api(yard, port=served.port)
    assert again.token == served.token
    _write(yard, 200)
    page.join(PATIENCE_SECONDS)
    assert seen == list(range(1, last + 1))


def _next(events: Iterator[Told], kind: str) -> Told:
    return next(event for event in events if event.kind == kind)


def test_a_live_view_comes_whole_and_then_as_differences_also_after_a_reconnect(yard: Yard) -> None:
    served = serve_api(yard)
    with served.stream("view=queue") as events:
        whole = _next(events, "view").data
        assert whole["whole"]["state"] == "open"
        assert "runs" in whole["tables"]
        served.post("queue/freeze", {"reason": "release"})
        step = _next(events, "view").data
        assert step["set"]["state"] == "frozen"
    served.post("queue/unfreeze", {})
    with served.stream(f"view=queue&have=queue:{step['mark']}") as events:
        step = _next(events, "view").data
        assert "whole" not in step
        assert step["set"]["state"] == "open"
    with served.stream("view=queue&have=queue:deadbeef.7") as events:
        assert "whole" in _next(events, "view").data


def test_a_pulse_comes_at_once_and_tells_where_the_log_is(yard: Yard) -> None:
    served = serve_api(yard)
    with served.stream() as events:
        pulse = _next(events, "pulse").data
        assert (pulse["seq"], pulse["daemon"]) == (yard.records()[-1].seq, "none")


def test_an_unknown_view_or_task_is_refused_before_the_stream_begins(yard: Yard) -> None:
    served = serve_api(yard)
    for view in ("nothing", "task:t9", "task:../x"):
        answer = served.ask("GET", f"/api/v1/events?view={view}")
        assert (answer.status, answer.error) == (404, "unknown")


def test_who_only_asks_for_the_head_of_a_stream_gets_that(yard: Yard) -> None:
    answer = serve_api(yard).ask("HEAD", "/api/v1/events")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_streams_end_at_once_when_the_server_is_asked_to_end(yard: Yard) -> None:
    served = serve_api(yard)
    with served.stream("view=queue") as events:
        _next(events, "view")
        served.command.send(signal.SIGTERM)
        assert served.command.wait() == 0
        assert list(events) == []
    assert not list(yard.log_path.parent.glob("web-*.json"))


def test_a_page_is_told_that_the_log_is_gone_and_goes_on_when_it_is_back(yard: Yard) -> None:
    served = serve_api(yard)
    aside = yard.log_path.with_name("aside.db")
    with served.stream() as events:
        _next(events, "pulse")
        yard.log_path.rename(aside)
        next(event for event in events if event.kind == "pulse" and event.data["log"])
        assert served.ask("GET", "/api/v1/tasks").status == 503
        assert served.ask("GET", "/healthz").status == 503
        aside.rename(yard.log_path)
        next(event for event in events if event.kind == "pulse" and not event.data["log"])
    assert served.ask("GET", "/healthz").status == 200
    assert served.get("tasks")["tasks"] == []


def test_a_client_that_takes_nothing_holds_up_nobody(yard: Yard) -> None:
    """It is sent what the kernel takes, and nothing is kept for it here."""
    served = serve_api(yard)
    _write(yard, RECORDS)
    stuck = socket.create_connection(("127.0.0.1", served.port))
    stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    asked = (
        f"GET /api/v1/events?after=0 HTTP/1.1\r\nHost: {served.name}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    )
    stuck.sendall(asked.encode())
    try:
        seen: list[int] = []
        _follow(served, yard.records()[-1].seq, seen, random.Random(0))
        assert len(seen) == seen[-1]
    finally:
        stuck.close()


@pytest.mark.parametrize("said", ["-1", "x", "99999999999999999999", "1.5"])
def test_a_last_event_id_that_is_no_number_counts_as_nothing(yard: Yard, said: str) -> None:
    served = serve_api(yard)
    with served.stream("after=0", Last_Event_ID=said) as events:
        assert _next(events, "record").id == 1
    assert json.loads(yard.paddock("status", "--json"))["schema"] == 1
