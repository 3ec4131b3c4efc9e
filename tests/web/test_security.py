"""What the server refuses over real connections: strangers, other sites, agents, and those who ask for too much."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice

import pytest

from paddock.core.tasks.task import Phase
from paddock.web.access import TICKET_SECONDS, make_ticket
from paddock.web.connections import MOST_STRANGERS
from paddock.web.routes import ENDPOINTS, PREFIX
from tests.fleet.yard import Yard, commit, write
from tests.warm import PATIENCE_SECONDS
from tests.web.api import Answer, Served, serve_api

APPROVE = b'{"tasks": [{"id": "t1"}]}'


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(yard: Yard) -> None:
    served = serve_api(yard)
    answer = served.ask("GET", f"/tasks/t1?token={served.token}&tab=diff", Authorization=None)
    assert (answer.status, answer.headers["location"]) == (303, "/tasks/t1?tab=diff")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert served.token not in cookie
    page = served.ask("GET", "/tasks/t1", Authorization=None, Cookie=cookie.partition(";")[0])
    assert page.status == 200
    assert b"<!doctype html>" in page.body.lower()


def test_without_the_token_nothing_is_told_but_that_the_server_lives(yard: Yard) -> None:
    yard.add(title="secret plan")
    served = serve_api(yard)
    for path in (
        "/api/v1/status",
        "/api/v1/events",
        "/api/v1/openapi.json",
        "/",
        "/tasks/t1",
        "/?token=wrong",
        "/nowhere",
    ):
        answer = served.ask("GET", path, Authorization=None)
        assert answer.status == 401, path
        assert b"secret" not in answer.body
        assert str(yard.top).encode() not in answer.body
    for one in ENDPOINTS:
        path = f"{PREFIX}{one.path}".replace("{", "").replace("}", "")
        assert served.ask(one.method, path, b"{}", Authorization="Bearer wrong").error == "token", path
        assert served.ask(one.method, path, b"{}", Origin="http://evil.example").error == "origin", path
    health = served.ask("GET", "/healthz", Authorization=None)
    assert (health.status, health.body) == (200, b"ok\n")


def test_every_answer_has_the_headers_that_protect_the_page(yard: Yard) -> None:
    served = serve_api(yard)
    for path in (
        "/",
        "/api/v1/session",
        "/api/v1/nowhere",
        "/nowhere",
        "/healthz",
        "/static/app.js",
        "/static/nowhere",
    ):
        headers = served.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert headers["cache-control"] == ("no-cache" if path in ("/", "/static/app.js") else "no-store")


def test_other_sites_and_names_that_lead_here_are_refused_with_the_right_token(yard: Yard) -> None:
    served = serve_api(yard)
    body = b'{"tasks": [{"brief": "x"}]}'
    for code, headers in (
        ("host", {"Host": "evil.example"}),
        ("host", {"Host": f"127.0.0.1.evil.example:{served.port}"}),
        ("origin", {"Origin": "http://evil.example"}),
        ("origin", {"Origin": "null"}),
        ("origin", {"Origin": "http://127.0.0.1:1"}),
        ("origin", {"Sec-Fetch-Site": "same-site"}),
        ("content-type", {"Content-Type": "text/plain"}),
    ):
        answer = served.ask("POST", "/api/v1/tasks", body, **headers)
        assert (answer.error, answer.status in (403, 415)) == (code, True)
    assert served.ask("GET", "/api/v1/events", Origin="http://evil.example").error == "origin"
    assert served.ask("OPTIONS", "/api/v1/tasks", Origin="http://evil.example").status == 403
    assert not yard.board().tasks


def test_files_outside_of_the_page_are_not_served(yard: Yard) -> None:
    served = serve_api(yard)
    for path in (
        "/static/../serve.py",
        "/static/%2e%2e/serve.py",
        "/static//etc/passwd",
        "/static/..%2fserve.py",
        "//etc/passwd",
    ):
        assert served.ask("GET", path).status == 404, path
    away = served.ask("GET", f"//evil.example/?token={served.token}", Authorization=None)
    assert away.headers.get("location", "/").startswith("/evil.example")


def _raw(served: Served, text: bytes) -> bytes:
    """What is answered before the server closes the connection."""
    with socket.create_connection((served.host, served.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(text)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer


def _head(served: Served, length: object) -> bytes:
    return (
        f"POST /api/v1/tasks HTTP/1.1\r\nHost: {served.name}\r\nAuthorization: Bearer {served.token}\r\n"
        f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def test_a_body_that_is_announced_too_large_is_not_read_and_one_that_does_not_come_is_given_up(yard: Yard) -> None:
    served = serve_api(yard)
    for text, answered in (
        (_head(served, 10**12), rb"HTTP/1.1 413 "),
        (_head(served, "many"), rb"HTTP/1.1 400 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 100_000, rb"HTTP/1.1 4\d\d "),
    ):
        assert re.match(answered, _raw(served, text))
    with ThreadPoolExecutor() as pool:
        half_body = pool.submit(_raw, served, _head(served, 1000) + b'{"tasks"')
        half_head = pool.submit(_raw, served, b"GET /api/v1/status HTTP/1.1\r\nHost")
        assert half_body.result().startswith(b"HTTP/1.1 408 ")
        assert half_head.result() == b""
    assert served.ask("GET", "/healthz").status == 200


def test_strangers_who_keep_connections_open_hold_up_only_each_other(yard: Yard) -> None:
    served = serve_api(yard)
    with ExitStack() as open_ones, served.stream() as events:
        next(events)
        slow = [
            open_ones.enter_context(socket.create_connection((served.host, served.port), PATIENCE_SECONDS))
            for _ in range(300)
        ]
        for connection in slow[-MOST_STRANGERS:]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert served.ask("GET", "/healthz", Authorization=None).status == 200
        assert served.post("queue/freeze", {"reason": "release"})["state"] == "frozen"
        assert next(event.data["seq"] for event in events if event.kind == "record") == yard.records()[-1].seq
        with pytest.raises(ConnectionResetError):
            slow[0].recv(1)


AS_AGENT = """
import http.client, sys
port, token, path = sys.argv[1:4]
asked = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
asked.request("POST", path, b'{"tasks": [{"id": "t1"}]}', headers)
answer = asked.getresponse()
print(answer.status, answer.read().decode())
"""


def test_an_agent_cannot_approve_with_the_token_it_has_found_and_that_it_tried_is_recorded(yard: Yard) -> None:
    """Neither by its own process, nor by one whose environment it has emptied."""
    yard.add(write("a.txt"), commit("Work"))
    yard.run()
    assert yard.task("t1").phase is Phase.APPROVAL
    served = serve_api(yard)
    script = yard.folder / "ask.py"
    script.write_text(AS_AGENT)
    asked = f"{sys.executable} {script} {served.port} {served.token} /api/v1/tasks/approve"
    tries = f"( {asked}; env -i {asked}; setsid {asked} ) > answers.txt"
    yard.add({"run": ["sh", "-c", tries]}, commit("Try"))
    yard.run()
    told = yard.git("show", f"{yard.task('t2').head}:answers.txt").splitlines()
    codes = [(line[:3], json.loads(line[4:])["error"]["code"]) for line in told]
    assert codes == [("403", "worker")] * 3
    assert yard.task("t1").phase is Phase.APPROVAL
    assert yard.attempt("t2").refused == ("web tasks/approve",)
    assert served.post("tasks/reject", {"tasks": [{"id": "t1"}], "message": "a person may"})["done"] == [{"id": "t1"}]


AND_GONE = """
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(sys.stdin.buffer.read())
os._exit(0)
"""


def test_a_request_whose_process_has_ended_changes_nothing(yard: Yard) -> None:
    served = serve_api(yard)
    body = b'{"tasks": [{"brief": "left behind"}]}'
    argv = [sys.executable, "-c", AND_GONE, str(served.port)]
    served.command.send(signal.SIGSTOP)
    for _ in range(3):
        subprocess.run(argv, input=_head(served, len(body)) + body, check=True)
    served.command.send(signal.SIGCONT)
    served.post("tasks", {"tasks": [{"brief": "after them"}]})  # writes are done one after another
    assert [task.title for task in yard.board().tasks.values()] == ["after them"]


def test_hostile_words_come_as_json_and_nothing_else(yard: Yard) -> None:
    served = serve_api(yard)
    title = "<script>alert(1)</script> \u202e\u0007\x1b[31m 💥"
    answer: Answer = served.ask("POST", "/api/v1/tasks", json.dumps({"tasks": [{"brief": title}]}).encode())
    assert answer.status in (200, 400)
    told = served.ask("GET", "/api/v1/log")
    assert told.headers["content-type"] == "application/json"
    assert not re.search(rb"[\x00-\x1f]", told.body)
    assert served.ask("GET", "/api/v1/tasks/%3Cscript%3E/diff").headers["content-type"] == "application/json"


def test_the_ticket_in_the_address_of_a_browser_opens_the_page_once(yard: Yard) -> None:
    served = serve_api(yard)
    ticket = make_ticket(served.token, time.time())
    answer = served.ask("GET", f"/?token={ticket}", Authorization=None)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert served.ask("GET", f"/?token={ticket}", Authorization=None).status == 401
    expired = make_ticket(served.token, time.time() - 2 * TICKET_SECONDS)
    assert served.ask("GET", f"/?token={expired}", Authorization=None).status == 401
    fresh = make_ticket(served.token, time.time())
    assert served.ask("GET", "/api/v1/status", Authorization=f"Bearer {fresh}").status == 401


def test_a_body_that_is_no_text_is_refused(yard: Yard) -> None:
    answer = serve_api(yard).ask("POST", "/api/v1/tasks/message", b'{"tasks": ["t1"], "text": "\xff"}')
    assert (answer.status, answer.error) == (400, "misuse")


def test_what_agents_leave_where_the_server_looks_holds_nobody_up(yard: Yard) -> None:
    """Without a fence they can write there: pipes, and bytes that are no text."""
    yard.add(title="ready")
    state = yard.log_path.parent
    for name in ("limits.json", "waiting.json", "troubles.json", "checkouts", "web-1.json", "samples.jsonl"):
        os.mkfifo(state / name)
    (state / "glance.json").write_bytes(b'{"at": 1, "limit": "\xff"}')
    served = serve_api(yard)
    with served.stream("view=board&view=fleet") as events:
        views = {event.data["of"] for event in islice((one for one in events if one.kind == "view"), 2)}
    assert views == {"board", "fleet"}
    for path in ("board", "fleet", "limits", "status"):
        assert served.ask("GET", f"/api/v1/{path}").status == 200
    assert f":{served.port}/" in yard.paddock("web")
