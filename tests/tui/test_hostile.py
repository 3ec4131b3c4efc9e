"""What agents write is shown and steers nothing: transcripts, patches and file names of any kind and length."""

import pytest
from rich.text import Text

from paddock.core import trace
from paddock.fleet.attempts.excerpts import Excerpt, PlacedEntry
from paddock.tui.style import MOST_CHARS, bar, fit, joined, safe
from paddock.tui.transcript import excerpt_lines
from tests.fleet.conftest import make_yard, yard, yard_template
from tests.fleet.yard import Yard, commit, write
from tests.tui.conftest import Fleet, Top

__all__ = ["make_yard", "yard", "yard_template"]

EVIL = "\x1b[31m[bold]x[/bold]\x1b]0;title\x07 \u202eabc\x00\x9b2J"
ENTRIES: tuple[trace.TraceEntry, ...] = (
    trace.SessionStarted(EVIL, EVIL),
    trace.Text(EVIL + "a" * 1_000_000),
    trace.Text("\n".join(["line"] * 10_000)),
    trace.ToolCall("1", EVIL, EVIL),
    trace.FileEdit("1", EVIL, f"+{EVIL}\n-{EVIL}"),
    trace.ToolResult("1", trace.ToolStatus.ERROR, EVIL),
    trace.ToolResult("1", trace.ToolStatus.OK, EVIL),
    trace.Error(EVIL),
    trace.RateLimited(trace.TroubleKind.OVERLOAD, message=EVIL),
    trace.End(success=True, reason=EVIL),
)


def test_every_kind_of_entry_is_cut_and_harmless() -> None:
    placed = tuple(PlacedEntry(n, float(n), entry) for n, entry in enumerate(ENTRIES))
    lines = excerpt_lines(Excerpt(placed, 0, 9, True, False, EVIL, (trace.Error(EVIL),)))
    assert len(lines) < 200, "a long text is told by its number of lines"
    assert any("9,940 more lines" in line.plain for line in lines)
    for line in lines:
        assert line.plain.isprintable()
        assert len(line.plain) <= MOST_CHARS + 40
    assert any("[bold]x[/bold]" in line.plain for line in lines), "markup is text"


@pytest.mark.parametrize("text", [EVIL, "x" * 10**6, "修复" * 50, "", "e\u0301" * 40, "👩‍👩‍👧" * 9])
@pytest.mark.parametrize("width", [1, 2, 9, 40])
def test_a_cell_is_exactly_as_wide_as_its_column(text: str, width: int) -> None:
    shown = fit(text, width)
    assert Text(shown).cell_len == width
    assert shown.isprintable()


def test_a_bar_is_neither_empty_nor_full_before_it_is() -> None:
    assert [bar(share, 4) for share in (-1, 0, 0.001, 0.5, 0.999, 1, 7)] == [
        "[░░░░]", "[░░░░]", "[█░░░]", "[██░░]", "[███░]", "[████]", "[████]",
    ]  # fmt: skip


def test_a_line_of_parts_never_exceeds_its_width() -> None:
    parts = [Text(safe(word)) for word in ("agents 3 of 6", "$3.20 today of $20.00", EVIL, "x" * 300)]
    for width in range(1, 120):
        assert joined(parts, width).cell_len <= width


def test_a_hostile_agent_is_shown_as_it_is(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    text = EVIL.replace("\0", "")  # git compares no lines of a file with a NUL
    steps = ({"say": f"said {EVIL}"}, write("ev\u202eil [red].py", f"good()\n{text}\n{'y' * 100_000}\n"), commit())
    yard.add(*steps, title="Odd [red]one[/red]")
    yard.run("--until-idle")
    for name, value in yard.env.items():
        monkeypatch.setenv(name, value)

    async def script(top: Top) -> None:
        await top.until(lambda: "said �[31m[bold]x" in top.page.plain, "its words")
        await top.press("d")
        await top.until(lambda: "+good()" in top.page.plain and "@@" in top.page.plain, "its patch")
        assert "[red].py" in top.page.plain
        assert "\u202e" not in top.page.plain
        assert all(line.isprintable() and len(line) < 3_000 for line in top.page.plain.split("\n"))
        await top.press("4")
        await top.until(lambda: "Odd [red]one[/red]" in top.page.plain, "its events")
        assert "\x1b" not in top.text

    Fleet(yard.top).play(script)
