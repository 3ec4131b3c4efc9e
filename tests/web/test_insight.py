"""The insight page: where work gets lost, why it fails, whether an agent changed, and what a landed change costs."""

import json
import re
import threading

from bench.seeded_fleet import Herd
from playwright.sync_api import Locator, Page, expect

from paddock.web.remembered import Remembered
from tests.web.conftest import SeedYard, Serve
from tests.web.site import Site
from tests.web.test_every_page import COLOURS, violations


def panel(page: Page, title: str) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def test_a_day_of_work_is_told_by_agent_engine_and_money(seed_yard: SeedYard, serve_yard: Serve) -> None:
    site = serve_yard(seed_yard())
    told = site.get("/api/v1/insight")
    page = site.page("/insight")
    expect(page.locator("p.lede")).to_contain_text(told["words"])
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
    expect(ways.locator(".pick[tabindex='0']")).to_have_count(1)
    band.press("ArrowRight")
    expect(band).not_to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(band).to_be_focused()
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
    expect(page).to_have_url(re.compile(f"/runs/{name}$"))
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    page.get_by_role("link", name=f"Task {name.partition('.')[0]}").click()
    expect(page).to_have_url(re.compile(f"/tasks/{name.partition('.')[0]}$"))


def imported(label: str, number: int, *, tests: bool) -> dict[str, object]:
    steps = [{"tool": "Read", "target": "src/a.py"}, *[{"tool": "Edit", "target": "src/a.py"}] * (1 + number % 3)]
    steps += [{"tool": "Bash", "argument": "pytest -q"}] if tests else []
    error = f"<script>document.title='owned'</script> \u202edesrever {'W' * 3000}" if number == 0 else ""
    told = {"run": f"<b>{number}</b>", "task": f"task-{number}", "engine": "claude", "label": label, "steps": steps}
    return {**told, "outcome": not error, "error": error, "started": 1_700_000_000, "ended": 1_700_000_060}


def test_batches_from_elsewhere_are_compared_and_each_of_their_runs_has_a_page(
    seed_yard: SeedYard, serve_yard: Serve
) -> None:
    site = serve_yard(seed_yard(Herd(landed=3, running=0, queued=0, hours=3.0)))
    file = site.yard.folder / "runs.jsonl"
    runs = [imported(label, n, tests=label == "<i>old</i>") for label in ("<i>old</i>", "new/er") for n in range(20)]
    file.write_text("\n".join(map(json.dumps, runs)))
    site.yard.paddock("traces", "import", str(file))
    page = site.page("/insight")

    drift = panel(page, "Did an agent change?")
    drift.get_by_label("Batch", exact=True).select_option("new/er")
    drift.get_by_label("Baseline").select_option("<i>old</i>")
    expect(drift).to_contain_text("new/er differs from <i>old</i> in")
    expect(drift).to_contain_text("tests run after the last edit")

    why = panel(page, "Why things fail")
    why.get_by_label("Batch of failures").select_option("<i>old</i>")
    expect(why.locator(".sym")).to_contain_text("<script>document.title='owned'</script> \ufffddesrever")
    expect(why.locator(".attempts a")).to_have_text(["<i>old</i>/<b>0</b>"])

    steps = panel(page, "Steps that runs take")
    steps.get_by_label("Batch of runs").select_option("<i>old</i>")
    failed = steps.get_by_role("button", name="failed: 1", exact=True)
    failed.click()
    steps.get_by_role("link", name="<i>old</i>/<b>0</b>", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>0</b>")
    expect(page.locator("pre").first).to_contain_text("<script>document.title='owned'</script>")
    expect(page.locator("ol.symbols li")).to_have_text(["READ:src", "EDIT:src", "TEST"])
    assert page.title() != "owned"
    assert "\u202e" not in page.inner_text("body")
    assert violations(page) == []
    for width in (1024, 390):
        page.set_viewport_size({"width": width, "height": 850})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{site.origin}/runs/t99.1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("There is no trace of t99.1")


def test_batches_are_compared_and_explained_where_the_fleet_has_not_worked_yet(site: Site) -> None:
    for label in ("a", "b"):
        file = site.yard.folder / f"{label}.jsonl"
        file.write_text("\n".join(json.dumps(imported(label, n, tests=True)) for n in range(20)))
        site.yard.paddock("traces", "import", str(file))
    page = site.page("/insight")
    expect(panel(page, "Did an agent change?")).to_contain_text("a behaves like b, over 20 pairs of runs")
    expect(panel(page, "Steps that runs take").get_by_role("button", name="went well: 19", exact=True)).to_be_visible()
    expect(panel(page, "Why things fail").locator(".attempts a")).to_have_text(["a/<b>0</b>"])


def test_where_time_went_is_told_with_the_tasks_it_went_to(seed_yard: SeedYard, serve_yard: Serve) -> None:
    site = serve_yard(seed_yard())
    told = site.get("/api/v1/insight/work?since=7d")
    report = site.get("/api/v1/report?since=7d")
    assert [told[part] for part in ("time", "offenders")] == [report[part] for part in ("time", "offenders")]
    assert [check["name"] for check in told["checks"]] == [check["name"] for check in report["checks"]]
    page = site.page("/insight")
    time = panel(page, "Where time went")
    expect(time.locator("tbody tr")).to_have_count(len(told["time"]["parts"]))
    running = time.locator("tbody tr", has_text="running")
    expect(running.locator("a").first).to_contain_text(told["longest"]["running"][0]["task"])
    checks = panel(page, "Slowest checks")
    checks.get_by_role("button", name=f"Log of {told['checks'][0]['slowest']}").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"CI run {told['checks'][0]['slowest']}")


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
