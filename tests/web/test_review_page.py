"""Reviews, questions and plans on the page of a task: what agents wrote is text, and a person decides with a button."""

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from paddock.core.events import MessageSent, PlanAccepted
from paddock.core.review.events import FindingSettled
from tests.fleet.yard import Yard
from tests.web.conftest import Serve
from tests.web.reviewed import EVIL, seed_reviews
from tests.web.site import MILLISECONDS, PHONE

expect.set_options(timeout=MILLISECONDS)
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


def assert_accessible(page: Page) -> None:
    violations = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in violations] == []


def test_findings_are_shown_in_full_and_at_their_lines_and_can_be_waived(yard: Yard, serve_yard: Serve) -> None:
    made = seed_reviews(yard)
    site = serve_yard(yard)
    page = site.page("/tasks/t1")
    findings = page.get_by_role("region", name="Findings")
    expect(findings.locator("[data-finding] b")).to_have_text(["f2", "f3", "f1"])
    expect(findings.locator("[data-finding=f2] p").first).to_have_text(EVIL)
    assert page.locator("main img").count() == 0
    expect(page.locator("main .say")).to_contain_text("round 2 of 3: next, security reviews it")
    review = page.get_by_role("region", name="Review")
    expect(review.locator("li").filter(has_text="critic")).to_have_count(2)
    expect(review.get_by_text("objects to v1")).to_be_visible()
    review.get_by_text("ruff failed, exit 1").click()
    expect(review.get_by_text("Found 1 error.")).to_be_visible()
    expect(page.get_by_role("region", name="Acceptance")).to_contain_text("python -m pytest tests/hidden")

    note = page.locator("[data-finding-note=f2]")
    expect(page.locator("[data-place='new:5:parse.py'] + .note")).to_have_attribute("data-finding-note", "f2")
    expect(page.locator("[data-finding-note=f1]")).to_have_count(0)
    findings.get_by_role("button", name="parse.py:6").click()
    expect(page.locator("[data-place='new:6:parse.py'] + [data-finding-note=f1]")).to_be_in_viewport()
    expect(page.get_by_role("button", name="v1", exact=True)).to_have_attribute("aria-pressed", "true")
    assert_accessible(page)

    note.get_by_role("button", name="Waive f2").click()
    page.get_by_role("textbox", name="Why does it not count?").fill("only matching text gets here")
    page.get_by_role("button", name="Waive", exact=False).last.click()
    expect(findings.locator("[data-finding=f2]")).to_contain_text("waived by")
    [*_, settled] = [record.event for record in yard.records(FindingSettled, "t1")]
    assert isinstance(settled, FindingSettled)
    assert (settled.id, settled.why, settled.head) == ("f2", "only matching text gets here", made.heads[1])
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert not page.evaluate(SIDEWAYS)


def test_a_question_is_answered_a_plan_accepted_and_a_report_stays_text(yard: Yard, serve_yard: Serve) -> None:
    seed_reviews(yard)
    site = serve_yard(yard)
    page = site.page("/")
    expect(page.locator("[data-section=needs] [data-task=t2]")).to_contain_text("Is a negative delay an error")
    expect(page.locator("#reviewing [data-task=t1]")).to_contain_text("2 findings, 1 blocks · round 2 of 3")
    page.goto(f"{site.origin}/tasks/t2")
    question = page.get_by_role("region", name="Question")
    expect(question).to_contain_text("The brief says neither.")
    question.get_by_role("textbox", name="Your answer").fill("An error.")
    question.get_by_role("button", name="Answer").click()
    expect(question).to_be_hidden()
    [sent] = [record.event for record in yard.records(MessageSent, "t2")]
    assert isinstance(sent, MessageSent)
    assert sent.text == "An error."

    page.goto(f"{site.origin}/tasks/t3")
    plan = page.get_by_role("region", name="Plan")
    expect(plan.locator("li li code")).to_have_text("docs")
    expect(plan).to_contain_text("src/parse.py")
    assert_accessible(page)
    plan.get_by_role("button", name="Accept").click()
    expect(plan.get_by_role("button", name="Accept")).to_be_hidden()
    assert len(yard.records(PlanAccepted, "t3")) == 1

    page.goto(f"{site.origin}/tasks/t4")
    expect(page.get_by_role("region", name="Report")).to_contain_text("<script>alert(1)</script>")
    page.goto(f"{site.origin}/tasks/t5")
    found = page.get_by_role("region", name="Findings")
    expect(found).to_contain_text("One leak.")
    found.get_by_role("button", name="File as task f4").click()
    expect(found.get_by_role("link", name="t9")).to_be_visible()
