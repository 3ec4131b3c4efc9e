"""Parts of a turn's transcript: every entry once, from either end, whatever is written and however long it is."""

import json
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.config.schema import Config
from paddock.core import trace
from paddock.core.ids import AttemptId, harmless
from paddock.core.tasks.task import Attempt
from paddock.fleet import raw_output
from paddock.fleet.attempts import excerpts
from paddock.fleet.attempts.excerpts import read_end, read_on, read_raw
from paddock.fleet.attempts.openings import Opening, TurnInput
from paddock.fleet.site import Site
from paddock.git.repo import discover
from paddock.views.tasks.transcript import view_raw, view_transcript

OVER = Attempt(AttemptId("t1.1"), "scripted", "paddock/t1", "0" * 40, 1.0, turn=1, turn_open=False, ended=2.0)
LIVE = replace(OVER, turn_open=True, ended=None)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    top = tmp_path_factory.mktemp("excerpts")
    subprocess.run(["git", "init", "-q", top], check=True)
    found = Site(discover(top), Config(), top / ".git" / "paddock", "mark")
    output(found).parent.mkdir(parents=True)
    return found


def output(site: Site) -> Path:
    return site.owner_folder(OVER.id) / "turn-1.out"


def said(text: str) -> bytes:
    block = {"type": "text", "text": text}
    return json.dumps({"type": "assistant", "session_id": "s", "message": {"content": [block]}}).encode() + b"\n"


def called(call: str, tool: str, **arguments: str) -> bytes:
    block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
    return json.dumps({"type": "assistant", "session_id": "s", "message": {"content": [block]}}).encode() + b"\n"


def piece(text: str) -> bytes:
    event = {"type": "content_block_delta", "delta": {"text": text}}
    return json.dumps({"type": "stream_event", "session_id": "s", "event": event}).encode() + b"\n"


def words(part: excerpts.Excerpt) -> list[str]:
    return [one.entry.text for one in part.entries if isinstance(one.entry, trace.Text)]


def test_pages_from_the_end_and_from_the_front_tell_every_entry_once(site: Site) -> None:
    output(site).write_bytes(b"".join(said(f"line {number} " + "x" * 500) for number in range(3000)))
    whole = [f"line {number} " + "x" * 500 for number in range(3000)]
    page = read_end(site, OVER, 1, 200)
    back, pages = words(page), 1
    while page.more_before:
        page = read_end(site, OVER, 1, 200, before=page.first)
        back, pages = words(page) + back, pages + 1
    assert back == whole
    assert pages >= 15
    page = read_on(site, OVER, 1, 700, after=-1)
    on = words(page)
    while page.more_after:
        page = read_on(site, OVER, 1, 700, after=page.last)
        on += words(page)
    assert on == whole


def test_who_follows_hears_each_entry_once_and_the_pieces_of_the_next(site: Site) -> None:
    output(site).write_bytes(said("one") + piece("tw"))
    page = read_end(site, LIVE, 1, 200)
    assert (words(page), page.unfinished) == (["one"], "tw")
    with output(site).open("ab") as file:
        file.write(piece("o, th") + said("two, three")[:-10])
    page = read_on(site, LIVE, 1, 200, after=page.last)
    assert (words(page), page.unfinished) == ([], "two, th")
    with output(site).open("ab") as file:
        file.write(said("two, three")[-10:])
    page = read_on(site, LIVE, 1, 200, after=page.last)
    assert (words(page), page.unfinished) == (["two, three"], "")
    assert read_on(site, LIVE, 1, 200, after=page.last).entries == ()


def test_a_last_line_without_an_end_counts_once_the_turn_is_over(site: Site) -> None:
    output(site).write_bytes(said("one") + said("two")[:-1])
    assert words(read_end(site, LIVE, 1, 10)) == ["one"]
    page = read_end(site, OVER, 1, 10)
    assert words(page) == ["one", "two"]
    assert read_on(site, OVER, 1, 10, after=page.last).entries == ()


def test_the_end_of_a_hundred_megabytes_comes_at_once(site: Site) -> None:
    line = said("x" * 2000)
    with output(site).open("wb") as file:
        for _ in range(100):
            file.write(line * (1_000_000 // len(line)))
        file.write(said("the end"))
    began = time.process_time()
    page = read_end(site, OVER, 1, 200)
    assert time.process_time() - began < 2.0
    assert words(page)[-1] == "the end"
    assert len(page.entries) == 200
    raw = read_raw(site, OVER, 1)
    assert raw.size > 95_000_000
    assert len(raw.text) < 2 * raw_output.PART_BYTES
    output(site).write_bytes(b"")


def test_a_part_without_an_entry_can_be_passed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpts, "FIRST_WINDOW_BYTES", 1000)
    monkeypatch.setattr(excerpts, "LAST_WINDOW_BYTES", 4000)
    output(site).write_bytes(said("first") + piece("") * 300 + said("last"))
    page = read_end(site, OVER, 1, 10)
    found = words(page)
    for _ in range(100):
        if not page.more_before:
            break
        page = read_end(site, OVER, 1, 10, before=page.first)
        found = words(page) + found
    assert found == ["first", "last"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.binary(max_size=80), st.text(max_size=40).map(said)), max_size=12))
def test_nothing_an_agent_writes_can_do_anything(site: Site, lines: list[bytes]) -> None:
    output(site).write_bytes(b"\n".join(lines))
    opening = Opening(1, 1.0, (TurnInput("ana", "task", "\x1b[31m<script>"),))
    page = msgspec.json.encode(view_transcript(OVER, 1, read_end(site, OVER, 1, 200), opening)).decode()
    assert harmless(page) == page
    raw = view_raw(OVER, 1, read_raw(site, OVER, 1))
    assert "\x1b" not in raw.text
    assert "\0" not in raw.text


def test_raw_parts_follow_each_other_in_whole_lines(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_output, "PART_BYTES", 500)
    lines = [f"{number} {'y' * 60}" for number in range(100)]
    output(site).write_text("\n".join(lines))
    part = read_raw(site, OVER, 1, start=0)
    text = part.text
    while part.end < part.size:
        part = read_raw(site, OVER, 1, start=part.end)
        text += part.text
    assert text.splitlines() == lines
    part = read_raw(site, OVER, 1)
    text = part.text
    while part.start > 0:
        part = read_raw(site, OVER, 1, before=part.start)
        text = part.text + text
    assert text.splitlines() == lines


def test_a_raw_line_of_a_megabyte_is_cut(site: Site) -> None:
    output(site).write_bytes(b"z" * 1_000_000 + b"\nshort\n")
    long = read_raw(site, OVER, 1, start=0)
    assert len(long.text) == raw_output.LINE_CHARS + 1
    assert read_raw(site, OVER, 1, start=long.end).text == "short\n"


def test_calls_come_with_their_edits_and_their_arguments(site: Site) -> None:
    output(site).write_bytes(called("c1", "Bash", command="pytest -q"))
    [placed] = read_end(site, OVER, 1, 10).entries[1:]
    assert isinstance(placed.entry, trace.ToolCall)
    assert (placed.entry.tool, placed.entry.argument) == ("Bash", "pytest -q")


def test_what_an_engine_complains_about_elsewhere_is_told_aside(site: Site) -> None:
    output(site).write_bytes(said("one"))
    errors = output(site).with_suffix(".err")
    errors.write_bytes(b"Error: no such model\n")
    [aside] = read_end(site, OVER, 1, 10).aside
    errors.unlink()
    assert isinstance(aside, trace.Error)


def test_before_its_first_turn_an_attempt_has_what_its_set_up_printed(site: Site) -> None:
    attempt = replace(OVER, turn=0)
    assert read_raw(site, attempt, 0).text == ""
    kept = site.attempt_folder(OVER.id) / "setup.log"
    kept.write_bytes(b"\x1b[31mmake: *** no rule\nexit 2")
    assert read_raw(site, attempt, 0).text == "\ufffd[31mmake: *** no rule\nexit 2\n"
    kept.unlink()
