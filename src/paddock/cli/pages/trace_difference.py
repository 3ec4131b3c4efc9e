"""Two runs side by side as text: their figures, and their aligned paths."""

from collections.abc import Iterator, Sequence

from paddock.cli.pages.costs import money, tokens
from paddock.cli.pages.traces import OUTCOME_COLOURS
from paddock.cli.terminal.text import cut, paint, width
from paddock.core.durations import rough_duration
from paddock.views.insight.trace_difference import PairView, SideView, TraceDifferenceView
from paddock.views.insight.traces import TraceRow

AROUND = 2
"""As many of the same are shown before and after what differs."""
_MARKS = {"same": (" ", None), "changed": ("~", "yellow"), "left": ("<", "red"), "right": (">", "green")}


def difference_lines(found: TraceDifferenceView, *, show_all: bool = False) -> Iterator[str]:
    side = max(16, min(70, (width() - 5) // 2))
    yield from _figures(found.left, found.right, side)
    yield ""
    if not found.pairs:
        yield "neither has a step"
        return
    yield f"{found.likeness:.0%} of the two paths are the same"
    shown = range(len(found.pairs)) if show_all else _worth_showing(found.pairs)
    before = -1
    for place in shown:
        if place > before + 1:
            yield _gap(place - before - 1, side)
        yield _line(found.pairs[place], side)
        before = place
    if before < len(found.pairs) - 1:
        yield _gap(len(found.pairs) - before - 1, side)


def _figures(left: TraceRow, right: TraceRow, side: int) -> Iterator[str]:
    head = max(8, side - 11)
    yield paint(f"{'':<11}{cut(left.name, head):<{head}} {cut(right.name, head)}", bold=True)
    for name, ours, theirs in (
        ("task", left.task, right.task),
        ("outcome", _outcome(left), _outcome(right)),
        ("engine", left.engine, right.engine),
        ("model", left.model, right.model),
        ("steps", f"{left.steps:,}", f"{right.steps:,}"),
        ("calls", _count(left.model_calls), _count(right.model_calls)),
        (
            "tokens in",
            tokens(left.usage.input if left.usage else None),
            tokens(right.usage.input if right.usage else None),
        ),
        ("cost", _cost(left), _cost(right)),
        ("took", _took(left), _took(right)),
        ("error", left.error, right.error),
    ):
        if ours or theirs:
            differs = ours != theirs
            one = paint(f"{cut(ours, head):<{head}}", OUTCOME_COLOURS.get(left.outcome) if name == "outcome" else None)
            other = paint(cut(theirs, head), OUTCOME_COLOURS.get(right.outcome) if name == "outcome" else None)
            yield f"{name:<10}{'≠' if differs else ' '}{one} {other}".rstrip()


def _outcome(row: TraceRow) -> str:
    return f"{row.outcome}, {row.end_state.replace('_', ' ')}" if row.end_state != "unknown" else row.outcome


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _cost(row: TraceRow) -> str:
    return "" if row.usage is None else money(row.usage.cost_usd)


def _took(row: TraceRow) -> str:
    return "" if row.seconds is None else rough_duration(row.seconds)


def _worth_showing(pairs: Sequence[PairView]) -> list[int]:
    differing = [place for place, pair in enumerate(pairs) if pair.match != "same"]
    near = {other for place in differing for other in range(place - AROUND, place + AROUND + 1)}
    return sorted(place for place in near if 0 <= place < len(pairs))


def _gap(count: int, side: int) -> str:
    return paint(f"{'':>{side - 8}}… {count:,} the same …", dim=True)


def _line(pair: PairView, side: int) -> str:
    mark, colour = _MARKS[pair.match]
    left = paint(_side(pair.left, side), colour if pair.match != "right" else None)
    right = paint(_side(pair.right, side).rstrip(), colour)
    return f"{left} {paint(mark, colour)} {right}".rstrip()


def _side(one: SideView | None, side: int) -> str:
    if one is None:
        return " " * side
    count = f" ×{one.count:,}" if one.count > 1 else ""
    number = f"{one.number:>4} "
    return f"{cut(f'{number}{one.symbol}{count}  {one.target}', side):<{side}}"
