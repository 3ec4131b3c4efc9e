"""Answers of attempts that only read, as far as all of them are alike."""

import json
import re
from dataclasses import dataclass
from typing import Any

ANSWER_CHARS = 1_000_000
MOST_ASKED = 2
"""How often an attempt is asked again whose answer cannot be used."""
_FENCED = re.compile(r"^[ \t]*```(?:json)?[ \t]*\r?\n(?P<body>.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unusable:
    """`problem` says what is wrong with an answer, to whoever is asked again."""

    problem: str


def find_object(text: str) -> dict[str, Any] | Unusable:
    """The JSON object of an answer, which may stand in a fenced block or between words: the last one that can be
    read."""
    whole = text.strip().removeprefix("\ufeff")
    if not whole:
        return Unusable("there is no answer")
    blocks = [match["body"] for match in _FENCED.finditer(whole)]
    first, last = whole.find("{"), whole.rfind("}")
    spans = [whole[first : last + 1]] if 0 <= first < last else []
    problem = "there is no JSON object in it"
    for candidate in (whole, *reversed(blocks), *spans):
        if not candidate.lstrip().startswith("{"):
            continue
        try:
            found = json.loads(candidate)
        except RecursionError:
            problem = "it is nested too deeply"
        except ValueError as error:
            problem = f"it is not valid JSON: {error}"
        else:
            return found if isinstance(found, dict) else Unusable("it is not a JSON object")
    return Unusable(problem)
