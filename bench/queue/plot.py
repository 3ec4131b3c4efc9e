"""Draws landed changes per run against slots, one panel for each share of bad changes, as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

Point = tuple[str, float, int, float]

WIDTH, HEIGHT, LEFT, TOP, GAP = 250, 230, 50, 40, 40
COLOURS = {
    "serial": "#999999",
    "batch-8": "#c49a6c",
    "zuul aimd": "#6a9fd4",
    "zuul w=k": "#1f5fa8",
    "check+gate": "#8a6fb0",
    "check+gate-8": "#5b3a8c",
    "ours": "#c8102e",
    "oracle": "#2e8b57",
}
STYLE = "font-family: sans-serif; font-size: 12px"


def draw_plot(points: Iterable[Point]) -> str:
    found = list(points)
    panels = sorted({bad for _, bad, _, _ in found})
    top_rate = max(rate for _, _, _, rate in found)
    most_slots = max(slots for _, _, slots, _ in found)
    body = [
        _panel(number, bad, [p for p in found if p[1] == bad], top_rate, most_slots)
        for number, bad in enumerate(panels)
    ]
    wide = LEFT + len(panels) * (WIDTH + GAP) + 90
    high = TOP + HEIGHT + 50
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" style="{STYLE}">'
    title = "Landed changes per CI run, 600 waiting, 1 % flakes, 2 % clashes (simulated)"
    parts = [
        head,
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="16">{title}</text>',
        *body,
        _legend(wide - 95),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panel(number: int, bad: float, points: list[Point], top_rate: float, most_slots: int) -> str:
    left = LEFT + number * (WIDTH + GAP)

    def place(slots: int, rate: float) -> tuple[float, float]:
        x = left + WIDTH * log2(slots) / max(1.0, log2(most_slots))
        return x, TOP + HEIGHT - HEIGHT * rate / top_rate

    lines = [
        f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>',
        f'<text x="{left + 6}" y="{TOP + 16}">{bad:.0%} of changes bad</text>',
        f'<text x="{left + WIDTH / 2 - 20}" y="{TOP + HEIGHT + 34}">CI slots</text>',
    ]
    for slots in sorted({p[2] for p in points}):
        x, y = place(slots, 0.0)
        lines.append(f'<text x="{x - 5:.1f}" y="{y + 16:.1f}">{slots}</text>')
    for rate in range(0, int(top_rate) + 1, 5):
        _, y = place(1, rate)
        lines.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>')
        lines.append(f'<text x="{left - 22}" y="{y + 4:.1f}">{rate}</text>')
    for policy, colour in COLOURS.items():
        line = sorted((slots, rate) for name, _, slots, rate in points if name == policy)
        path = " ".join("{:.1f},{:.1f}".format(*place(slots, rate)) for slots, rate in line)
        dash = ' stroke-dasharray="5 4"' if policy == "oracle" else ""
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    return "\n".join(lines)


def _legend(left: int) -> str:
    rows = []
    for row, (policy, colour) in enumerate(COLOURS.items()):
        y = TOP + 20 + row * 20
        rows.append(f'<line x1="{left}" x2="{left + 20}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>')
        rows.append(f'<text x="{left + 26}" y="{y + 4}">{policy}</text>')
    return "\n".join(rows)
