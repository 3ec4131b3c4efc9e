"""`paddock alerts` as people type it: lists, acknowledges, and shows rules and what they see."""

import json

from tests.fleet.conftest import make_yard, yard, yard_template
from tests.fleet.yard import Yard
from tests.web.alarmed import raise_alerts

__all__ = ["make_yard", "yard", "yard_template"]


def test_alerts_are_listed_with_what_they_rest_on(yard: Yard) -> None:
    assert yard.paddock("alerts") == "no alerts\n"
    raise_alerts(yard)
    lines = yard.paddock("alerts").splitlines()
    assert lines[0].startswith("a1    page")
    assert lines[0].endswith("the last 3 agents of claude never ran: mini: command not found")
    told = [line.strip() for line in lines[1:5]]
    assert told == [
        "t7.1: mini: command not found",
        "t8.1: mini: command not found",
        "came back 1 time within a day",
        "run: paddock engines check claude",
    ]
    assert "resolved" not in yard.paddock("alerts")
    assert "not seen for 2m" in yard.paddock("alerts", "--all")
    assert "  ! 2 alerts: the last 3 agents" in yard.paddock("status")
    shown = json.loads(yard.paddock("status", "--json"))["alerts"]
    assert shown == json.loads(yard.paddock("alerts", "--json"))["alerts"]


def test_somebody_knows_of_one_and_then_of_all(yard: Yard) -> None:
    raise_alerts(yard)
    assert yard.paddock("alerts", "ack", "A1", "--note", "on it") == "acknowledged a1\n"
    assert yard.paddock("alerts", "ack", "a1") == "nothing to acknowledge\n"
    assert "tester@" in (told := yard.paddock("alerts"))
    assert "on it" in told
    assert json.loads(yard.paddock("alerts", "ack", "--all", "--json"))["ids"] == ["a2"]
    assert yard.paddock("alerts").startswith("no alert needs attention\nacknowledged\n")


def test_what_cannot_be_acknowledged_says_why(yard: Yard) -> None:
    raise_alerts(yard)
    assert "no alert was named" in yard.paddock("alerts", "ack", code=2)
    assert "there is no alert `a9`" in yard.paddock("alerts", "ack", "a9", code=1)
    assert "`t1` is not an alert" in yard.paddock("alerts", "ack", "t1", code=2)
    assert "alert `a3` is resolved already: not seen for 2m" in yard.paddock("alerts", "ack", "a3", code=1)
    assert "give one or the other" in yard.paddock("alerts", "ack", "a1", "--all", code=2)


def test_rules_are_shown_as_they_are_set(yard: Yard) -> None:
    with (yard.top / "paddock.toml").open("a") as settings:
        settings.write('\n[alerts.success]\nlimit = 0.8\nseverity = "ticket"\n\n[alerts.stuck]\non = false\n')
    lines = {line.split()[0]: line for line in yard.paddock("alerts", "rules").splitlines() if line}
    assert lines["success"].endswith("agents succeed in fewer than 80% of their attempts  (set)")
    assert "ticket" in lines["success"]
    assert lines["stuck"].split()[1] == "off"
    assert lines["never-ran"].endswith("2 agents of one engine in a row never ran")
    rules = {rule["name"]: rule for rule in json.loads(yard.paddock("alerts", "rules", "--json"))["rules"]}
    assert (rules["success"]["limit"]["value"], rules["success"]["limit"]["default"]) == (0.8, 0.9)


def test_rules_can_be_asked_and_nothing_is_recorded(yard: Yard) -> None:
    yard.add({"never_start": 127}, attempts=2)
    yard.add({"never_start": 127}, attempts=2)
    yard.run("--until-idle")
    before = yard.board().seq
    told = json.loads(yard.paddock("alerts", "test", "--json"))
    rules = {rule["rule"]: rule for rule in told["rules"]}
    assert rules["never-ran"]["verdict"] == "raises"
    assert rules["never-ran"]["conditions"][0]["alert"] is None
    assert rules["success"]["verdict"] == "quiet"
    shown = yard.paddock("alerts", "test", "never-ran").splitlines()
    assert shown[1].startswith("never-ran        raises")
    assert shown[-1] == "1 alert would be raised; nothing was recorded"
    assert "did you mean `never-ran`?" in yard.paddock("alerts", "test", "neverran", code=1)
    assert yard.board().seq == before
