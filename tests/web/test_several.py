"""`paddock web --repo A --repo B`: one server, one token, all that each repository has, and one page of all."""

import json
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from paddock.core.tasks.needs import needs_of
from paddock.core.tasks.task import Phase
from paddock.web.routes import ENDPOINTS
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write
from tests.warm import RunningCommand
from tests.web.api import PRINTED, Served, Told
from tests.web.site import PHONE, Site
from tests.web.test_every_page import COLOURS, settle, violations
from tests.web.test_security import AS_AGENT

ServeAll = Callable[..., Served]


@pytest.fixture
def serve_all() -> Iterator[ServeAll]:
    """serve_all(yard, place, "--flag"): one server over the repositories of yards, and over paths."""
    running: list[RunningCommand] = []

    def start(yard: Yard, *others: Yard | Path | str, port: int = 0) -> Served:
        words = ["web", "--port", str(port)]
        for one in (yard, *others):
            if isinstance(one, str):
                words.append(one)
            else:
                words += ["--repo", str(one.top if isinstance(one, Yard) else one)]
        running.append(RunningCommand(words, yard.folder, yard.env))
        found = yard.await_that(lambda: PRINTED.search(running[-1].words), "the address of the page")
        return Served(yard, running[-1], int(found[2]), found[3] or "", host=found[1].strip("[]"))

    yield start
    for command in running:
        command.kill()


@pytest.fixture
def api(make_yard: MakeYard) -> Yard:
    return make_yard("api", PADDOCK_LAND_CI="true")


@pytest.fixture
def web(make_yard: MakeYard) -> Yard:
    return make_yard("web")


def row_of(served: Served, name: str) -> dict[str, object]:
    row: dict[str, object] = served.get("repositories")["repositories"][name]
    return row


# -- what is asked and told ------------------------------------------------------------------------------------


def test_each_repository_has_its_pages_and_its_api_below_its_name(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    api.add(title="in api")
    web.add(title="in web")
    served = serve_all(api, web)
    told = {name: served.ask("GET", f"/r/{name}/api/v1/status").json["tasks"] for name in ("api", "web")}
    assert {name: [task["title"] for task in tasks] for name, tasks in told.items()} == {
        "api": ["in api"], "web": ["in web"],
    }  # fmt: skip
    for one in ENDPOINTS:
        if one.method == "GET" and "{" not in one.path:
            own = served.ask("GET", f"/r/web/api/v1{one.path}")
            assert own.status in (200, 400, 404, 409), (one.path, own.body)
            assert served.ask("GET", f"/api/v1{one.path}").status == 404, one.path
    for path in ("/", "/queue", "/tasks/t1", "/convoys/x", "/runs/t1.1", "/new"):
        page = served.ask("GET", f"/r/api{path}")
        assert (page.status, b"/static/app.js" in page.body) == (200, True), path
    assert served.ask("GET", "/r/web/api/v1/openapi.json").json["servers"] == [{"url": "/r/web"}]
    assert b"paddock_" in served.ask("GET", "/r/web/metrics").body
    added = served.ask("POST", "/r/web/api/v1/tasks", b'{"tasks": [{"brief": "more"}]}').json
    assert added["ids"] == ["t2"]
    assert (len(api.board().tasks), len(web.board().tasks)) == (1, 2)


def test_with_one_repository_every_address_is_as_it_was(api: Yard, serve_all: ServeAll) -> None:
    inner = api.top / "folder"
    inner.mkdir()
    served = serve_all(api, inner)
    assert f"is in the same repository as `{api.top}`: shown once" in served.command.complaints
    assert served.get("session")["folder"] == str(api.top)
    assert b"/static/app.js" in served.ask("GET", "/").body
    assert served.ask("GET", "/r/api/").status == 404
    assert served.ask("GET", "/api/v1/repositories").status == 404
    assert (api.log_path.parent / "web.token").read_text() == served.token


def test_any_worktree_names_its_repository(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    api.git("worktree", "add", "-q", str(api.folder / "side"), "-b", "side")
    served = serve_all(web, api.folder / "side", api)
    assert list(served.get("repositories")["repositories"]) == ["web", "api"]
    assert "is in the same repository as" in served.command.complaints


def test_the_first_page_tells_how_each_is_and_all_of_them_together(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    api.add(write("a.txt"), commit("Work"), title="Say hello")
    api.add({"think": 0}, title="Do nothing")
    api.run()
    web.add(title="Later")
    served = serve_all(api, web)
    told = served.get("repositories")
    assert (told["schema"], told["order"]) == (1, ["api", "web"])
    row = told["repositories"]["api"]
    assert row["root"] == "/r/api"
    assert row["folder"] == str(api.top)
    assert row["needs"][0]["title"] == "Say hello"
    assert row["needs"][0]["need"] == "approve"
    assert told["repositories"]["web"]["ready"] == 1
    assert told["totals"]["needing"] == row["needing"] >= 1
    assert told["totals"]["troubles"] == 0
    assert told["words"].startswith(f"{row['needing']} task")
    assert told["words"].endswith("No daemon is running for `api` and `web`.")


def test_what_happens_anywhere_is_told_at_once_on_one_stream(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    served = serve_all(api, web)
    with served.stream("view=repositories") as events:
        assert next(events).kind == "pulse"
        whole = next(event for event in events if event.kind == "view").data
        assert whole["tables"] == ["repositories"]
        assert whole["whole"]["repositories"]["web"]["ready"] == 0
        web.add(title="New")
        step = next_row(events, "web")
        assert step["ready"] == 1
        api.add(title="New, too")
        assert next_row(events, "api")["ready"] == 1
        web.add(title="More")
        mark = next(event for event in events if event.kind == "view").data["mark"]
    with served.stream(f"view=repositories&have=repositories:{mark}") as events:
        api.add(title="Still more")
        assert next_row(events, "api")["ready"] == 2, "what it had is not told again"


def next_row(events: Iterator[Told], name: str) -> dict[str, object]:
    for event in events:
        if event.kind == "view" and (row := event.data["rows"].get("repositories", {}).get(name)):
            found: dict[str, object] = row
            return found
    raise AssertionError("the stream ended")


# -- trouble ----------------------------------------------------------------------------------------------------


def test_one_that_is_missing_or_has_no_log_is_shown_with_its_error_until_it_is_there(
    api: Yard, make_yard: MakeYard, serve_all: ServeAll
) -> None:
    bare, gone = api.folder / "bare", api.folder / "gone"
    subprocess.run(["git", "init", "-q", "-b", "main", str(bare)], check=True)
    served = serve_all(api, bare, gone)
    assert f"warning: `{bare}` cannot be shown: Paddock is not set up in `{bare}`" in served.command.complaints
    assert f"warning: `{gone}` cannot be shown: `{gone}` is not a directory" in served.command.complaints
    told = served.get("repositories")
    assert told["totals"]["troubles"] == 2
    assert told["repositories"]["api"]["trouble"] == ""
    assert "Paddock is not set up" in told["repositories"]["bare"]["trouble"]
    assert told["repositories"]["gone"]["trouble"] == f"`{gone}` is not a directory"
    page = served.ask("GET", "/r/gone/queue")
    assert page.status == 503
    assert "is not a directory" in page.body.decode()
    refused = served.ask("GET", "/r/gone/api/v1/status")
    assert (refused.status, refused.error) == (503, "log")
    assert served.ask("POST", "/r/gone/api/v1/queue/freeze", b"{}").status == 503
    assert served.ask("GET", "/r/bare/api/v1/status").status == 503
    assert served.ask("GET", "/r/api/api/v1/status").status == 200
    health = served.ask("GET", "/healthz", Authorization=None)
    assert (health.status, health.body) == (503, b"2 of 3 logs cannot be read\n")
    make_yard("gone")
    api.await_that(lambda: not row_of(served, "gone")["trouble"], "the repository")
    assert served.ask("GET", "/r/gone/api/v1/status").status == 200


def test_a_log_that_is_lost_while_it_is_shown_takes_nobody_with_it(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    served = serve_all(api, web)
    with served.stream("view=repositories") as events:
        next(event for event in events if event.kind == "view")
        aside = web.top.rename(web.folder / "aside")
        assert next_row(events, "web")["trouble"]
        api.add(title="Goes on")
        assert next_row(events, "api")["ready"] == 1
        aside.rename(web.top)
        while next_row(events, "web")["trouble"]:
            pass


def test_nothing_is_served_where_nothing_can_be_shown_and_what_is_named_wrongly_is_refused(api: Yard) -> None:
    def said(*words: str) -> tuple[int, str]:
        command = RunningCommand(["web", *words], api.folder, api.env, apart=True)
        return command.wait(), command.words + command.complaints

    nowhere = str(api.folder / "nowhere")
    code, words = said("--repo", nowhere, "--repo", "/")
    assert code == 1
    assert words.endswith(
        "error: none of these repositories can be shown\n\nhint: name at least one that `paddock init` has set up\n"
    )
    assert said("--repo", nowhere) == (1, f"error: `{nowhere}` is not a directory\n")
    assert said("--repo", "") == (
        2, "error: --repo names nothing\n\nhint: name a path in a repository: `--repo ~/src/api`\n",
    )  # fmt: skip
    assert "-C and --repo cannot be used together" in api.paddock("web", "--repo", str(api.top), code=2)


# -- who is let in ------------------------------------------------------------------------------------------------


def test_one_token_opens_all_and_nothing_is_told_without_it(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    api.add(title="secret plan")
    served = serve_all(api, web)
    folder = Path(api.env["HOME"], ".local/state/paddock/web")
    assert (folder / "web.token").read_text() == served.token
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in ("/", "/r/api/", "/r/nope/", "/api/v1/repositories", "/api/v1/events", "/r/api/api/v1/status"):
        for token in (None, "Bearer wrong"):
            answer = served.ask("GET", path, Authorization=token)
            assert answer.status == 401, path
            assert b"secret" not in answer.body
            assert str(api.top).encode() not in answer.body
    for root in ("", "/r/api", "/r/nope"):
        evil = "http://evil.example"
        assert served.ask("GET", f"{root}/api/v1/status", Origin=evil).error == "origin"
        assert served.ask("GET", f"{root}/api/v1/status", Sec_Fetch_Site="cross-site").error == "origin"
        assert served.ask("POST", f"{root}/api/v1/queue/freeze", b"{}", Origin=evil).error == "origin"
        assert served.ask("GET", f"{root}/", Host="evil.example").error == "host"
        assert served.ask("GET", f"{root}/api/v1/status?token={served.token}", Authorization=None).status == 401
    opened = served.ask("GET", f"/r/api/tasks/t1?token={served.token}&tab=diff", Authorization=None)
    assert (opened.status, opened.headers["location"]) == (303, "/r/api/tasks/t1?tab=diff")
    assert "Path=/" in opened.headers["set-cookie"].split("; ")
    assert served.ask("GET", "/r/api").headers["location"].endswith("/r/api/")


def test_an_agent_of_one_repository_cannot_steer_another(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    web.add(write("a.txt"), commit("Work"))
    web.run()
    served = serve_all(api, web)
    script = api.folder / "ask.py"
    script.write_text(AS_AGENT)
    tries = f"{sys.executable} {script} {served.port} {served.token} /r/web/api/v1/tasks/approve > answers.txt"
    api.add({"run": ["sh", "-c", tries]}, commit("Try"))
    api.run()
    told = api.git("show", f"{api.task('t1').head}:answers.txt")
    assert (told[:3], json.loads(told[4:])["error"]["code"]) == ("403", "worker")
    assert web.task("t1").phase is Phase.APPROVAL
    assert api.attempt("t1").refused == ("web tasks/approve",)


def test_a_second_one_for_the_same_repositories_names_the_first(api: Yard, web: Yard, serve_all: ServeAll) -> None:
    served = serve_all(api, web)
    words = ["web", "--port", str(served.port), "--json", "--repo", str(web.top), "--repo", str(api.top)]
    again = RunningCommand(words, api.folder, api.env, apart=True)
    assert again.wait() == 0
    assert json.loads(again.words)["url"] == f"http://127.0.0.1:{served.port}/?token={served.token}"
    assert f"it is running already (pid {served.command.pid})" in again.complaints
    assert f"127.0.0.1:{served.port}/" in api.paddock("doctor")
    served.command.send(signal.SIGINT)
    assert served.command.wait() == 0
    assert not list(Path(api.env["HOME"], ".local/state/paddock/web").glob("web-*.json"))


# -- in a browser -------------------------------------------------------------------------------------------------


@pytest.fixture
def site(api: Yard, web: Yard, serve_all: ServeAll, launch: Callable[[], Browser]) -> Iterator[Site]:
    """Over `api`, which needs a person, `web`, and one that is not there."""
    api.add(write("a.txt"), commit("Work"), title="Say hello")
    api.run()
    served = serve_all(api, web, api.folder / "gone")
    origin = f"http://{served.name}"
    site = Site(api, served.command, launch, f"{origin}/?token={served.token}", origin, served.token)
    yield site
    site.close()
    assert site.complaints == []


def overview(site: Site, **how: object) -> Page:
    page = site.page(**how)  # type: ignore[arg-type]
    expect(page.locator("main table")).to_be_visible()
    return page


def test_a_person_finds_what_needs_them_in_any_repository_and_goes_from_one_to_another(site: Site, web: Yard) -> None:
    page = overview(site)
    expect(page.locator(".lede")).to_contain_text("1 task needs you, in api.")
    expect(page.locator("tr", has_text="gone")).to_contain_text("is not a directory")
    web.add(title="New")
    expect(page.locator("tr", has_text="web").locator("td").nth(3)).to_have_text("1")
    page.keyboard.press("j")
    expect(page.locator(":focus")).to_have_text("Say hello")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.origin}/r/api/tasks/t1")
    expect(page.locator("main h1")).to_contain_text("Say hello")
    page.get_by_role("link", name="Queue").click()
    expect(page).to_have_url(f"{site.origin}/r/api/queue")
    page.keyboard.press("o")
    page.get_by_role("link", name="web").click()
    expect(page).to_have_url(f"{site.origin}/r/web/")
    expect(page.locator("main")).to_contain_text("New")
    expect(page.get_by_role("button", name="Repository web: switch to another")).to_be_visible()
    page.get_by_role("link", name="Paddock", exact=True).click()
    expect(page).to_have_url(f"{site.origin}/")


def test_every_link_of_a_repositorys_pages_stays_in_it(site: Site) -> None:
    page = overview(site)
    for path in ("/", "/tasks/t1", "/queue", "/fleet", "/insight", "/log", "/runs/t1.1"):
        page.goto(f"{site.origin}/r/api{path}")
        settle(page)
        links = page.eval_on_selector_all("a[href]", "found => found.map(one => one.getAttribute('href'))")
        assert links
        assert {link for link in links if not link.startswith(("/r/api/", "#", "http"))} == {"/"}, path


def test_what_is_asked_for_on_a_page_happens_in_its_repository(site: Site, api: Yard) -> None:
    page = overview(site)
    page.goto(f"{site.origin}/r/api/")
    page.get_by_role("button", name="Approve").first.click()
    expect(page.locator(".toasts")).to_contain_text("t1 approved")
    assert needs_of(api.board()) == []


def test_all_repositories_fit_and_are_accessible_in_light_and_dark_on_any_screen(site: Site) -> None:
    page = overview(site)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, COLOURS) == []
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    first = page.locator("main section").evaluate_all(
        "found => found.map(one => [one.getBoundingClientRect().top, one.querySelector('h2').textContent]).sort()[0][1]"
    )
    assert first == "Needs you"
    page.goto(f"{site.origin}/r/api/")
    settle(page)
    page.locator(".switch").click()
    expect(page.locator(".places li").nth(2)).to_contain_text("cannot be read")
    page.keyboard.press("Escape")
    expect(page.locator(".places")).to_have_count(0)
    page.keyboard.press("o")
    expect(page.locator(".places li")).to_have_count(3)
    assert violations(page) == []
