"""Answers of attempts that only read, as far as all of them are alike."""

from dataclasses import dataclass

ANSWER_CHARS = 1_000_000
MOST_ASKED = 2
"""How often an attempt is asked again whose answer cannot be used."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """`problem` says what is wrong with an answer, to whoever is asked again."""

    problem: str
