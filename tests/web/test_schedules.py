"""Schedules through the API: the same forecast, the same refusals, the same records."""

import json

from tests.fleet.yard import Yard
from tests.web.api import serve_api
from tests.web.test_api_actions import refused

BODY = {"task": "Look around.", "zone": "UTC", "name": "watch"}


def test_a_schedule_is_tried_added_listed_and_run(yard: Yard) -> None:
    served = serve_api(yard)
    assert served.get("schedules")["schedules"] == []
    tried = served.post("schedules", {**BODY, "cron": "@daily", "dry_run": True})
    assert (tried["name"], tried["dry_run"], tried["over"], tried["seq"]) == ("watch", True, None, 0)
    added = served.post("schedules", {**BODY, "cron": "@daily", "jitter_seconds": 60.0, "overlap": "queue"})
    assert added["name"] == "watch"
    assert added["next"].endswith("Z")
    assert served.get("schedules") == json.loads(yard.paddock("schedule", "list", "--json"))
    [row] = served.get("schedules?days=3")["schedules"]
    assert len(row["forecast"]["days"]) == 3
    assert (row["work"]["text"], row["cron"], row["overlap"]) == ("Look around.", "0 0 * * *", "queue")
    ran = served.post("schedules/watch/run", {})
    assert ran["ids"] == ["t1"]
    assert served.get("schedules/watch")["schedule"]["last"]["tasks"] == ["t1"]
    assert yard.records()[-1].actor.endswith(" via web")


def test_it_is_paused_resumed_and_removed(yard: Yard) -> None:
    served = serve_api(yard)
    served.post("schedules", {**BODY, "cron": "0 9 * * 1-5"})
    served.post("schedules/watch/pause", {"message": "holidays"})
    assert served.get("schedules/watch")["schedule"]["paused"] == "holidays"
    served.post("schedules/watch/resume", {})
    assert served.get("schedules/watch")["schedule"]["paused"] is None
    assert served.post("schedules/watch/remove", {})["name"] == "watch"
    assert refused(served, "schedules/watch/resume", {}).error == "unknown"


def test_what_cannot_be_is_refused_as_on_the_command_line(yard: Yard) -> None:
    served = serve_api(yard)
    for body, words in (
        ({"cron": "0 0 31 2 *"}, "never happens"),
        ({"cron": "@daily", "zone": "Mars/Olympus"}, "there is no time zone"),
        ({"cron": "0 * * * *", "jitter_seconds": 7200.0}, "the jitter of 2h is longer"),
        ({"cron": "@daily", "task": ""}, "the brief is empty"),
        ({"cron": "@daily", "plan": "and this"}, "cannot be used together"),
        ({"cron": "@daily", "budget_usd": -1.0}, "the budget must be above 0"),
    ):
        answer = refused(served, "schedules", {**BODY, **body})
        assert answer.error == "misuse"
        assert words in answer.json["error"]["message"]
    dear = {**BODY, "cron": "0 * * * *", "engine": "claude", "budget_usd": 0.5}
    answer = refused(served, "schedules", dear)
    assert "above the budget" in answer.json["error"]["message"]
    assert "force" in answer.json["error"]["hint"]
    assert served.post("schedules", {**dear, "force": True, "message": "a trial"})["forced"].endswith(": a trial")
    assert served.get("schedules")["schedules"][0]["over"]["scope"] == "schedule"
