"""The insight page: who lands what, how attempts ended, and what work has cost."""

from playwright.sync_api import expect

from tests.web.conftest import SeedYard, Serve


def test_a_day_of_work_is_told_by_agent_engine_and_money(seed_yard: SeedYard, serve_yard: Serve) -> None:
    site = serve_yard(seed_yard())
    told = site.get("/api/v1/insight")
    page = site.page("/insight")
    expect(page.locator("p.lede")).to_have_text(told["words"])
    for title in ("Who lands how much", "How attempts end", "Cost by engine", "Cost by day", "Cost by convoy"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    landed = page.locator("section", has=page.get_by_role("heading", name="Who lands how much"))
    expect(landed.locator("tbody tr")).to_have_count(len(told["crew"]))
    expect(landed.locator("tbody tr").first).to_contain_text(str(told["crew"][0]["landed"]))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
