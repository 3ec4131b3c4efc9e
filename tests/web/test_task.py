"""The page of a task in a real browser: it follows its agent, and what people write on it reaches the agent."""

import json

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from paddock.core.events import MessageSent, TaskRejected
from paddock.core.tasks.task import Phase
from tests.fleet.yard import Step, Yard, commit, write
from tests.web.conftest import Serve
from tests.web.site import MILLISECONDS, PHONE

expect.set_options(timeout=MILLISECONDS)
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


def say(text: str) -> Step:
    return {"say": text}


def wait_for(yard: Yard, name: str) -> Step:
    return {"wait_for": str(yard.folder / name)}


def keep_prompt(yard: Yard, name: str, turn: int) -> Step:
    """What the agent was started with is written down, as its own command line has it."""
    script = f"tr '\\0' '\\n' < /proc/$PPID/cmdline > {yard.folder / name}"
    return {"run": ["sh", "-c", script], "turn": turn}


def line(page: Page, place: str) -> None:
    page.locator(f"[data-place='{place}']").click()


def test_the_transcript_follows_its_agent_and_a_message_is_heard(yard: Yard, serve_yard: Serve) -> None:
    many = [say(f"word {number}") for number in range(60)]
    yard.add(*many, wait_for(yard, "go"), say("the second part"), wait_for(yard, "end"), write("a.txt"), commit())
    yard.start("run")
    page = serve_yard(yard).page("/tasks/t1")
    talk = page.get_by_role("log", name="What the agent said and did")
    expect(talk.get_by_text("word 59")).to_be_visible()
    expect(page.get_by_text("following")).to_be_visible()
    expect(page.get_by_label("You can").get_by_role("button", name="Copy paddock connect t1")).to_be_visible()
    (yard.folder / "go").touch()
    expect(talk.get_by_text("the second part")).to_be_in_viewport()
    talk.evaluate("(box) => { box.scrollTop = 0; }")
    expect(page.get_by_role("button", name="Follow")).to_be_visible()

    page.keyboard.press("m")
    page.keyboard.type("Mind the gap")
    page.keyboard.press("Enter")
    yard.await_board(lambda board: board.task(yard.task().id).inbox, "the message")
    expect(page.get_by_text("one message waits")).to_be_visible()
    assert talk.evaluate("(box) => box.scrollTop") < 200
    (yard.folder / "end").touch()
    page.keyboard.press("Escape")
    page.keyboard.press("F")
    expect(talk.get_by_text("Mind the gap")).to_be_in_viewport()
    expect(talk.get_by_text("turn 2")).to_be_visible()
    assert [record.event for record in yard.records(MessageSent)] == [MessageSent("Mind the gap")]


def test_two_comments_and_a_rejection_are_one_message_in_the_next_prompt(yard: Yard, serve_yard: Serve) -> None:
    again = [keep_prompt(yard, "prompt", 2), {**write("a.py", "one\ntwo\nthree\nfour\n"), "turn": 2}]
    yard.add(write("a.py", "one = 1\ntwo = 2\nthree = 3\n"), commit(), *again, {**commit("More"), "turn": 2})
    yard.run()
    site = serve_yard(yard)
    page = site.page("/tasks/t1")
    line(page, "new:1:a.py")
    page.keyboard.type("Not this name")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("<b>And</b> this?")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.get_by_text("2 comments not sent yet")).to_be_visible()
    page.get_by_role("button", name="Reject with them").click()
    yard.await_board(lambda _board: yard.records(TaskRejected), "the rejection")
    expect(page.get_by_text("2 comments not sent yet")).to_be_hidden()
    [rejected] = yard.records(TaskRejected)
    assert isinstance(rejected.event, TaskRejected)
    assert rejected.event.message.split("\n\n", 1)[1] == (
        "1. `a.py:1`\n   > one = 1\n   Not this name\n\n2. `a.py:3`\n   > three = 3\n   <b>And</b> this?"
    )
    yard.run()
    assert rejected.event.message in (yard.folder / "prompt").read_text()
    expect(page.get_by_text("delivered v2")).to_be_visible()
    page.get_by_role("button", name="v1 → v2").click()
    expect(page.locator("[data-place='new:4:a.py']")).to_contain_text("four")
    expect(page.locator("[data-place='old:1:a.py'] mark")).to_have_count(1)


def test_a_decision_about_an_outdated_version_is_refused_and_the_difference_shown(
    yard: Yard, serve_yard: Serve
) -> None:
    again = [{**write("a.py", "one\ntwo\nthree\nfour\n"), "turn": 2}, {**commit("More"), "turn": 2}]
    yard.add(write("a.py", "one\ntwo\nthree\n"), commit(), *again)
    yard.run()
    page = serve_yard(yard).page("/tasks/t1")
    line(page, "new:1:a.py")
    page.keyboard.type("Not this")
    page.keyboard.press("Control+Enter")
    yard.paddock("reject", "t1", "-m", "Once more")
    yard.run()
    expect(page.get_by_text("v2 arrived while you were reading")).to_be_visible()

    page.keyboard.press("a")
    told = page.get_by_role("dialog", name="has changed since")
    expect(told.locator(".diff")).to_contain_text("four")
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    assert yard.task().phase is Phase.APPROVAL

    page.get_by_role("button", name="Reject with it").click()
    expect(page.get_by_text("This is the difference since what you saw")).to_be_visible()
    expect(page.locator(".diff .d.a")).to_have_text(["4+four"])
    assert len(yard.records(TaskRejected)) == 1
    page.get_by_role("button", name="Reject with it").click()
    yard.await_that(lambda: len(yard.records(TaskRejected)) == 2, "the second rejection")


def test_axe_finds_nothing_serious_in_the_middle_of_a_review_on_a_phone(yard: Yard, serve_yard: Serve) -> None:
    yard.add(say("done `soon`"), {"run": ["echo", "hello"]}, write("a.py", "def one():\n    return 'x'\n"), commit())
    yard.run()
    page = serve_yard(yard).page("/tasks/t1", size=PHONE, scheme="dark")
    line(page, "new:1:a.py")
    page.keyboard.type("Why?")
    page.locator(".talk summary").first.click()
    expect(page.locator(".events li")).not_to_have_count(0)
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert not page.evaluate(SIDEWAYS)


def test_hostile_words_names_and_lines_do_nothing(yard: Yard, serve_yard: Serve) -> None:
    bad = "<img src=x onerror='hacked=1'><script>hacked=1</script>"
    evil = f"{bad}\u202egnp\x1b[31m\n"
    large = "head -c 1000000 /dev/zero | tr '\\0' x > long.txt; printf 'a\\0b' > nul.bin"
    yard.add(
        say(f"{bad} \x1b]0;title\x07 \u202egnp `{bad}` ```{bad}```"),
        {"run": ["echo", evil]},
        {"run": ["sh", "-c", large]},
        write("we<b>ird\t\u202e.py", evil),
        commit(),
        title=f"{bad[:150]}",
    )
    yard.run()
    site = serve_yard(yard)
    for size in ((1440, 900), PHONE):
        page = site.page("/tasks/t1", size=size)
        expect(page.get_by_role("button", name="we<b>ird")).to_contain_text('"we<b>ird\\t\\342\\200\\256.py"')
        expect(page.get_by_role("button", name="nul.bin")).to_contain_text("not text")
        assert len(page.locator("[data-place='new:1:long.txt']").inner_text()) < 2100
        expect(page.locator(".talk .msg").first).to_contain_text(bad)
        page.locator(".talk summary").nth(1).click()
        expect(page.locator(".talk .tool pre")).to_contain_text("\ufffd")
        page.get_by_role("button", name="Raw").click()
        expect(page.locator("pre.raw")).to_contain_text("hacked")
        assert page.evaluate("[typeof hacked, document.querySelectorAll('main img, main script').length]") == [
            "undefined",
            0,
        ]
        assert not page.evaluate(SIDEWAYS)


def test_a_transcript_of_a_hundred_megabytes_opens_at_its_end_and_a_long_file_in_parts(
    yard: Yard, serve_yard: Serve
) -> None:
    lines = "".join(f"line = {number}\n" for number in range(1, 6001))
    yard.add(say("the beginning"), write("long.py", lines), write("more.py"), commit())
    yard.run()
    block = {"type": "text", "text": "y" * 4000}
    said = json.dumps({"type": "assistant", "session_id": "s", "message": {"content": [block]}}).encode() + b"\n"
    with (yard.attempt_folder("t1.1") / "turn-1.out").open("ab") as output:
        for _ in range(100):
            output.write(said * (1_000_000 // len(said)))
        output.write(said.replace(b"y" * 4000, b"the very end"))
    page = serve_yard(yard).page("/tasks/t1")
    talk = page.get_by_role("log", name="What the agent said and did")
    expect(talk.get_by_text("the very end")).to_be_in_viewport()
    assert 100 <= page.locator(".talk .msg").count() <= 220
    talk.evaluate("(box) => { box.scrollTop = 0; }")
    expect(page.locator(".talk .msg").nth(300)).to_be_attached()
    page.get_by_role("button", name="Raw").click()
    expect(page.locator("pre.raw")).to_contain_text("the very end")
    expect(page.get_by_text("prints all")).to_be_visible()

    expect(page.locator("[data-place='new:1:long.py']")).to_be_visible()
    expect(page.get_by_role("button", name="more.py")).to_have_attribute("aria-expanded", "false")
    page.get_by_role("button", name="Show the rest of this file").click()
    expect(page.get_by_role("button", name="Show the rest of this file")).to_be_hidden()
    page.get_by_role("button", name="more.py").scroll_into_view_if_needed()
    expect(page.locator("[data-place='new:6000:long.py']")).to_be_attached()
    assert page.locator(".changes .d").count() < 1000


def test_a_task_that_does_not_exist_is_told_so(yard: Yard, serve_yard: Serve) -> None:
    page = serve_yard(yard).page("/tasks/t77")
    expect(page.get_by_role("heading", name="there is no task")).to_be_visible()


def test_a_page_of_no_task_says_so_and_names_the_nearest(yard: Yard, serve_yard: Serve) -> None:
    yard.add_all([{"brief": "one", "title": "The first"}, {"brief": "two", "title": "The second"}])
    site = serve_yard(yard)
    page = site.page("/tasks/t3")
    expect(page.get_by_role("heading", name="there is no task t3: the newest task is t2")).to_be_visible()
    expect(page.get_by_role("list", name="Nearest tasks").get_by_role("link")).to_have_text(["t2", "t1"])
    expect(page.get_by_text("stream cut")).to_have_count(0)
    expect(page.get_by_role("link", name="To the board")).to_be_visible()
    yard.add_all([{"brief": "three", "title": "The third"}])
    expect(page.get_by_role("heading", name="The third")).to_be_visible()
    page.goto(f"{site.origin}/tasks/zebra")
    expect(page.get_by_role("heading", name="zebra is not a task id")).to_be_visible()
    expect(page.get_by_role("list", name="Nearest tasks").get_by_role("link")).to_have_text(["t3", "t2", "t1"])
