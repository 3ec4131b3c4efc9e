"""The pictures of a report: SVG with its geometry in attributes, colours from the stylesheet, and every number in words
too."""

from collections.abc import Sequence
from math import log10

from paddock.cli.pages.report.markup import Markup, element
from paddock.cli.pages.report.words import money, percent, split_parts
from paddock.views.insight.report import BarView, TimeView, WeekView

WIDTH = 640.0
LEFT, RIGHT, TOP, FLOOR = 44.0, 636.0, 22.0, 164.0
HEIGHT = 190.0
MOST_BAR = 56.0
ROOM_FOR_LABEL = 26.0


def landings_chart(bars: Sequence[BarView]) -> Markup:
    """What landed, and on top of it what failed."""
    most = nice_above(max((bar.landed + bar.failed for bar in bars), default=0))
    step, wide = _spacing(len(bars))
    drawn: list[Markup] = []
    for place, bar in enumerate(bars):
        x = LEFT + (place + 0.5) * step
        stack = (("landed", bar.landed), ("failed", bar.failed))
        words = f"{_bar_name(bar)}: {bar.landed} landed, {bar.failed} failed"
        drawn += _stack(x, wide, [(state, float(count)) for state, count in stack], most, words)
        if step >= ROOM_FOR_LABEL and bar.landed + bar.failed:
            top = _y(bar.landed + bar.failed, most)
            drawn.append(
                _text(x, top - 5, f"{bar.landed}" if not bar.failed else f"{bar.landed} + {bar.failed}", "ct c k")
            )
        if place % max(1, round(ROOM_FOR_LABEL * 2 / step)) == 0:
            drawn.append(_text(x, FLOOR + 16, _bar_name(bar), "ct c"))
    total = sum(bar.landed for bar in bars)
    return _chart(f"{total} changes landed in {len(bars)} bars", _axes(most, lambda value: f"{value:g}"), drawn)


def weeks_chart(weeks: Sequence[WeekView]) -> Markup:
    """What a landed change cost in each week, by where the money went."""
    told = [week for week in weeks if week.per_landed_usd is not None]
    most = nice_above(max((week.per_landed_usd or 0.0 for week in told), default=0.0))
    step, wide = _spacing(len(weeks))
    drawn: list[Markup] = []
    for place, week in enumerate(weeks):
        x = LEFT + (place + 0.5) * step
        name = f"{week.began[5:10]} on"
        drawn.append(_text(x, FLOOR + 16, name, "ct c"))
        if week.per_landed_usd is None:
            drawn.append(_text(x, FLOOR - 6, "none landed" if not week.landed else "unknown", "ct c"))
            continue
        parts = [(state, usd / week.landed) for _, state, usd in split_parts(week.split)]
        words = ", ".join(f"{part} {money(usd / week.landed)}" for part, _, usd in split_parts(week.split))
        drawn += _stack(x, wide, parts, most, f"{name}: {words}")
        drawn.append(_text(x, _y(week.per_landed_usd, most) - 5, money(week.per_landed_usd), "ct c k"))
    return _chart(f"Cost of a landed change in {len(weeks)} weeks", _axes(most, money), drawn)


def time_bar(time: TimeView) -> Markup:
    parts = [(part.state, part.seconds) for part in time.parts]
    words = ", ".join(f"{part.name} {percent(part.share)}" for part in time.parts if part.seconds)
    return share_bar(parts, sum(part.seconds for part in time.parts), f"Where time went: {words}", fat=True)


def share_bar(parts: Sequence[tuple[str, float]], most: float, label: str, *, fat: bool = False) -> Markup:
    """Parts of a whole side by side."""
    whole = most or 1.0
    rects: list[Markup] = []
    x = 0.0
    for state, value in parts:
        if value > 0:
            rects.append(
                element(
                    "rect", class_=state, x=round(1000 * x / whole, 2), width=round(1000 * value / whole, 2), height=1
                )
            )
            x += value
    return element(
        "svg",
        *rects,
        class_="bar fat" if fat else "bar",
        view_box="0 0 1000 1",
        preserve_aspect_ratio="none",
        role="img",
        aria_label=label,
    )


def nice_above(value: float) -> float:
    """A round number that is no smaller, for the top of an axis."""
    if value <= 0:
        return 1.0
    power = 10.0 ** int(log10(value) if value >= 1 else log10(value) - 1)
    return next((one * power for one in (1, 2, 3, 4, 5, 6, 8, 10) if one * power >= value), 10 * power)


def _spacing(count: int) -> tuple[float, float]:
    step = (RIGHT - LEFT) / max(1, count)
    return step, min(MOST_BAR, step * 0.66)


def _y(value: float, most: float) -> float:
    return round(FLOOR - value / most * (FLOOR - TOP), 1)


def _stack(x: float, wide: float, parts: Sequence[tuple[str, float]], most: float, words: str) -> list[Markup]:
    """Each part begins a pixel above the one below."""
    drawn: list[Markup] = []
    below = 0.0
    for state, value in parts:
        if value <= 0:
            continue
        top, foot = _y(below + value, most), _y(below, most)
        high = max(0.8, foot - top - (1.0 if below else 0.0))
        rect = element(
            "rect", class_="fillc", x=round(x - wide / 2, 1), y=top, width=round(wide, 1), height=round(high, 1), rx=1.5
        )
        drawn.append(element("g", element("title", words), rect, class_=state))
        below += value
    return drawn


def _axes(most: float, told: "object") -> list[Markup]:
    assert callable(told)
    lines: list[Markup] = []
    for value in (0.0, most / 2, most):
        y = _y(value, most)
        lines.append(element("path", class_="axis", d=f"M{LEFT:g} {y}H{RIGHT:g}"))
        lines.append(_text(LEFT - 6, y + 4, told(value), "ct e"))
    return lines


def _text(x: float, y: float, words: str, class_: str) -> Markup:
    return element("text", words, class_=class_, x=round(x, 1), y=round(y, 1))


def _chart(label: str, *parts: Sequence[Markup]) -> Markup:
    return element("svg", *parts, class_="chart", view_box=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=label)


def _bar_name(bar: BarView) -> str:
    """The hour, or the day that most of it is of."""
    return f"{bar.began[11:13]} h" if bar.seconds < 86400 else bar.began[5:10]
