"""The report of a fleet that was at work: for a browser, for a chat and for programs."""

import json
import re
from html.parser import HTMLParser
from typing import Any

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write

HOSTILE = "<script>alert(1)</script> <img src=https://evil.example/x> [x](https://evil.example) `|` @everyone"
ALLOWED = re.compile(
    "meta|html|head|body|title|style|main|section|header|div|span|p|b|code|h[123]|table|thead|tbody|t[rhd]|svg|g|rect|"
    "path|text"
)


class Seen(HTMLParser):
    """The elements and attributes of a page, and that every element that begins also ends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def at_work(yard: Yard) -> None:
    """One task lands, one needs no change, and two fail with words that want to be more than that."""
    yard.add(write("a.txt"), commit(), title="Adds a")
    yard.add({"noop": "it is there already"}, title="Adds nothing")
    for number in range(2):
        yard.add({"say": HOSTILE}, {"fail": HOSTILE}, title=f"{HOSTILE} {number}", attempts=1)
    yard.run(code=None)
    yard.paddock("land", "t1")
    yard.run(code=None)


def test_a_fleets_work_is_told_for_a_browser_for_a_chat_and_for_programs(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    at_work(yard)
    told: dict[str, Any] = json.loads(yard.paddock("report", "--json"))
    landings = told["landings"]
    assert (landings["landed"], landings["failed"], landings["without_change"]) == (1, 2, 1)
    assert told["words"].startswith("1 of 4 tasks that were decided landed")
    assert told["costs"]["split"]["attempts"] == 4
    assert (told["failures"]["runs"], told["failures"]["failed"]) == (4, 2)
    assert sum(card["count"] for card in told["failures"]["top"]) == 2
    assert told["time"]["tasks"] == 2
    assert told["drift"]["batches"] == []
    assert [row["name"] for row in told["checks"]] == ["ci"]
    assert {row["task"] for row in told["offenders"]["tasks"]} == {"t3", "t4"}

    file = yard.folder / "week.html"
    assert "wrote" in yard.paddock("report", "-o", str(file))
    page = file.read_text("utf-8")
    seen = Seen(page)
    assert seen.open == []
    assert all(map(ALLOWED.fullmatch, seen.tags))
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href", "style")]
    assert not re.search(r"https?://(?!evil)|@import|url\((?!#)", page)
    assert any(HOSTILE in words for words in seen.words)
    [policy] = [value for name, value in seen.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")

    chat = yard.paddock("report", "--format", "md")
    assert chat.startswith("# app: what the fleet did\n")
    assert "| 1 | 2 | 0 | 1 | 0 |" in chat
    assert "Too little data: no batch of attempts was completed." in chat
    plain = re.sub(r"`[^`\n]*`", "", chat)
    assert not re.search(r"(?<!\\)<|(?<!\\)\[|@everyone|https?://", plain)
    rows = [line for line in chat.splitlines() if re.match(r"\| t\d", line)]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [6, 6]
