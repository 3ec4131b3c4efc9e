"""The insight page: where work gets lost, why it fails, whether an agent changed, and what a landed change costs."""

import re
import threading

from playwright.sync_api import Locator, Page, expect

from paddock.web.remembered import Remembered
from tests.web.conftest import SeedYard, Serve
from tests.web.test_every_page import COLOURS, violations


def panel(page: Page, title: str) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def test_a_day_of_work_is_told_by_agent_engine_and_money(seed_yard: SeedYard, serve_yard: Serve) -> None:
    site = serve_yard(seed_yard())
    told = site.get("/api/v1/insight")
    page = site.page("/insight")
    expect(page.locator("p.lede")).to_have_text(told["words"])
    for title in ("Who lands how much", "How attempts end", "Cost by engine", "Cost by day", "Cost by convoy"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    landed = panel(page, "Who lands how much")
    expect(landed.locator("tbody tr")).to_have_count(len(told["crew"]))
    expect(landed.locator("tbody tr").first).to_contain_text(str(told["crew"][0]["landed"]))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_each_number_leads_to_the_attempts_behind_it(seed_yard: SeedYard, serve_yard: Serve) -> None:
    site = serve_yard(seed_yard())
    picture = site.get("/api/v1/insight/ways?since=7d")["picture"]
    failures = site.get("/api/v1/insight/failures?since=7d")["failures"]
    batches = site.get("/api/v1/insight/drift?since=7d")["drift"]["batches"]
    costs = site.get("/api/v1/insight/costs?since=7d")["costs"]
    page = site.page("/insight")

    ways = panel(page, "Ways the work takes")
    lost = next(band for band in picture["bands"] if band["state"] == "failed")
    band = ways.get_by_role("button", name=lost["title"])
    band.focus()
    band.press("Enter")
    expect(band).to_have_attribute("aria-pressed", "true")
    expect(ways.locator(".about")).to_contain_text(lost["title"])
    expect(ways.locator(".about a")).to_have_text(lost["attempts"])

    why = panel(page, "Why things fail")
    expect(why.locator(".cluster")).to_have_count(len(failures["top"]))
    largest = failures["top"][0]
    card = why.locator(".cluster").first
    expect(card).to_contain_text(f"{largest['count']}×")
    expect(card.locator(".sym")).to_have_text(largest["symptom"])
    card.locator("summary").click()
    expect(card.locator(".attempts a")).to_have_text(largest["runs"][:24])
    expect(card.locator(".said-so")).to_contain_text(largest["evidence"][-1]["line"])

    drift = panel(page, "Did an agent change?")
    expect(drift.locator(".batch")).to_have_count(len(batches))
    expect(drift.locator(".batch").first).to_contain_text(batches[0]["name"])

    money = panel(page, "What a landed change costs")
    expect(money.locator("tbody tr").last).to_contain_text(f"${costs['split']['cost_usd']:.2f}")
    expect(money.locator("svg.chart")).to_have_attribute("aria-label", re.compile(f"{costs['per_landed_usd']:.2f}"))

    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, COLOURS) == []
    page.set_viewport_size({"width": 400, "height": 850})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400

    with page.expect_response(re.compile(r"/insight/ways\?since=24h")):
        page.get_by_role("button", name="24h").click()
    first = card.locator(".attempts a").first
    name = first.inner_text()
    first.click()
    expect(page).to_have_url(re.compile(f"/tasks/{name.partition('.')[0]}$"))


def test_what_took_long_is_computed_once_for_all_who_ask_and_again_when_something_is_new() -> None:
    remembered, made, begun, go_on = Remembered(most=2), list[str](), threading.Event(), threading.Event()

    def slowly() -> str:
        made.append("once")
        begun.set()
        assert go_on.wait(30)
        return "answer"

    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(remembered.get("drift", 1, slowly))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert (answers, made) == (["answer"] * 4, ["once"])
    assert remembered.get("drift", 2, lambda: "newer") == "newer"
    remembered.get("ways", 1, lambda: "x")
    remembered.get("costs", 1, lambda: "y")
    assert remembered.get("drift", 2, lambda: "made again") == "made again"
