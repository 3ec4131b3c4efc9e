"""The tokens of the style sheet: readable in light and dark, and the only place where colours are chosen."""

import re
from pathlib import Path

import pytest

SHEET = (Path(__file__).parents[2] / "src" / "paddock" / "web" / "static" / "paddock.css").read_text()
TOKENS = dict(re.findall(r"--([\w-]+):\s*light-dark\((#[0-9a-fA-F]{6}, #[0-9a-fA-F]{6})\)", SHEET))
SURFACES = ("ground", "panel", "sunk", "hover")
INKS = ("ink", "ink2", "ink3")
STATES = (
    "waiting",
    "ready",
    "running",
    "reviewing",
    "approval",
    "queued",
    "landed",
    "done",
    "blocked",
    "failed",
    "cancelled",
    "noop",
)
READABLE = 4.5


def colour(token: str, scheme: int) -> tuple[int, ...]:
    text = TOKENS[token].split(", ")[scheme]
    return tuple(int(text[at : at + 2], 16) for at in (1, 3, 5))


def luminance(rgb: tuple[int, ...]) -> float:
    linear = [value / 3294.6 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", [*INKS, *STATES])
def test_text_is_readable_on_every_surface(ink: str, scheme: int) -> None:
    measured = {surface: contrast(colour(ink, scheme), colour(surface, scheme)) for surface in SURFACES}
    assert min(measured.values()) >= READABLE, measured


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("ink", "add"),
        ("ink", "del"),
        ("ink", "add2"),
        ("ink", "del2"),
        ("ink3", "add"),
        ("ink3", "del"),
        ("code-word", "add"),
        ("code-word", "del"),
        ("code-text", "add"),
        ("code-text", "del"),
        ("code-note", "panel"),
    ],
)
def test_code_is_readable_in_changed_lines(text: str, behind: str, scheme: int) -> None:
    assert contrast(colour(text, scheme), colour(behind, scheme)) >= READABLE


def test_colours_are_chosen_by_tokens_only() -> None:
    rules = SHEET.split("/* a state class sets one variable", 1)[1]
    assert re.findall(r":[^;{}]*#[0-9a-fA-F]{3,8}\b", rules) == []


def test_a_person_who_asks_for_less_motion_gets_none() -> None:
    assert "@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important" in SHEET
