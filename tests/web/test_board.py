"""The board in a browser: it follows the fleet, and what people do there happens."""

import json
import re
from pathlib import Path

from bench.seeded_fleet import Herd
from playwright.sync_api import Page, expect

from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from tests.fleet.yard import Yard, commit, play, write
from tests.web.conftest import MakeYard, SeedYard, Serve
from tests.web.site import MILLISECONDS, PHONE, Site

SMALL = Herd(
    landed=9, running=3, approval=4, queued=2, ready=3, waiting=4, blocked=2, failed=1, noop=1, cancelled=1, done=2,
)  # fmt: skip


def first_in(page: Page, section: str, nth: int = 0) -> TaskId:
    """The id of a row."""
    row = page.locator(f'[data-section="{section}"] [data-task]').nth(nth)
    return TaskId(row.get_attribute("data-task") or "")


def need(page: Page, word: str) -> TaskId:
    row = page.locator('[data-section="needs"] [data-task]', has=page.locator(".st", has_text=word)).first
    return TaskId(row.get_attribute("data-task") or "")


def test_an_empty_board_says_what_to_run_and_then_follows_a_running_fleet(
    make_yard: MakeYard, serve_yard: Serve
) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    page = serve_yard(yard).page()
    expect(page.get_by_role("heading", name="Nothing to do yet")).to_be_visible()
    expect(page.locator(".top .pulse")).to_have_text("daemon down")
    work = [{"brief": play(write(f"{name}.txt"), commit()), "title": f"Write {name}"} for name in ("one", "two")]
    yard.add_all(work)
    expect(page.locator("#ready [data-task]")).to_have_count(2)
    yard.start("run")
    needs = page.get_by_label("Needs you", exact=True)
    expect(needs.locator("[data-task]")).to_have_count(2, timeout=MILLISECONDS)
    expect(page.locator('.flow [data-phase="approval"] b')).to_have_text("2")
    task = first_in(page, "needs")
    page.keyboard.press("a")
    expect(page.locator('.flow [data-phase="landed"] b')).to_have_text("1", timeout=MILLISECONDS)
    expect(page.locator(f'[data-section="landed"] [data-task="{task}"]')).to_be_visible(timeout=MILLISECONDS)
    expect(needs.locator("[data-task]:not(.leaving)")).to_have_count(1)
    expect(page.locator(".feed")).to_contain_text(task)
    assert yard.task(task).phase is Phase.LANDED


def put_in_place(aside: Path, log: Path) -> None:
    """A folder with a log, and what bears witness to it from outside of it."""
    (aside / "paddock").rename(log.parent)
    (aside / "paddock-log.witness").rename(log.parent.with_name("paddock-log.witness"))


def test_a_page_says_that_the_log_is_gone_goes_on_when_it_is_back_and_begins_again_with_another(
    yard: Yard, seed_yard: SeedYard, serve_yard: Serve, tmp_path: Path
) -> None:
    yard.add(title="of the first log")
    other = seed_yard(SMALL)
    page = serve_yard(yard).page()
    expect(page.locator("#ready [data-task]")).to_have_count(1)
    git, aside, newer = yard.log_path.parent.parent, tmp_path / "aside", tmp_path / "newer"
    for folder, log in ((aside, yard.log_path), (newer, other.log_path)):
        folder.mkdir()
        for name in ("paddock", "paddock-log.witness"):
            (log.parent.parent / name).rename(folder / name)
    expect(page.get_by_role("alert")).to_contain_text("the log was removed, or another one is in its place")
    late = page.context.new_page()
    late.goto(page.url)
    expect(late.get_by_role("alert")).to_contain_text("The log cannot be read")

    put_in_place(aside, yard.log_path)
    for each in (page, late):
        expect(each.get_by_role("alert")).to_have_count(0, timeout=MILLISECONDS)
        expect(each.locator("#ready [data-task]")).to_have_count(1, timeout=MILLISECONDS)

    (git / "paddock").rename(aside / "paddock")
    (git / "paddock-log.witness").unlink()
    put_in_place(newer, yard.log_path)
    expect(page.get_by_text("Another log is in the place")).to_be_visible(timeout=MILLISECONDS)
    for each in (page, late):
        ready = each.locator('.flow [data-phase="ready"] b')
        expect(ready).to_have_text(str(SMALL.ready), timeout=MILLISECONDS)
        expect(each.locator(".feed")).not_to_contain_text("of the first log")


def test_people_approve_reject_retry_and_message_by_mouse(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard(SMALL)
    page = serve_yard(yard).page()
    approved, rejected = first_in(page, "needs"), first_in(page, "needs", 1)
    page.get_by_role("button", name=f"Approve {approved}").click()
    yard.await_board(lambda board: board.tasks[approved].phase is Phase.QUEUED, "the approval")
    expect(page.get_by_role("status").filter(has_text="approved")).to_contain_text(approved)

    page.locator(f'[data-task="{rejected}"] .age').click()
    page.keyboard.press("j")
    page.keyboard.press("Space")
    peek = page.get_by_label(f"Peek at {rejected}")
    expect(peek).to_contain_text("Keep the public behaviour")  # of its brief
    expect(peek.get_by_role("button", name=f"Retry {rejected}").locator("kbd")).to_have_count(0)  # `r` rejects
    peek.get_by_role("button", name=f"Reject {rejected}").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("Name the period <b>exactly</b>")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    yard.await_board(lambda board: board.tasks[rejected].phase is not Phase.APPROVAL, "the rejection")
    assert "Name the period <b>exactly</b>" in yard.paddock("log", "--json", "--task", rejected)

    blocked = need(page, "blocked")
    page.get_by_role("button", name=f"Retry {blocked}").click()
    yard.await_board(lambda board: board.tasks[blocked].phase is Phase.READY, "the retry")

    page.locator('[data-phase="approval"]').click()
    asked = first_in(page, "needs")
    page.locator(f'[data-task="{asked}"]').get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/tasks/{asked}$"))
    page.go_back()
    expect(page.locator('[data-phase="approval"]')).to_have_attribute("aria-current", "true")
    page.locator('[data-phase="done"]').click()
    expect(page.locator("#done [data-task]")).to_have_count(SMALL.done)


def test_an_approval_can_be_taken_back_for_some_seconds(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard(SMALL)
    page = serve_yard(yard).page()
    approved = first_in(page, "needs")
    page.get_by_role("button", name=f"Approve {approved}").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toasts")).to_contain_text(f"{approved} waits for approval again")
    yard.await_board(lambda board: board.tasks[approved].phase is Phase.APPROVAL, "the approval to be taken back")


def test_keys_move_message_stop_and_select_many(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard(SMALL)
    page = serve_yard(yard).page()
    ids = [first_in(page, "needs", nth) for nth in range(4)]
    expect(page.locator("[aria-current=true][data-task]")).to_have_attribute("data-task", ids[0])
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    bar = page.get_by_label("Selected tasks")
    expect(bar).to_contain_text("2 selected")
    for _ in range(6):
        page.keyboard.press("j")
    page.keyboard.press("x")
    expect(bar.get_by_role("button", name="Approve")).to_contain_text("not 1")
    page.keyboard.press("a")
    yard.await_board(lambda board: {board.tasks[name].phase for name in ids[:2]} == {Phase.QUEUED}, "both approvals")
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)

    running = first_in(page, "running")
    page.keyboard.press("/")
    page.keyboard.type(f"id:{running}")
    page.keyboard.press("Enter")
    expect(page.locator("[data-task]")).to_have_count(1)
    expect(page.locator("[aria-current=true][data-task]")).to_have_attribute("data-task", running)
    page.keyboard.press("m")
    page.get_by_role("dialog").get_by_role("textbox").fill("Look at the tests first")
    page.keyboard.press("Control+Enter")
    yard.await_board(lambda board: len(board.tasks[running].inbox) == 1, "the message")
    page.keyboard.press("s")
    yard.await_that(lambda: "stop" in yard.paddock("log", "--task", running) or None, "the stop")
    page.keyboard.press("a")
    expect(page.locator(".toasts")).to_contain_text(f"{running} is running: approve is not possible now")


def test_a_filter_narrows_the_board_and_a_mistake_in_it_moves_nothing(seed_yard: SeedYard, serve_yard: Serve) -> None:
    page = serve_yard(seed_yard(SMALL)).page()
    rows = page.locator("[data-task]")
    field, mistake = page.get_by_placeholder("Filter"), page.locator(".mistake")
    expect(page.locator("#ready [data-task]")).to_have_count(3)
    field.fill("phase=ready,running and age>0s")
    expect(rows).to_have_count(6)
    expect(mistake).to_have_count(0)
    field.fill("phase=ready,running and phase=redy")
    expect(mistake.locator("mark")).to_have_text("redy")
    expect(mistake).to_contain_text("there is no phase redy")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(rows).to_have_count(6)
    field.fill("phase=ready")
    expect(rows).to_have_count(3)
    field.fill("")
    expect(mistake).to_have_count(0)
    expect(rows.nth(6)).to_be_visible()


def test_an_outdated_version_is_refused_with_the_difference_and_asked_for_again(
    seed_yard: SeedYard, serve_yard: Serve
) -> None:
    yard = seed_yard(SMALL)
    page = serve_yard(yard).page()
    task = first_in(page, "needs")
    old = yard.git("rev-parse", "main~1").strip()
    approve = """async ([task, old]) => {
      const {perform} = await import("/static/lib/actions.js");
      return perform("approve", [task], {heads: {[task]: old}});
    }"""
    assert page.evaluate(approve, [task, old]) is False
    told = page.get_by_role("dialog")
    expect(told).to_contain_text(f"{task} has changed since this page showed it")
    expect(told).to_contain_text(old[:10])
    expect(told.get_by_role("region", name="What changed").locator(".d.a").first).to_be_visible()
    assert yard.task(task).phase is Phase.APPROVAL
    told.get_by_role("button", name="Approve the new version").click()
    yard.await_board(lambda board: board.tasks[task].phase is Phase.QUEUED, "the approval")


def test_ctrl_k_finds_tasks_and_offers_what_is_legal_now(seed_yard: SeedYard, serve_yard: Serve) -> None:
    page = serve_yard(seed_yard(SMALL)).page()
    first = first_in(page, "needs")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(page.get_by_role("option").first).to_contain_text(f"Approve {first}")
    box.fill("fleet")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/fleet$"))
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill(first)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/tasks/{first}$"))
    page.goto(page.url.replace(f"/tasks/{first}", "/"))
    expect(page.locator('[data-section="needs"]')).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text("reject or retry")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)


def test_a_new_convoy_is_drafted_kept_and_added(site: Site) -> None:
    page = site.page()
    expect(page.get_by_role("heading", name="Nothing to do yet")).to_be_visible()
    page.keyboard.press("n")
    form = page.get_by_role("dialog")
    form.get_by_label("Brief", exact=True).fill("Type the customers")
    form.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("n")
    expect(form.get_by_label("Brief", exact=True)).to_have_value("Type the customers")
    form.get_by_role("button", name="Another task").click()
    form.get_by_label("Brief", exact=True).nth(1).fill("Then the orders")
    form.get_by_label("task 1", exact=True).check()
    form.get_by_text("More: title").nth(1).click()
    form.get_by_label("After").nth(1).fill("t99")
    form.get_by_role("button", name="Add 2 tasks").click()
    expect(form.get_by_role("alert")).to_contain_text("t99")
    form.get_by_label("After").nth(1).fill("")
    form.get_by_label("Convoy").fill("typed-api")
    form.get_by_role("button", name="Add 2 tasks").click()
    expect(page.locator('[data-section="waiting"] [data-task="t2"]')).to_be_visible()
    expect(page.locator('[data-convoy="typed-api"]')).to_contain_text("0 of 2 done")
    assert list(site.yard.task("t2").after) == ["t1"]
    page.keyboard.press("n")
    expect(form.get_by_label("Brief", exact=True)).to_have_value("")


def test_a_restarted_server_continues_the_page_and_every_event_is_shown_once(yard: Yard, serve_yard: Serve) -> None:
    yard.add_all([{"brief": "first"}])
    site = serve_yard(yard)
    page = site.page("/log")
    expect(page.locator("[data-seq]")).to_have_count(len(yard.records()))
    port = int(site.origin.rpartition(":")[2])
    site.server.kill()
    expect(page.locator(".top .pulse")).to_have_text("stream cut")
    yard.add_all([{"brief": "x", "title": f"while it was away {number}"} for number in range(5)])
    serve_yard(yard, port=port)
    expect(page.locator(".log")).to_contain_text("while it was away 4")
    yard.add_all([{"brief": "x", "title": "after it came back"}])
    expect(page.locator(".log")).to_contain_text("after it came back")
    seen = page.locator("[data-seq]").evaluate_all("rows => rows.map((row) => Number(row.dataset.seq))")
    assert seen == [record.seq for record in yard.records()]
    page.get_by_role("link", name="Board", exact=True).click()
    expect(page.locator("#ready [data-task]")).to_have_count(7)


HOSTILE = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "javascript:alert(1) ${alert(1)} {{7*7}}",
)


def test_hostile_titles_stay_text(yard: Yard, serve_yard: Serve) -> None:
    file = yard.folder / "hostile.json"
    file.write_text(json.dumps([{"brief": "x", "title": title} for title in HOSTILE]))
    yard.paddock("add", "--file", str(file))
    site = serve_yard(yard)
    page = site.page(size=PHONE)
    rows = page.locator("#ready [data-task]")
    expect(rows).to_have_count(len(HOSTILE))
    expect(rows.first).to_contain_text("<script>document.title = 'owned'</script>")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("onerror")
    expect(page.get_by_role("option").first).to_contain_text("<img src=x")
    page.keyboard.press("Escape")
    assert page.locator("main script, main img, dialog img").count() == 0
    assert "owned" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
