"""What the API does like the command of the same name: leases, upkeep, repairs, and ending the fleet."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.landing.test_sent_back import run_until_both_are_done, two_that_conflict
from tests.fleet.yard import Yard, commit, write
from tests.web.api import Answer, Served, serve_api
from tests.web.reviewed import seed_reviews


def refused(served: Served, path: str, body: object) -> Answer:
    answer = served.ask("POST", f"/api/v1/{path}", json.dumps(body).encode())
    assert answer.status >= 400, answer
    assert answer.json["error"]["message"]
    return answer


def test_a_lease_is_taken_kept_and_given_back(yard: Yard) -> None:
    served = serve_api(yard)
    taken = served.post("leases/acquire", {"name": "port:5432", "ttl_seconds": 900})
    assert (taken["name"], taken["generation"], taken["ttl_seconds"]) == ("port:5432", 1, 900)
    again = refused(served, "leases/acquire", {"name": "port:5432"})
    assert again.status == 409, "two requests of one person are two holders"
    assert served.get("session")["author"] in again.json["error"]["message"]
    assert served.post("leases/renew", {"name": "port:5432", "generation": 1})["ttl_seconds"] > 890, "none is shortened"
    assert served.post("leases/renew", {"name": "port:5432", "ttl_seconds": 60})["ttl_seconds"] == 60
    stale = refused(served, "leases/renew", {"name": "port:5432", "generation": 7})
    assert (stale.error, "GET /leases" in stale.json["error"]["hint"]) == ("refused", True)
    assert refused(served, "leases/acquire", {"name": "port:x"}).error == "misuse"
    assert refused(served, "leases/acquire", {"name": "db", "for": "t9.1"}).error == "unknown"
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(served.post, "leases/acquire", {"name": "port:5432", "wait_seconds": 60})
        yard.await_board(lambda board: bool(board.leases.waiting), "somebody in line")
        yard.paddock("lease", "release", "port:5432", "--generation", "1")
        assert waits.result()["generation"] == 2
    assert served.post("leases/release", {"name": "port:5432"})["name"] == "port:5432"
    assert not yard.board().leases.held


def test_findings_are_told_decided_about_and_filed_and_an_audit_is_asked_for(yard: Yard) -> None:
    seed_reviews(yard)
    served = serve_api(yard)
    assert [one["id"] for one in served.get("findings")["findings"]] == ["f2", "f3", "f4"]
    assert [one["status"] for one in served.get("findings?names=t1&names=f4")["findings"]] == [
        "fixed", "open", "open", "open",
    ]  # fmt: skip
    sarif = served.get("findings/sarif?names=f4")
    assert sarif["runs"][0]["results"][0]["message"]["text"] == "the token is logged"
    assert served.post("findings/waive", {"findings": ["f2", "F3"], "message": "no"})["ids"] == ["f2", "f3"]
    assert served.post("findings/confirm", {"findings": ["f1"]})["ids"] == ["f1"]
    [filed] = served.post("findings/file", {"findings": ["f4"]})["ids"]
    told = {one["id"]: one for one in served.get("findings?all=true")["findings"]}
    assert (told["f2"]["settled_why"], told["f1"]["confirmed"], told["f4"]["routed"]) == ("no", ["person"], filed)
    assert refused(served, "findings/waive", {"findings": ["f2"]}).error == "refused"
    assert refused(served, "findings/file", {"findings": ["f99"]}).error == "unknown"
    assert served.ask("GET", "/api/v1/findings?names=x1").error == "misuse"
    audit = served.post("audit", {"kinds": ["security", "docs"], "agents": ["critic"], "file": "none"})
    assert (len(audit["ids"]), audit["convoy"]) == (2, "audit-1")
    assert refused(served, "audit", {"agents": ["fixer"]}).error == "misuse"
    assert refused(served, "audit", {"branch": "nowhere"}).error == "refused"


def test_a_conflict_is_opened_to_be_resolved_and_worktrees_are_cleared_away(farm: Farm) -> None:
    two_that_conflict(farm)
    run_until_both_are_done(farm)
    served = serve_api(farm.yard)
    opened = served.post("queue/changes/t2/resolve", {})
    assert (opened["conflicts"], opened["then"]) == (["ten.txt"], "paddock land t2")
    place = Path(opened["worktree"])
    assert "<<<<<<<" in (place / "ten.txt").read_text()
    assert refused(served, "queue/changes/t1/resolve", {}).error == "refused"
    assert refused(served, "queue/changes/t9/resolve", {}).error == "unknown"

    served.post("tasks/cancel", {"tasks": ["t2"]})
    planned = served.post("gc", {"dry_run": True})
    assert place.exists()
    assert str(place) in [item["path"] for item in planned["items"]]
    done = served.post("gc", {})
    assert (done["items"], done["bytes"]) == (planned["items"], planned["bytes"])
    assert not place.exists()
    assert served.post("gc", {})["items"] == []
    assert served.post("janitor", {"dry_run": True})["dry_run"] is True
    assert served.post("janitor", {})["left"] == []


def test_what_waits_is_told_and_what_landed_is_taken_back(farm: Farm) -> None:
    farm.yard.add(write("parts/one", "good\n"), commit(), title="Add one")
    farm.yard.add(write("ci.sh", "exit 0\n"), commit(), title="Edit CI")
    farm.yard.run()
    served = serve_api(farm.yard)
    (row,) = served.get("review")["waiting"]
    assert (row["id"], row["ready"], row["concerns"]) == ("t2", False, ["touches what CI runs: ci.sh"])
    assert refused(served, "queue/changes/t2/revert", {}).error == "refused"
    done = served.post("queue/changes/t1/revert", {"message": "too early"})
    assert (done["reverts"], done["branch"], done["queued"][0]["id"]) == ("t1", *["paddock/revert-t1"] * 2)
    assert farm.yard.board().queue.entries["paddock/revert-t1"].change.approved_by.endswith(" via web")


def test_main_and_undone_work_are_restored_and_checkouts_are_brought_up_to_date(farm: Farm) -> None:
    (farm.top / "ten.txt").write_text(TEN_LINES.replace("line 10", "mine"))
    farm.branch("five", {"ten.txt": TEN_LINES.replace("line 5", "landed")})
    farm.land("five")
    farm.yard.run(code=0)
    served, landed = serve_api(farm.yard), farm.main
    assert refused(served, "queue/restore", {}).error == "refused"
    assert refused(served, "queue/restore", {"dismiss": True}).error == "misuse"
    assert refused(served, "queue/restore", {"commit": "0123abcd"}).error == "refused"

    [told] = served.post("sync", {})["checkouts"]
    assert (told["current"], told["files"]) == (False, ["ten.txt"])
    farm.yard.git("commit", "-q", "-am", "From an older checkout")
    [undone] = served.get("queue")["undone"]
    [queued] = served.post("queue/restore", {"commit": undone["commit"][:8]})["queued"]
    assert queued["id"].startswith("restore-")
    assert served.post("queue/restore", {"commit": undone["commit"], "dismiss": True})["dismissed"] == undone["commit"]
    assert served.get("queue")["undone"] == []

    done = served.post("queue/restore", {})
    assert (done["main"], done["tested"], farm.main) == (landed, True, landed)
    assert farm.yard.git("rev-parse", done["kept"]) == done["old"] == undone["commit"]


def test_the_fleet_is_ended_with_its_agents(yard: Yard) -> None:
    began, never = yard.folder / "began", yard.folder / "never"
    yard.add({"run": ["touch", str(began)]}, {"wait_for": str(never)}, write("a.txt"), commit())
    served = serve_api(yard)
    up = served.post("fleet/up", {})
    assert (up["was_up"], up["pid"] > 1) == (False, True)
    yard.await_that(began.exists, "the agent")
    assert served.post("fleet/down", {})["working"] == ["t1.1"], "its agent goes on"
    done = served.post("fleet/down", {"now": True})
    assert (done["was_up"], done["ended_processes"] > 0) == (False, True)
    assert not yard.processes()


def test_requests_for_all_of_a_convoy_reach_those_that_qualify(yard: Yard) -> None:
    served = serve_api(yard)
    text = "convoy: pair\ntasks:\n- {brief: one, key: a}\n- {brief: two, after: [a]}\n"
    assert served.post("tasks/file", {"text": text, "attempts": 2})["ids"] == ["t1", "t2"]
    wrong = refused(served, "tasks/file", {"text": "tasks: 7", "name": "x.yaml"}).json["error"]
    assert wrong["message"].startswith("x.yaml")
    yard.add_all([{"brief": "three"}])
    ids = [{"id": "t1"}, {"id": "t2"}]
    planned = served.post("tasks/cancel", {"convoy": "pair", "dry_run": True})
    assert (planned["done"], planned["dry_run"]) == (ids, True)
    assert "no task to send it to" in refused(served, "tasks/message", {"phase": "ready", "text": "x"}).body.decode()
    assert served.post("tasks/cancel", {"convoy": "pair"})["done"] == ids
    assert served.post("tasks/retry", {"tasks": ["t1-t2"], "dry_run": True})["done"] == ids
    assert served.post("tasks/stop", {"all": True})["done"] == []
    assert served.post("tasks/approve", {"all": True, "dry_run": True})["would"] == []
    for body in ({}, {"tasks": ["t1"], "all": True}, {"tasks": ["t9-t1"]}):
        assert refused(served, "tasks/stop", body).error == "misuse"
    assert refused(served, "tasks/stop", {"convoy": "nowhere"}).error == "unknown"
    yard.git("branch", "fix", "main")
    assert served.post("queue/branches", {"branches": ["fix"], "dry_run": True})["would"] == ["fix"]
    assert refused(served, "queue/branches", {"branches": ["nowhere"], "dry_run": True}).error == "refused"
    assert not yard.board().queue.entries


def test_what_the_commands_tell_about_log_settings_and_engines_is_told(yard: Yard) -> None:
    served = serve_api(yard)
    yard.add_all([{"brief": "one"}, {"brief": "two"}])
    assert served.get("log/verify") == json.loads(yard.paddock("log", "verify", "--json"))
    pushed = served.post("log/push", {})
    assert (pushed["seq"], pushed["remote"]) == (yard.board().seq, None)
    assert "no remote" in refused(served, "log/push", {"remote": "../elsewhere"}).json["error"]["message"]
    told = served.get("log?since=1h&limit=1000")
    assert len(told["records"]) == told["seq"]
    assert served.get("log?since=2999-01-01T00:00")["records"] == []
    assert served.ask("GET", "/api/v1/log?since=soon").error == "misuse"

    shown = json.loads(yard.paddock("config", "show", "land", "--json"))["settings"]
    assert served.get("settings?key=land")["settings"] == shown
    assert (
        served.ask("GET", "/api/v1/settings?key=land.cii").json["error"]["hint"].startswith("did you mean `land.ci`?")
    )
    plan = "n=8&each_seconds=900&spawn_seconds=30"
    assert served.get(f"fanout?{plan}") == json.loads(
        yard.paddock("fanout", "--n", "8", "--t", "15m", "--spawn", "30s", "--json")
    )
    assert served.get("fanout?tasks=t1-t2")["serial"]["shares"] == [["t1", "t2"]]
    assert served.ask("GET", "/api/v1/fanout?tasks=t1&n=3").error == "misuse"
    doctor = json.loads(yard.paddock("doctor", "--json"))
    told, steady = served.get("doctor"), ("clock", "disk")
    assert told["ok"] == doctor["ok"]
    assert [one for one in told["findings"] if one["what"] not in steady] == [
        one for one in doctor["findings"] if one["what"] not in steady
    ]
    engines = {one["name"]: one for one in served.get("engines")["engines"]}
    assert engines["scripted"]["installed"]
    assert served.post("engines/check", {"name": "scripted"})["problem"] == ""
    assert refused(served, "engines/check", {"name": "nobody"}).json["error"]["hint"]


def test_a_workflow_is_listed_run_and_its_results_are_read(yard: Yard) -> None:
    served = serve_api(yard)
    assert [one["name"] for one in served.get("workflows")["workflows"]] == ["code-review", "feature"]
    assert served.get("workflows/feature")["workflow"]["variables"][0]["required"] is True
    missing = refused(served, "workflows/feature/run", {})
    assert (missing.error, "`goal`" in missing.json["error"]["message"]) == ("misuse", True)
    assert refused(served, "workflows/featur/run", {}).error == "unknown"
    added = served.post("workflows/feature/run", {"variables": {"goal": "Export as CSV"}})
    assert (added["ids"], added["convoy"]) == (["t1", "t2", "t3", "t4"], "feature-1")
    assert [one["phase"] for one in served.get("convoys/feature-1/results")["results"]] == ["ready", *["waiting"] * 3]
    assert served.get("tasks/t1/result")["results"][0]["role"] == "report"
