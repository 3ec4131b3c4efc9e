"""The merge queue's page over a real queue: its picture follows, its switches switch, and CI's output is only text."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from playwright.sync_api import Page, expect

from paddock.core.events import Record
from paddock.core.merge import events as qe
from tests.fleet.conftest import MakeYard
from tests.fleet.landing.lab import Farm
from tests.fleet.landing.test_sent_back import run_until_both_are_done, two_that_conflict
from tests.fleet.yard import Yard
from tests.web.conftest import SeedYard, Serve
from tests.web.site import MILLISECONDS, PHONE, Site

expect.set_options(timeout=MILLISECONDS)

HOSTILE = "<img src=x onerror=document.title=1> \x1b[31mred\x1b[0m \u202e"
CI = f"""printf '%s\\n' '{HOSTILE}'
test -e hold && while test -e {{hold}}; do sleep 0.05; done
! test -e bad
"""


@pytest.fixture
def queue_yard(make_yard: MakeYard) -> Yard:
    """CI fails where there is a file `bad`, and waits for a file outside to vanish where there is one called `hold`."""
    yard = make_yard(PADDOCK_LAND_SLOTS="4")
    (yard.folder / "hold").touch()
    (yard.top / "ci.sh").write_text(CI.format(hold=yard.folder / "hold"))
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text().replace("[land]\n", '[land]\nci = "sh ci.sh"\n'))
    git(yard, "add", "-A")
    git(yard, "commit", "-qm", "CI")
    return yard


def git(yard: Yard, *words: str) -> None:
    subprocess.run(("git", *words), cwd=yard.top, check=True, capture_output=True, env=yard.env)


def branch(yard: Yard, name: str, *files: str) -> None:
    git(yard, "checkout", "-qb", name, "main")
    for file in files:
        (yard.top / file).write_text("x\n")
    git(yard, "add", "-A")
    git(yard, "commit", "-qm", f"Add {name} <b>boldly</b>")
    git(yard, "checkout", "-q", "main")


def press(page: Page, key: str) -> None:
    page.keyboard.press(key)


def switches(yard: Yard) -> list[Record]:
    return [record for record in yard.records() if isinstance(record.event, qe.QueueFrozen | qe.QueueUnfrozen)]


def test_the_picture_follows_a_real_queue_and_shows_what_ci_printed_as_text(
    queue_yard: Yard, serve_yard: Serve
) -> None:
    yard = queue_yard
    branch(yard, "good", "good", "hold")
    branch(yard, "wrong", "bad")
    yard.start("run")
    page = serve_yard(yard).page("/queue")
    expect(page.locator(".lede")).to_contain_text("Nothing is queued")
    yard.paddock("land", "--branch", "wrong", "--branch", "good", "--yes")
    rejected = page.locator(".verdicts tr").filter(has_text="rejected")
    expect(rejected).to_contain_text("wrong")
    expect(page.locator(".pic .run.bad").first).to_be_visible()
    expect(page.locator('.stages [data-place="riding"], .stages [data-place="screening"]').first).to_contain_text(
        "good"
    )

    page.locator(".pic .run.go").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("<img src=x onerror=document.title=1> red")
    expect(dialog.locator("img")).to_have_count(0)
    expect(dialog).to_contain_text("running")
    (yard.folder / "hold").unlink()
    expect(dialog).to_contain_text("passed")
    press(page, "Escape")
    expect(dialog).to_have_count(0)

    landed = page.locator(".verdicts tr").filter(has_text="landed")
    expect(landed).to_contain_text("good")
    expect(page.locator(".pic .tip circle").first).to_be_visible()
    expect(page.locator(".lede")).to_contain_text("Nothing is queued")
    expect(page.locator("b", has_text="boldly")).to_have_count(0)

    press(page, "ArrowLeft")
    expect(page.locator(".pic .run:focus")).to_have_count(1)
    expect(page.locator(".about")).to_contain_text("Click, or press enter")
    press(page, "Enter")
    expect(page.get_by_role("dialog")).to_contain_text("CI run r")


def test_freeze_pause_and_drain_by_mouse_and_by_key_stay_pressed_and_say_who(site: Site) -> None:
    page = site.page("/queue")
    freeze = page.get_by_role("button", name="Freeze landing")
    freeze.click()
    page.get_by_label("Why?").fill("release <b>today</b>")
    press(page, "Enter")
    frozen = page.get_by_role("button", name=re.compile("^Frozen"))
    expect(frozen).to_have_attribute("aria-pressed", "true")
    told = r"Frozen by .+ ago \(release <b>today</b>\): nothing lands; testing goes on"
    expect(page.locator(".lede")).to_contain_text(re.compile(told))
    press(page, "f")
    expect(page.get_by_role("button", name="Freeze landing")).to_have_attribute("aria-pressed", "false")
    assert [type(record.event) for record in switches(site.yard)] == [qe.QueueFrozen, qe.QueueUnfrozen]
    press(page, "p")
    expect(page.get_by_role("dialog", name="Pause starting")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Pause starting")).to_have_attribute("aria-pressed", "false")
    press(page, "p")
    expect(page.get_by_label("Why?")).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("button", name=re.compile("^Paused"))).to_have_attribute("aria-pressed", "true")
    site.yard.paddock("queue", "resume")
    expect(page.get_by_role("button", name="Pause starting")).to_have_attribute("aria-pressed", "false")
    press(page, "d")
    expect(page.get_by_role("button", name=re.compile("^Draining"))).to_have_attribute("aria-pressed", "true")
    assert json.loads(site.yard.paddock("queue", "--json"))["state"] == "draining"


def test_what_waits_can_be_moved_and_removed_and_a_link_opens_a_run(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard()
    page = serve_yard(yard).page("/queue?run=r1")
    expect(page.get_by_role("dialog", name="CI run r1")).to_be_visible()
    press(page, "Escape")
    expect(page).to_have_url(re.compile("/queue$"))
    rows = page.locator(".listed tr")
    last = rows.last.get_attribute("data-change") or ""
    page.get_by_role("button", name=f"Move {last} to the front").click()
    expect(page.locator(".toasts")).to_contain_text(f"{last} moved to the front")
    expect(rows.last).not_to_have_attribute("data-change", last)
    page.get_by_role("button", name=f"Take {last} out of the queue").click()
    expect(page.locator(f'.listed tr[data-change="{last}"]')).to_have_count(0)
    assert last not in yard.board().queue.entries


def test_an_empty_queue_says_what_to_run_and_fits_a_phone(site: Site) -> None:
    page = site.page("/queue", size=PHONE, scheme="dark")
    expect(page.get_by_text("No CI run yet")).to_be_visible()
    expect(page.get_by_text("paddock up", exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name="No culprit to find")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_conflict_is_opened_on_its_page_and_a_main_that_others_moved_is_restored(
    farm: Farm, serve_yard: Serve
) -> None:
    two_that_conflict(farm)
    run_until_both_are_done(farm)
    page = serve_yard(farm.yard).page("/tasks/t2")
    page.get_by_role("button", name="Resolve").click()
    opened = page.get_by_role("dialog", name="Resolve t2")
    expect(opened).to_contain_text("It conflicts in ten.txt.")
    expect(opened.get_by_label("What to run")).to_contain_text("paddock land t2")
    opened.get_by_role("button", name="Close").click()

    landed, foreign = farm.main, farm.push({"parts/by-hand": "bad\n"})
    farm.yard.run(code=1)
    page.get_by_role("link", name="Queue").click()
    page.get_by_role("button", name="Restore main").click()
    asked = page.get_by_role("dialog", name="Restore main")
    expect(asked).to_contain_text(f"This puts main back to {landed[:10]}, the last that passed its tests")
    asked.get_by_role("button", name="Restore main").click()
    expect(page.get_by_text(f"main is back at {landed[:10]}")).to_be_visible()
    expect(page.get_by_role("button", name="Restore main")).to_have_count(0)
    assert farm.main == landed != foreign
