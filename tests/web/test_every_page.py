"""What holds for every page, over a day's work and over an empty log: it fits, it is accessible, it is strict."""

import re
import threading
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from bench.seeded_fleet import Herd
from playwright.sync_api import Page, expect

from tests.web.conftest import SeedYard, Serve
from tests.web.site import DESK, LAPTOP, PHONE, Site

PAGES = (
    *("/", "/queue", "/fleet", "/insight", "/runs/t1.1", "/log"),
    *("/tasks/{approval}", "/tasks/{running}", "/convoys/billing"),
)
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
    first = {board.tasks[name].phase.value: name for name in reversed(list(board.tasks))}
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
    for path in ("/", "/queue", "/fleet", "/insight", "/log"):
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


FROM_ANOTHER_SERVER = """async (to) => {
  const told = [];
  const attempt = (run) => run().then((found) => told.push(found), () => told.push("refused"));
  const body = JSON.stringify({reason: "forged"}), sent = {method: "POST", credentials: "include", body};
  await attempt(async () => (await fetch(to + "/api/v1/queue/freeze", {...sent, mode: "no-cors"})).type);
  await attempt(async () => (await fetch(to + "/api/v1/queue/freeze",
    {...sent, headers: {"Content-Type": "application/json"}})).status);
  await attempt(async () => (await fetch(to + "/api/v1/status", {credentials: "include"})).status);
  await attempt(() => new Promise((found, refused) => {
    const events = new EventSource(to + "/api/v1/events?after=0", {withCredentials: true});
    events.onmessage = () => found("an event");
    events.onerror = refused;
  }));
  await attempt(() => new Promise((found, refused) => {
    const script = Object.assign(document.createElement("script"), {src: to + "/api/v1/status", onerror: refused});
    script.onload = () => found("a script");
    document.head.append(script);
  }));
  const form = Object.assign(document.createElement("form"),
    {method: "post", enctype: "text/plain", action: to + "/api/v1/queue/freeze"});
  form.append(Object.assign(document.createElement("input"), {name: '{"reason": "', value: 'forged"}'}));
  document.body.append(form);
  form.submit();
  return told;
}"""


class AnotherServer(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Another</title>")

    def log_message(self, *_words: object) -> None:
        pass


def test_a_page_of_another_server_of_this_machine_can_neither_ask_nor_look(site: Site) -> None:
    """It is sent the cookie: ports are one site to a browser."""
    page = site.page().context.new_page()
    with ThreadingHTTPServer(("127.0.0.1", 0), AnotherServer) as another:
        threading.Thread(target=another.serve_forever, daemon=True).start()
        try:
            page.goto(f"http://127.0.0.1:{another.server_port}/")
            with page.expect_navigation(url=f"{site.origin}/**"):
                assert page.evaluate(FROM_ANOTHER_SERVER, site.origin) == ["refused"] * 5
            expect(page.locator("body")).to_contain_text("the request comes from a page of another site")
        finally:
            another.shutdown()
    assert site.get("/api/v1/queue")["state"] == "open"


def bearer(site: Site) -> dict[str, str]:
    return {"Authorization": f"Bearer {site.token}"}
