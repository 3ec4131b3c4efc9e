"""The API: what can be read and asked for, and how it refuses."""

import json

from prometheus_client.parser import text_string_to_metric_families

from tests.fleet.landing.lab import Farm
from tests.fleet.yard import Yard
from tests.web.api import serve_api


def test_status_is_what_the_command_prints(yard: Yard) -> None:
    yard.add_all([{"brief": "one", "key": "a"}, {"brief": "two", "after": ["a"]}], convoy="pair")
    served = serve_api(yard)
    assert served.ask("GET", "/api/v1/status").body.decode() == yard.paddock("status", "--json")
    assert served.get("queue") == json.loads(yard.paddock("queue", "--json"))


def test_what_is_asked_for_is_recorded_as_by_the_command(yard: Yard) -> None:
    served = serve_api(yard)
    added = served.post("tasks", {"tasks": [{"brief": "one", "key": "a"}, {"brief": "two", "after": ["a"]}]})
    assert added["ids"] == ["t1", "t2"]
    answer = served.post("tasks/cancel", {"tasks": ["t1", "t9"], "message": "not needed"})
    assert [one["id"] for one in answer["done"]] == ["t1"]
    assert [(one["id"], one["code"]) for one in answer["refused"]] == [("t9", "unknown")]
    assert served.post("queue/freeze", {"reason": "release"})["state"] == "frozen"
    assert "release" in yard.paddock("queue")
    last = yard.records()[-1]
    assert last.actor.endswith(" via web")
    assert last.actor.startswith(served.get("session")["author"])


def test_records_come_in_order_and_a_stream_resumes_after_the_last_that_was_seen(yard: Yard) -> None:
    served = serve_api(yard)
    served.post("tasks", {"tasks": [{"brief": f"task {number}"} for number in range(5)]})
    with served.stream("after=1") as events:
        seen = [next(one for one in events if one.kind == "record") for _ in range(3)]
    assert [one.id for one in seen] == [2, 3, 4]
    with served.stream("after=1", Last_Event_ID="4") as events:
        served.post("tasks", {"tasks": [{"brief": "one more"}]})
        rest = [next(one for one in events if one.kind == "record") for _ in range(3)]
    assert [one.id for one in rest] == [5, 6, 7]
    assert rest[-1].data["words"] == "added: one more"


def test_what_is_wrong_is_refused_with_what_why_and_a_hint(yard: Yard) -> None:
    served = serve_api(yard)
    for method, path, body, status, code in (
        ("GET", "tasks/zebra/diff", None, 400, "misuse"),
        ("GET", "tasks/t7/diff", None, 404, "unknown"),
        ("GET", "log?limit=0", None, 400, "misuse"),
        ("GET", "log?nonsense=1", None, 400, "misuse"),
        ("GET", "log?limit=1&limit=2", None, 400, "misuse"),
        ("GET", "nowhere", None, 404, "unknown"),
        ("POST", "session", b"{}", 405, "method"),
        ("POST", "tasks", b"{", 400, "misuse"),
        ("POST", "tasks", b'{"tasks": [{"brief": "x", "colour": "red"}]}', 400, "misuse"),
        ("POST", "tasks", b'{"tasks": [{"brief": ""}]}', 400, "misuse"),
        ("POST", "queue/changes/t1/move", b"{}", 404, "unknown"),
        ("POST", "tasks", b'{"tasks": [{"brief": "' + b"x" * 1_000_001 + b'"}]}', 413, "too-large"),
        ("POST", "tasks", b"[" * 100_000, 400, "misuse"),
    ):
        answer = served.ask(method, f"/api/v1/{path}", body)
        assert (answer.status, answer.error) == (status, code), (path, answer)
        assert answer.json["error"]["message"]
    assert not yard.board().tasks


def test_what_takes_long_is_computed_again_when_something_that_counts_has_happened(yard: Yard) -> None:
    yard.add_all([{"brief": "one"}])
    served = serve_api(yard)

    def computed_at() -> set[int]:
        return {served.get(path)["seq"] for path in ("insight", "insight/ways?since=7d")}

    before = computed_at()
    served.post("queue/freeze", {"reason": "release"})
    assert computed_at() == before
    served.post("tasks", {"tasks": [{"brief": "two"}]})
    assert computed_at() == {yard.board().seq}


def test_metrics_are_what_prometheus_reads_and_need_the_token(yard: Yard) -> None:
    yard.add_all([{"brief": "one"}, {"brief": "two"}])
    served = serve_api(yard)
    answer = served.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    tasks = {sample.labels["phase"]: sample.value for sample in families["paddock_tasks"].samples}
    assert tasks["ready"] == 2
    assert served.ask("GET", "/metrics", Authorization=None).status == 401
    served.post("tasks", {"tasks": [{"brief": "three"}]})
    assert b'paddock_tasks{phase="ready"} 3' in served.ask("GET", "/metrics").body


def test_tasks_are_found_by_words_and_fields(yard: Yard) -> None:
    yard.add_all([{"brief": "fix the parser", "title": "Parser"}, {"brief": "fix the lexer", "title": "Lexer"}])
    served = serve_api(yard)
    for path in ("search?where=", "search?text=", "tasks?where=", "status?where="):
        assert [one["id"] for one in served.get(f"{path}lexer+phase%3Dready+and+age%3C2h")["tasks"]] == ["t2"]
        answer = served.ask("GET", f"/api/v1/{path}phase%3Dredy")
        assert (answer.status, answer.error) == (400, "misuse")
        assert answer.json["error"]["message"] == "there is no phase `redy`\n\n    phase=redy\n          ^^^^"
    assert {one["task"] for one in served.get("log?where=t2&newest=true")["records"]} == {"t2"}
    assert served.post("tasks/cancel", {"where": "title=pars*", "dry_run": True})["done"] == [{"id": "t1"}]
    assert served.ask("POST", "/api/v1/tasks/cancel", b'{"where": ""}').status == 400
    assert [one["title"] for one in served.get("board")["tasks"].values()] == ["Parser", "Lexer"]


def test_a_picture_is_never_older_than_what_was_asked_for_before_it(farm: Farm) -> None:
    served = serve_api(farm.yard)
    farm.branch("fix", {"a": "fix\n"})
    farm.branch("other", {"b": "other\n"})
    for _ in range(3):
        served.get("queue/picture")
    for body in ({"branches": ["fi\0x"]}, {"branches": ["fi\0x"], "dry_run": True}):
        assert served.ask("POST", "/api/v1/queue/branches", json.dumps(body).encode()).error == "refused"
    served.post("queue/branches", {"branches": ["fix", "other"]})
    assert served.get("queue/picture?minutes=60")["order"] == ["fix", "other"]
    served.post("queue/changes/other/move", {})
    assert served.get("queue/picture")["order"] == ["other", "fix"]
    served.post("queue/freeze", {"reason": "release"})
    assert served.get("queue/picture")["reason"] == "release"
