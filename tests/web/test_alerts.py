"""Alerts in the browser and in the API: what waits for somebody, and that somebody knows."""

import json
from urllib.error import HTTPError

import pytest
from playwright.sync_api import expect

from tests.web.alarmed import raise_alerts
from tests.web.conftest import SeedYard, Serve


def test_the_api_tells_alerts_and_takes_that_somebody_knows(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard()
    raise_alerts(yard)
    site = serve_yard(yard)
    assert [one["id"] for one in site.get("/api/v1/alerts")["alerts"]] == ["a1", "a2"]
    assert [one["id"] for one in site.get("/api/v1/alerts?all=true")["alerts"]] == ["a1", "a2", "a3"]
    rules = site.get("/api/v1/alerts/rules")["rules"]
    assert json.loads(yard.paddock("alerts", "rules", "--json"))["rules"] == rules
    assert site.post("/api/v1/alerts/ack", {"alerts": ["a1"], "note": "on it"})["ids"] == ["a1"]
    assert site.post("/api/v1/alerts/ack", {"all": True})["ids"] == ["a2"]
    assert site.post("/api/v1/alerts/ack", {"all": True})["ids"] == []
    told = site.get("/api/v1/alerts")
    assert (told["open"], [one["state"] for one in told["alerts"]]) == (0, ["acknowledged"] * 2)
    assert told["alerts"][0]["note"] == "on it"
    for body in ({}, {"alerts": ["t1"]}, {"alerts": ["a9"]}, {"alerts": ["a3"]}, {"alerts": ["a1"], "all": True}):
        with pytest.raises(HTTPError):
            site.post("/api/v1/alerts/ack", body)


def test_an_alert_is_acknowledged_on_the_board_and_on_the_insight_page(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard()
    raise_alerts(yard)
    site = serve_yard(yard)
    page = site.page("/")
    row = page.locator("[data-alert=a2]")
    expect(row).to_contain_text("t2.1 has met the same error 5 times: RUN make: <b>no rule</b>")
    expect(page.locator("[data-alert=a1]")).to_contain_text("page")
    row.get_by_role("button", name="Acknowledge a2").click()
    expect(row).to_have_count(0)
    page = site.page("/insight")
    panel = page.locator("section", has=page.get_by_role("heading", name="Alerts"))
    expect(panel).to_contain_text("1 alert waits for somebody, 1 acknowledged")
    expect(panel).to_contain_text("resolved: not seen for 2m")
    panel.get_by_text("what says so").click()
    expect(panel).to_contain_text("t8.1: mini: command not found")
    expect(panel.get_by_role("link", name="t8.1")).to_have_attribute("href", "/runs/t8.1")
    panel.get_by_role("button", name="Acknowledge a1").click()
    expect(panel).to_contain_text("none open, 2 acknowledged")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
