"""What holds for every page, over a day's work and over an empty log: it fits, it is accessible, it is strict."""

import re
import urllib.request

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from bench.seeded_fleet import Herd
from playwright.sync_api import Page, expect

from paddock.core.tasks.task import Phase
from tests.web.conftest import SeedYard, Serve
from tests.web.site import DESK, LAPTOP, PHONE, Site

PAGES = ("/", "/queue", "/fleet", "/insight", "/log", "/tasks/{approval}", "/tasks/{running}", "/convoys/billing")
SIZES = {"desk": DESK, "laptop": LAPTOP, "phone": PHONE}
FEW = Herd(landed=8, running=4, reviewing=2, approval=3, queued=4, ready=3, waiting=3, blocked=3, failed=2, hours=3.0)
ONLY_VIOLATIONS: dict[str, object] = {"resultTypes": ["violations"]}
COLOURS = {**ONLY_VIOLATIONS, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
GRAVE = ("serious", "critical")
HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">",
    "<script>document.title='owned'</script>",
    "'\"><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "\x1b[2J\x1b]0;owned\x07 red \x1b[31m",
    "\u202edesrever\u202c and \u2066isolated",
    "&lt;b&gt; is not bold &amp; stays",
    "${7*7} {{7*7}} %s %n",
    "W" * 3000,
    "e\u0301" * 200 + "\u0300" * 100,
)


@pytest.fixture
def busy(seed_yard: SeedYard, serve_yard: Serve) -> Site:
    return serve_yard(seed_yard())


def paths(site: Site) -> list[str]:
    board = site.yard.board()
    first = {phase.value: next(task.id for task in board.tasks.values() if task.phase is phase) for phase in Phase}
    return [page.format(**first) for page in PAGES]


def visit(page: Page, site: Site, path: str) -> None:
    page.goto(site.origin + path)
    settle(page)


def settle(page: Page) -> None:
    """Something is drawn, and the page no longer waits for its first figures."""
    expect(page.locator("main h1").first).to_be_visible()
    expect(page.locator(".pulse")).not_to_contain_text(re.compile("connecting|stale|cut|access"))


def test_no_page_scrolls_sideways(busy: Site) -> None:
    wide = {}
    page = busy.page()
    for path in paths(busy):
        visit(page, busy, path)
        for name, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            taken = page.evaluate("document.documentElement.scrollWidth")
            if taken > width:
                wide[f"{path} on a {name}"] = (taken, page.evaluate(WIDEST))
    assert wide == {}


WIDEST = """() => [...document.querySelectorAll("body *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 5).map((element) => element.outerHTML.slice(0, 120))"""


def test_axe_finds_nothing_serious_on_any_page_in_light_or_dark(seed_yard: SeedYard, serve_yard: Serve) -> None:
    """Over few rows of each kind: more of the same would be looked at for long. In the dark only colours differ."""
    site = serve_yard(seed_yard(FEW))
    found = {}
    page = site.page(scheme="light")
    for path in paths(site):
        visit(page, site, path)
        found[path, "light"] = violations(page)
        page.emulate_media(color_scheme="dark")
        found[path, "dark"] = violations(page, COLOURS)
        page.emulate_media(color_scheme="light")
    assert {where: grave for where, grave in found.items() if grave} == {}


def violations(page: Page, options: dict[str, object] = ONLY_VIOLATIONS) -> list[tuple[str, list[str]]]:
    """Each grave one, with the first elements it was found in."""
    grave = [one for one in Axe().run(page, options=options).response["violations"] if one["impact"] in GRAVE]
    return [(one["id"], [node["html"][:160] for node in one["nodes"][:4]]) for one in grave]


def test_axe_finds_nothing_serious_where_nothing_has_happened_yet(site: Site) -> None:
    page = site.page()
    for path in ("/", "/queue", "/fleet", "/log"):
        visit(page, site, path)
        assert violations(page) == [], path


def test_hostile_titles_are_text_and_nothing_else(seed_yard: SeedYard, serve_yard: Serve) -> None:
    herd = Herd(landed=4, running=3, approval=3, ready=1, waiting=1, queued=3, blocked=1, failed=1, hours=3.0)
    site = serve_yard(seed_yard(herd, titles=HOSTILE * 2))
    site.post("/api/v1/queue/freeze", {"reason": f"{HOSTILE[4]}{HOSTILE[5]}{'w' * 300}"})
    convoy = {"tasks": [{"brief": "\n".join(HOSTILE), "title": "sly"}], "convoy": "__proto__"}
    site.post("/api/v1/tasks", convoy)
    page = site.page(size=LAPTOP)
    for path in (*paths(site), "/convoys/__proto__"):
        visit(page, site, path)
        assert page.evaluate("document.querySelectorAll('img, [onload], [onerror], #app script').length") == 0
        assert page.title() != "owned"
        for width, height in (PHONE, LAPTOP):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, page.evaluate(WIDEST))
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", page.inner_text("body")), path


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(site: Site) -> None:
    for path in ("/", "/queue", "/tasks/t1", "/static/app.js"):
        with urllib.request.urlopen(urllib.request.Request(site.origin + path, headers=bearer(site))) as answer:
            policy = dict(
                part.strip().split(" ", 1)
                for part in answer.headers["Content-Security-Policy"].split(";")
                if part.strip()
            )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert not re.search(r"unsafe|https?:|\*", " ".join(policy.values()))


def bearer(site: Site) -> dict[str, str]:
    return {"Authorization": f"Bearer {site.token}"}
