"""The fleet's page over a real fleet: agents, the limit that binds, the hours so far, leases."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import commit, write
from tests.web.conftest import Serve
from tests.web.site import MILLISECONDS, PHONE, Site

expect.set_options(timeout=MILLISECONDS)


def test_a_fleet_at_work_shows_agents_the_limit_that_binds_and_the_hours_so_far(
    make_yard: MakeYard, serve_yard: Serve
) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="1")
    page = serve_yard(yard).page("/fleet")
    expect(page.locator(".lede")).to_contain_text("No daemon is running")
    expect(page.get_by_role("button", name="Start the daemon")).to_be_visible()
    yard.paddock("budget", "set", "day", "--usd", "80")
    for _ in range(3):
        yard.add({"wait_for": str(yard.folder / "go")}, write("a.txt"), commit())
    yard.start("run")
    binding = page.locator(".ladder .bind")
    expect(binding).to_contain_text("cap")
    expect(binding).to_contain_text("1 of 1")
    expect(page.locator(".ladder .why")).to_contain_text("agent cap reached (1/1)")
    expect(page.locator(".ladder")).to_contain_text("$80.00")
    expect(page.locator(".lede")).to_contain_text(re.compile(r"1 of 1 agents. 2 tasks could start; cap binds"))
    expect(page.locator(".clock")).to_contain_text("scripted")
    expect(page.get_by_role("button", name="Stop the daemon")).to_be_visible()
    page.get_by_role("button", name="24h").click()
    expect(page.locator(".plot canvas")).to_be_visible()

    page.get_by_role("button", name="Stop the fleet").click()
    asked = page.get_by_role("dialog", name="Stop the fleet")
    expect(asked).to_contain_text("1 agent at once")
    asked.get_by_role("button", name="Cancel").click()
    assert yard.processes()
    page.get_by_role("button", name="Stop the fleet").click()
    asked.get_by_role("button", name="Stop everything now").click()
    expect(page.get_by_text("the fleet is stopped")).to_be_visible()
    expect(page.get_by_role("button", name="Start the daemon")).to_be_visible()
    assert not yard.processes()


def test_a_lease_is_released_and_empty_states_say_what_to_run_on_a_phone(site: Site) -> None:
    site.yard.paddock("lease", "acquire", "port:5432")
    page = site.page("/fleet", size=PHONE, scheme="dark")
    row = page.locator("tr", has_text="port:5432")
    expect(row).to_be_visible()
    row.get_by_role("button", name="release port:5432").click()
    expect(row).to_have_count(0)
    expect(page.get_by_text("Nothing is leased.")).to_be_visible()
    expect(page.get_by_text("Nothing was spent today.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
